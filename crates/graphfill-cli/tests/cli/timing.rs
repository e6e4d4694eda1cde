//! `graphfill bench` as a program reads it.

use crate::support::Place;

/// Small enough to be over at once.
const SMALL: &str = "--shapes cora --nodes 60 --edges 120 --hidden 8 --seconds 0 --device cpu";

#[test]
fn results_are_json_with_time_and_memory() {
    for (variant, task) in [("svga", "svga-update"), ("svga-u", "svga-u-update")] {
        let done = Place::new().run(&format!("bench {SMALL} --variant {variant} --threads 1"));
        assert_eq!(done.code, 0, "{}", done.err);
        let report: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
        assert!(report["machine"]["cores"].as_u64().expect("cores") >= 1);
        let [result] = &report["results"].as_array().expect("results")[..] else {
            panic!("one result")
        };
        assert_eq!(result["task"], task);
        assert_eq!((&result["shape"], &result["device"]), (&"cora".into(), &"cpu".into()));
        assert_eq!(result["threads"], 1);
        assert_eq!(result["precision"], "f32");
        assert!(result.get("floor_ms").is_none() && result.get("launch").is_none());
        assert_eq!((&result["nodes"], &result["hidden"]), (&60.into(), &8.into()));
        assert_eq!(result["edges"], 120);
        let number = |name: &str| result[name].as_f64().expect(name);
        assert!(number("ms_per_update") > 0.0 && number("gemm_gflops") > 0.0);
        assert!((0.0..1.0).contains(&number("share_of_gemm_rate")));
        let rate = number("gflop_per_update") / number("ms_per_update") * 1e3;
        let share = rate / number("gemm_gflops");
        assert!((share / number("share_of_gemm_rate") - 1.0).abs() < 1e-9);
        // The decoder's products alone: 24 rows, 8 wide, 1,433 columns, three times.
        assert!(number("gflop_per_update") * 1e9 >= (3 * 2 * 24 * 8 * 1433) as f64);
        assert!(number("planned_bytes") > (60 * 8 * 4 * 3) as f64);
        // Adam alone reads and writes three numbers for each of its own.
        assert!(number("moved_bytes") > (60 * 8 * 4 * 6) as f64);
    }
}

#[test]
fn rounds_of_propagation_are_timed_too() {
    let small = SMALL.replace("--hidden 8 ", "");
    for (variant, task) in [("fp", "fp-round"), ("arb", "arb-round")] {
        let done = Place::new().run(&format!("bench {small} --variant {variant} --threads 1"));
        assert_eq!(done.code, 0, "{}", done.err);
        let report: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
        let result = &report["results"][0];
        assert_eq!((&result["task"], &result["device"]), (&task.into(), &"cpu".into()));
        assert_eq!((&result["nodes"], &result["width"]), (&60.into(), &64.into()));
        let number = |name: &str| result[name].as_f64().expect(name);
        let rate = number("moved_bytes") / number("ms_per_round") / 1e6;
        assert!((rate / number("moved_gbps") - 1.0).abs() < 1e-9);
    }
    for option in ["--profile", "--hidden 8", "--memory-limit 1GiB"] {
        let done = Place::new().run(&format!("bench {small} --variant fp {option}"));
        let name = option.split(' ').next().unwrap_or(option);
        assert_eq!(done.code, 2, "{option}: {}", done.err);
        assert!(done.err.contains(&format!("{name} ")), "{option}: {}", done.err);
    }
}

#[test]
fn tables_may_be_of_another_width() {
    let call = "bench --shapes cora,arxiv --nodes 60 --edges 120 --features 5 --hidden 8 --seconds 0 --device cpu";
    let done = Place::new().succeed(&format!("{call} --format csv"));
    let cell = |line: &str, name: &str| {
        let at =
            done.out.lines().next().and_then(|header| header.split(',').position(|n| n == name));
        line.split(',').nth(at.expect("a column")).expect("a cell").to_owned()
    };
    for line in done.out.lines().skip(1) {
        assert_eq!(cell(line, "features"), "5", "{}", done.out);
        assert_eq!(cell(line, "copy_gbps"), "", "{}", done.out);
    }
    assert_eq!(done.out.lines().count(), 3);
}

#[test]
fn a_profile_tells_every_operation() {
    let done = Place::new().run(&format!("bench {SMALL} --profile"));
    assert_eq!(done.code, 0, "{}", done.err);
    for operation in ["sparse product", "decoder loss", "gaussian field", "Adam"] {
        assert!(done.out.contains(operation), "{}", done.out);
    }
}

#[test]
fn too_little_memory_is_told_before_anything_runs() {
    let done = Place::new().run(&format!("bench {SMALL} --memory-limit 100kB"));
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    for part in
        ["cora: training needs", "97.7 KiB are allowed", "lower the hidden width\n  --hidden N"]
    {
        assert!(done.err.contains(part), "{part}: {}", done.err);
    }
}

#[test]
fn other_shapes_and_sizes_are_wrong_calls() {
    for (call, wanted) in [
        ("bench --shapes karate", "there is no shape 'karate'; there are cora, citeseer"),
        ("bench --memory-limit lots", "a size such as 4GiB"),
        ("bench --nodes 0", "0 is not in"),
        ("bench --features 0", "0 is not in"),
        ("bench --seconds soon", "number of seconds"),
    ] {
        let done = Place::new().run(call);
        assert_eq!(done.code, 2, "{call}: {}", done.err);
        assert!(done.err.contains(wanted), "{call}: {}", done.err);
    }
}
