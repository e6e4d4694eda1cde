//! `--tune` and `--params-file`: settings that were searched for, kept in a file.

use graphfill::data::generator::GeneratorConfig;
use serde_json::Value;

use crate::support::{Place, town};

const CALL: &str = "fill nodes.csv --method svga --param svga.hidden=8 --max-updates 30 -o out.csv";

fn people(nodes: usize) -> Place {
    town(&GeneratorConfig { nodes, topics: 12, words_per_node: 3.0, ..GeneratorConfig::default() })
}

fn trials(place: &Place) -> Vec<toml::Value> {
    let file: toml::Table = place.read("found.toml").parse().expect("TOML");
    file["tuning"]["trials"].as_array().expect("trials").clone()
}

#[test]
fn trials_are_kept_and_added_to() {
    let place = people(100);
    let done = place.succeed(&format!("{CALL} --tune 3 --params-file found.toml"));
    assert!(done.err.contains("the best of 3 settings, kept in found.toml"), "{}", done.err);
    let first = trials(&place);
    assert_eq!(first.len(), 3);
    for trial in &first {
        assert!(trial["score"].as_float().expect("a score").is_finite());
        assert!(trial["parameters"].get("lambda").is_some());
        assert!(trial["parameters"].get("hidden").is_none(), "the call fixed it");
    }
    let done = place.succeed(&format!("{CALL} --tune 5 --params-file found.toml"));
    assert!(done.err.contains("3 trials are known from found.toml"), "{}", done.err);
    let second = trials(&place);
    assert_eq!(second.len(), 5);
    assert_eq!(second[..3], first[..], "known trials are not tried again");
    for (at, trial) in second.iter().enumerate() {
        assert!(second[..at].iter().all(|other| other["parameters"] != trial["parameters"]));
    }

    // The best of them is what the file offers, and what a later call uses.
    let score = |trial: &toml::Value| trial["score"].as_float().expect("a score");
    let best = second.iter().max_by(|a, b| score(a).total_cmp(&score(b))).expect("a trial");
    let file: toml::Table = place.read("found.toml").parse().expect("TOML");
    assert_eq!(file["svga"], best["parameters"]);
    let done = place.succeed(&format!("{CALL} --params-file found.toml --format json"));
    let summary: Value = serde_json::from_str(&done.out).expect("JSON");
    let used = &summary["columns"][0]["parameters"];
    for (name, value) in best["parameters"].as_table().expect("parameters") {
        let expected = match value {
            toml::Value::String(word) => Value::from(word.as_str()),
            number => Value::from(number.as_float().expect("a number")),
        };
        assert_eq!(used[name], expected, "{name}: {used}");
    }
    assert_eq!(trials(&place).len(), 5, "without --tune the file is only read");

    // What the call says comes before what the file says.
    let call = format!("{CALL} --params-file found.toml --param svga.lambda=0.25 --format json");
    let summary: Value = serde_json::from_str(&place.succeed(&call).out).expect("JSON");
    assert_eq!(summary["columns"][0]["parameters"]["lambda"], 0.25);
}

#[test]
fn the_trials_of_another_search_are_refused() {
    let place = people(100);
    place.succeed(&format!("{CALL} --tune 1 --params-file found.toml"));
    let before = place.read("found.toml");
    let other = people(90);
    other.write("found.toml", &before);
    for (place, call) in [(&other, CALL.to_owned()), (&place, format!("{CALL} --seed 4"))] {
        let done = place.run(&format!("{call} --tune 2 --params-file found.toml"));
        assert_eq!(done.code, 2, "{}", done.err);
        for part in ["found.toml has the trials of another search", "seed 0"] {
            assert!(done.err.contains(part), "{}", done.err);
        }
        assert_eq!(place.read("found.toml"), before);
    }
}

#[test]
fn nothing_to_tune_is_said() {
    let place = people(60);
    let done =
        place.run("fill nodes.csv -o out.csv --method arb --tune 3 --params-file found.toml");
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("method 'arb' has nothing to tune"), "{}", done.err);
    assert!(!place.path("found.toml").exists() && !place.path("out.csv").exists());
    let done = place.run("fill nodes.csv -o out.csv --method svga --tune 3");
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("--params-file"), "{}", done.err);
}

#[test]
fn files_that_hold_no_parameters_are_refused() {
    let place = people(60);
    place.write("broken.toml", "[svga\nlambda = 1");
    place.write("unknown.toml", "[svga]\nlamda = 1.0\n");
    place.write("outside.toml", "[svga]\ndropout = 7.0\n");
    for (file, code, part) in [
        ("missing.toml", 2, "missing.toml"),
        ("broken.toml", 1, "broken.toml is no file of parameters"),
        ("unknown.toml", 2, "'lamda' (did you mean 'lambda'?)"),
        ("outside.toml", 2, "dropout"),
    ] {
        let done = place.run(&format!("{CALL} --params-file {file}"));
        assert_eq!(done.code, code, "{file}: {}", done.err);
        assert!(done.err.starts_with("error: ") && done.err.contains(part), "{}", done.err);
        assert!(!place.path("out.csv").exists());
    }
}

#[test]
fn evaluate_tunes_one_method() {
    let place = people(100);
    let call = "evaluate nodes.csv --max-updates 20 --param svga.hidden=8 --tune 2 --params-file found.toml --format json";
    let done = place.run(&format!("{call} --methods svga,arb"));
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("--tune takes one method"), "{}", done.err);
    let done = place.succeed(&format!("{call} --methods svga"));
    assert_eq!(trials(&place).len(), 2);
    let report: Value = serde_json::from_str(&done.out).expect("JSON");
    assert!(report["methods"][0]["parameters"]["lambda"].is_number());
}
