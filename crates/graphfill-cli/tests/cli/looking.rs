//! `inspect`, `convert`, `methods`, `demo`, `generate`, the help and the version.

use serde_json::Value;

use crate::support::{Place, real_data};

#[test]
fn help_shows_examples_first() {
    let place = Place::new();
    let done = place.run("--help");
    assert_eq!(done.code, 0);
    insta::assert_snapshot!("help", done.out);
    for command in [
        "fill",
        "evaluate",
        "reproduce",
        "inspect",
        "convert",
        "datasets",
        "datasets list",
        "datasets get",
        "datasets path",
        "methods",
        "bench",
        "devices",
        "demo",
        "generate",
    ] {
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
    assert_eq!(json["methods"][3]["parameters"][0]["name"], "alpha");
}

#[test]
fn conversions_go_there_and_back() {
    let place = Place::with_ring();
    for step in [
        "convert nodes.csv edges.csv -o a.npz",
        "convert a.npz -o b.parquet",
        "convert b.parquet b.edges.parquet -o c.tsv.gz",
        "convert c.tsv.gz --output d.csv",
    ] {
        let done = place.run(step);
        assert_eq!(done.code, 0, "{step}: {}", done.err);
    }
    // Everything that a table says beside spelling: "33.50" may become "33.5".
    let facts = |name: &str| {
        let done = place.run(&format!("inspect {name} --format json --quiet"));
        let mut facts: Value = serde_json::from_str(&done.out).expect("JSON");
        for gone in ["name", "format", "found", "notes", "warnings"] {
            facts.as_object_mut().expect("an object").remove(gone);
        }
        for column in facts["columns"].as_array_mut().expect("columns") {
            // Why a column is unused is found out anew, or declared.
            if column["kind"] == "unused" {
                column["reason"] = Value::Null;
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
    let done = place.run("demo --nodes 60 -o town");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("estimate") && done.out.contains("truth"));
    let filled = place.read("town/filled.csv");
    assert_eq!(filled.lines().count(), 61);
    assert!(filled.lines().all(|line| !line.split(',').any(str::is_empty)));
}

#[test]
fn man_pages_and_completions_for_every_shell() {
    let place = Place::new();
    place.succeed("generate -o made/here");
    let folder = place.path("made/here");
    let names: Vec<String> = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    let scripts =
        ["graphfill.bash", "_graphfill", "graphfill.fish", "_graphfill.ps1", "graphfill.elv"];
    for script in scripts {
        let text = place.read(&format!("made/here/{script}"));
        assert!(text.contains("label-share"), "{script}");
    }
    let pages = ["", "-fill", "-evaluate", "-datasets-get", "-generate", "-bench"];
    for page in pages.map(|name| format!("graphfill{name}.1")) {
        assert!(names.contains(&page), "{page}: {names:?}");
        let text = place.read(&format!("made/here/{page}"));
        assert!(text.contains("Examples:") && text.contains("graphfill "), "{page}: {text}");
    }
    assert!(place.read("made/here/graphfill.1").contains("Exit codes:"));
}

#[test]
fn the_version_says_what_was_built() {
    let place = Place::new();
    let short = place.succeed("-V").out;
    assert_eq!(short, format!("graphfill {}\n", env!("CARGO_PKG_VERSION")));
    let long = place.succeed("--version").out;
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(format!("{}\n", lines[0]), short);
    let commit = lines[1].strip_prefix("commit: ").expect("a commit");
    let is_hash = commit.len() == 12 && commit.chars().all(|digit| digit.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown", "{long}");
    let target = lines[2].strip_prefix("target: ").expect("a target");
    assert!(target.contains(std::env::consts::ARCH), "{long}");
    assert_eq!(lines[3], if cfg!(feature = "cuda") { "features: cuda" } else { "features: none" });
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
