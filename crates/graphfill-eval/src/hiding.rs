//! Which rows or cells are hidden from the methods, for testing and for validation.

use std::path::PathBuf;

use graphfill_data::formats::splits_file;
use graphfill_data::splits::{self, Split, SplitRatio};
use graphfill_data::{CellMask, DataError, Hint, NodeTable, Result, Setting};
use graphfill_methods::features::Features;

/// The share of cells that are for validation; less where few are left to train on.
const MAX_VALIDATION_SHARE: f64 = 0.1;

/// How to hide.
#[derive(Debug, Clone, PartialEq)]
pub enum Hiding {
    /// Whole rows by the splits of a file.
    SplitsFile(PathBuf),
    /// Whole rows by these splits, the first for seed 0.
    Splits(Vec<Split>),
    /// Whole rows in these shares; by class where the table has labels.
    Rows(SplitRatio),
    /// Single cells at this rate, and a tenth of all for validation.
    Cells(f64),
}

/// What is hidden for one seed.
#[derive(Debug, Clone)]
pub struct Hidden {
    /// Cells on which parameters are chosen.
    pub validation: CellMask,
    /// Cells on which methods are scored.
    pub test: CellMask,
    /// Cells that methods must not read: test, validation and missing cells.
    pub unknown: CellMask,
    /// The number of training rows (or cells).
    pub train_size: usize,
    /// The number of test rows (or cells).
    pub test_size: usize,
}

impl Hiding {
    /// What is hidden for a seed.
    pub fn for_seed(
        &self,
        table: &NodeTable,
        features: &Features<'_>,
        seed: u64,
    ) -> Result<Hidden> {
        let missing = features.missing();
        match self {
            Hiding::SplitsFile(path) => {
                let split = splits_file::read(path, seed, table.rows())?;
                Ok(by_rows(features, &missing, &split))
            }
            Hiding::Splits(splits) => {
                let split = usize::try_from(seed).ok().and_then(|seed| splits.get(seed));
                let split = split.ok_or_else(|| {
                    let found = format!("there is no split for seed {seed}");
                    let last = splits.len().saturating_sub(1);
                    let advice = format!("the masks of the table are for seeds 0 to {last}");
                    DataError::request(found, Hint::new(advice).with(Setting::Seeds))
                })?;
                split.check(table.rows())?;
                Ok(by_rows(features, &missing, split))
            }
            Hiding::Rows(shares) => {
                let split = observed_split(table, &missing, *shares, seed);
                split.check(table.rows())?;
                Ok(by_rows(features, &missing, &split))
            }
            Hiding::Cells(rate) => {
                if !(*rate > 0.0 && *rate < 1.0) {
                    return Err(DataError::request(
                        format!("the share of hidden cells must lie between 0 and 1, not {rate}"),
                        "",
                    ));
                }
                let validation = MAX_VALIDATION_SHARE.min((1.0 - rate) / 2.0);
                let shares = SplitRatio::new(1.0 - rate - validation, validation, *rate)?;
                let (validation, test) = splits::split_cells(&missing, shares, seed);
                let unknown = missing.union(&test).union(&validation);
                let all = features.rows() * features.cells();
                Ok(Hidden {
                    train_size: all - unknown.count(),
                    test_size: test.count(),
                    validation,
                    test,
                    unknown,
                })
            }
        }
    }
}

/// Splits the rows that have something to hide; wholly missing rows stay out of all parts.
fn observed_split(table: &NodeTable, missing: &CellMask, shares: SplitRatio, seed: u64) -> Split {
    let observed: Vec<u32> =
        (0..table.rows()).filter(|&row| !missing.is_whole(row)).map(|row| row as u32).collect();
    let split = match table.labels() {
        Some(labels) => {
            let mut own = labels.clone();
            own.codes = observed.iter().map(|&row| labels.codes[row as usize]).collect();
            splits::stratified(&own, shares, seed)
        }
        None => splits::random(observed.len(), shares, seed),
    };
    let rows = |part: Vec<u32>| part.into_iter().map(|at| observed[at as usize]).collect();
    Split { train: rows(split.train), validation: rows(split.validation), test: rows(split.test) }
}

/// Only training rows are observed; what the table lacks cannot be scored.
fn by_rows(features: &Features<'_>, missing: &CellMask, split: &Split) -> Hidden {
    let mask = |rows: &[u32]| {
        let rows = rows.iter().map(|&row| row as usize);
        CellMask::of_rows(features.rows(), features.cells(), rows)
    };
    let mut in_train = vec![false; features.rows()];
    for &row in &split.train {
        in_train[row as usize] = true;
    }
    let others = (0..features.rows()).filter(|&row| !in_train[row]);
    let others = CellMask::of_rows(features.rows(), features.cells(), others);
    Hidden {
        validation: mask(&split.validation).without(missing),
        test: mask(&split.test).without(missing),
        unknown: missing.union(&others),
        train_size: split.train.len(),
        test_size: split.test.len(),
    }
}
