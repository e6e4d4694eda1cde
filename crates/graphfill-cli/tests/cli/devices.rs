//! The CPU and GPUs: which there are, and which is used.

use graphfill::engine::cuda;
use serde_json::Value;

use crate::support::Place;

/// Whether there is no NVIDIA driver; says that a test was skipped otherwise.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn is_without_driver(test: &str) -> bool {
    let is_without = !cuda::driver_is_present();
    if !is_without {
        eprintln!("skipped: {test}, since there is an NVIDIA driver here");
    }
    is_without
}

#[test]
fn devices_are_listed() {
    let place = Place::new();
    let done = place.succeed("devices --format json");
    let devices: Value = serde_json::from_str(&done.out).expect("JSON");
    let devices = &devices["devices"];
    assert_eq!(devices[0]["device"], "cpu");
    assert!(devices[0]["cores"].as_u64().expect("cores") >= 1);
    assert!(devices[0]["vectors"].as_str().is_some_and(|vectors| !vectors.is_empty()));
    assert_eq!(devices[0]["missing"], Value::Array(Vec::new()));
    let table = place.succeed("devices").out;
    assert!(table.trim_start().starts_with("device  name"), "{table}");
    assert!(table.contains("cpu") && table.contains("cores, vectors of"), "{table}");
    let csv = place.succeed("devices --format csv").out;
    let rows = 1 + devices.as_array().expect("devices").len();
    assert!(csv.starts_with("device,name,cores,") && csv.lines().count() >= rows, "{csv}");
}

#[test]
fn why_there_is_no_gpu_is_told() {
    if !is_without_driver("the list of no GPUs") {
        return;
    }
    let place = Place::new();
    let done = place.succeed("devices --format csv");
    assert_eq!(done.out.lines().count(), 2, "{}", done.out);
    assert_eq!(done.err, "note: no GPU: there is no NVIDIA driver here (no libcuda.so.1)\n");
    assert_eq!(place.succeed("devices --quiet").err, "");
}

#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    if !is_without_driver("asking for a GPU") {
        return;
    }
    let place = Place::with_ring();
    for call in [
        "fill nodes.csv edges.csv -o out.csv",
        "evaluate nodes.csv edges.csv",
        "bench --shapes cora",
        "demo",
    ] {
        for (device, name) in [("cuda", "cuda:0"), ("cuda:7", "cuda:7")] {
            let done = place.run(&format!("{call} --device {device}"));
            let wanted = format!("error: {name}: there is no NVIDIA driver here");
            assert_eq!((done.code, done.out.as_str()), (2, ""), "{call}: {}", done.err);
            assert!(done.err.starts_with(&wanted), "{call}: {}", done.err);
        }
        let done = place.run_with(("GRAPHFILL_DEVICE", "cuda:3"), call);
        assert_eq!(done.code, 2, "{call}: {}", done.err);
        assert!(done.err.contains("cuda:3"), "{call}: {}", done.err);
    }
    assert_eq!(place.files(), ["edges.csv", "nodes.csv"]);
    // Where nothing runs on a GPU, none is looked for.
    let done =
        place.succeed("fill nodes.csv edges.csv -o out.csv --method column-mean --device cuda");
    assert!(
        done.err.contains("warning: --device cuda:0: none of these methods runs on a GPU"),
        "{}",
        done.err
    );
}

#[test]
fn without_a_gpu_auto_is_the_cpu() {
    if !is_without_driver("the device auto") {
        return;
    }
    let place = Place::with_ring();
    let train = "fill nodes.csv edges.csv --method svga --param svga.hidden=8 --max-updates 20";
    for (name, device) in
        [("cpu", "--device cpu"), ("auto", "--device auto"), ("bf16", "--precision bf16")]
    {
        let done = place.succeed(&format!("{train} -o {name}.csv --checkpoint {name} {device}"));
        assert!(!done.err.contains("training on"), "{}", done.err);
        assert!(!done.err.contains("running on"), "{}", done.err);
    }
    let nothing = place.run_with(("GRAPHFILL_DEVICE", "auto"), &format!("{train} -o none.csv"));
    assert_eq!(nothing.code, 0, "{}", nothing.err);
    for other in ["auto.csv", "bf16.csv", "none.csv"] {
        assert_eq!(place.read(other), place.read("cpu.csv"), "{other}");
    }
    for model in ["auto", "bf16"] {
        let bytes = |name: &str| std::fs::read(place.path(name)).expect("a model");
        assert!(bytes(model) == bytes("cpu"), "{model}");
    }
}
