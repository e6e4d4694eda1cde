//! Splits in an `.npz` file, which can be the file of the graph. One of two layouts:
//!
//! - `train_S`, `val_S`, `test_S` for each seed S: row numbers;
//! - `train_mask`, `val_mask`, `test_mask`: one boolean per node, or nodes × splits booleans, whose
//!   columns are the seeds 0, 1, … (PyTorch Geometric's masks).

use std::path::Path;

use crate::error::{DataError, Place, Result};
use crate::formats::npz::Archive;
use crate::hint::{Hint, Setting};
use crate::splits::Split;
use crate::splits::masks::{MASK_ADVICE, MASK_NAMES, PartMasks, from_masks};

/// The seeds for which the file has splits, ascending.
pub fn seeds(path: &Path) -> Result<Vec<u64>> {
    let mut archive = Archive::open(path)?;
    let seeds: Vec<u64> = match &mask_names(&archive)[0] {
        Some(name) => {
            let stream = archive.stream(name)?;
            let values: usize = stream.shape().iter().product();
            let nodes = stream.shape().first().copied().unwrap_or(0);
            (0..values.checked_div(nodes).unwrap_or(0) as u64).collect()
        }
        None => {
            let names = archive.names().into_iter();
            let mut seeds: Vec<u64> =
                names.filter_map(|name| name.strip_prefix("train_")?.parse().ok()).collect();
            seeds.sort_unstable();
            seeds
        }
    };
    if seeds.is_empty() {
        return Err(DataError::malformed(
            Place::file(path),
            "the archive holds no splits",
            "a splits file has the arrays train_S, val_S and test_S for seeds S from 0, or \
             train_mask, val_mask and test_mask",
        ));
    }
    Ok(seeds)
}

/// The number of rows to train on, to validate on and to test on, for one seed.
pub fn sizes(path: &Path, seed: u64) -> Result<[usize; 3]> {
    Ok(load(path, seed)?.0.parts().map(|(_, rows)| rows.len()))
}

/// The split of one seed for a table of `nodes` rows.
pub fn read(path: &Path, seed: u64, nodes: usize) -> Result<Split> {
    let (split, mask_length) = load(path, seed)?;
    if let Some(length) = mask_length.filter(|&length| length != nodes) {
        return Err(DataError::malformed(
            Place::file(path),
            format!("the masks are for {length} nodes, but the table has {nodes} rows"),
            "the splits belong to another data set",
        ));
    }
    split.check(nodes).map_err(|error| match error {
        DataError::Request { found, hint } => {
            DataError::Malformed { place: Place::file(path), found, hint }
        }
        other => other,
    })?;
    Ok(split)
}

/// The split of one seed, and the number of nodes if the file says it.
fn load(path: &Path, seed: u64) -> Result<(Split, Option<usize>)> {
    let known = seeds(path)?;
    if !known.contains(&seed) {
        let known: Vec<String> = known.iter().map(u64::to_string).collect();
        return Err(DataError::malformed(
            Place::file(path),
            format!("there is no split for seed {seed}; there are seeds {}", known.join(", ")),
            Hint::new("choose among these seeds").with(Setting::Seeds),
        ));
    }
    let mut archive = Archive::open(path)?;
    if mask_names(&archive)[0].is_some() {
        let (mut splits, nodes) = read_masks(&mut archive)?;
        return Ok((splits.swap_remove(seed as usize), Some(nodes)));
    }
    let mut part = |name: &str| -> Result<Vec<u32>> {
        let array = format!("{name}_{seed}");
        let rows = archive.integers(&array)?;
        let rows: std::result::Result<Vec<u32>, _> = rows.into_iter().map(u32::try_from).collect();
        rows.map_err(|_| {
            DataError::malformed(
                Place::file(path).column(&array),
                "a row number is negative or above 2³²",
                "rows are numbered from 0",
            )
        })
    };
    let split = Split { train: part("train")?, validation: part("val")?, test: part("test")? };
    Ok((split, None))
}

/// The names of the masks of train, validation and test that the archive has.
fn mask_names(archive: &Archive) -> [Option<String>; 3] {
    MASK_NAMES.map(|names| {
        let name = names.iter().find(|name| archive.has(name));
        name.map(|name| (*name).to_owned())
    })
}

/// The splits of the masks, and their number of nodes.
fn read_masks(archive: &mut Archive) -> Result<(Vec<Split>, usize)> {
    let place = Place::file(archive.path());
    let mut parts = Vec::new();
    for (name, names) in mask_names(archive).into_iter().zip(MASK_NAMES) {
        // A missing mask is an error of the archive that names it.
        let name = name.unwrap_or_else(|| names[0].to_owned());
        let nodes = archive.stream(&name)?.shape().first().copied().unwrap_or(0);
        let values = archive.integers(&name)?;
        if let Some(value) = values.iter().find(|value| !(0..=1).contains(*value)) {
            let found = format!("found {value} in a mask, expected true and false");
            return Err(DataError::malformed(place.column(name), found, MASK_ADVICE));
        }
        let cells = values.into_iter().map(|value| value == 1).collect();
        parts.push(PartMasks { name, nodes, cells });
    }
    let nodes = parts[0].nodes;
    let splits = match <[PartMasks; 3]>::try_from(parts) {
        Ok(parts) => from_masks(&parts),
        Err(_) => Err("there are not three masks".to_owned()),
    };
    splits
        .map(|splits| (splits, nodes))
        .map_err(|found| DataError::malformed(place, found, MASK_ADVICE))
}
