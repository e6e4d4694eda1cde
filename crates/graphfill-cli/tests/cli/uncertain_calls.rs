//! Calls that ask for uncertainty: what is refused before the work begins, and reports.

use graphfill::data::generator::GeneratorConfig;

use crate::support::{Place, town};

fn people() -> Place {
    town(&GeneratorConfig { nodes: 120, topics: 0, ..GeneratorConfig::default() })
}

#[test]
fn what_cannot_be_written_is_refused_with_advice() {
    let place = people();
    for (flags, said) in [
        ("-o out.csv --intervals 90", "such as 0.9"),
        ("-o out.csv --intervals 0.9,1", "such as 0.9"),
        ("-o out.csv --draws 0", "1..=10000"),
        ("-o out.csv --draws 2 --intervals 0.9", "give --uncertainty FILE"),
        ("-o out.npz --draws 2", "end the output in .csv, .tsv or .parquet"),
        ("-o out.csv --uncertainty cells.txt", ".csv, .tsv, .parquet or .json"),
        ("-o out.csv --uncertainty cells.npz", ".csv, .tsv, .parquet or .json"),
        ("-o out.csv --uncertainty out.csv", "out.csv is to be written twice"),
        ("-o out.csv --uncertainty ./out.csv", "./out.csv is to be written twice"),
        ("-o out.csv --report -", "name a file, such as report.html"),
        ("-o - --format json --intervals 0.9", "-o - writes a table to standard output"),
        ("-o out.csv --uncertainty - --format csv", "--uncertainty - writes a table"),
        ("-o out.csv --report nodes.csv", "is also an input"),
        ("-o out.csv --report nowhere/report.html", "cannot write nowhere/report.html"),
    ] {
        let done = place.run(&format!("fill nodes.csv --method arb {flags}"));
        assert_eq!(done.code, 2, "{flags}: {}", done.err);
        assert!(done.err.contains(said), "{flags}: {}", done.err);
        assert_eq!(done.out, "", "{flags}");
    }
    assert_eq!(place.files(), ["nodes.csv", "nodes.edges.csv", "nodes.types.toml"]);
}

/// Names that the output would have twice are found before anything is trained: with an absurd number of
/// models, training would outlast the test.
#[test]
fn taken_names_are_found_before_training() {
    let place = people();
    let (nodes, types) = (place.read("nodes.csv"), place.read("nodes.types.toml"));
    let renamed = |name: &str, from: &str, to: &str| {
        place.write(&format!("{name}.csv"), &nodes.replacen(from, to, 1));
        place.write(&format!("{name}.types.toml"), &types.replace(from, to));
    };
    renamed("lower", "community", "age__lower");
    renamed("set", "community", "member__set90");
    renamed("draw", "community", "draw");
    place.write("draw-id.csv", &nodes.replacen("id,", "draw,", 1));
    place.write("draw-id.types.toml", &types);
    let slow = "--method svga-p --param svga-p.models=100 --param svga-p.patience=100000";
    for (table, flags, said) in [
        ("lower", "--intervals 0.9", "'age__lower' already, which --intervals would write"),
        ("set", "--intervals 0.5,0.9", "'member__set90' already"),
        ("draw", "--draws 2", "a column 'draw'"),
        ("draw-id", "--draws 2", "a column 'draw'"),
    ] {
        let done =
            place.run(&format!("fill {table}.csv nodes.edges.csv {slow} -o out.csv {flags}"));
        assert_eq!(done.code, 1, "{table}: {}", done.err);
        assert!(done.err.contains(said) && done.err.contains("rename it"), "{}", done.err);
        assert!(!place.path("out.csv").exists(), "{table}");
    }
    // As the message says; and a name of another level is free.
    let call = "nodes.edges.csv --method arb -q -o out.csv";
    place.succeed(&format!("fill lower.csv {call} --intervals 0.9 --uncertainty cells.csv"));
    place.succeed(&format!("fill set.csv {call} --intervals 0.9"));
    // The list has a column of its own for what the ids are called.
    place.write("column.csv", &nodes.replacen("id,", "column,", 1));
    place.write("column.types.toml", &types);
    place.succeed(&format!("fill column.csv {call} --uncertainty cells.csv"));
    assert!(place.read("cells.csv").starts_with("id,column,estimate,lower,upper,"));
    place.write("person.csv", &nodes.replacen("id,", "person,", 1));
    place.write("person.types.toml", &types);
    place.succeed(&format!("fill person.csv {call} --uncertainty cells.csv"));
    assert!(place.read("cells.csv").starts_with("person,column,estimate,"));
}

/// A page that needs nothing but itself.
fn check_page(page: &str, parts: &[&str]) {
    assert!(page.trim_start().to_lowercase().starts_with("<!doctype html"), "{page:.80}");
    assert!(page.trim_end().ends_with("</html>"));
    for part in parts {
        assert!(page.contains(part), "{part} is not on the page");
    }
    assert!(!page.contains("src=\"http") && !page.contains("<link"), "the page needs other files");
}

#[test]
fn fill_writes_a_report() {
    let place = people();
    place.succeed("fill nodes.csv --method arb -q -o plain.csv");
    let done = place.succeed("fill nodes.csv --method arb -o out.csv --report report.html");
    assert!(done.err.contains("report: report.html"), "{}", done.err);
    assert_eq!(place.read("out.csv"), place.read("plain.csv"));
    let command = "graphfill fill nodes.csv --method arb -o out.csv --report report.html";
    check_page(&place.read("report.html"), &["income", "occupation", "hit rate", command]);
    let quiet = place.succeed("fill nodes.csv --method arb -q -o out.csv --report report.html");
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn evaluate_scores_intervals_and_writes_a_report() {
    let place = town(&GeneratorConfig { nodes: 400, topics: 0, ..GeneratorConfig::default() });
    let call = "evaluate nodes.csv --methods column-mean,neighbour-mean --intervals 0.8";
    let done = place.succeed(&format!("{call} --format json -q --report report.html"));
    check_page(&place.read("report.html"), &["neighbour-mean", "column-mean", "--intervals 0.8"]);
    let found: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    let text = found["methods"].to_string();
    for part in ["coverage@80", "interval_score@80", "set_coverage@80", "set_size@80", "crps"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let before = place.read("nodes.csv");
    for (report, said) in [
        ("nodes.csv", "is also an input"),
        ("-", "name a file, such as report.html"),
        ("nowhere/report.html", "cannot write nowhere/report.html"),
        ("h.csv --history ./h.csv", "is to be written twice"),
    ] {
        let done = place.run(&format!("{call} --report {report}"));
        assert_eq!(done.code, 2, "{report}: {}", done.err);
        assert!(done.err.contains(said), "{report}: {}", done.err);
    }
    assert_eq!(place.read("nodes.csv"), before);
}

#[test]
fn demo_writes_its_report_into_the_folder_that_it_makes() {
    let place = Place::new();
    let refused = place.run("demo --nodes 60 --report -");
    assert_eq!(refused.code, 2, "{}", refused.err);
    place.succeed("demo --nodes 60 -o town --report town/report.html");
    check_page(&place.read("town/report.html"), &["income", "graphfill demo --nodes 60"]);
    assert!(place.path("town/filled.csv").exists());
}
