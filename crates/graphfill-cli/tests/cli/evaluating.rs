//! `evaluate`: honest scores.

use graphfill::data::generator::GeneratorConfig;
use serde_json::Value;

use crate::support::{Place, real_data, town};

#[test]
fn the_json_has_every_seed_and_their_mean() {
    let place = town(&GeneratorConfig { nodes: 300, ..GeneratorConfig::default() });
    let done = place.run(
        "evaluate nodes.csv nodes.edges.csv --label community --methods column-mean,arb --seeds 0..2 --param arb.alpha=0.9 --format json",
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let json: Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(json["nodes"], 300);
    let methods = json["methods"].as_array().expect("methods");
    assert_eq!(methods.len(), 2);
    for method in methods {
        let seeds = method["seeds"].as_array().expect("seeds");
        assert_eq!(
            seeds.iter().map(|s| s["seed"].as_u64()).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(2)]
        );
        for metric in ["recall@3", "ndcg@10", "nrmse", "accuracy"] {
            let values: Vec<f64> =
                seeds.iter().map(|s| s["test"][metric].as_f64().expect(metric)).collect();
            let mean = values.iter().sum::<f64>() / 3.0;
            assert!((method["mean"][metric].as_f64().expect(metric) - mean).abs() < 1e-12);
            assert!(method["sd"][metric].as_f64().expect(metric) >= 0.0);
            assert!(seeds[0]["validation"][metric].is_number());
        }
        assert!(seeds[0]["seconds"].as_f64().expect("seconds") > 0.0);
        assert!(seeds[0]["test"]["columns"]["income"]["r2"].is_number());
    }
    assert_eq!(methods[1]["parameters"]["alpha"], 0.9);
    assert_eq!(json["comparisons"][0]["paired_by"], "seeds");
}

#[test]
fn lists_may_have_spaces() {
    let place = Place::with_ring();
    let words = ["evaluate", "nodes.csv", "edges.csv", "--format", "json"];
    let lists = ["--methods", "fp, arb ", "--top-k", "1, 2"];
    let done = place.run_words(&[&words[..], &lists[..]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    let json: Value = serde_json::from_str(&done.out).expect("JSON");
    let names: Vec<_> = json["methods"].as_array().expect("methods").iter().collect();
    assert_eq!([&names[0]["method"], &names[1]["method"]], ["fp", "arb"]);
}

#[test]
fn single_cells_can_be_hidden() {
    let place = town(&GeneratorConfig { nodes: 300, ..GeneratorConfig::default() });
    let done =
        place.run("evaluate nodes.csv --methods column-mean,fp --hide-cells 0.2 --format csv");
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.out.lines().count(), 3);
    assert!(done.out.starts_with("dataset,method,seed,seconds,peak_memory_bytes,recall@3"));
}

/// The figures of the paper's protocol on Cora and Pubmed, on given splits.
#[test]
fn published_figures_are_reached() {
    let Some(data) = real_data("scoring Cora and Pubmed") else { return };
    let place = Place::new();
    let score = |call: &str| -> Value {
        let done =
            place.run(&format!("evaluate --data-dir {} --format json {call}", data.display()));
        assert_eq!(done.code, 0, "{}", done.err);
        serde_json::from_str::<Value>(&done.out).expect("JSON")["methods"][0]["mean"].clone()
    };
    let near = |value: &Value, wanted: f64, share: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value / wanted - 1.0).abs() < share, "{value} is not near {wanted}");
    };
    let arb = score(
        "--dataset cora --methods arb --seeds 0..9 --param arb.alpha=0.98 --param arb.beta=0.9 --param arb.rounds=10",
    );
    near(&arb["recall@10"], 0.1827, 0.01);
    near(&arb["ndcg@10"], 0.2559, 0.01);
    near(&arb["recall@50"], 0.3820, 0.01);
    let fp = score("--dataset cora --methods fp --seeds 0..9");
    near(&fp["recall@10"], 0.1559, 0.02);
    near(&fp["ndcg@10"], 0.2198, 0.02);
    let neighbours = score("--dataset cora --methods neighbour-mean --seeds 0..9");
    near(&neighbours["recall@10"], 0.0906, 0.05);
    let pubmed = score(
        "--dataset pubmed --methods arb --param arb.alpha=1 --param arb.beta=0.625 --param arb.rounds=14",
    );
    near(&pubmed["rmse"], 0.0159, 0.005);
    near(&pubmed["r2"], 0.099, 0.01);
}

/// Methods do not know names: published parameters belong to `reproduce` alone.
#[test]
fn the_name_of_a_data_set_changes_nothing() {
    let place = town(&GeneratorConfig { nodes: 150, ..GeneratorConfig::default() });
    let scores = ["town", "pubmed"].map(|name| {
        std::fs::create_dir_all(place.path(&format!("data/{name}"))).expect("a folder");
        place.succeed(&format!("convert nodes.csv -o data/{name}/{name}.npz"));
        let call = format!("evaluate --dataset {name} --data-dir data --format json");
        let done = place.succeed(&format!("{call} --methods vae,sat,svga --max-updates 5"));
        let json: Value = serde_json::from_str(&done.out).expect("JSON");
        let methods = json["methods"].as_array().expect("methods").clone();
        let of = |method: Value| (method["mean"].clone(), method["parameters"].clone());
        methods.into_iter().map(of).collect::<Vec<_>>()
    });
    assert_eq!(scores[0].len(), 3);
    assert_eq!(scores[0], scores[1]);
}
