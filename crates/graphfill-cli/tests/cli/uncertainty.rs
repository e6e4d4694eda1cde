//! `--intervals`, `--uncertainty` and `--draws`: how sure the estimates are, as it is written.

use std::collections::{BTreeMap, BTreeSet};

use graphfill::data::generator::GeneratorConfig;
use serde_json::Value;

use crate::support::{Place, town};

/// Tables without commas in their cells, which the town has.
struct Csv {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    fn of(text: &str) -> Self {
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        Csv { header: lines.next().expect("a header"), rows: lines.collect() }
    }

    fn read(place: &Place, name: &str) -> Self {
        Csv::of(&place.read(name))
    }

    fn at(&self, name: &str) -> usize {
        let at = self.header.iter().position(|own| own == name);
        at.unwrap_or_else(|| panic!("{name} is not among {:?}", self.header))
    }

    fn column(&self, name: &str) -> Vec<&str> {
        let at = self.at(name);
        self.rows.iter().map(|row| row[at].as_str()).collect()
    }

    /// The text with those columns only that `other` has, too.
    fn as_in(&self, other: &Csv) -> String {
        let kept: Vec<usize> = other.header.iter().map(|name| self.at(name)).collect();
        let line = |row: &Vec<String>| {
            kept.iter().map(|&at| row[at].as_str()).collect::<Vec<_>>().join(",") + "\n"
        };
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }
}

fn people() -> Place {
    town(&GeneratorConfig {
        nodes: 300,
        topics: 12,
        words_per_node: 3.0,
        ..GeneratorConfig::default()
    })
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("'{text}' is no number"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const FILL: &str = "fill nodes.csv --method arb --quiet";

#[test]
fn columns_beside_the_estimates_surround_them_and_change_none() {
    let place = people();
    place.succeed(&format!("{FILL} -o plain.csv"));
    let done = place.succeed(&format!("{FILL} -o sure.csv --intervals 0.9,0.5,0.9 --format json"));
    let before = Csv::read(&place, "nodes.csv");
    let (plain, sure) = (Csv::read(&place, "plain.csv"), Csv::read(&place, "sure.csv"));
    assert_eq!(sure.as_in(&plain), place.read("plain.csv"));

    for name in ["age", "income", "visits"] {
        let ends = ["lower90", "lower50", "upper50", "upper90"]
            .map(|end| sure.column(&format!("{name}__{end}")));
        for (row, old) in before.column(name).into_iter().enumerate() {
            if !old.is_empty() {
                assert_eq!(ends.each_ref().map(|end| end[row]), [""; 4], "{name}: observed");
                continue;
            }
            let estimate = number(sure.column(name)[row]);
            let [a, b, c, d] = ends.each_ref().map(|end| number(end[row]));
            let all = [a, b, estimate, c, d];
            assert!(all.is_sorted() && a >= 0.0 && a < d, "{name}, row {row}: {all:?}");
            let decimals = |text: &str| text.split_once('.').is_some();
            assert!(name == "income" || !ends.iter().any(|end| decimals(end[row])), "{name}");
        }
    }
    for name in ["member", "district", "occupation"] {
        let [few, many] = ["50", "90"].map(|level| sure.column(&format!("{name}__set{level}")));
        let probabilities = sure.column(&format!("{name}__probability"));
        for (row, old) in before.column(name).into_iter().enumerate() {
            if !old.is_empty() {
                assert_eq!([few[row], many[row], probabilities[row]], [""; 3], "{name}");
                continue;
            }
            let p = number(probabilities[row]);
            assert!((0.0..=1.0).contains(&p), "{name}: {p}");
            let [few, many] =
                [few[row], many[row]].map(|set| set.split('|').collect::<BTreeSet<_>>());
            let estimate = sure.column(name)[row];
            assert!(few.contains(estimate) && few.is_subset(&many), "{name}: {few:?}, {many:?}");
        }
    }
    // The ones of the block that were estimated, and no others.
    let mut ones = 0;
    for (row, cell) in sure.column("interests__probability").into_iter().enumerate() {
        for one in cell.split('|').filter(|one| !one.is_empty()) {
            let (name, p) = one.split_once(':').expect("a name and a probability");
            assert_eq!((before.column(name)[row], sure.column(name)[row]), ("", "1"), "{one}");
            assert!((0.0..=1.0).contains(&number(p)), "{one}");
            ones += 1;
        }
    }
    assert!(ones > 20, "{ones} estimated ones");

    let summary = json(&done.out);
    let age = summary["columns"].as_array().expect("columns").iter().find(|c| c["column"] == "age");
    let coverage = age.expect("age")["coverage"].as_array().expect("coverage").clone();
    let nominal: Vec<f64> = coverage.iter().filter_map(|level| level["nominal"].as_f64()).collect();
    assert_eq!(nominal, [0.5, 0.9]);
    for (level, least) in coverage.iter().zip([0.2, 0.65]) {
        let (real, cells) = (level["real"].as_f64(), level["cells"].as_u64());
        assert!(real.is_some_and(|real| real > least && real <= 1.0), "{level}");
        assert!(cells.is_some_and(|cells| cells >= 20), "{level}");
    }
}

#[test]
fn coverage_is_said_in_words_and_as_csv() {
    let place = people();
    let done = place.succeed("fill nodes.csv --method arb -o sure.csv --intervals 0.8");
    let table: Vec<&str> = done.err.lines().filter(|line| line.contains("arb")).collect();
    assert!(done.err.contains("80% covers"), "{}", done.err);
    assert!(table[0].contains("count") && table[0].contains('%'), "{}", done.err);
    let done = place.succeed(&format!("{FILL} -o sure.csv --intervals 0.8 --format csv"));
    let header = done.out.lines().next().expect("a header");
    assert_eq!(header, "column,kind,estimated,method,parameters,reason,coverage80");
    let age = done.out.lines().nth(1).expect("age");
    let real = number(age.rsplit(',').next().expect("coverage"));
    assert!(age.starts_with("age,") && (0.5..=1.0).contains(&real), "{age}");
}

/// The list of estimated cells has what the columns beside the estimates have, in every format.
#[test]
fn one_row_per_estimated_cell() {
    let place = people();
    place.succeed(&format!("{FILL} -o plain.csv"));
    place.succeed(&format!("{FILL} -o sure.csv --intervals 0.9"));
    for ending in ["csv", "tsv", "JSON"] {
        place.succeed(&format!("{FILL} -o same.csv --uncertainty cells.{ending}"));
        assert_eq!(place.read("same.csv"), place.read("plain.csv"), "{ending}");
    }
    let text = place.read("cells.csv");
    assert_eq!(text, place.read("cells.tsv").replace('\t', ","));
    let printed = place.succeed(&format!("{FILL} -o same.csv --uncertainty -"));
    assert_eq!(printed.out, text);

    let (before, sure) = (Csv::read(&place, "nodes.csv"), Csv::read(&place, "sure.csv"));
    let cells = Csv::of(&text);
    let wanted =
        ["id", "column", "estimate", "lower", "upper", "probability", "set", "method", "hops"];
    assert_eq!(cells.header, wanted);
    let row_of: BTreeMap<&str, usize> =
        sure.column("id").into_iter().enumerate().map(|(row, id)| (id, row)).collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in &cells.rows {
        let (row, column) = (row_of[cell[0].as_str()], cell[1].as_str());
        *seen.entry(column).or_default() += 1;
        assert_eq!(sure.column(column)[row], cell[2], "{cell:?}");
        assert_eq!(cell[7], "arb");
        for (end, at) in [("lower", 3), ("upper", 4), ("probability", 5), ("set", 6)] {
            let beside = format!("{column}__{end}");
            if sure.header.contains(&beside) {
                assert_eq!(sure.column(&beside)[row], cell[at], "{cell:?}");
            }
        }
        let hops = cell[8].parse::<u32>();
        assert!(cell[8].is_empty() || hops.is_ok_and(|hops| hops <= 300), "{cell:?}");
    }
    for column in ["age", "income", "visits", "member", "district", "occupation"] {
        let missing = before.column(column).iter().filter(|cell| cell.is_empty()).count();
        assert_eq!(seen[column], missing, "{column}");
    }

    let listed = json(&place.read("cells.JSON"));
    let listed = listed.as_array().expect("a list");
    assert_eq!(listed.len(), cells.rows.len());
    for (object, cell) in listed.iter().zip(&cells.rows) {
        let field = |name: &str| &object[name];
        assert_eq!(
            (field("id"), field("column")),
            (&cell[0].as_str().into(), &cell[1].as_str().into())
        );
        match before.header.contains(&cell[1]) && cell[6].is_empty() {
            true => {
                assert_eq!(field("estimate").as_f64(), Some(number(&cell[2])), "{object}");
            }
            false => {
                let set: Vec<Value> = cell[6].split('|').map(Value::from).collect();
                assert_eq!(field("set").as_array(), Some(&set), "{object}");
                assert_eq!(field("estimate"), &Value::from(cell[2].as_str()), "{object}");
            }
        }
        for (name, at) in [("lower", 3), ("upper", 4), ("probability", 5)] {
            let wanted = (!cell[at].is_empty()).then(|| number(&cell[at]));
            assert_eq!(field(name).as_f64(), wanted, "{object}");
        }
    }
}

/// Parquet holds what text holds; ids stand once, so that the list can be read as a table.
#[test]
fn parquet_and_text_agree() {
    let place = people();
    let nodes = Csv::read(&place, "nodes.csv");
    let lines = nodes.rows.iter().map(|row| format!("{},{}\n", row[0], row[nodes.at("income")]));
    place.write("one.csv", &("id,income\n".to_owned() + &lines.collect::<String>()));
    for ending in ["csv", "parquet"] {
        place.succeed(&format!(
            "fill one.csv nodes.edges.csv --method arb -q -o sure.{ending} --intervals 0.9,0.95"
        ));
        place.succeed(&format!(
            "fill one.csv nodes.edges.csv --method arb -q -o o.csv --uncertainty cells.{ending}"
        ));
    }
    for name in ["sure", "cells"] {
        place.succeed(&format!("convert {name}.parquet -o {name}-back.csv"));
        let (text, typed) =
            (place.read(&format!("{name}.csv")), place.read(&format!("{name}-back.csv")));
        assert!(text.lines().count() > 20, "{text}");
        for (text, typed) in text.lines().zip(typed.lines()) {
            for (text, typed) in text.split(',').zip(typed.split(',')) {
                let same = match (text.parse::<f64>(), typed.parse::<f64>()) {
                    (Ok(text), Ok(typed)) => (text - typed).abs() <= 1e-9 * text.abs(),
                    _ => text == typed,
                };
                assert!(same, "{name}: {text} and {typed}");
            }
        }
    }
}

#[test]
fn draws_differ_in_missing_cells_alone_and_centre_on_the_estimates() {
    const DRAWS: usize = 20;
    let place = people();
    place.succeed(&format!("{FILL} -o plain.csv"));
    place.succeed(&format!("{FILL} -o draws.csv --draws {DRAWS}"));
    place.succeed(&format!("{FILL} -o again.csv --draws {DRAWS} --threads 1"));
    assert!(place.read("draws.csv") == place.read("again.csv"), "draws are not repeatable");
    let (before, plain) = (Csv::read(&place, "nodes.csv"), Csv::read(&place, "plain.csv"));
    let draws = Csv::read(&place, "draws.csv");
    assert_eq!((draws.header[0].as_str(), &draws.header[1..]), ("draw", &plain.header[..]));
    let rows = before.rows.len();
    assert_eq!(draws.rows.len(), DRAWS * rows);
    for (at, row) in draws.rows.iter().enumerate() {
        assert_eq!(row[0], (at / rows + 1).to_string());
        for ((old, new), name) in before.rows[at % rows].iter().zip(&row[1..]).zip(&before.header) {
            assert!(if old.is_empty() { !new.is_empty() } else { old == new }, "{name}: {row:?}");
        }
    }
    for name in ["age", "income", "visits"] {
        let cells = before.column(name);
        let missing: Vec<usize> = (0..rows).filter(|&row| cells[row].is_empty()).collect();
        let (estimates, drawn) = (plain.column(name), draws.column(name));
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for &row in &missing {
            for draw in 0..DRAWS {
                let value = number(drawn[draw * rows + row]);
                assert!(value >= 0.0, "{name}: {value}");
                let off = value - number(estimates[row]);
                (sum, squares, count) = (sum + off, squares + off * off, count + 1.0);
            }
        }
        let (mean, sd) = (sum / count, (squares / count).sqrt());
        assert!(sd > 0.0 && mean.abs() < 0.3 * sd, "{name}: {mean} off, deviation {sd}");
        let distinct: BTreeSet<&str> =
            (0..DRAWS).map(|draw| drawn[draw * rows + missing[0]]).collect();
        assert!(distinct.len() > 2, "{name}: {distinct:?}");
    }
    for name in ["member", "district", "cycling"] {
        let (cells, drawn) = (before.column(name), draws.column(name));
        let varies = |row: usize| (1..DRAWS).any(|d| drawn[d * rows + row] != drawn[row]);
        let varying = (0..rows).filter(|&row| cells[row].is_empty() && varies(row)).count();
        assert!(varying > 5, "{name}: {varying} cells vary");
    }
}

#[test]
fn a_complete_table_has_no_uncertain_cells() {
    let place = Place::new();
    place.write("nodes.csv", "id,v\na,1\nb,2\nc,4\n");
    place.write("edges.csv", "source,target\na,b\n");
    let call = "fill nodes.csv edges.csv -o out.csv --report report.html";
    place.succeed(&format!("{call} --uncertainty cells.csv --intervals 0.9"));
    let header = "id,column,estimate,lower,upper,probability,set,method,hops\n";
    assert_eq!(place.read("cells.csv"), header);
    place.succeed(&format!("{call} --uncertainty cells.json"));
    assert_eq!(json(&place.read("cells.json")), Value::Array(Vec::new()));
    let done = place.succeed(&format!("{call} --intervals 0.9"));
    assert_eq!(place.read("out.csv"), place.read("nodes.csv"));
    assert!(!done.err.contains("warning"), "{}", done.err);
    place.succeed(&format!("{call} --draws 2"));
    assert_eq!(place.read("out.csv"), "draw,id,v\n1,a,1\n1,b,2\n1,c,4\n2,a,1\n2,b,2\n2,c,4\n");
}

/// Twelve people are too few to hide any: the columns are there, and empty.
#[test]
fn a_small_table_has_estimates_without_intervals() {
    let place = Place::with_ring();
    let call = "fill nodes.csv edges.csv --method neighbour-mean -o out.csv";
    let done = place.succeed(&format!("{call} --intervals 0.9"));
    assert!(done.err.contains("how sure the estimates of 'age', 'colour', 'keen' are is unknown"));
    let out = place.read("out.csv");
    let wanted = "id,age,age__lower,age__upper,colour,colour__probability,colour__set,keen,keen__probability,keen__set,joined";
    assert_eq!(out.lines().next(), Some(wanted));
    assert!(out.contains("\np3,33.50,,,red,,,yes,,,spring 4\n"), "{out}");
    place.succeed(&format!("{call} --uncertainty cells.csv --report report.html"));
    let cells = place.read("cells.csv");
    assert!(cells.contains("\np3,age,33.50,,,,,neighbour-mean,1\n"), "{cells}");
    assert_eq!(cells.lines().count(), 5, "{cells}");
    std::fs::remove_file(place.path("out.csv")).expect("removed");
    let refused = place.run(&format!("{call} --draws 3"));
    assert_eq!(refused.code, 1, "{}", refused.err);
    let said = "there is nothing to draw from: too few observed cells could be hidden";
    assert!(refused.err.contains(said) && refused.err.contains("leave --draws out"));
    assert!(!place.path("out.csv").exists());
}

/// A column of which nothing is missing has nothing beside it.
#[test]
fn columns_without_missing_cells_have_no_company() {
    let place = people();
    let nodes = place.read("nodes.csv");
    let with_rank = nodes.lines().enumerate().map(|(at, line)| match at {
        0 => format!("{line},rank\n"),
        at => format!("{line},{}.5\n", at % 40),
    });
    place.write("nodes.csv", &with_rank.collect::<String>());
    place.succeed(&format!("{FILL} -o sure.csv --intervals 0.9"));
    let sure = Csv::read(&place, "sure.csv");
    assert!(sure.header.contains(&"rank".to_owned()));
    assert!(!sure.header.iter().any(|name| name.starts_with("rank__")), "{:?}", sure.header);
}
