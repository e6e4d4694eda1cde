//! Uncertainty and saved models, a stop during the calibration, and cells of all spellings.

use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use graphfill::data::generator::GeneratorConfig;

use crate::support::{Place, is_complete, town};

fn people() -> Place {
    town(&GeneratorConfig { nodes: 300, topics: 0, ..GeneratorConfig::default() })
}

#[test]
fn a_calibrated_model_knows_how_sure_it_is() {
    let place = people();
    let train = "fill nodes.csv --method arb -q -o own.csv";
    place.succeed(&format!("{train} --checkpoint plain.model"));
    for flags in ["--intervals 0.9", "--draws 2", "--uncertainty cells.csv"] {
        let done = place.run(&format!("fill nodes.csv --model plain.model -o out.csv {flags}"));
        assert_eq!(done.code, 1, "{flags}: {}", done.err);
        let advice = "give --intervals where it is trained, beside --checkpoint";
        assert!(done.err.contains(advice), "{flags}: {}", done.err);
        assert!(!place.path("out.csv").exists(), "{flags}");
    }
    // The same command with intervals makes the model know.
    place.succeed(&format!("{train} --checkpoint plain.model --intervals 0.9"));
    let done = place.succeed("fill nodes.csv --model plain.model -o out.csv --intervals 0.9");
    assert!(done.err.contains("nothing is promised for nodes that are unlike"), "{}", done.err);
    // The estimates are the same. Intervals are centred on them, where the run that trained has centred
    // them on its second run.
    let cells = |file: &str, wanted: &dyn Fn(&str) -> bool| -> Vec<Vec<String>> {
        let text = place.read(file);
        let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
        let row = |line: &str| {
            let cells = line.split(',').zip(&header).filter(|(_, name)| wanted(name));
            cells.map(|(cell, _)| cell.to_owned()).collect()
        };
        text.lines().map(row).collect()
    };
    let estimates = |name: &str| !name.contains("__");
    assert_eq!(cells("out.csv", &estimates), cells("own.csv", &estimates));
    let ends = |name: &str| name.ends_with("__lower");
    let is_there = |rows: Vec<Vec<String>>| {
        rows.iter().map(|row| row.iter().map(|cell| !cell.is_empty()).collect()).collect()
    };
    let (own, other): (Vec<Vec<bool>>, Vec<Vec<bool>>) =
        (is_there(cells("out.csv", &ends)), is_there(cells("own.csv", &ends)));
    assert_eq!(own, other, "the same cells have intervals");
    // Draws come from the same calibration.
    place.succeed("fill nodes.csv --model plain.model -o out.csv --draws 2");
    assert!(place.read("out.csv").starts_with("draw,id,"));
}

/// Intervals of a later table have the decimals of the model's, even where none of its cells has a value.
#[test]
fn a_later_table_without_any_value_has_intervals() {
    let place = Place::new();
    let (mut nodes, mut edges) = ("id,share\n".to_owned(), "source,target\n".to_owned());
    for node in 0..240 {
        let share = match node % 6 {
            0 => String::new(),
            _ => format!("0.{:02}", 5 + 80 * (node / 40) / 6 + (node * 7) % 19),
        };
        nodes += &format!("n{node},{share}\n");
        for step in [1, 3] {
            edges += &format!("n{node},n{}\n", node / 40 * 40 + (node + step) % 40);
        }
    }
    place.write("nodes.csv", &nodes);
    place.write("edges.csv", &edges);
    place.write("later.csv", "id,share\nz1,\nz2,\n");
    place.write("later-edges.csv", "source,target\nz1,z2\n");
    place.succeed(
        "fill nodes.csv edges.csv --method arb -q -o o.csv --intervals 0.9 --checkpoint own.model",
    );
    place.succeed("fill later.csv later-edges.csv --model own.model -q -o out.csv --intervals 0.9");
    let out = place.read("out.csv");
    for line in out.lines().skip(1) {
        let cells: Vec<f64> =
            line.split(',').skip(1).filter_map(|cell| cell.parse().ok()).collect();
        let [estimate, lower, upper] = cells[..] else { panic!("{out}") };
        assert!(lower < estimate && estimate < upper && upper < 2.0, "{out}");
        assert!(upper - lower > 0.2, "as wide as most of the column: {out}");
    }
}

/// Whoever stops the calibration has the estimates, and can go on from the checkpoint.
#[cfg(unix)]
#[test]
fn a_stop_during_the_calibration_keeps_the_estimates() {
    let place = people();
    let call = "fill nodes.csv --method svga --param svga.hidden=16 --param svga.patience=100000 --max-updates 300 --checkpoint town.model";
    let mut child = place.start(&format!("{call} -v -o out.csv --intervals 0.9 --report out.html"));
    let mut said = String::new();
    let mut reader = BufReader::new(child.stderr.take().expect("standard error"));
    while !said.contains("finished stage=\"svga: model 1 of 1\"") {
        assert!(reader.read_line(&mut said).expect("a line") > 0, "it ended: {said}");
    }
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(told.expect("kill").success());
    reader.read_to_string(&mut said).expect("the rest");
    let code = child.wait().expect("ended").code();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("the run was stopped before it could be found out"), "{said}");
    let stopped = place.read("out.csv");
    assert!(is_complete(&stopped) && !stopped.contains("__lower"), "{stopped}");
    assert!(place.path("out.html").exists());
    place.succeed(&format!("{call} -q -o whole.csv"));
    assert_eq!(stopped, place.read("whole.csv"));
}

/// Ends of intervals are spelt as the cells of their column are, and stay near them. Most values of
/// `grade` are estimated exactly, which must not make other errors infinitely large.
#[test]
fn intervals_are_spelt_as_the_column_is() {
    let place = Place::new();
    let (mut nodes, mut edges) =
        ("id;joined;price;weight;keen;team;grade\n".to_owned(), "source;target\n".to_owned());
    for node in 0..360usize {
        let (group, noise) = (node / 120, (node * 37 + node / 7) % 23);
        let cells = [
            format!("{:02}.{:02}.2021", 1 + noise, 1 + 4 * group + noise % 3),
            format!("{},{:02}", 10 * group + noise % 3, noise),
            format!("{} kg", 40 + 15 * group + noise % 9),
            if noise == 5 { "no" } else { ["yes", "no", "yes"][group] }.to_owned(),
            ["a|b", "c:d", "e"][group].to_owned(),
            (group + 1).to_string(),
        ];
        let shown = cells.iter().enumerate().map(|(at, cell)| match (node * 5 + at * 3) % 11 {
            0 | 1 => ";".to_owned(),
            _ => format!(";{cell}"),
        });
        nodes += &format!("p{node}{}\n", shown.collect::<String>());
        for step in [1, 2, 5] {
            edges += &format!("p{node};p{}\n", group * 120 + (node + step) % 120);
        }
    }
    place.write("nodes.csv", &nodes);
    place.write("edges.csv", &edges);
    let call = "fill nodes.csv edges.csv --method arb -q --dates day-first --decimal ,";
    place.succeed(&format!("{call} -o sure.csv --intervals 0.9"));
    let sure = place.read("sure.csv");
    let mut lines = sure.lines().map(|line| line.split(';').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let rows: Vec<Vec<&str>> = lines.collect();
    // Estimate, lower and upper end of the cells that have an interval.
    let triples = |name: &str, value: &dyn Fn(&str) -> f64| -> Vec<[f64; 3]> {
        let at = header.iter().position(|own| *own == name).expect("a column");
        assert_eq!(header[at + 1..at + 3], [format!("{name}__lower"), format!("{name}__upper")]);
        let with = rows.iter().filter(|row| !row[at + 1].is_empty());
        with.map(|row| [row[at], row[at + 1], row[at + 2]].map(value)).collect()
    };
    let date = |text: &str| {
        let parts: Vec<f64> = text.split('.').map(|part| part.parse().expect("a part")).collect();
        (parts[2] * 12.0 + parts[1]) * 31.0 + parts[0]
    };
    let comma = |text: &str| {
        assert_eq!(text.split_once(',').map(|(_, decimals)| decimals.len()), Some(2), "{text}");
        text.replace(',', ".").parse().expect("a number")
    };
    let unit = |text: &str| text.strip_suffix(" kg").and_then(|text| text.parse().ok());
    let unit = |text: &str| unit(text).unwrap_or_else(|| panic!("{text} has no unit"));
    let whole = |text: &str| text.parse::<u32>().map(f64::from).expect("a whole number");
    for (name, value, widest) in [
        ("joined", &date as &dyn Fn(&str) -> f64, 800.0),
        ("price", &comma, 60.0),
        ("weight", &unit, 100.0),
        ("grade", &whole, 6.0),
    ] {
        let triples = triples(name, value);
        assert!(triples.len() > 40, "{name}: {} intervals", triples.len());
        for [estimate, lower, upper] in triples {
            assert!(lower <= estimate && estimate <= upper, "{name}: {lower} {estimate} {upper}");
            assert!(upper - lower <= widest, "{name}: from {lower} to {upper}");
        }
    }
    let words = |name: &str| {
        let at = header.iter().position(|own| *own == name).expect("a column");
        rows.iter().map(|row| row[at]).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    assert!(words("keen__set").iter().all(|set| ["yes", "no", "yes|no", "no|yes"].contains(set)));
    // A name with the separator in it: the set is a JSON list, which CSV puts in quotes.
    let sets = words("team__set");
    assert!(sets.len() > 40 && sets.iter().all(|set| set.starts_with("\"[\"\"")), "{sets:?}");
    place.succeed(&format!("{call} -o o.csv --uncertainty cells.json"));
    let cells: serde_json::Value = serde_json::from_str(&place.read("cells.json")).expect("JSON");
    let of = |name: &str| {
        let cells = cells.as_array().expect("a list").iter();
        cells.filter(|cell| cell["column"] == *name).cloned().collect::<Vec<_>>()
    };
    assert!(
        of("team").iter().all(|cell| {
            cell["set"].as_array().is_some_and(|set| set.contains(&cell["estimate"]))
        })
    );
    assert!(of("grade").iter().all(|cell| cell["estimate"].is_u64() && cell["lower"].is_u64()));
    assert!(of("joined").iter().all(|cell| cell["upper"].is_string()));
}

/// A block of numbers has two blocks beside it. No value is negative, and no interval is.
#[test]
fn blocks_of_numbers_have_intervals_per_column() {
    let place = Place::new();
    let (mut nodes, mut edges) = ("id,a,b,c\n".to_owned(), "source,target\n".to_owned());
    for node in 0..240usize {
        let cell = |column: usize| match (node * 7 + column * 5) % 9 {
            0 | 1 => String::new(),
            noise => format!("{}.{}", node / 80 * column, (noise * 3 + node) % 8),
        };
        nodes += &format!("n{node},{},{},{}\n", cell(0), cell(1), cell(2));
        for step in [1, 2] {
            edges += &format!("n{node},n{}\n", node / 80 * 80 + (node + step) % 80);
        }
    }
    place.write("nodes.csv", &nodes);
    place.write("edges.csv", &edges);
    place.write("nodes.types.toml", "[blocks]\nsizes = [\"a\", \"c\"]\n");
    let call = "fill nodes.csv edges.csv --method arb -q";
    place.succeed(&format!("{call} -o plain.csv"));
    place.succeed(&format!("{call} -o sure.csv --intervals 0.95"));
    place.succeed(&format!("{call} -o draws.csv --draws 3"));
    place.succeed(&format!("{call} -o o.csv --intervals 0.95 --uncertainty cells.csv"));
    let (plain, sure) = (place.read("plain.csv"), place.read("sure.csv"));
    let header = "id,a,b,c,a__lower,b__lower,c__lower,a__upper,b__upper,c__upper";
    assert_eq!(sure.lines().next(), Some(header));
    let mut intervals = Vec::new();
    for ((before, plain), sure) in nodes.lines().zip(plain.lines()).zip(sure.lines()).skip(1) {
        let [before, sure] = [before, sure].map(|line| line.split(',').collect::<Vec<_>>());
        assert_eq!(sure[..4].join(","), plain);
        for column in 1..4 {
            let ends = (sure[column + 3], sure[column + 6]);
            if !before[column].is_empty() {
                assert_eq!(ends, ("", ""));
                continue;
            }
            let [low, own, high] =
                [ends.0, sure[column], ends.1].map(|cell| cell.parse::<f32>().expect("a number"));
            assert!(0.0 <= low && low <= own && own <= high && low < high, "{sure:?}");
            intervals.push((sure[0].to_owned(), column, low, high));
        }
    }
    assert!(intervals.iter().any(|(_, _, low, _)| *low == 0.0), "none would be negative");
    let cells = place.read("cells.csv");
    assert_eq!(cells.lines().count(), intervals.len() + 1);
    for cell in cells.lines().skip(1) {
        let cell: Vec<&str> = cell.split(',').collect();
        let column = ["a", "b", "c"].iter().position(|name| *name == cell[1]).expect("a column");
        let [low, high] = [cell[3], cell[4]].map(|end| end.parse::<f32>().expect("a number"));
        assert!(intervals.contains(&(cell[0].to_owned(), column + 1, low, high)), "{cell:?}");
    }
    for (at, line) in place.read("draws.csv").lines().skip(1).enumerate() {
        let before: Vec<&str> =
            nodes.lines().nth(1 + at % 240).expect("a row").split(',').collect();
        let drawn: Vec<&str> = line.split(',').skip(1).collect();
        for (before, drawn) in before.iter().zip(&drawn).skip(1) {
            let value: f32 = drawn.parse().expect("a number");
            assert!(value >= 0.0 && (before.is_empty() || before == drawn), "{line}");
        }
    }
}
