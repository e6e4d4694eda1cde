//! `inspect`, `convert`, `methods`, `datasets list`, `demo`, `completions` and the help.

use serde_json::Value;

use crate::support::{Place, real_data};

#[test]
fn help_shows_examples_first() {
    let place = Place::new();
    let done = place.run("--help");
    assert_eq!(done.code, 0);
    insta::assert_snapshot!("help", done.out);
    for command in ["fill", "evaluate", "inspect", "convert"] {
        let done = place.run(&format!("{command} --help"));
        assert!(done.out.starts_with("Examples:"), "{command}: {}", done.out);
    }
}

#[test]
fn inspect_describes_every_column() {
    let place = Place::with_ring();
    insta::assert_snapshot!("inspect", place.run("inspect nodes.csv edges.csv").out);
}

#[test]
fn methods_and_their_parameters() {
    let place = Place::new();
    insta::assert_snapshot!("methods", place.run("methods").out);
    let json: Value = serde_json::from_str(&place.run("methods --format json").out).expect("JSON");
    assert_eq!(json[3]["parameters"][0]["name"], "alpha");
}

#[test]
fn conversions_go_there_and_back() {
    let place = Place::with_ring();
    for step in [
        "convert nodes.csv edges.csv a.npz",
        "convert a.npz b.parquet",
        "convert b.parquet b.edges.parquet c.tsv.gz",
        "convert c.tsv.gz d.csv",
    ] {
        let done = place.run(step);
        assert_eq!(done.code, 0, "{step}: {}", done.err);
    }
    // Everything that a table says beside spelling: "33.50" may become "33.5".
    let facts = |name: &str| {
        let done = place.run(&format!("inspect {name} --format json --quiet"));
        let mut facts: Value = serde_json::from_str(&done.out).expect("JSON");
        for gone in ["name", "format", "warnings"] {
            facts.as_object_mut().expect("an object").remove(gone);
        }
        for column in facts["columns"].as_array_mut().expect("columns") {
            // Why a column is unused is found out anew, or declared.
            if column["kind"] == "unused" {
                column["values"] = Value::Null;
            }
        }
        facts
    };
    for name in ["a.npz", "b.parquet", "d.csv"] {
        assert_eq!(facts(name), facts("nodes.csv"), "{name}");
    }
}

#[test]
fn demo_is_a_pleasure_and_keeps_its_files() {
    let place = Place::new();
    let done = place.run("demo --nodes 60 --keep town");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("estimate") && done.out.contains("truth"));
    let filled = place.read("town/filled.csv");
    assert_eq!(filled.lines().count(), 61);
    assert!(filled.lines().all(|line| !line.split(',').any(str::is_empty)));
}

#[test]
fn completions_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = place.run(&format!("completions {shell}"));
        assert!(done.code == 0 && done.out.contains("evaluate"), "{shell}");
    }
}

#[test]
fn every_real_file_can_be_looked_at() {
    let Some(data) = real_data("inspecting real files") else { return };
    let place = Place::new();
    let look = |path: &str| {
        let path = data.join(path);
        let done = place.run(&format!("inspect {} --format json", path.display()));
        assert_eq!(done.code, 0, "{}: {}", path.display(), done.err);
        let about: Value = serde_json::from_str(&done.out).expect("JSON");
        [&about["nodes"], &about["edges"], &about["features"]].map(|n| n.as_u64().unwrap_or(0))
    };
    assert_eq!(look("cora/cora.npz"), [2708, 5278, 1433]);
    assert_eq!(look("raw/planetoid/ind.cora"), [2708, 5278, 1433]);
    assert_eq!(look("raw/gnn-benchmark/cora.npz"), [2708, 5278, 1433]);
    assert_eq!(look("raw/gnn-benchmark/amazon_electronics_photo.npz"), [7650, 119_081, 745]);
    assert_eq!(look("raw/parquet"), [12_772, 18_644, 1258]);
    assert_eq!(look("house_lucas/nodes.csv"), [25_357, 37_437, 17]);
    let splits = place.run(&format!("inspect {}", data.join("cora/splits.npz").display()));
    assert!(splits.out.contains("splits for 10 seeds"), "{}", splits.out);
}
