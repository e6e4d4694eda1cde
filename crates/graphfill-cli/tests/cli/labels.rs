//! Labels: evidence for methods that learn, and filled where they are missing.

use graphfill::data::generator::GeneratorConfig;
use serde_json::Value;

use crate::support::{Place, is_complete, town};

fn communities() -> Place {
    town(&GeneratorConfig {
        nodes: 200,
        communities: 4,
        mixing: 0.05,
        mean_degree: 8.0,
        topics: 16,
        words_per_node: 4.0,
        ..GeneratorConfig::default()
    })
}

/// Writes the nodes without every fifth label; says which rows lost what.
fn without_some_labels(place: &Place) -> Vec<(usize, String)> {
    let nodes = place.read("nodes.csv");
    let header: Vec<&str> = nodes.lines().next().expect("a header").split(',').collect();
    let at = header.iter().position(|name| *name == "community").expect("labels");
    let mut lost = Vec::new();
    let lines = nodes.lines().enumerate().map(|(row, line)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if row > 0 && row % 5 == 0 {
            lost.push((row, cells[at].to_owned()));
            cells[at] = "";
        }
        cells.join(",") + "\n"
    });
    let text = lines.collect::<String>();
    place.write("nodes.csv", &text);
    lost
}

#[test]
fn missing_labels_are_filled_mostly_rightly() {
    let place = communities();
    let lost = without_some_labels(&place);
    assert_eq!(lost.len(), 40);
    for method in ["svga", "svga-p", "auto"] {
        let learner = if method == "auto" { "svga-p" } else { method };
        let call = format!(
            "fill nodes.csv --label community --method {method} --param {learner}.hidden=32 --max-updates 300 -o out.csv"
        );
        let done = place.succeed(&call);
        let said = "40 missing labels estimated as a by-product";
        assert!(done.err.contains(said), "{method}: {}", done.err);
        let filled = place.read("out.csv");
        assert!(is_complete(&filled), "{method}");
        let lines: Vec<&str> = filled.lines().collect();
        let at = lines[0].split(',').position(|name| name == "community").expect("labels");
        let label = |row: usize| lines[row].split(',').nth(at).expect("a label");
        let right = lost.iter().filter(|(row, class)| label(*row) == class).count();
        // One in four by chance.
        assert!(right >= 24, "{method}: {right} of 40");
        let summary: Value =
            serde_json::from_str(&place.succeed(&format!("{call} --format json")).out)
                .expect("JSON");
        assert_eq!(summary["estimated_labels"], 40, "{method}");
    }
    // A method that does not learn leaves them alone.
    let done = place.succeed("fill nodes.csv --label community --method arb -o out.csv");
    assert!(!done.err.contains("missing labels"), "{}", done.err);
    assert!(done.err.contains("column 'community' was left as it is, 40 cells"), "{}", done.err);
}

#[test]
fn a_model_fills_labels_again() {
    let place = communities();
    without_some_labels(&place);
    for method in ["svga", "svga-p"] {
        place.succeed(&format!(
            "fill nodes.csv --label community --method {method} --param {method}.hidden=8 --max-updates 50 -o one.csv --checkpoint {method}.model"
        ));
        let again = format!("fill nodes.csv --label community --model {method}.model -o two.csv");
        let done = place.succeed(&again);
        assert!(done.err.contains("40 missing labels"), "{method}: {}", done.err);
        assert_eq!(place.read("one.csv"), place.read("two.csv"), "{method}");
    }
}

#[test]
fn evaluations_may_show_labels() {
    let place = communities();
    let call = "evaluate nodes.csv --methods svga,svga-p --param svga.hidden=16 --param svga-p.hidden=16 --max-updates 40 --format json";
    let score = |rest: &str| -> Value {
        serde_json::from_str(&place.succeed(&format!("{call} {rest}")).out).expect("JSON")
    };
    let with = score("--label community --label-share 0.5");
    let without = score("--label community");
    for method in 0..2 {
        let recall = |report: &Value| {
            report["methods"][method]["mean"]["recall@3"].as_f64().expect("a score")
        };
        assert!(recall(&with).is_finite() && recall(&without).is_finite());
        assert_ne!(recall(&with), recall(&without), "labels make no difference");
    }
}

#[test]
fn shares_of_labels_that_make_no_sense_are_wrong_calls() {
    let place = communities();
    for (rest, part) in [
        ("--label community --label-share 2", "--label-share 2: the share lies between 0 and 1"),
        ("--label community --label-share NaN", "the share lies between 0 and 1"),
        ("--label-share 0.5", "there are no labels"),
    ] {
        let done = place.run(&format!("evaluate nodes.csv --methods svga {rest}"));
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{rest}: {}", done.err);
        assert!(done.err.contains(part), "{rest}: {}", done.err);
    }
}
