//! The distributions of the estimated cells of a table: intervals, probabilities and prediction sets.

use std::collections::BTreeMap;

use super::error_inputs::{EstimatedNumber, inputs_of, number_columns};
use super::estimates::{CellEstimates, GroupEstimates};
use super::hidden::{HiddenCells, levels_of, taken_numbers};
use super::levels::{largest, uniform_of};
use super::ones::ScoreRanks;
use super::scale::Scale;
use super::surroundings::{ObservedCells, Surroundings};
use super::{
    Calibration, ColumnCalibration, ErrorCorrelation, LevelCalibration, NumberCalibration,
    NumberCell,
};
use crate::features::GroupKind;
use crate::method::Task;

/// How sure the estimates of a table are.
#[derive(Debug, Clone)]
pub struct Uncertainty {
    /// One per column with estimated cells, in the order of the table.
    pub columns: Vec<ColumnDistributions>,
    pub(super) calibration: Calibration,
    /// The missing cells of the 0/1 blocks, by group.
    pub(super) block_cells: BTreeMap<usize, BlockCells>,
}

/// The estimated cells of one column.
#[derive(Debug, Clone)]
pub struct ColumnDistributions {
    /// The column.
    pub name: String,
    /// Its position among the groups of features.
    pub group: usize,
    /// Its cells.
    pub cells: ColumnCells,
}

/// Estimated cells by the kind of their column, rows ascending.
#[derive(Debug, Clone)]
pub enum ColumnCells {
    /// Numbers, counts, dates; one list per column of a numeric block.
    Numbers(Vec<Vec<NumberCell>>),
    /// Booleans and categories.
    Levels(Vec<LevelCell>),
    /// The estimated ones of a 0/1 block.
    Ones(Vec<OneCell>),
}

/// The estimate of a boolean or category.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelCell {
    /// Its row.
    pub row: u32,
    /// The position of the estimated level; booleans have 0 for false and 1 for true.
    pub estimate: usize,
    /// The calibrated probability of every level; empty where the column is not calibrated.
    pub probabilities: Vec<f64>,
    /// What was observed around it.
    pub surroundings: Surroundings,
    uniform: f64,
}

/// An estimated one of a 0/1 block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneCell {
    /// Its row.
    pub row: u32,
    /// Its column within the block.
    pub column: u32,
    /// The probability that it is a one; none where the block is not calibrated.
    pub probability: Option<f64>,
}

/// Row, column and score of the missing cells of a 0/1 block, by row; not all where they are very many.
#[derive(Debug, Clone)]
pub(super) struct BlockCells {
    pub(super) cells: Vec<(u32, u32, f32)>,
    pub(super) ranks: ScoreRanks,
}

impl LevelCell {
    /// The calibrated probability of the estimated level.
    pub fn probability(&self) -> Option<f64> {
        self.probabilities.get(self.estimate).copied()
    }
}

impl Uncertainty {
    /// That of a table of which nothing is missing.
    pub(crate) fn of_nothing(seed: u64) -> Self {
        let calibration = Calibration {
            columns: Vec::new(),
            scale: Scale::fit(&[]),
            factors: Vec::new(),
            standards: Vec::new(),
            correlation: ErrorCorrelation::default(),
            seed,
        };
        Uncertainty { columns: Vec::new(), calibration, block_cells: BTreeMap::new() }
    }

    /// The distributions of cells that a task does not know, by the calibration of the table or, for a
    /// later table, of its model. `hidden` has what the run without hidden cells estimated for the same
    /// cells; a later table has no such run. `estimated_ones` has row, column and score of the ones of 0/1
    /// blocks; `trained_range` is the range of the values that the model has seen.
    pub fn new(
        calibration: &Calibration,
        task: &Task<'_>,
        estimates: CellEstimates<'_>,
        hidden: Option<&HiddenCells>,
        estimated_ones: &BTreeMap<usize, Vec<(u32, u32, f32)>>,
        trained_range: &dyn Fn(usize) -> Option<(f64, f64)>,
    ) -> Self {
        let (features, graph, unknown) = (task.features, task.graph, task.unknown);
        let observed = ObservedCells::new(features, graph, unknown);
        let first = estimates.groups;
        let mut second = match hidden.and_then(HiddenCells::again) {
            Some(again) => again.to_vec(),
            None => first.clone(),
        };
        let numbers = taken_numbers(features, unknown, &mut second, trained_range);
        let columns = number_columns(features);
        let standards = Some(calibration.standards.as_slice());
        let (numbers, _) = inputs_of(features, graph, unknown, &columns, numbers, standards);
        let mut numbers = numbers.into_iter().enumerate();
        let (seed, mut columns) = (calibration.seed, Vec::new());
        let mut block_cells = BTreeMap::new();
        for (group, (estimated, own)) in first.into_iter().zip(second).enumerate() {
            let about = &features.groups()[group];
            let cells = match own {
                GroupEstimates::Numbers(_) => {
                    let own = about.features.clone().zip(numbers.by_ref());
                    let cells = own.map(|(_, (column, cells))| {
                        let cell = |cell: EstimatedNumber| NumberCell {
                            row: cell.row,
                            centre: cell.estimate * about.unit,
                            size: calibration.size_of(column, &cell.inputs, &cell.surroundings),
                            surroundings: cell.surroundings,
                        };
                        cells.into_iter().map(cell).collect()
                    });
                    ColumnCells::Numbers(cells.collect())
                }
                GroupEstimates::Levels { rows, values } => {
                    let with_cell = observed.of_cell(about.cells.start);
                    let calibration = match &calibration.columns[group] {
                        ColumnCalibration::Levels(own) => own.as_ref(),
                        _ => None,
                    };
                    let GroupEstimates::Levels { values: estimated, .. } = estimated else {
                        continue;
                    };
                    let width = levels_of(about);
                    let cells = rows.iter().zip(values.chunks_exact(width));
                    let cells = cells.zip(estimated.chunks_exact(width));
                    let cell = |((&row, estimates), first): ((&u32, &[f32]), &[f32])| LevelCell {
                        row,
                        // A boolean of 0.5 counts as true.
                        estimate: match about.kind {
                            GroupKind::Boolean => usize::from(first[1] >= 0.5),
                            _ => largest(first),
                        },
                        probabilities: calibration
                            .map_or_else(Vec::new, |own| own.probabilities(estimates)),
                        surroundings: observed.around(row as usize, &with_cell),
                        uniform: uniform_of(seed, row, about.cells.start),
                    };
                    ColumnCells::Levels(cells.map(cell).collect())
                }
                GroupEstimates::Ones(mut cells) => {
                    cells.sort_unstable_by_key(|cell| (cell.0, cell.1));
                    let calibration = match &calibration.columns[group] {
                        ColumnCalibration::Ones(own) => own.as_ref(),
                        _ => None,
                    };
                    let ranks = ScoreRanks::new(cells.iter().map(|cell| cell.2));
                    let GroupEstimates::Ones(estimated) = estimated else { continue };
                    let first_ranks = ScoreRanks::new(estimated.iter().map(|cell| cell.2));
                    let rank = |row: u32, column: u32, score: f32| {
                        let found = cells.binary_search_by_key(&(row, column), |c| (c.0, c.1));
                        found.map_or_else(|_| first_ranks.rank(score), |at| ranks.rank(cells[at].2))
                    };
                    let cell = |(row, column, score): (u32, u32, f32)| OneCell {
                        row,
                        column,
                        probability: calibration
                            .map(|own| own.probability(rank(row, column, score))),
                    };
                    let ones = estimated_ones.get(&group).into_iter().flatten().copied();
                    let ones = ones.map(cell).collect();
                    block_cells.insert(group, BlockCells { cells, ranks });
                    ColumnCells::Ones(ones)
                }
            };
            let is_empty = match &cells {
                ColumnCells::Numbers(features) => features.iter().all(Vec::is_empty),
                ColumnCells::Levels(cells) => cells.is_empty(),
                ColumnCells::Ones(_) => block_cells[&group].cells.is_empty(),
            };
            if !is_empty {
                columns.push(ColumnDistributions { name: about.name.clone(), group, cells });
            }
        }
        Uncertainty { columns, calibration: calibration.clone(), block_cells }
    }

    /// The calibration of a column of numbers; `feature` counts the columns of a block.
    pub fn number_calibration(&self, group: usize, feature: usize) -> Option<&NumberCalibration> {
        match &self.calibration.columns[group] {
            ColumnCalibration::Numbers(own) => own.get(feature)?.as_ref(),
            _ => None,
        }
    }

    fn level_calibration(&self, group: usize) -> Option<&LevelCalibration> {
        match &self.calibration.columns[group] {
            ColumnCalibration::Levels(own) => own.as_ref(),
            _ => None,
        }
    }

    /// The interval of a number that covers the truth with this probability; none where too few cells
    /// could be hidden to tell.
    pub fn interval(
        &self,
        group: usize,
        feature: usize,
        cell: &NumberCell,
        coverage: f64,
    ) -> Option<(f64, f64)> {
        let calibration = self.number_calibration(group, feature)?;
        calibration.interval(cell, coverage)
    }

    /// The levels, as positions, that cover the truth with this probability, the likeliest first.
    pub fn set(&self, group: usize, cell: &LevelCell, coverage: f64) -> Option<Vec<usize>> {
        let (class, uniform) = (cell.surroundings.class(), cell.uniform);
        let calibration = self.level_calibration(group)?;
        calibration.set(&cell.probabilities, cell.estimate, class, uniform, coverage)
    }

    /// Row, column and probability of the missing cells of a 0/1 block, ones and others.
    pub fn block_probabilities(&self, group: usize) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        let calibration = match &self.calibration.columns[group] {
            ColumnCalibration::Ones(own) => own.as_ref(),
            _ => None,
        };
        let cells = self.block_cells.get(&group).into_iter();
        cells.zip(calibration).flat_map(|(block, calibration)| {
            block.cells.iter().map(|&(row, column, score)| {
                (row, column, calibration.probability(block.ranks.rank(score)))
            })
        })
    }

    /// What was learnt from hidden cells.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }
}
