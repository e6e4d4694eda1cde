//! What goes wrong is said in one message with a remedy, and leaves nothing behind.

use crate::support::Place;

#[test]
fn wrong_calls_end_with_2() {
    let place = Place::with_ring();
    for call in [
        "",
        "fill",
        "fil nodes.csv edges.csv",
        "fill nodes.csv edges.csv -o out.csv --frobnicate",
        "fill nodes.csv edges.csv -o out.csv --method magic",
        "fill nodes.csv edges.csv -o out.csv --method arb --param arb.alpha=2",
        "fill nodes.csv edges.csv -o out.csv --param arb.gamma=1",
        "fill nodes.csv edges.csv -o out.csv --param alpha",
        "fill nodes.csv edges.csv -o out.xyz",
        "fill nodes.csv edges.csv -o out.csv --type age=integer",
        "fill nodes.csv edges.csv -o out.csv --unknown-nodes maybe",
        "fill nodes.csv edges.csv -o out.csv --device gpu",
        "fill nodes.csv edges.csv -o out.csv --device cuda:first",
        "fill nodes.csv edges.csv -o out.csv --precision fp8",
        "evaluate nodes.csv edges.csv --device nonsense",
        "evaluate nodes.csv edges.csv --precision nonsense",
        "demo --device nonsense",
        "bench --device nonsense",
        "bench --precision nonsense",
        "bench --launch nonsense",
        "reproduce table2 --device nonsense",
        "evaluate nodes.csv edges.csv --seeds 9..0",
        "evaluate nodes.csv edges.csv --split 1:2",
        "evaluate nodes.csv edges.csv --hide-cells 1.5",
        "evaluate nodes.csv edges.csv --methods arb,magic",
        "evaluate --dataset nowhere --data-dir .",
        "evaluate nodes.csv edges.csv --splits-file nothere.npz",
        "evaluate nodes.csv edges.csv --top-k 0",
        "evaluate nodes.csv edges.csv --params-file nothere.toml",
        "inspect nothere.csv",
        "inspect nodes.csv nothere.csv",
        "inspect nodes.csv edges.csv --types-file nothere.toml",
        "inspect nodes.csv edges.csv --id person",
        "inspect nodes.csv edges.csv --type agee=number",
        "inspect nodes.csv edges.csv --quiet --verbose",
        "inspect nodes.csv edges.csv --color green",
        "methods arbb",
        "datasets get nope",
        "datasets path nope",
        "bench --shapes corra",
        "fill nodes.csv edges.csv -o nodes.csv",
        "fill nodes.csv edges.csv -o ./edges.csv",
        "fill nodes.csv edges.csv -o nofolder/out.csv",
        "fill nodes.csv edges.csv -o out.csv --model nothere.model",
        "convert nodes.csv edges.csv -o nodes.csv",
        "convert nodes.csv edges.csv graph.npz",
        "generate",
        "inspect nodes.csv --format yaml",
        "convert nodes.csv",
    ] {
        let done = place.run(call);
        assert_eq!(done.code, 2, "{call}: {}", done.err);
        assert_eq!(done.out, "", "{call}");
        assert!(!done.err.is_empty(), "{call}");
    }
    assert_eq!(place.files(), ["edges.csv", "nodes.csv"]);
}

#[test]
fn failed_jobs_end_with_1_and_name_the_place() {
    let place = Place::with_ring();
    place.write("ragged.csv", "id,a\nx,1\ny,2,3\n");
    place.write("twice.csv", "id,a\nx,1\nx,2\n");
    place.write("empty.csv", "");
    place.write("header.csv", "id,a\n");
    place.write(
        "slip.csv",
        &format!("id,a\n{}q,12x\n", (0..20).map(|n| format!("n{n},{n}.5\n")).collect::<String>()),
    );
    place.write("endless.csv", "id,a\nx,1.5\ny,inf\n");
    place.write("named.parquet", "id,a\nx,1\n");
    place.write("plain.csv.gz", "id,a\nx,1\n");
    for (call, wanted) in [
        ("inspect ragged.csv", "ragged.csv, line 3"),
        ("inspect twice.csv", "twice.csv, line 3, column 'id'"),
        ("inspect empty.csv", "empty.csv"),
        ("inspect header.csv", "no row"),
        ("inspect slip.csv", "slip.csv, line 22, column 'a': found '12x'"),
        ("inspect endless.csv", "endless.csv, line 3, column 'a'"),
        ("inspect named.parquet", "the name says Parquet"),
        ("inspect plain.csv.gz", "the name says gzip"),
    ] {
        let done = place.run(call);
        assert_eq!(done.code, 1, "{call}: {}", done.err);
        assert!(done.err.contains(wanted), "{call} says: {}", done.err);
        assert!(done.err.starts_with("error: "), "{call} says: {}", done.err);
        assert!(!done.err.contains("panicked"), "{call} says: {}", done.err);
        assert_eq!(done.out, "", "{call}");
    }
    assert!(!place.files().iter().any(|name| name.starts_with(".graphfill") || name == "out.csv"));
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let place = Place::with_ring();
    place.write("more.csv", "source,target\np0,p1\np1,stranger\n");
    for (call, code, wanted) in [
        ("inspect nothere.csv", 2, "cannot read nothere.csv"),
        ("inspect nodes.csv edges.csv --id person", 2, "there is no column 'person'"),
        ("inspect nodes.csv edges.csv --type agee=number", 2, "there is no column 'agee'"),
        ("fill nodes.csv edges.csv -o nodes.csv", 2, "also an input"),
        ("fill nodes.csv edges.csv -o nofolder/out.csv", 2, "nofolder"),
        ("convert nodes.csv edges.csv -o nodes.csv", 2, "also an input"),
        ("methods collumn-mean", 2, "(did you mean 'column-mean'?); the methods are"),
        ("methods svga_p", 2, "(did you mean 'svga-p'?)"),
        ("fill nodes.csv -o o.csv --param arb.aplha=1", 2, "'aplha' (did you mean 'alpha'?)"),
        ("bench --shapes corra", 2, "(did you mean 'cora'?)"),
        ("datasets get coraa", 2, "cora"),
        // The flags that help are below the error.
        ("inspect nodes.csv more.csv", 1, "\n  --unknown-nodes skip, or --unknown-nodes add\n"),
    ] {
        let done = place.run(call);
        assert_eq!((done.code, done.out.as_str()), (code, ""), "{call}: {}", done.err);
        assert!(done.err.starts_with("error: "), "{call} says: {}", done.err);
        assert!(done.err.contains(wanted), "{call} says: {}", done.err);
    }
}

#[cfg(unix)]
#[test]
fn only_plain_files_are_replaced() {
    let place = Place::with_ring();
    std::os::unix::fs::symlink("/dev/null", place.path("out.csv")).expect("a link");
    let done = place.run("fill nodes.csv edges.csv -o out.csv");
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("not a plain file"), "{}", done.err);
    // A link to a plain file stays a link, and the file behind it is what changes.
    place.write("behind.csv", "old");
    std::os::unix::fs::symlink("behind.csv", place.path("link.csv")).expect("a link");
    assert_eq!(place.run("fill nodes.csv edges.csv -o link.csv").code, 0);
    assert!(place.read("behind.csv").starts_with("id,age"));
}
