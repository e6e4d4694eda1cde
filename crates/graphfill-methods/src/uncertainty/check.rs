//! Real coverage on hidden cells: each is compared with a calibration that has not seen its row.

use super::hidden::{HiddenCells, HiddenColumn};
use super::levels::HiddenLevel;
use super::numbers::{HiddenNumber, NumberCell};
use super::{Calibration, ColumnCalibration};

/// The number of folds, by row.
const FOLDS: u32 = 5;

/// Hidden cells with the intervals and sets that they would have got as missing cells.
#[derive(Debug, Clone)]
pub struct CoverageCheck {
    /// One per group of features.
    pub columns: Vec<CheckedColumn>,
}

/// The hidden cells of one group.
#[derive(Debug, Clone)]
pub enum CheckedColumn {
    /// Of numbers, one list per feature.
    Numbers(Vec<Vec<CheckedNumber>>),
    /// Of a boolean or category.
    Levels(Vec<CheckedLevel>),
    /// Of a 0/1 block: the probability of a one, and whether it is one.
    Ones(Vec<(f64, bool)>),
}

/// A hidden number.
#[derive(Debug, Clone)]
pub struct CheckedNumber {
    /// The hidden cell.
    pub cell: HiddenNumber,
    /// Its interval at each level of coverage.
    pub intervals: Vec<Option<(f64, f64)>>,
}

/// A hidden boolean or category.
#[derive(Debug, Clone)]
pub struct CheckedLevel {
    /// The hidden cell.
    pub cell: HiddenLevel,
    /// The probability of the estimated level.
    pub probability: Option<f64>,
    /// Its prediction set at each level of coverage.
    pub sets: Vec<Option<Vec<usize>>>,
}

impl HiddenCells {
    /// The intervals and sets of all hidden cells at some levels of coverage.
    pub fn check(&self, coverages: &[f64]) -> CoverageCheck {
        let fold_of = |row: u32| (row.wrapping_mul(0x85eb_ca6b) >> 16) % FOLDS;
        let folds: Vec<Calibration> =
            (0..FOLDS).map(|fold| self.calibrate(&|row| fold_of(row) != fold)).collect();
        let mut number_column = 0;
        let mut columns = Vec::new();
        for (group, column) in self.columns.iter().enumerate() {
            let calibrations: Vec<(&Calibration, &ColumnCalibration)> =
                folds.iter().map(|fold| (fold, &fold.columns[group])).collect();
            let of_row = |row: u32| calibrations[fold_of(row) as usize];
            columns.push(match column {
                HiddenColumn::Numbers(features) => {
                    let mut checked = Vec::new();
                    for (feature, cells) in features.iter().enumerate() {
                        let check = |cell: &HiddenNumber| {
                            let (calibration, own) = of_row(cell.row);
                            let size = calibration.size_of(
                                number_column,
                                &cell.inputs,
                                &cell.surroundings,
                            );
                            check_number(cell, own, feature, size, coverages)
                        };
                        checked.push(cells.iter().map(check).collect());
                        number_column += 1;
                    }
                    CheckedColumn::Numbers(checked)
                }
                HiddenColumn::Levels(cells) => {
                    let check =
                        |cell: &HiddenLevel| check_level(cell, of_row(cell.row).1, coverages);
                    CheckedColumn::Levels(cells.iter().map(check).collect())
                }
                HiddenColumn::Ones(cells) => {
                    let check = |&(rank, one, row): &(f32, bool, u32)| match of_row(row).1 {
                        ColumnCalibration::Ones(Some(own)) => Some((own.probability(rank), one)),
                        _ => None,
                    };
                    CheckedColumn::Ones(cells.iter().filter_map(check).collect())
                }
            });
        }
        CoverageCheck { columns }
    }
}

fn check_number(
    cell: &HiddenNumber,
    calibration: &ColumnCalibration,
    feature: usize,
    size: f64,
    coverages: &[f64],
) -> CheckedNumber {
    let own = match calibration {
        ColumnCalibration::Numbers(columns) => columns[feature].as_ref(),
        _ => None,
    };
    let (row, centre, surroundings) = (cell.row, cell.estimate, cell.surroundings);
    let estimated = NumberCell { row, centre, size, surroundings };
    let interval = |&coverage: &f64| own.and_then(|own| own.interval(&estimated, coverage));
    CheckedNumber { cell: *cell, intervals: coverages.iter().map(interval).collect() }
}

fn check_level(
    cell: &HiddenLevel,
    calibration: &ColumnCalibration,
    coverages: &[f64],
) -> CheckedLevel {
    let own = match calibration {
        ColumnCalibration::Levels(own) => own.as_ref(),
        _ => None,
    };
    let (class, estimate) = (cell.surroundings.class(), cell.estimate());
    let probabilities = own.map(|own| own.probabilities(&cell.estimates));
    let set = |&coverage: &f64| {
        own?.set(probabilities.as_ref()?, estimate, class, cell.uniform, coverage)
    };
    CheckedLevel {
        sets: coverages.iter().map(set).collect(),
        probability: probabilities.as_ref().map(|probabilities| probabilities[estimate]),
        cell: cell.clone(),
    }
}

impl CheckedColumn {
    /// The share of hidden cells that their interval or set covers, at the level of coverage in this
    /// position, and how many there are; none for 0/1 blocks and where nothing was calibrated.
    pub fn coverage(&self, level: usize) -> Option<(f64, usize)> {
        let covered: Vec<bool> = match self {
            CheckedColumn::Numbers(features) => {
                let cells = features.iter().flatten();
                cells.filter_map(|cell| cell.covered(level)).collect()
            }
            CheckedColumn::Levels(cells) => {
                let covered = |cell: &CheckedLevel| {
                    Some(cell.sets[level].as_ref()?.contains(&cell.cell.truth))
                };
                cells.iter().filter_map(covered).collect()
            }
            CheckedColumn::Ones(_) => Vec::new(),
        };
        let share = covered.iter().filter(|covered| **covered).count() as f64;
        (!covered.is_empty()).then(|| (share / covered.len() as f64, covered.len()))
    }
}

impl CheckedNumber {
    /// Whether its interval at the level of coverage in this position has the truth.
    pub fn covered(&self, level: usize) -> Option<bool> {
        let (low, high) = self.intervals[level]?;
        Some((low..=high).contains(&self.cell.truth))
    }
}
