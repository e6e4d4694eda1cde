//! Faulty files: every message names the file, says where and what, and what to do about it.

#[path = "../samples/mod.rs"]
mod samples;

mod archives;
mod files;
mod parquet;
mod text;

use std::path::{Path, PathBuf};

use graphfill_data::formats::{Input, ReadOptions};
use graphfill_data::{Dataset, NoProgress, Result};

fn read(nodes: &Path, edges: Option<&Path>, options: &ReadOptions) -> Result<Dataset> {
    Input::detect(nodes, edges)?.read(options, &NoProgress)
}

/// A folder with these files, and the path of the first.
fn folder(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("a written file");
    }
    let first = folder.path().join(files[0].0);
    (folder, first)
}

/// Checks that a message has its parts: the file, what is expected of it, and a remedy.
fn assert_helpful(case: &str, read: Result<Dataset>, file: &str, parts: &[&str]) {
    let message = match read {
        Ok(dataset) => panic!("{case}: read as {} rows", dataset.table.rows()),
        Err(error) => error,
    };
    let settings = message.hint().map(|hint| format!("{:?}", hint.settings));
    let message = message.to_string();
    assert!(message.contains(file), "{case} does not name {file}: {message}");
    for part in parts {
        let there = message.contains(part) || settings.as_ref().is_some_and(|s| s.contains(part));
        assert!(there, "{case} lacks '{part}': {message}");
    }
    let remedy = message.split_once("\n  ").map(|(_, remedy)| remedy).unwrap_or_default();
    assert!(remedy.len() > 10, "{case} suggests nothing: {message}");
}
