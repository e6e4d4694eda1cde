//! Limits of training: time, updates, memory; and the history of it.

use std::time::{Duration, Instant};

use graphfill::data::generator::GeneratorConfig;
use serde_json::Value;

use crate::support::{Place, is_complete, town};

fn people() -> Place {
    town(&GeneratorConfig {
        nodes: 120,
        topics: 12,
        words_per_node: 3.0,
        ..GeneratorConfig::default()
    })
}

#[test]
fn a_time_limit_ends_training_with_a_note() {
    let place = people();
    for (method, patience) in [("svga", "svga.patience"), ("svga-p", "svga-p.patience")] {
        let models = if method == "svga-p" { "--param svga-p.models=100" } else { "" };
        let began = Instant::now();
        let done = place.succeed(&format!(
            "fill nodes.csv --method {method} --param {patience}=100000 {models} --time-limit 0.2s -o {method}.csv"
        ));
        assert!(began.elapsed() < Duration::from_secs(20), "{method}: {:?}", began.elapsed());
        assert!(done.err.contains("the time limit ended training"), "{method}: {}", done.err);
        assert!(is_complete(&place.read(&format!("{method}.csv"))), "{method}");
    }
    // Too little time to train at all: propagation fills alone, and says so.
    let done = place.succeed("fill nodes.csv --time-limit 0.001s -o auto.csv");
    assert!(done.err.contains("seconds, and the time limit leaves 0"), "{}", done.err);
    assert!(is_complete(&place.read("auto.csv")));
}

#[test]
fn the_history_has_a_line_for_every_look_at_validation() {
    let place = people();
    for method in ["svga", "svga-p"] {
        let done = place.succeed(&format!(
            "fill nodes.csv --label community --method {method} --param {method}.hidden=16 --max-updates 45 --history {method}-history.csv -o out.csv --format json"
        ));
        let summary: Value = serde_json::from_str(&done.out).expect("JSON");
        let chosen = summary["columns"][0]["parameters"]["updates"].as_f64().expect("updates");
        assert!(chosen <= 45.0, "{chosen}");
        let history = place.read(&format!("{method}-history.csv"));
        let mut lines = history.lines();
        let header = "model,purpose,update,loss,features,labels,gmrf,validation";
        assert_eq!(lines.next(), Some(header));
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        let of_model = |model: usize| {
            let own = rows.iter().filter(|row| row[0] == model.to_string());
            own.map(|row| row[2]).collect::<Vec<_>>()
        };
        assert_eq!(of_model(0), ["10", "20", "30", "40", "45"], "{history}");
        assert!(rows.iter().filter(|row| row[0] == "0").all(|row| is_number(row[7])), "{history}");
        // A network of single rows has no field.
        let losses = if method == "svga" { 3..7 } else { 3..6 };
        let told = |row: &Vec<&str>| row[losses.clone()].iter().all(|loss| is_number(loss));
        assert!(rows.iter().all(told), "{history}");
        // The models that are kept train as long as was found best.
        let models = if method == "svga" { 1 } else { 3 };
        for model in 1..=models {
            let updates = of_model(model);
            assert_eq!(updates.len(), (chosen / 10.0).ceil() as usize, "{history}");
            let last = updates.last().map_or(0.0, |last| last.parse().unwrap_or(f64::NAN));
            assert_eq!(last, chosen, "{history}");
        }
        assert!(of_model(models + 1).is_empty(), "{history}");
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

#[test]
fn an_input_is_never_a_history_nor_a_file_written_twice() {
    let place = people();
    let before = place.read("nodes.csv");
    let done =
        place.run("fill nodes.csv --method svga --max-updates 10 --history nodes.csv -o out.csv");
    assert_eq!(done.code, 2, "{}", done.err);
    assert_eq!(place.read("nodes.csv"), before);
    let done =
        place.run("fill nodes.csv --method svga --max-updates 10 --history out.csv -o out.csv");
    assert_eq!(done.code, 2, "{}", done.err);
}

#[test]
fn too_little_memory_is_told_before_training() {
    let place = people();
    for method in ["svga", "svga-r", "svga-u", "svga-p"] {
        let done = place.run(&format!(
            "fill nodes.csv --method {method} --memory-limit 1kB -o out.csv --checkpoint town.model"
        ));
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{method}: {}", done.err);
        let lower = match method {
            "svga-p" => "or take the method arb".to_owned(),
            _ => format!("({method}.hidden = 128)\n  --param {method}.hidden=128"),
        };
        for part in ["error: training needs", "1000 bytes are allowed", &lower] {
            assert!(done.err.contains(part), "{method}, {part}: {}", done.err);
        }
        assert!(!place.path("out.csv").exists() && !place.path("town.model").exists());
    }
    let done = place.succeed("fill nodes.csv --memory-limit 1kB -o out.csv");
    assert!(done.err.contains("too little memory for svga-p"), "{}", done.err);
    assert!(is_complete(&place.read("out.csv")));
}

#[test]
fn senseless_limits_are_wrong_calls() {
    let place = people();
    for wrong in [
        "--max-updates 0",
        "--time-limit soon",
        "--memory-limit lots",
        "--checkpoint-every 10",
        "--checkpoint-every 0 --checkpoint town.model",
        "--method svga --param svga.hidden=0",
        "--method svga --param svga.encoder=magic",
    ] {
        let done = place.run(&format!("fill nodes.csv -o out.csv {wrong}"));
        assert_eq!(done.code, 2, "{wrong}: {}", done.err);
    }
    let nowhere = place.run("fill nodes.csv -o out.csv --method svga --history no/such/folder.csv");
    assert_eq!(nowhere.code, 2, "{}", nowhere.err);
    assert!(nowhere.err.contains("no/such/folder.csv"), "{}", nowhere.err);
}
