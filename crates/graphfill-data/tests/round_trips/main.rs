//! Whatever is written reads back as the same graph, through any chain of formats.

#[path = "../sameness/mod.rs"]
mod sameness;

mod draws;
mod generated;
mod hand_made;
mod outputs;
mod spellings;
mod typed_files;

use std::path::Path;

use graphfill_data::formats::{self, Input, ReadOptions};
use graphfill_data::{Dataset, NoProgress};
use sameness::assert_same;

/// Every ending that can be written.
const ENDINGS: [&str; 5] = ["csv", "csv.gz", "tsv", "parquet", "npz"];

/// Chains in which each format follows each kind of other one.
const CHAINS: [&[&str]; 6] = [
    &["csv", "parquet", "npz", "csv"],
    &["npz", "parquet", "csv.gz", "npz"],
    &["parquet", "csv", "npz", "parquet"],
    &["tsv", "npz", "tsv", "parquet", "tsv"],
    &["csv.gz", "csv", "tsv", "npz", "npz"],
    &["parquet", "parquet", "npz", "csv", "csv"],
];

/// Writes and reads a graph once.
fn through(dataset: &Dataset, path: &Path) -> Dataset {
    formats::write(dataset, path).unwrap_or_else(|error| panic!("writing: {error}"));
    let label = dataset.table.labels().map(|labels| labels.name.clone());
    let label = label.filter(|name| dataset.table.column(name).is_some());
    let input = Input::detect(path, None).unwrap_or_else(|error| panic!("finding: {error}"));
    let id = Some(dataset.table.id_column.name.clone());
    let options = ReadOptions { id, label, ..ReadOptions::default() };
    input.read(&options, &NoProgress).unwrap_or_else(|error| panic!("reading: {error}"))
}

/// Sends a graph through every format and every chain of formats.
fn assert_survives(dataset: &Dataset, name: &str) {
    let chains = ENDINGS.iter().map(std::slice::from_ref).chain(CHAINS);
    for chain in chains {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut current = dataset.clone();
        for (step, ending) in chain.iter().enumerate() {
            let path = folder.path().join(format!("step{step}.{ending}"));
            current = through(&current, &path);
            assert_same(dataset, &current, &format!("{name}, {:?}", &chain[..=step]));
        }
    }
}
