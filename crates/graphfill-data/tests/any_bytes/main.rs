//! Any bytes are read or refused: no reader panics, hangs or asks for memory that a file only
//! claims to need.

#[path = "../samples/mod.rs"]
mod samples;

mod archives;
mod tables;

use std::path::{Path, PathBuf};

use graphfill_data::NoProgress;
use graphfill_data::formats::{Input, ReadOptions, UnknownNodes};
use proptest::prelude::*;
use proptest::sample::Index;

/// A folder whose files are written again for each case.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).expect("a written file");
        path
    }
}

/// Reads the path in each way that a caller may ask for; only that it comes back matters.
fn read(nodes: &Path, edges: Option<&Path>) {
    let add = ReadOptions { unknown_nodes: UnknownNodes::Add, ..ReadOptions::default() };
    for options in [ReadOptions::default(), add] {
        let Ok(input) = Input::detect(nodes, edges) else { return };
        if let Ok(dataset) = input.read(&options, &NoProgress) {
            // What was read is whole: its views can be taken.
            dataset.graph.undirected();
            if dataset.table.features() < 1 << 16 {
                dataset.table.missing();
            }
        }
    }
}

/// One change of a file.
#[derive(Debug, Clone)]
enum Change {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let bytes = prop::collection::vec(any::<u8>(), 1..6);
    let change = prop_oneof![
        6 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        2 => (any::<Index>(), bytes).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        2 => (any::<Index>(), 1..9usize).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (any::<Index>(), 1..40usize).prop_map(|(at, count)| Change::Repeat(at, count)),
        1 => any::<Index>().prop_map(Change::Cut),
    ];
    prop::collection::vec(change, 1..5)
}

/// The file after the changes.
fn changed(good: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        match change {
            Change::Set(at, byte) => *at.get_mut(&mut bytes) = *byte,
            Change::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + count).min(bytes.len()));
            }
            Change::Repeat(at, count) => {
                let at = at.index(bytes.len());
                let part = bytes[at..(at + count).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
    bytes
}

fn random_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..300)
}

/// Text of the characters that mean something to a table.
fn table_like() -> impl Strategy<Value = Vec<u8>> {
    let characters = b"ab01 .,;\t\n\r\"#-+eninf|\xc3\xbc\0";
    prop::collection::vec(prop::sample::select(&characters[..]), 0..200)
}
