//! Small sets written here are read as they are, wrong ones are refused with a reason.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use graphfill_data::{
    Block, BlockKind, ColumnData, Dataset, Direction, Kind, NoProgress, Progress, Result,
};

use super::{find, read};
use crate::pickle::writer;

const LIMIT: u64 = 1 << 30;

/// The files of a set: three rows in `allx`, two test rows at 3 and 5, a hole at 4.
struct Set {
    folder: tempfile::TempDir,
}

impl Set {
    fn new() -> Self {
        let set = Set { folder: tempfile::tempdir().expect("a temporary folder") };
        let first: [&[f32]; 3] = [&[1.0, 0.0, 0.0], &[0.0, 1.0, 1.0], &[]];
        set.write("allx", &writer::pickle(&writer::matrix_of(3, &first)));
        set.write("tx", &writer::pickle(&writer::matrix_of(3, &[&[0.0, 1.0], &[1.0, 1.0]])));
        let classes = writer::words(&[0, 1, 1, 0, 0, 0]);
        set.write("ally", &writer::pickle(&writer::array("i4", &[3, 2], &classes)));
        let classes = writer::words(&[0, 1, 1, 0]);
        set.write("ty", &writer::pickle(&writer::array("i4", &[2, 2], &classes)));
        set.write_graph(&[(0, &[1, 5]), (1, &[0]), (3, &[3]), (4, &[]), (5, &[0, 0])]);
        set.write("test.index", b"5\n3\n");
        set
    }

    fn prefix(&self) -> PathBuf {
        self.folder.path().join("ind.small")
    }

    fn write(&self, end: &str, content: &[u8]) {
        let path = self.folder.path().join(format!("ind.small.{end}"));
        fs::write(path, content).expect("a written file");
    }

    fn write_graph(&self, lists: &[(i64, &[i64])]) {
        self.write("graph", &writer::pickle(&writer::neighbours(lists)));
    }

    fn read(&self) -> Result<Dataset> {
        read(&self.prefix(), LIMIT, &NoProgress)
    }

    fn refusal(&self) -> String {
        self.read().expect_err("a set with a fault").to_string()
    }
}

fn block(dataset: &Dataset) -> &Block {
    match dataset.table.columns()[0].data() {
        ColumnData::Block(block) => block,
        ColumnData::Array(_) => panic!("the features are no block"),
    }
}

#[test]
fn test_rows_take_their_positions_and_holes_stay_empty() {
    let dataset = Set::new().read().expect("a good set");
    assert_eq!(dataset.name, "small");
    assert_eq!(dataset.table.rows(), 6);
    let features = block(&dataset);
    assert_eq!(dataset.table.columns()[0].kind(), &Kind::Block(BlockKind::Binary));
    let rows: Vec<&[u32]> = (0..6).map(|node| features.columns(node)).collect();
    assert_eq!(rows, [&[0][..], &[1, 2], &[], &[0, 1], &[], &[1]]);
    assert!(features.missing().is_empty());
    let labels = dataset.table.labels().expect("labels");
    assert_eq!(labels.codes, [Some(1), Some(0), None, Some(0), None, Some(1)]);
    assert_eq!(labels.classes, ["0", "1"]);
    assert_eq!(dataset.graph.direction(), Direction::Undirected);
    assert_eq!(dataset.graph.arcs(), 6);
    assert_eq!(dataset.graph.targets_of(5), [0, 0]);
    assert!(dataset.notes[0].text.ends_with("zero features and no label: 1"));
}

#[test]
fn numbers_that_are_not_one_make_a_numeric_block() {
    let set = Set::new();
    let first: [&[f32]; 3] = [&[0.25], &[0.0, 1.0], &[f32::NAN]];
    set.write("allx", &writer::pickle(&writer::matrix_of(3, &first)));
    let dataset = set.read().expect("a good set");
    assert_eq!(dataset.table.columns()[0].kind(), &Kind::Block(BlockKind::Numeric));
    assert_eq!(block(&dataset).cells(0).collect::<Vec<_>>(), [(0, 0.25)]);
    assert!(block(&dataset).missing().contains(2, 0));
}

#[test]
fn finds_the_sets_of_a_folder() {
    let set = Set::new();
    assert_eq!(find(set.folder.path()).expect("a folder"), [set.prefix()]);
    assert!(find(&set.prefix()).is_err());
}

#[test]
fn refuses_a_graph_that_leaves_the_nodes() {
    let set = Set::new();
    set.write_graph(&[(0, &[6])]);
    assert!(set.refusal().contains("node 0 has neighbour 6, but the nodes are 0 to 5"));
    set.write_graph(&[(0, &[-1])]);
    assert!(set.refusal().contains("node 0 has neighbour -1"));
    set.write_graph(&[(17, &[])]);
    assert!(set.refusal().contains("it has node 17"));
    set.write_graph(&[(1, &[0]), (1, &[2])]);
    assert!(set.refusal().contains("node 1 has two lists"));
    set.write("graph", b"]\x85.");
    assert!(set.refusal().contains("found a tuple where a dict was expected"));
}

#[test]
fn refuses_one_list_that_stands_for_many_nodes() {
    let set = Set::new();
    let mut bytes = b"}(K\x00]q\x00(".to_vec();
    bytes.extend(b"K\x01".repeat(50));
    bytes.extend(b"eK\x01h\x00K\x02h\x00K\x03h\x00K\x04h\x00u.");
    set.write("graph", &bytes);
    assert!(set.refusal().contains("many nodes share one"));
}

#[test]
fn refuses_positions_that_do_not_fit() {
    let set = Set::new();
    let cases: [(&str, &str); 7] = [
        ("5\n5\n", "line 2: position 5 is listed twice"),
        ("5\n2\n", "line 2: position 2 is a row of allx"),
        ("5\n", "it lists 1 positions, but tx has 2 rows"),
        ("3\n4\n5\n", "it lists 3 positions, but tx has 2 rows"),
        ("5\n3.5\n", "line 2: '3.5' is no position"),
        ("-5\n3\n", "line 1: '-5' is no position"),
        ("3\n4000000000\n", "line 2: position 4000000000 is beyond"),
    ];
    for (content, found) in cases {
        set.write("test.index", content.as_bytes());
        assert!(set.refusal().contains(found), "{content:?}: {}", set.refusal());
    }
}

#[test]
fn refuses_files_that_do_not_belong_together() {
    let set = Set::new();
    set.write("tx", &writer::pickle(&writer::matrix_of(4, &[&[], &[]])));
    assert!(set.refusal().contains("ind.small.tx: it has 4 columns"));

    let set = Set::new();
    let classes = writer::words(&[0, 1]);
    set.write("ty", &writer::pickle(&writer::array("i4", &[1, 2], &classes)));
    assert!(set.refusal().contains("ind.small.ty: it has 1 rows"));
    let classes = writer::words(&[0, 1, 1, 0, 1, 0]);
    set.write("ty", &writer::pickle(&writer::array("i4", &[2, 3], &classes)));
    assert!(set.refusal().contains("ind.small.ty: it has 3 classes"));
    set.write("ty", &writer::pickle(&writer::array("i4", &[1 << 50, 0], &[])));
    assert!(set.refusal().contains("rows of no classes"));
}

#[test]
fn says_which_file_is_missing_cut_or_hostile() {
    let set = Set::new();
    set.write("ally", b"cos\nsystem\n(U\x04truetR.");
    assert!(set.refusal().contains("ind.small.ally: at byte 0: the pickle asks for os.system"));
    fs::remove_file(set.folder.path().join("ind.small.ally")).expect("a removed file");
    assert!(set.refusal().contains("ind.small.ally"));
    let set = Set::new();
    let whole = fs::read(set.folder.path().join("ind.small.allx")).expect("a file");
    set.write("allx", &whole[..whole.len() / 2]);
    assert!(set.refusal().contains("cut short"), "{}", set.refusal());
}

#[test]
fn stops_when_asked() {
    struct Stop;
    impl Progress for Stop {
        fn begin(&self, _stage: &str, _total: Option<u64>) {}
        fn advance(&self, _units: u64) {}
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let error = read(&Set::new().prefix(), LIMIT, &Stop).expect_err("a cancelled read");
    assert!(error.to_string().contains("stopped"));
}

#[test]
fn the_memory_limit_is_respected() {
    let set = Set::new();
    let size = fs::metadata(set.folder.path().join("ind.small.allx")).expect("a file").len();
    for limit in [size - 1, size] {
        let error = read(&set.prefix(), limit, &NoProgress).expect_err("too little memory");
        assert!(error.to_string().contains("ind.small.allx: the pickle would need"), "{error}");
    }
    assert!(read(&set.prefix(), 1 << 16, &NoProgress).is_ok());
}

proptest! {
    #[test]
    fn changed_files_are_read_or_refused(
        which in 0..6usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let set = Set::new();
        let end = ["allx", "tx", "ally", "ty", "graph", "test.index"][which];
        let path = set.folder.path().join(format!("ind.small.{end}"));
        let mut bytes = fs::read(path).expect("a file of the set");
        for (position, byte) in changes {
            *position.get_mut(&mut bytes) = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        set.write(end, &bytes);
        // Only that it comes back matters here.
        let _ = set.read();
    }
}
