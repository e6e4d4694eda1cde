//! Small sets, gzipped and plain; errors name the file and the line.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use graphfill_data::{ColumnData, Dataset, Direction, NoProgress, Result};

fn read(folder: &Path) -> Result<Dataset> {
    super::read(folder, 1 << 20, &NoProgress)
}

struct Set {
    folder: tempfile::TempDir,
}

impl Set {
    fn new() -> Self {
        let set = Set { folder: tempfile::tempdir().expect("a temporary folder") };
        set.write("node-feat", "0.5,-0.1,0\n0,nan,1e-3\n-2,0.25,0.0\n");
        set.write("node-label", "4\nnan\n1.0\n");
        set.write("edge", "0,1\n2,1\n2,1\n");
        set
    }

    fn raw(&self) -> PathBuf {
        let raw = self.folder.path().join("raw");
        std::fs::create_dir_all(&raw).expect("a folder");
        raw
    }

    fn write(&self, stem: &str, content: &str) {
        let file = File::create(self.raw().join(format!("{stem}.csv.gz"))).expect("a file");
        let mut packed = GzEncoder::new(file, Compression::fast());
        packed.write_all(content.as_bytes()).expect("written content");
        packed.finish().expect("a finished file");
    }

    fn refusal(&self) -> String {
        read(self.folder.path()).expect_err("a set with a fault").to_string()
    }
}

#[test]
fn reads_features_labels_and_directed_arcs() {
    let set = Set::new();
    let dataset = read(set.folder.path()).expect("a good set");
    let again = read(&set.raw()).expect("the same set, by its inner folder");
    assert_eq!(dataset.name, again.name);
    let ColumnData::Block(block) = dataset.table.columns()[0].data() else { panic!("a block") };
    assert_eq!((block.rows(), block.width(), block.stored()), (3, 3, 5));
    let cells: Vec<_> = block.cells(0).collect();
    assert_eq!(cells, [(0, 0.5), (1, f64::from(-0.1f32))]);
    assert!(block.missing().contains(1, 1));
    let labels = dataset.table.labels().expect("labels");
    assert_eq!(labels.codes, [Some(1), None, Some(0)]);
    assert_eq!(labels.classes, ["1", "4"]);
    assert_eq!(dataset.graph.direction(), Direction::Directed);
    assert_eq!(dataset.graph.targets_of(2), [1, 1]);
}

#[test]
fn reads_plain_files_without_labels() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("edge.csv"), "1,0\r\n").expect("a file");
    std::fs::write(folder.path().join("node-feat.csv"), "1\r\n0").expect("a file");
    let dataset = read(folder.path()).expect("a good set");
    assert_eq!((dataset.table.rows(), dataset.graph.arcs()), (2, 1));
    assert!(dataset.table.labels().is_none());
}

#[test]
fn names_the_file_and_line_of_a_fault() {
    let cases = [
        (
            "edge",
            "0,1\n0,3\n",
            "edge.csv.gz, line 2: found '3', expected a node number from 0 to 2",
        ),
        ("edge", "0,1\n-1,2\n", "line 2: found '-1'"),
        ("edge", "0,1\n\n", "line 2: found '', expected two node numbers and a comma"),
        ("edge", "0;1\n", "line 1: found '0;1'"),
        ("edge", "0,1,2\n", "line 1: found '1,2'"),
        (
            "node-feat",
            "1,2\n1\n",
            "node-feat.csv.gz, line 2: the line has 1 numbers, the first has 2",
        ),
        ("node-feat", "1,2\n1,x\n", "line 2, column '2': found 'x'"),
        ("node-feat", "1,2\n1,inf\n", "line 2, column '2': found 'inf'"),
        ("node-feat", "", "the file is empty"),
        ("node-label", "1\n2\n", "node-label.csv.gz: 2 labels for the 3 nodes"),
        ("node-label", "1\n2\n3\n4\n", "line 4: there are more labels"),
        ("node-label", "1\n0.5\n3\n", "line 2: found '0.5'"),
        ("node-label", "1\n1,2\n3\n", "line 2: the line has more than one label"),
        ("num-node-list", "4\n", "num-node-list.csv.gz, line 1: found '4', expected one line, 3"),
    ];
    for (stem, content, found) in cases {
        let set = Set::new();
        set.write(stem, content);
        assert!(set.refusal().contains(found), "{content:?}: {}", set.refusal());
    }
}

#[test]
fn says_what_is_missing_or_damaged() {
    let empty = tempfile::tempdir().expect("a temporary folder");
    let error = read(empty.path()).expect_err("an empty folder").to_string();
    assert!(error.contains("neither edge.csv.gz nor edge.csv is here"), "{error}");
    let set = Set::new();
    let path = set.raw().join("edge.csv.gz");
    let whole = std::fs::read(&path).expect("a file");
    std::fs::write(&path, &whole[..whole.len() - 9]).expect("a file");
    assert!(set.refusal().contains("damaged or cut short"), "{}", set.refusal());
}

#[test]
fn packed_files_stay_within_the_memory_limit() {
    for (stem, content, what) in [
        ("node-feat", "1,1,1,1,1,1,1,1\n".repeat(20_000), "node-feat.csv.gz: the features would"),
        ("node-feat", "nan,1\n".repeat(40_000), "node-feat.csv.gz: the features would"),
        ("node-feat", "0,".repeat(200_000), "node-feat.csv.gz: the features would"),
        ("edge", "0,1\n".repeat(100_000), "edge.csv.gz: the arcs would"),
    ] {
        let set = Set::new();
        set.write(stem, &content);
        assert!(set.refusal().contains(what), "{}", set.refusal());
    }
}
