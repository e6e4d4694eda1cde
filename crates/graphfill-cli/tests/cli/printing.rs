//! What is printed, and how: JSON documents, colours, levels of messages, and odd names.

use serde_json::Value;

use crate::support::Place;

#[test]
fn every_json_document_begins_with_the_version_of_its_schema() {
    let place = Place::with_ring();
    for call in [
        "inspect nodes.csv edges.csv",
        "fill nodes.csv edges.csv -o out.csv --method fp",
        "convert nodes.csv edges.csv -o graph.npz",
        "evaluate nodes.csv edges.csv --methods fp",
        "methods",
        "devices",
        "datasets list --data-dir here",
        "generate -o made",
        "bench --shapes cora --nodes 60 --edges 120 --hidden 8 --seconds 0 --device cpu",
        "bench --shapes cora --nodes 60 --edges 120 --hidden 8 --seconds 0 --device cpu --profile",
        "bench --shapes cora --nodes 60 --edges 120 --seconds 0 --device cpu --variant fp",
    ] {
        let done = place.succeed(&format!("{call} --format json"));
        assert!(done.out.starts_with("{\n  \"schema_version\": 1,\n"), "{call}: {}", done.out);
        let json: Value = serde_json::from_str(&done.out).expect("JSON");
        assert!(json.as_object().is_some_and(|document| document.len() > 1), "{call}");
    }
}

#[test]
fn inspect_gives_values_and_not_prose() {
    let place = Place::with_ring();
    let done = place.succeed("inspect nodes.csv edges.csv --format json");
    let json: Value = serde_json::from_str(&done.out).expect("JSON");
    let column = |name: &str| {
        let columns = json["columns"].as_array().expect("columns");
        columns.iter().find(|column| column["name"] == name).expect(name).clone()
    };
    let age = column("age");
    assert_eq!((&age["min"], &age["max"]), (&30.5.into(), &61.5.into()));
    assert!((age["mean"].as_f64().expect("a mean") - 44.1).abs() < 1e-9, "{age}");
    assert_eq!((&age["missing"], &age["width"]), (&2.into(), &1.into()));
    let colour = column("colour");
    assert_eq!(colour["level_count"], 2);
    let levels = serde_json::json!([{"name": "red", "count": 6}, {"name": "blue", "count": 5}]);
    assert_eq!(colour["levels"], levels);
    let share = column("keen")["true_share"].as_f64().expect("a share");
    assert!((share - 6.0 / 11.0).abs() < 1e-12);
    assert!(column("joined")["reason"].is_string());
    assert!(column("joined").get("min").is_none() && age.get("levels").is_none());
    let csv = place.succeed("inspect nodes.csv edges.csv --format csv").out;
    assert!(csv.starts_with("column,kind,width,missing,min,max,mean,"), "{csv}");
    assert!(csv.contains("\nage,number,1,2,30.5,61.5,44."), "{csv}");
}

#[test]
fn inspect_shows_tiny_and_huge_numbers() {
    let place = Place::new();
    let rows = (1..=20).map(|n| format!("n{n},{}e-7,{}e30\n", 5 + n, n + 1));
    place.write("nodes.csv", &format!("id,tiny,huge\n{}", rows.collect::<String>()));
    place.write("edges.csv", "source,target\nn1,n2\n");
    let text = place.succeed("inspect nodes.csv edges.csv").out;
    assert!(text.contains("6e-7 to 2.5e-6, mean 1.55e-6"), "{text}");
    assert!(text.contains("2e30 to 2.1e31, mean 1.15e31"), "{text}");
}

#[test]
fn many_levels_are_counted_and_not_all_listed() {
    let place = Place::new();
    let rows = (0..1200).map(|n| format!("n{n},level{}\n", n % 150));
    place.write("nodes.csv", &format!("id,kind\n{}", rows.collect::<String>()));
    let call = "inspect nodes.csv --type kind=category --format json";
    let json: Value = serde_json::from_str(&place.succeed(call).out).expect("JSON");
    assert_eq!(json["columns"][0]["level_count"], 150);
    assert_eq!(json["columns"][0]["levels"].as_array().map(Vec::len), Some(100));
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let place = Place::with_ring();
    let evaluate = "evaluate nodes.csv edges.csv --methods column-mean,fp";
    let fill = "fill nodes.csv edges.csv -o out.csv --method magic";
    let run = |no_color: &str, call: &str| place.run_with(("NO_COLOR", no_color), call);
    // Not a terminal: none, even where nothing forbids them.
    assert!(!run("", evaluate).out.contains('\u{1b}'));
    assert!(run("", fill).err.starts_with("error: "));
    // --color comes before NO_COLOR.
    assert!(run("1", &format!("{evaluate} --color always")).out.contains("\u{1b}[1m"));
    let error = run("1", &format!("{fill} --color always")).err;
    assert!(error.starts_with("\u{1b}[1;31merror:\u{1b}[0m "), "{error:?}");
    assert!(!run("", &format!("{evaluate} --color never")).out.contains('\u{1b}'));
    // The help and complaints about the call follow it, too.
    assert!(run("1", "--help --color always").out.contains('\u{1b}'));
    assert!(!run("", "--help --color never").out.contains('\u{1b}'));
    assert!(run("1", "fill --frobnicate --color=always").err.contains('\u{1b}'));
}

#[test]
fn quiet_leaves_warnings() {
    let place = Place::new();
    place.write("nodes.csv", "id,v,note\na,1,the first of them\nb,,\nc,4,\nd,2,the last\n");
    place.write("edges.csv", "source,target\n");
    let call = "fill nodes.csv edges.csv -o out.csv --method fp";
    let loud = place.succeed(call).err;
    assert!(loud.contains("warning: there are no edges"), "{loud}");
    assert!(loud.contains("cells estimated from"), "{loud}");
    let quiet = place.succeed(&format!("{call} --quiet")).err;
    assert!(quiet.contains("warning: there are no edges"), "{quiet}");
    assert!(quiet.lines().all(|line| line.starts_with("warning: ")), "{quiet}");
}

#[test]
fn verbose_says_what_is_done() {
    let place = Place::with_ring();
    let call = "fill nodes.csv edges.csv -o out.csv --method neighbour-mean";
    let plain = place.succeed(call).err;
    assert!(!plain.contains("INFO"), "{plain}");
    let one = place.succeed(&format!("{call} -v")).err;
    for part in ["nodes.csv", "format=\"text tables\"", "nodes=12", "method=\"neighbour-mean\""] {
        assert!(one.lines().any(|line| line.contains("INFO") && line.contains(part)), "{one}");
    }
    assert!(!one.contains("DEBUG"), "{one}");
    let two = place.succeed(&format!("{call} -vv")).err;
    let column = |line: &str| line.contains("DEBUG") && line.contains("column=\"age\"");
    assert!(two.lines().any(column), "{two}");
    let own = |line: &str| !line.contains("DEBUG") || line.contains(" graphfill");
    assert!(two.lines().all(own), "other crates are silent: {two}");
    // Data on standard output stay as they are.
    let json = place.succeed("inspect nodes.csv edges.csv --format json -vv").out;
    assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let place = Place::new();
    let bad = "\u{1b}[31mred\u{7}";
    let rows = (0..12).map(|n| format!("n{n},{bad}{},{n}.5\n", n % 2));
    place.write("nodes.csv", &format!("id,{bad},v\n{}", rows.collect::<String>()));
    place.write("edges.csv", "source,target\nn1,n2\n");
    let done = place.succeed("inspect nodes.csv edges.csv");
    let fill = place.succeed("fill nodes.csv edges.csv -o out.csv --method fp -vv");
    let twice = format!("id,v\n{bad},1\n{bad},2\n");
    place.write("twice.csv", &twice);
    let error = place.run("inspect twice.csv");
    assert_eq!(error.code, 1, "{}", error.err);
    assert!(error.err.contains("\\x1b[31mred\\x07"), "{}", error.err);
    assert!(done.out.contains("\\x1b[31mred\\x07"), "{}", done.out);
    for text in [&done.out, &done.err, &fill.err, &error.err] {
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
    // Files are data, and data stay as they are.
    assert!(place.read("out.csv").contains(bad));
}

#[test]
fn a_huge_value_is_not_repeated_whole() {
    let place = Place::new();
    let id = "x".repeat(1_000_000);
    place.write("nodes.csv", &format!("id,v\n{id},1\n{id},2\n"));
    let done = place.run("inspect nodes.csv");
    assert_eq!(done.code, 1);
    assert!(done.err.contains("xxx…'") && done.err.len() < 2000, "{} bytes", done.err.len());
    place.write("nodes.csv", "id,v\na,1\nb,2\n");
    place.write("edges.csv", &format!("source,target\na,{id}\n"));
    let done = place.run("inspect nodes.csv edges.csv");
    assert_eq!(done.code, 1);
    assert!(done.err.contains("xxx…'") && done.err.len() < 2000, "{} bytes", done.err.len());
    assert!(done.err.ends_with("  --unknown-nodes skip, or --unknown-nodes add\n"), "{}", done.err);
}

#[test]
fn parameters_are_below_the_table() {
    let place = Place::with_ring();
    let call = "fill nodes.csv edges.csv -o out.csv --method arb --param arb.alpha=0.9";
    let said = place.succeed(call).err;
    let row = said.lines().find(|line| line.trim_start().starts_with("age ")).expect("a row");
    assert!(!row.contains("alpha"), "{said}");
    let line = said.lines().find(|line| line.starts_with("  arb: ")).expect("a line");
    assert!(line.contains("alpha 0.9"), "{said}");
}

#[test]
fn the_environment_is_in_the_help() {
    let help = Place::new().succeed("--help").out;
    for name in ["GRAPHFILL_CACHE_DIR", "GRAPHFILL_DATA", "NO_COLOR", "143", "130"] {
        assert!(help.contains(name), "{name}: {help}");
    }
}
