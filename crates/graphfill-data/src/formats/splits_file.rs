//! `splits.npz`: rows `train_S`, `val_S`, `test_S` for each seed S.

use std::path::Path;

use crate::error::{DataError, Place, Result};
use crate::formats::npz::Archive;
use crate::splits::Split;

/// The seeds that the file has splits for, ascending.
pub fn seeds(path: &Path) -> Result<Vec<u64>> {
    let archive = Archive::open(path)?;
    let names = archive.names();
    let mut seeds: Vec<u64> =
        names.iter().filter_map(|name| name.strip_prefix("train_")?.parse().ok()).collect();
    seeds.sort_unstable();
    if seeds.is_empty() {
        return Err(DataError::malformed(
            Place::file(path),
            "the archive holds no splits",
            "a splits file has the arrays train_S, val_S and test_S for seeds S from 0",
        ));
    }
    Ok(seeds)
}

/// The number of rows to train, to validate and to test for one seed.
pub fn sizes(path: &Path, seed: u64) -> Result<[usize; 3]> {
    let mut archive = Archive::open(path)?;
    let mut size = |name: &str| Ok(archive.integers(&format!("{name}_{seed}"))?.len());
    Ok([size("train")?, size("val")?, size("test")?])
}

/// The split of one seed, over a table of `nodes` rows.
pub fn read(path: &Path, seed: u64, nodes: usize) -> Result<Split> {
    let known = seeds(path)?;
    if !known.contains(&seed) {
        return Err(DataError::request(
            format!(
                "{}: there is no split for seed {seed}; it has seeds {}\n  choose among them with --seeds",
                path.display(),
                known.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            ),
            "",
        ));
    }
    let mut archive = Archive::open(path)?;
    let mut part = |name: &str| -> Result<Vec<u32>> {
        let array = format!("{name}_{seed}");
        let rows = archive.integers(&array)?;
        let row = |row: i64| usize::try_from(row).ok().filter(|&r| r < nodes).map(|r| r as u32);
        rows.iter().map(|&r| row(r)).collect::<Option<Vec<u32>>>().ok_or_else(|| {
            DataError::malformed(
                Place::file(path).column(&array),
                format!("a row lies outside the table of {nodes} rows"),
                "the splits belong to another data set",
            )
        })
    };
    let split = Split { train: part("train")?, validation: part("val")?, test: part("test")? };
    split.check(nodes)?;
    Ok(split)
}
