//! `Source`: which format a path has, which files are read, and errors of gnn-benchmark archives.

mod archive;

use std::fs;
use std::path::{Path, PathBuf};

use graphfill_data::formats::ReadOptions;
use graphfill_data::{Dataset, NoProgress, Result};
use graphfill_datasets::Source;

use archive::{Array, archive, benchmark_arrays, replaced};

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a written file");
    }
    folder
}

fn detect(path: &Path) -> Source {
    Source::detect(path, None).unwrap_or_else(|error| panic!("{error}"))
}

/// The files of a source relative to its folder, sorted.
fn names(source: &Source, folder: &Path) -> Vec<String> {
    let relative = |path: &PathBuf| {
        path.strip_prefix(folder).expect("inside").to_string_lossy().replace('\\', "/")
    };
    let mut names: Vec<String> = source.files().iter().map(relative).collect();
    names.sort();
    names
}

#[test]
fn planetoid_sets_are_found_by_folder_prefix_or_any_file() {
    let parts = ["allx", "ally", "graph", "test.index", "tx", "ty", "x", "y"];
    let files = parts.map(|end| format!("ind.toy.{end}"));
    let files: Vec<(&str, &[u8])> = files.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let folder = folder(&files);
    let prefix = folder.path().join("ind.toy");
    let inner = folder.path().join("ind.toy.test.index");
    for path in [folder.path(), &prefix, &inner] {
        let source = detect(path);
        assert!(
            matches!(&source, Source::Planetoid(found_path) if *found_path == prefix.clone()),
            "{source:?}"
        );
        assert_eq!(names(&source, folder.path()), files.iter().map(|f| f.0).collect::<Vec<_>>());
    }
    fs::write(folder.path().join("ind.other.graph"), "").expect("a written file");
    let error = Source::detect(folder.path(), None).expect_err("two data sets").to_string();
    assert!(error.contains("several planetoid data sets"), "{error}");
    assert!(error.contains("name one of them") && error.contains("ind.other"), "{error}");
}

#[test]
fn folders_name_every_file_that_is_read() {
    let steam = folder(&[("product_tags.csv", b""), ("user_product_date.csv", b""), ("a.md", b"")]);
    let source = detect(steam.path());
    assert!(
        matches!(&source, Source::Steam(found_path) if *found_path == steam.path().to_path_buf()),
        "{source:?}"
    );
    assert_eq!(names(&source, steam.path()), ["product_tags.csv", "user_product_date.csv"]);

    let files = ["raw/edge.csv.gz", "raw/node-feat.csv", "raw/node-label.csv.gz", "raw/other.csv"];
    let ogb = folder(&files.map(|name| (name, &b""[..])));
    let source = detect(ogb.path());
    assert!(
        matches!(&source, Source::Ogb(found_path) if *found_path == ogb.path().to_path_buf()),
        "{source:?}"
    );
    assert_eq!(names(&source, ogb.path()), files[..3]);
}

#[test]
fn archives_are_found_by_their_arrays() {
    let raw = archive(&benchmark_arrays());
    let one = folder(&[("raw.npz", &raw), ("note.txt", b"text")]);
    let path = one.path().join("raw.npz");
    for found in [detect(one.path()), detect(&path)] {
        assert!(
            matches!(&found, Source::GnnBenchmark(found_path) if *found_path == path.clone()),
            "{found:?}"
        );
        assert_eq!(found.files(), std::slice::from_ref(&path));
    }
    let own = archive(&[Array::integers("edge_src", &[0])]);
    let two = folder(&[("own.npz", &own), ("raw.npz", &raw)]);
    let error = Source::detect(two.path(), None).expect_err("two graphs").to_string();
    assert!(error.contains("several .npz graphs") && error.contains("own.npz"), "{error}");
    let path = two.path().join("own.npz");
    assert!(matches!(detect(&path), Source::Data(_)));
}

#[test]
fn everything_else_is_left_to_the_data_crate() {
    let folder = folder(&[("nodes.csv", b"id,x\na,1\n"), ("edges.csv", b"source,target\na,a\n")]);
    let [nodes, edges] = ["nodes.csv", "edges.csv"].map(|name| folder.path().join(name));
    for (nodes, edges) in [(nodes.as_path(), Some(edges.as_path())), (&nodes, None)] {
        let source = Source::detect(nodes, edges).expect("tables");
        assert!(matches!(source, Source::Data(_)), "{source:?}");
        assert_eq!(names(&source, folder.path()), ["edges.csv", "nodes.csv"]);
        let dataset = source.read(&ReadOptions::default(), &NoProgress).expect("a graph");
        assert_eq!(dataset.table.rows(), 1);
    }
    let error = Source::detect(&folder.path().join("absent.csv"), None).expect_err("no file");
    assert!(error.to_string().contains("absent.csv"), "{error}");
}

fn read_archive(bytes: &[u8], memory_limit: u64) -> Result<Dataset> {
    let folder = folder(&[("graph.npz", bytes)]);
    let options = ReadOptions { memory_limit, ..ReadOptions::default() };
    Source::detect(&folder.path().join("graph.npz"), None)?.read(&options, &NoProgress)
}

fn refusal(bytes: &[u8]) -> String {
    read_archive(bytes, 1 << 20).expect_err("a faulty archive").to_string()
}

#[test]
fn a_gnn_benchmark_archive_is_read() {
    let dataset = read_archive(&archive(&benchmark_arrays()), 1 << 20).expect("a good archive");
    assert_eq!((dataset.table.rows(), dataset.graph.arcs()), (3, 3));
    assert_eq!(dataset.table.ids().text(2), "c");
    let labels = dataset.table.labels().expect("labels");
    assert_eq!(
        (&labels.codes[..], &labels.classes[..]),
        (&[Some(0), Some(0), Some(1)][..], &["p".to_owned(), "q".to_owned()][..])
    );
    assert!(!dataset.graph.is_weighted());
    let objects = read_archive(&replaced(Array::new("node_names", "|O", 3, vec![0; 24])), 1 << 20);
    let objects = objects.expect("names are not needed");
    assert_eq!(objects.notes[0].text, "node names cannot be read, so nodes are numbered from 0");
}

#[test]
fn faults_of_a_gnn_benchmark_archive_are_named() {
    let shape = Array::integers("adj_shape", &[4_000_000_000, 4_000_000_000]);
    let found = refusal(&replaced(shape));
    assert!(found.contains("4000000000 rows would need"), "{found}");
    let cases = [
        (Array::integers("adj_shape", &[3, 4]), "the adjacency is 3 × 4, not square"),
        (Array::floats("adj_data", &[1.0, -1.0, 1.0]), "an arc has the weight -1"),
        (Array::integers("attr_shape", &[2, 2]), "2 rows of attributes for 3 nodes"),
        (Array::floats("attr_data", &[1.0, f64::NAN]), "row 2, column 1 is not a number"),
        (Array::integers("labels", &[0, 1]), "2 labels for 3 nodes"),
    ];
    for (array, found) in cases {
        let message = refusal(&replaced(array));
        assert!(message.contains("graph.npz") && message.contains(found), "{message}");
    }
    let whole = archive(&benchmark_arrays());
    for end in (4..whole.len()).step_by(37) {
        refusal(&whole[..end]);
    }
}

#[test]
fn a_packed_archive_stays_within_the_memory_limit() {
    for (name, what) in [("adj_indices", "the arcs"), ("attr_indptr", "the features")] {
        let message = refusal(&replaced(Array::new(name, "|u1", 1 << 20, vec![0; 1 << 20])));
        assert!(message.contains(&format!("{what} would need")), "{message}");
    }
    let names = Array::new("node_names", "<U1", 1 << 18, vec![0; 1 << 20]);
    assert!(refusal(&replaced(names)).contains("node_names would need"));
}
