//! `fill`: the main job.

use std::collections::BTreeMap;

use graphfill::data::generator::GeneratorConfig;

use crate::support::{Place, real_data, town};

#[test]
fn fills_holes_and_nothing_else() {
    let place = Place::with_ring();
    let done = place.run("fill nodes.csv edges.csv -o filled.csv --method neighbour-mean");
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    let (before, after) = (place.read("nodes.csv"), place.read("filled.csv"));
    for (old, new) in before.lines().zip(after.lines()) {
        for (old, new) in old.split(',').zip(new.split(',')) {
            assert!(!new.is_empty() && (old.is_empty() || old == new), "{old} became {new}");
        }
    }
    assert_eq!(before.lines().count(), after.lines().count());
    assert!(after.contains("p3,33.50,red,yes,spring 4"), "{after}");
    assert!(after.contains("p7,47.50,blue,no,spring 8"), "{after}");
}

#[test]
fn says_what_it_did_as_json() {
    let place = Place::with_ring();
    let done = place.run("fill nodes.csv edges.csv -o filled.parquet --format json --quiet");
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.err, "");
    let summary: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(summary["estimated"], 4);
    assert_eq!(summary["columns"][0]["column"], "age");
    assert_eq!(summary["unused"][0]["column"], "joined");
    let again = place.run("inspect filled.parquet edges.csv --format json");
    let about: serde_json::Value = serde_json::from_str(&again.out).expect("JSON");
    assert_eq!(about["missing_cells"], 0);
    assert_eq!(about["nodes"], 12);
}

/// Booleans and categories are claimed to be right so often, numbers to be off by so much.
#[test]
fn claims_hit_rates_of_levels_and_errors_of_numbers() {
    let place = town(&GeneratorConfig { nodes: 300, ..GeneratorConfig::default() });
    for method in ["arb", "auto --param svga-p.hidden=16 --max-updates 20"] {
        let call = format!("fill nodes.csv -o out.csv --method {method}");
        let printed = place.succeed(&call).err;
        let done = place.succeed(&format!("{call} --format json"));
        let summary: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
        for column in summary["columns"].as_array().expect("columns") {
            let (score, reason) = (&column["score"], column["reason"].as_str().unwrap_or_default());
            let rate = |name: &str| score[name].as_f64();
            match column["kind"].as_str() {
                Some("boolean" | "category") => {
                    assert_eq!(score["measure"], "hit rate", "{column}");
                    assert!(rate("value").is_some_and(|rate| (0.0..=1.0).contains(&rate)));
                    assert!(rate("most_frequent").is_some_and(|rate| (0.0..1.0).contains(&rate)));
                    assert!(!reason.contains("RMSE"), "{reason}");
                }
                Some("number" | "count") => {
                    assert_eq!(score["measure"], "rmse", "{column}");
                    assert!(!reason.contains("hit rate"), "{reason}");
                }
                _ => assert!(rate("most_frequent").is_none(), "{column}"),
            }
        }
        let says_rates = printed.contains(" of the most frequent level");
        assert_eq!(says_rates, method != "arb", "{printed}");
    }
}

#[test]
fn an_existing_output_is_replaced_whole() {
    let place = Place::with_ring();
    place.write("filled.csv", &"old content, longer than the new one\n".repeat(500));
    assert_eq!(place.run("fill nodes.csv edges.csv -o filled.csv").code, 0);
    assert!(place.read("filled.csv").starts_with("id,age"));
    assert_eq!(place.files(), ["edges.csv", "filled.csv", "nodes.csv"]);
}

#[test]
fn nothing_missing_is_no_failure() {
    let place = Place::new();
    place.write("nodes.csv", "id,v\na,1\nb,2\nc,4\n");
    place.write("edges.csv", "source,target\na,b\n");
    let done = place.run("fill nodes.csv edges.csv -o out.csv");
    assert_eq!(done.code, 0);
    assert!(done.err.contains("no cell is missing"), "{}", done.err);
    assert_eq!(place.read("out.csv"), place.read("nodes.csv"));
}

/// A constant needs no estimate: its holes are filled, and nobody is told that they were left.
#[test]
fn holes_of_a_constant_are_filled_without_a_warning() {
    let place = Place::with_ring();
    let nodes = place.read("nodes.csv");
    let lines = nodes.lines().enumerate().map(|(at, line)| match at {
        0 => format!("{line},planet\n"),
        at => format!("{line},{}\n", if at % 3 == 0 { "" } else { "Earth" }),
    });
    place.write("nodes.csv", &lines.collect::<String>());
    let done = place.succeed("fill nodes.csv edges.csv -o out.csv --method neighbour-mean");
    assert_eq!(place.read("out.csv").matches(",Earth").count(), 12);
    assert!(!done.err.contains("planet"), "{}", done.err);
}

#[test]
fn unknown_nodes_are_refused_skipped_or_added() {
    let place = Place::with_ring();
    place.write("more.csv", "source,target\np0,p1\np1,stranger\n");
    let refused = place.run("fill nodes.csv more.csv -o out.csv");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("more.csv, line 3") && refused.err.contains("'stranger'"));
    assert!(!place.files().contains(&"out.csv".to_owned()));
    assert_eq!(place.run("fill nodes.csv more.csv -o out.csv --unknown-nodes skip").code, 0);
    assert_eq!(place.read("out.csv").lines().count(), 13);
    assert_eq!(place.run("fill nodes.csv more.csv -o out.csv --unknown-nodes add").code, 0);
    let last = place.read("out.csv").lines().last().map(str::to_owned).expect("a line");
    assert!(last.starts_with("stranger,") && !last.starts_with("stranger,,"), "{last}");
}

#[test]
fn the_same_call_gives_the_same_bytes() {
    let place = Place::with_ring();
    for (output, threads) in [("a.csv", 1), ("b.csv", 2)] {
        let call = format!("fill nodes.csv edges.csv -o {output} --seed 3 --threads {threads}");
        assert_eq!(place.run(&call).code, 0);
    }
    assert_eq!(place.read("a.csv"), place.read("b.csv"));
}

/// Real houses with a tenth of the cells and a tenth of the rows blanked: better than the column
/// mean on the price and on the wall, and every observed cell as it was.
#[test]
fn houses() {
    let Some(data) = real_data("filling real houses") else { return };
    let text = std::fs::read_to_string(data.join("house_lucas/nodes.csv")).expect("houses");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let mut state = 7u64;
    let mut chance = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut holed = rows.clone();
    for row in &mut holed[1..] {
        let whole = chance() < 0.1;
        for cell in &mut row[1..] {
            if whole || chance() < 0.1 {
                *cell = "";
            }
        }
    }
    let place = Place::new();
    let lines: Vec<String> = holed.iter().map(|row| row.join(",")).collect();
    place.write("nodes.csv", &(lines.join("\n") + "\n"));
    let edges = data.join("house_lucas/edges.csv");
    let done = place.run(&format!("fill nodes.csv {} -o filled.csv", edges.display()));
    assert_eq!(done.code, 0, "{}", done.err);
    let text = place.read("filled.csv");
    let filled: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(filled.len(), rows.len());
    for (before, after) in holed.iter().zip(&filled) {
        assert!(before.iter().zip(after).all(|(b, a)| b.is_empty() || b == a));
        assert!(after.iter().all(|cell| !cell.is_empty()));
    }
    let column = |name: &str| rows[0].iter().position(|c| *c == name).expect("a column");
    let hidden = |at: usize| (1..rows.len()).filter(move |&row| at > 0 && row > 0);

    let price = column("price");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let known: Vec<f64> = holed[1..]
        .iter()
        .filter(|row| !row[price].is_empty())
        .map(|row| number(row[price]))
        .collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    let (mut ours, mut theirs) = (0.0, 0.0);
    for row in hidden(price).filter(|&row| holed[row][price].is_empty()) {
        let truth = number(rows[row][price]);
        ours += (number(filled[row][price]) - truth).powi(2);
        theirs += (mean - truth).powi(2);
    }
    assert!(ours < 0.4 * theirs, "price: squared error {ours} against {theirs}");

    let wall = column("wall");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    holed[1..]
        .iter()
        .filter(|r| !r[wall].is_empty())
        .for_each(|r| *counts.entry(r[wall]).or_default() += 1);
    let mode = counts.iter().max_by_key(|entry| entry.1).map(|entry| *entry.0).expect("a wall");
    let wrong = |guess: &dyn Fn(usize) -> bool| {
        hidden(wall).filter(|&row| holed[row][wall].is_empty()).filter(|&row| guess(row)).count()
    };
    let ours = wrong(&|row| filled[row][wall] != rows[row][wall]);
    let theirs = wrong(&|row| mode != rows[row][wall]);
    assert!((ours as f64) < 0.9 * theirs as f64, "wall: {ours} wrong against {theirs}");
}
