//! Between a column's own scale and the scores that models predict.
//!
//! | group | score | back |
//! |---|---|---|
//! | number | (x − mean) / sd | x̂ = mean + sd · score |
//! | count | (ln(1 + x) − mean) / sd, or as a number | x̂ = exp(mean + sd · score) − 1 |
//! | boolean | log-odds | probability |
//! | category | one log-weight a level | probabilities, by softmax |
//! | numeric block | (x − centre of the column) / unit of the block | x̂ = centre + unit · score |
//! | binary block | ranks | ranks |
//!
//! Means and deviations are those of the known cells.

use std::ops::Range;

use graphfill_data::CellMask;
use graphfill_engine::ValueOfScore;
use serde::{Deserialize, Serialize};

use crate::features::{Centres, Features, Group, GroupKind};

/// How numeric blocks are brought to scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumericBlocks {
    /// As they are, as in the paper.
    AsTheyAre,
    /// Less the mean of each column, in units of the block's deviation.
    Standardised,
}

/// How counts are brought to scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// By their logarithm: many small ones and a few large ones become alike.
    Logarithmic,
    /// As numbers: sums of other columns stay sums.
    Plain,
}

/// How columns are brought to scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleOptions {
    /// Numeric blocks.
    pub blocks: NumericBlocks,
    /// Counts.
    pub counts: Counts,
}

impl ScaleOptions {
    /// Everything standardised.
    pub const PLAIN: ScaleOptions =
        ScaleOptions { blocks: NumericBlocks::Standardised, counts: Counts::Plain };
}

/// The scale of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Scale {
    /// Of a number.
    Standard {
        /// The mean of the known cells.
        mean: f64,
        /// Their standard deviation.
        deviation: f64,
    },
    /// Of a count.
    Logarithmic {
        /// The mean of ln(1 + x) over the known cells.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// Of a boolean.
    LogOdds,
    /// Of a category.
    LogWeights,
    /// Of a binary block.
    Ranks,
    /// Of a numeric block.
    Block {
        /// What is subtracted from each column.
        centres: Vec<f64>,
        /// What is divided by.
        unit: f64,
    },
}

/// The scales of all groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scales(Vec<Scale>);

impl Scales {
    /// The scales of the cells that are not `unknown`.
    pub fn of(features: &Features<'_>, unknown: &CellMask, options: ScaleOptions) -> Self {
        let means = Centres::of(features, unknown).means;
        let known = |group: usize| {
            let about = &features.groups()[group];
            let cell = about.cells.start;
            let rows = (0..features.rows()).filter(move |&row| !unknown.contains(row, cell));
            let values = rows.map(move |row| features.value(group, row, about.features.start));
            values.filter(|value| !value.is_nan())
        };
        let scales = features.groups().iter().enumerate().map(|(group, about)| match about.kind {
            GroupKind::Number => {
                let (mean, deviation) = moments(known(group));
                Scale::Standard { mean, deviation }
            }
            GroupKind::Count if options.counts == Counts::Plain => {
                let (mean, deviation) = moments(known(group));
                Scale::Standard { mean, deviation }
            }
            GroupKind::Count => {
                let (mean, deviation) = moments(known(group).map(f64::ln_1p));
                Scale::Logarithmic { mean, deviation }
            }
            GroupKind::Boolean => Scale::LogOdds,
            GroupKind::Category(_) => Scale::LogWeights,
            GroupKind::BinaryBlock => Scale::Ranks,
            GroupKind::NumericBlock => match options.blocks {
                NumericBlocks::AsTheyAre => {
                    Scale::Block { centres: vec![0.0; about.features.len()], unit: 1.0 }
                }
                NumericBlocks::Standardised => {
                    let centres = means[about.features.clone()].to_vec();
                    let unit = block_deviation(features, unknown, group, &centres);
                    Scale::Block { centres, unit }
                }
            },
        });
        Scales(scales.collect())
    }

    /// Scores that are values already, but for those that rank.
    pub fn of_values(features: &Features<'_>) -> Self {
        let scale = |group: &Group| match group.kind {
            GroupKind::BinaryBlock => Scale::Ranks,
            _ => Scale::Block { centres: vec![0.0; group.features.len()], unit: 1.0 },
        };
        Scales(features.groups().iter().map(scale).collect())
    }

    /// The score that stands for a value of a group's column.
    pub fn score(&self, group: usize, column: usize, value: f64) -> f32 {
        match &self.0[group] {
            Scale::Standard { mean, deviation } => ((value - mean) / deviation) as f32,
            Scale::Logarithmic { mean, deviation } => ((value.ln_1p() - mean) / deviation) as f32,
            Scale::LogOdds | Scale::LogWeights | Scale::Ranks => value as f32,
            Scale::Block { centres, unit } => ((value - centres[column]) / unit) as f32,
        }
    }

    /// Whether the score of every zero of a group is zero.
    pub fn zeros_stay(&self, group: usize) -> bool {
        match &self.0[group] {
            Scale::LogOdds | Scale::LogWeights | Scale::Ranks => true,
            Scale::Block { centres, .. } => centres.iter().all(|&centre| centre == 0.0),
            Scale::Standard { .. } | Scale::Logarithmic { .. } => false,
        }
    }

    /// The score that stands for an estimate, which for booleans, categories and blocks of 0 and 1 is
    /// a share.
    pub fn score_of_estimate(&self, group: usize, column: usize, estimate: f64) -> f32 {
        match &self.0[group] {
            Scale::LogOdds => {
                let share = estimate.clamp(0.0, 1.0);
                ((share + LEAST_SHARE) / (1.0 - share + LEAST_SHARE)).ln() as f32
            }
            Scale::LogWeights | Scale::Ranks => (estimate.max(0.0) + LEAST_SHARE).ln() as f32,
            Scale::Logarithmic { .. } => self.score(group, column, estimate.max(0.0)),
            Scale::Standard { .. } | Scale::Block { .. } => self.score(group, column, estimate),
        }
    }

    /// Brings scores of some of a group's columns, one row of them, to the column's own scale, less
    /// the [offset](Scales::offsets) of each column. A category comes with all of its levels.
    pub fn restore(&self, group: usize, scores: &mut [f32]) {
        match &self.0[group] {
            Scale::Standard { deviation, .. } => scale(scores, *deviation),
            Scale::Block { unit, .. } => scale(scores, *unit),
            Scale::Logarithmic { mean, deviation } => {
                for score in scores {
                    let logarithm = mean + deviation * f64::from(*score);
                    *score = logarithm.clamp(0.0, MOST_LOGARITHM).exp_m1() as f32;
                }
            }
            Scale::LogOdds => {
                scores.iter_mut().for_each(|score| *score = 1.0 / (1.0 + (-*score).exp()));
            }
            Scale::LogWeights => softmax(scores),
            Scale::Ranks => {}
        }
    }

    /// What [`Scales::restore`] does with the scores of a group, in the engine's words.
    pub fn value_of_score(&self, group: usize) -> ValueOfScore {
        match self.0[group] {
            Scale::Standard { deviation, .. } => ValueOfScore::Linear { unit: deviation },
            Scale::Block { unit, .. } => ValueOfScore::Linear { unit },
            Scale::Logarithmic { mean, deviation } => {
                ValueOfScore::Exponential { mean, deviation, most: MOST_LOGARITHM }
            }
            Scale::LogOdds => ValueOfScore::Probability,
            Scale::LogWeights => ValueOfScore::Shares,
            Scale::Ranks => ValueOfScore::Linear { unit: 1.0 },
        }
    }

    /// What is added to restored scores of a group's columns.
    pub fn offsets(&self, group: usize, columns: Range<usize>) -> Vec<f64> {
        match &self.0[group] {
            Scale::Standard { mean, .. } => vec![*mean],
            Scale::Block { centres, .. } => centres[columns].to_vec(),
            _ => vec![0.0; columns.len()],
        }
    }

    /// The scale of a group.
    pub fn group(&self, group: usize) -> &Scale {
        &self.0[group]
    }
}

/// What is added to shares before their logarithm is taken.
const LEAST_SHARE: f64 = 1e-4;

/// A count beyond this is no estimate; f32 ends at e^88.
const MOST_LOGARITHM: f64 = 80.0;

fn scale(scores: &mut [f32], unit: f64) {
    scores.iter_mut().for_each(|score| *score = (f64::from(*score) * unit) as f32);
}

/// exp(score) / Σ exp(score).
pub(crate) fn softmax(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// Mean and standard deviation; a column of one single value has deviation one.
fn moments(values: impl Iterator<Item = f64>) -> (f64, f64) {
    // Welford's running form: steady for values far from zero.
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        let difference = value - mean;
        mean += difference / count;
        squares += difference * (value - mean);
    }
    let deviation = (squares / f64::max(count, 1.0)).sqrt();
    (mean, if deviation > 0.0 { deviation } else { 1.0 })
}

/// The root of the mean squared difference between a block's known cells and their column's centre.
fn block_deviation(
    features: &Features<'_>,
    unknown: &CellMask,
    group: usize,
    centres: &[f64],
) -> f64 {
    let Some(block) = features.block(group) else { return 1.0 };
    let first = features.groups()[group].cells.start;
    // Every cell as if it were zero, then what the stored ones change.
    let of_zeros: f64 = centres.iter().map(|centre| centre * centre).sum();
    let (mut squares, mut cells) = (0.0, 0usize);
    for row in (0..features.rows()).filter(|&row| !unknown.is_whole(row)) {
        let hidden = |column: usize| unknown.contains(row, first + column);
        squares += of_zeros;
        cells += centres.len();
        for (column, value) in block.cells(row) {
            let centre = centres[column as usize];
            squares += (value - centre).powi(2) - centre * centre;
        }
        let holes = unknown.cells(row).iter().map(|&hole| hole as usize);
        for hole in holes.filter(|hole| (first..first + centres.len()).contains(hole)) {
            let column = hole - first;
            debug_assert!(hidden(column), "a hole is hidden");
            let stored = block.cells_between(row, column..column + 1).next();
            squares -= (stored.map_or(0.0, |(_, value)| value) - centres[column]).powi(2);
            cells -= 1;
        }
    }
    let deviation = (squares / cells.max(1) as f64).max(0.0).sqrt();
    if deviation > 0.0 { deviation } else { 1.0 }
}
