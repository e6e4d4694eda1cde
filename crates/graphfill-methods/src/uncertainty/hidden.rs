//! Hidden cells with their estimates and true values: what calibration learns from, and what reports show.

use std::ops::Range;

use graphfill_data::CellMask;

use super::classes::quantile;
use super::error_inputs::{Standard, inputs_of, number_columns};
use super::estimates::{CellEstimates, GroupEstimates};
use super::joint::{MAX_COLUMNS, ScoresByRow, correlated_columns};
use super::levels::{HiddenLevel, LevelCalibration, uniform_of};
use super::normal;
use super::numbers::{HiddenNumber, NumberCalibration, NumberCell};
use super::ones::{OnesCalibration, ScoreRanks};
use super::scale::{ErrorSize, Scale};
use super::surroundings::{CLASSES, ObservedCells};
use super::{Calibration, ColumnCalibration};
use crate::features::reach::{has_reach, known_range, reach};
use crate::features::{Features, Group, GroupKind};
use crate::method::Task;

/// Observed cells that a run was not shown, and what it made of them.
#[derive(Debug, Clone)]
pub struct HiddenCells {
    /// One per group of features.
    pub columns: Vec<HiddenColumn>,
    /// The lowest and highest value that each group can have, where its type or its values say so.
    allowed: Vec<(Option<f64>, Option<f64>)>,
    /// The positions of each group among the columns whose errors may be correlated.
    correlated: Vec<Range<usize>>,
    /// How the columns of numbers are standardised, by all observed cells.
    standards: Vec<Standard>,
    /// What the runs without the hidden cells estimated for the cells that are wanted, by group: the mean
    /// over the runs.
    again: Vec<GroupEstimates>,
    runs: usize,
    seed: u64,
}

/// The hidden cells of one group.
#[derive(Debug, Clone)]
pub enum HiddenColumn {
    /// Of numbers, one list per feature.
    Numbers(Vec<Vec<HiddenNumber>>),
    /// Of a boolean or category.
    Levels(Vec<HiddenLevel>),
    /// Ranks of the scores of the cells of a 0/1 block, whether they are ones, and their rows.
    Ones(Vec<(f32, bool, u32)>),
}

impl HiddenCells {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let features = task.features;
        let columns = features.groups().iter().map(|group| match group.kind {
            GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock => {
                HiddenColumn::Numbers(vec![Vec::new(); group.features.len()])
            }
            GroupKind::Boolean | GroupKind::Category(_) => HiddenColumn::Levels(Vec::new()),
            GroupKind::BinaryBlock => HiddenColumn::Ones(Vec::new()),
        });
        let groups = 0..features.groups().len();
        let allowed = groups.map(|group| allowed_values(features, group)).collect();
        let correlated = correlated_columns(features);
        let columns = columns.collect();
        let numbers = number_columns(features);
        let nothing = vec![Vec::new(); numbers.len()];
        let (_, standards) = inputs_of(features, task.graph, task.unknown, &numbers, nothing, None);
        let seed = task.context.seed;
        HiddenCells { columns, allowed, correlated, standards, again: Vec::new(), runs: 0, seed }
    }

    /// Whether no cell could be hidden.
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(|column| match column {
            HiddenColumn::Numbers(features) => features.iter().all(Vec::is_empty),
            HiddenColumn::Levels(cells) => cells.is_empty(),
            HiddenColumn::Ones(cells) => cells.is_empty(),
        })
    }

    /// Takes the estimates of a fold that was unknown to the task.
    pub(super) fn add(&mut self, task: &Task<'_>, fold: &CellMask, estimates: CellEstimates<'_>) {
        let (features, seed) = (task.features, self.seed);
        let observed = ObservedCells::new(features, task.graph, task.unknown);
        let mut estimates = estimates.groups;
        let numbers = taken_numbers(features, task.unknown, &mut estimates, &|_| None);
        let (numbers, _) =
            inputs_of(features, task.graph, task.unknown, &number_columns(features), numbers, None);
        let mut numbers = numbers.into_iter();
        let groups = features.groups().iter().zip(estimates);
        for ((at, (about, own)), hidden) in groups.enumerate().zip(&mut self.columns) {
            match (own, hidden) {
                (GroupEstimates::Numbers(_), HiddenColumn::Numbers(hidden)) => {
                    for (feature, (hidden, cells)) in
                        about.features.clone().zip(hidden.iter_mut().zip(numbers.by_ref()))
                    {
                        hidden.extend(cells.into_iter().map(|cell| HiddenNumber {
                            row: cell.row,
                            estimate: cell.estimate * about.unit,
                            truth: features.value(at, cell.row as usize, feature) * about.unit,
                            surroundings: cell.surroundings,
                            inputs: cell.inputs,
                        }));
                    }
                }
                (GroupEstimates::Levels { rows, values }, HiddenColumn::Levels(hidden)) => {
                    let with_cell = observed.of_cell(about.cells.start);
                    let width = levels_of(about);
                    let cells = rows.iter().zip(values.chunks_exact(width));
                    hidden.extend(cells.filter_map(|(&row, estimates)| {
                        let surroundings = observed.around(row as usize, &with_cell);
                        Some(HiddenLevel {
                            row,
                            estimates: estimates.to_vec(),
                            truth: true_level(features, at, row as usize)?,
                            surroundings,
                            uniform: uniform_of(seed, row, about.cells.start),
                        })
                    }));
                }
                (GroupEstimates::Ones(cells), HiddenColumn::Ones(hidden)) => {
                    let ranks = ScoreRanks::new(cells.iter().map(|cell| cell.2));
                    hidden.extend(cells.into_iter().map(|(row, column, score)| {
                        let feature = about.features.start + column as usize;
                        (ranks.rank(score), features.value(at, row as usize, feature) == 1.0, row)
                    }));
                }
                _ => {}
            }
        }
        debug_assert!(fold.without(task.unknown).is_empty(), "a fold is unknown to its run");
    }

    /// Takes what a run without hidden cells estimated for the cells that are wanted.
    pub(super) fn add_wanted(&mut self, estimates: CellEstimates<'_>) {
        let mut estimates = estimates.groups;
        for own in &mut estimates {
            // Scores of two runs compare by their ranks alone.
            if let GroupEstimates::Ones(cells) = own {
                cells.sort_unstable_by_key(|cell| (cell.0, cell.1));
                let ranks = ScoreRanks::new(cells.iter().map(|cell| cell.2));
                cells.iter_mut().for_each(|cell| cell.2 = ranks.rank(cell.2));
            }
        }
        self.runs += 1;
        if self.again.is_empty() {
            self.again = estimates;
            return;
        }
        for (mean, own) in self.again.iter_mut().zip(&estimates) {
            mean.move_towards(own, 1.0 / self.runs as f64);
        }
    }

    /// What the runs without the hidden cells estimated for the cells that are wanted; none before any run.
    pub(super) fn again(&self) -> Option<&[GroupEstimates]> {
        (self.runs > 0).then_some(&self.again)
    }

    /// Calibrates on the hidden cells of the rows that are `kept`.
    pub fn calibrate(&self, kept: &dyn Fn(u32) -> bool) -> Calibration {
        let mut scores = ScoresByRow::default();
        let width = self.correlated.last().map_or(0, |last| last.end);
        let is_correlated = width <= MAX_COLUMNS;
        let numbers: Vec<Vec<&HiddenNumber>> = self
            .columns
            .iter()
            .flat_map(|column| match column {
                HiddenColumn::Numbers(features) => features.as_slice(),
                _ => &[],
            })
            .map(|cells| cells.iter().filter(|cell| kept(cell.row)).collect())
            .collect();
        let mut sized = sized_cells(&numbers);
        let factors = class_factors(&sized);
        for (cell, _) in sized.iter_mut().flatten() {
            cell.size *= factors[cell.surroundings.class()];
        }
        let mut sized = sized.into_iter();
        let about = self.columns.iter().zip(&self.allowed).zip(&self.correlated);
        let mut columns = Vec::new();
        for ((hidden, &allowed), range) in about {
            columns.push(match hidden {
                HiddenColumn::Numbers(_) => {
                    let mut calibrated = Vec::new();
                    for (column, own) in range.clone().zip(sized.by_ref()) {
                        let calibration = NumberCalibration::fit(&own, allowed);
                        if let (Some(calibration), true) = (&calibration, is_correlated) {
                            for (cell, truth) in &own {
                                let rank = calibration.probability_below(cell, *truth);
                                scores.add(cell.row, column, normal::quantile(rank));
                            }
                        }
                        calibrated.push(calibration);
                    }
                    ColumnCalibration::Numbers(calibrated)
                }
                HiddenColumn::Levels(cells) => {
                    let own: Vec<&HiddenLevel> =
                        cells.iter().filter(|cell| kept(cell.row)).collect();
                    let calibration = LevelCalibration::fit(&own);
                    let is_joint = is_correlated && !range.is_empty();
                    if let (Some(calibration), true) = (&calibration, is_joint) {
                        for cell in own {
                            let p = calibration.probabilities(&cell.estimates);
                            let rank = rank_of_boolean(p[1], cell.truth == 1, cell.uniform);
                            scores.add(cell.row, range.start, normal::quantile(rank));
                        }
                    }
                    ColumnCalibration::Levels(calibration)
                }
                HiddenColumn::Ones(cells) => {
                    let own = cells.iter().filter(|cell| kept(cell.2));
                    let own = own.map(|&(rank, one, _)| (rank, one)).collect();
                    ColumnCalibration::Ones(OnesCalibration::fit(own))
                }
            });
        }
        let correlation = scores.correlation(width);
        let scale = Scale::fit(&error_sizes(&numbers, &|_| true));
        Calibration {
            columns,
            scale,
            factors,
            standards: self.standards.clone(),
            correlation,
            seed: self.seed,
        }
    }
}

/// The number of folds, by row, in which the expected size of errors is fitted: the size of a cell's error
/// is told by a fit that has not seen it.
const SCALE_FOLDS: u32 = 5;

/// Hidden cells of every column of numbers with the expected size of their errors, and true values.
fn sized_cells(columns: &[Vec<&HiddenNumber>]) -> Vec<Vec<(NumberCell, f64)>> {
    let fold_of = |row: u32| (row.wrapping_mul(0x9e37_79b1) >> 16) % SCALE_FOLDS;
    let scales: Vec<Scale> = (0..SCALE_FOLDS)
        .map(|fold| Scale::fit(&error_sizes(columns, &|row| fold_of(row) != fold)))
        .collect();
    let sized = |(column, cells): (usize, &Vec<&HiddenNumber>)| {
        let sized = |cell: &&HiddenNumber| {
            let size = scales[fold_of(cell.row) as usize].of(column, &cell.inputs);
            let (row, surroundings) = (cell.row, cell.surroundings);
            (NumberCell { row, centre: cell.estimate, size, surroundings }, cell.truth)
        };
        cells.iter().map(sized).collect()
    };
    columns.iter().enumerate().map(sized).collect()
}

/// The fewest hidden cells of a class that tell its factor, and the quantile that they tell it by. The
/// logarithm of the factor of n cells is shrunk by n / (n + 10).
const MIN_CLASS: usize = 10;
const CLASS_QUANTILE: f64 = 0.9;
const CLASS_SHRINKAGE: f64 = 10.0;

/// How much larger the errors of each class of surroundings are than expected, over all columns: what the
/// model of sizes has missed. Classes of one column alone would be too small in most tables.
fn class_factors(columns: &[Vec<(NumberCell, f64)>]) -> Vec<f64> {
    let mut by_class: Vec<Vec<f32>> = vec![Vec::new(); CLASSES];
    for cells in columns {
        let score = |(cell, truth): &(NumberCell, f64)| (truth - cell.centre).abs() / cell.size;
        let mean = cells.iter().map(score).sum::<f64>() / cells.len().max(1) as f64;
        for own in cells.iter().filter(|_| mean > 0.0) {
            by_class[own.0.surroundings.class()].push((score(own) / mean) as f32);
        }
    }
    let of = |mut scores: Vec<f32>| {
        scores.sort_unstable_by(f32::total_cmp);
        quantile(&scores, CLASS_QUANTILE)
    };
    let all = of(by_class.concat());
    let factor = |scores: Vec<f32>| {
        let count = scores.len() as f64;
        let ratio = of(scores).zip(all).map_or(1.0, |(own, all)| own / all);
        match count >= MIN_CLASS as f64 && ratio > 0.0 {
            true => ratio.powf(count / (count + CLASS_SHRINKAGE)),
            false => 1.0,
        }
    };
    by_class.into_iter().map(factor).collect()
}

/// The inputs and error sizes of the cells of some rows.
fn error_sizes<'a>(
    columns: &[Vec<&'a HiddenNumber>],
    kept: &dyn Fn(u32) -> bool,
) -> Vec<Vec<ErrorSize<'a>>> {
    let of_column = |cells: &Vec<&'a HiddenNumber>| {
        let own = cells.iter().filter(|cell| kept(cell.row));
        own.map(|cell| (&cell.inputs, cell.error().abs())).collect()
    };
    columns.iter().map(of_column).collect()
}

/// Takes the estimates of numbers out of all estimates, held to what was observed or trained on: one list
/// per column of numbers, in the features' units.
pub(super) fn taken_numbers(
    features: &Features<'_>,
    unknown: &CellMask,
    estimates: &mut [GroupEstimates],
    trained_range: &dyn Fn(usize) -> Option<(f64, f64)>,
) -> Vec<Vec<(u32, f64)>> {
    let mut taken = Vec::new();
    for (group, (about, own)) in features.groups().iter().zip(estimates).enumerate() {
        let GroupEstimates::Numbers(columns) = own else { continue };
        for (feature, mut cells) in about.features.clone().zip(std::mem::take(columns)) {
            let known = known_values(features, group, feature, unknown);
            let mut range = if has_reach(about) { reach(known) } else { known_range(known) };
            if let Some((low, high)) = trained_range(group) {
                range = (range.0.min(low / about.unit), range.1.max(high / about.unit));
            }
            cells.iter_mut().for_each(|(_, estimate)| *estimate = clamped(*estimate, &range));
            taken.push(cells);
        }
    }
    taken
}

/// Where the true value of a boolean lies between 0 and 1, false below 1 − p.
pub(super) fn rank_of_boolean(p: f64, truth: bool, uniform: f64) -> f64 {
    let rank = if truth { 1.0 - p + uniform * p } else { uniform * (1.0 - p) };
    rank.clamp(1e-6, 1.0 - 1e-6)
}

/// The number of levels of a boolean or category.
pub(super) fn levels_of(group: &Group) -> usize {
    group.features.len().max(2)
}

/// The level of a boolean or category cell.
fn true_level(features: &Features<'_>, group: usize, row: usize) -> Option<usize> {
    match features.groups()[group].kind {
        GroupKind::Boolean => {
            let value = features.value(group, row, features.groups()[group].features.start);
            (!value.is_nan()).then(|| usize::from(value == 1.0))
        }
        _ => features.level(group, row).map(|level| level as usize),
    }
}

/// The values of a feature that are not unknown.
fn known_values(
    features: &Features<'_>,
    group: usize,
    feature: usize,
    unknown: &CellMask,
) -> impl Iterator<Item = f64> {
    let cell = features.groups()[group].cell_of(feature);
    let known = (0..features.rows()).filter(move |&row| !unknown.contains(row, cell));
    known.map(move |row| features.value(group, row, feature))
}

/// The nearest value of a range; any value where the range is empty.
fn clamped(value: f64, &(low, high): &(f64, f64)) -> f64 {
    if low <= high { value.clamp(low, high) } else { value }
}

/// The lowest and highest value of a column: counts are not negative, and numbers whose observed values
/// all have one sign keep it, as do those of a block. Dates have no sign.
fn allowed_values(features: &Features<'_>, group: usize) -> (Option<f64>, Option<f64>) {
    let about = &features.groups()[group];
    match about.kind {
        GroupKind::Count => (Some(0.0), None),
        GroupKind::Number | GroupKind::NumericBlock if !about.is_date => {
            let none = CellMask::none(features.rows(), features.cells());
            let known = |feature: usize| known_values(features, group, feature, &none);
            let ranges = about.features.clone().map(|own| known_range(known(own)));
            let (low, high) = ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |all, own| {
                (all.0.min(own.0), all.1.max(own.1))
            });
            let is_known = low <= high;
            ((is_known && low >= 0.0).then_some(0.0), (is_known && high <= 0.0).then_some(0.0))
        }
        _ => (None, None),
    }
}
