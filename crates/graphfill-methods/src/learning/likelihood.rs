//! The likelihood of each group of features: link function, loss, sampling and metric in one place.
//!
//! | group | logit | estimate (inverse link) | loss |
//! |---|---|---|---|
//! | number | (x − mean) / sd | mean + sd · logit | squared error |
//! | count | (ln(1 + x) − mean) / sd, or as a number | exp(mean + sd · logit) − 1 | squared error |
//! | boolean | log-odds | probability | Bernoulli |
//! | category | one log-weight per level | probabilities, by softmax | categorical |
//! | numeric block | (x − column mean) / sd of the block | column mean + sd · logit | squared error |
//! | 0/1 block | scores that rank its columns | the same | balanced Bernoulli or multinomial |
//!
//! Means and deviations are those of the known cells. Each group's loss is a mean over its known cells;
//! every group has the same weight, however many columns it has, and all weights sum to one.

use std::ops::Range;
use std::sync::Arc;

use graphfill_data::{CellMask, Labels};
use graphfill_engine::random::{Key, normals, uniforms};
use graphfill_engine::{Likelihood, ValueOfScore};
use serde::{Deserialize, Serialize};

use super::targets::GroupTargets;
use crate::error::Result;
use crate::features::{ColumnMeans, Features, Group, GroupKind};
use crate::method::Measure;
use crate::word_parameter;

word_parameter! {
    /// How the values of numeric blocks become logits.
    pub enum NumericBlocks {
        /// As they are, as in the paper.
        Raw = "none",
        /// Less the mean of each column, divided by the standard deviation of the block.
        Standardised = "standard",
    }
}

/// How counts become logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Through ln(1 + x), which evens out many small and a few large counts.
    Logarithmic,
    /// As numbers: sums of other columns stay sums.
    Plain,
}

/// The loss of a 0/1 block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryLoss {
    /// Cell by cell; ones and zeros have the same total weight. SVGA's.
    BalancedBernoulli,
    /// The ones of a row as draws from one distribution over all columns.
    Multinomial,
}

/// The choices that a method makes about its likelihoods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LikelihoodOptions {
    /// Numeric blocks.
    pub blocks: NumericBlocks,
    /// Counts.
    pub counts: Counts,
    /// 0/1 blocks.
    pub binary: BinaryLoss,
}

impl LikelihoodOptions {
    /// Numbers and counts standardised, 0/1 blocks multinomial.
    pub const PLAIN: LikelihoodOptions = LikelihoodOptions {
        blocks: NumericBlocks::Standardised,
        counts: Counts::Plain,
        binary: BinaryLoss::Multinomial,
    };
}

/// The likelihood of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum GroupLikelihood {
    /// Of a number.
    Gaussian {
        /// The mean of the known cells.
        mean: f64,
        /// Their standard deviation.
        deviation: f64,
    },
    /// Of a count: Gaussian in ln(1 + x).
    LogGaussian {
        /// The mean of ln(1 + x) over the known cells.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// Of a boolean.
    Bernoulli,
    /// Of a category.
    Categorical,
    /// Of a numeric block.
    GaussianBlock {
        /// What is subtracted from each column.
        means: Vec<f64>,
        /// What is divided by.
        deviation: f64,
    },
    /// Of a 0/1 block, cell by cell.
    BalancedBernoulli,
    /// Of a 0/1 block, row by row.
    Multinomial,
}

impl GroupLikelihood {
    /// The logit of an observed value in a column of the group.
    pub fn logit(&self, column: usize, value: f64) -> f32 {
        match self {
            GroupLikelihood::Gaussian { mean, deviation } => ((value - mean) / deviation) as f32,
            GroupLikelihood::LogGaussian { mean, deviation } => {
                ((value.ln_1p() - mean) / deviation) as f32
            }
            GroupLikelihood::GaussianBlock { means, deviation } => {
                ((value - means[column]) / deviation) as f32
            }
            _ => value as f32,
        }
    }

    /// The logit of an estimate: a mean, or a probability where the group has probabilities.
    pub fn logit_of_estimate(&self, column: usize, estimate: f64) -> f32 {
        match self {
            GroupLikelihood::Bernoulli => {
                let share = estimate.clamp(0.0, 1.0);
                ((share + MIN_SHARE) / (1.0 - share + MIN_SHARE)).ln() as f32
            }
            GroupLikelihood::Categorical
            | GroupLikelihood::BalancedBernoulli
            | GroupLikelihood::Multinomial => (estimate.max(0.0) + MIN_SHARE).ln() as f32,
            GroupLikelihood::LogGaussian { .. } => self.logit(column, estimate.max(0.0)),
            _ => self.logit(column, estimate),
        }
    }

    /// Whether the logit of every zero is zero, so that zeros need not be stored.
    pub fn zeros_stay(&self) -> bool {
        match self {
            GroupLikelihood::GaussianBlock { means, .. } => means.iter().all(|&mean| mean == 0.0),
            GroupLikelihood::Gaussian { .. } | GroupLikelihood::LogGaussian { .. } => false,
            _ => true,
        }
    }

    /// The inverse link, in place: logits of some columns of one row become means less the
    /// [column means](GroupLikelihood::column_means). A category comes with all of its levels.
    pub fn inverse_link(&self, logits: &mut [f32]) {
        match self {
            GroupLikelihood::Gaussian { deviation, .. }
            | GroupLikelihood::GaussianBlock { deviation, .. } => {
                for logit in logits {
                    *logit = (f64::from(*logit) * deviation) as f32;
                }
            }
            GroupLikelihood::LogGaussian { mean, deviation } => {
                for logit in logits {
                    let logarithm = mean + deviation * f64::from(*logit);
                    *logit = logarithm.clamp(0.0, MAX_LOGARITHM).exp_m1() as f32;
                }
            }
            GroupLikelihood::Bernoulli => {
                logits.iter_mut().for_each(|logit| *logit = 1.0 / (1.0 + (-*logit).exp()));
            }
            GroupLikelihood::Categorical => softmax(logits),
            GroupLikelihood::BalancedBernoulli | GroupLikelihood::Multinomial => {}
        }
    }

    /// The inverse link as the engine computes it.
    pub fn engine_link(&self) -> ValueOfScore {
        match *self {
            GroupLikelihood::Gaussian { deviation, .. }
            | GroupLikelihood::GaussianBlock { deviation, .. } => {
                ValueOfScore::Linear { unit: deviation }
            }
            GroupLikelihood::LogGaussian { mean, deviation } => {
                ValueOfScore::Exponential { mean, deviation, most: MAX_LOGARITHM }
            }
            GroupLikelihood::Bernoulli => ValueOfScore::Probability,
            GroupLikelihood::Categorical => ValueOfScore::Shares,
            GroupLikelihood::BalancedBernoulli | GroupLikelihood::Multinomial => {
                ValueOfScore::Linear { unit: 1.0 }
            }
        }
    }

    /// What is added to the result of the inverse link in some columns.
    pub fn column_means(&self, columns: Range<usize>) -> Vec<f64> {
        match self {
            GroupLikelihood::Gaussian { mean, .. } => vec![*mean],
            GroupLikelihood::GaussianBlock { means, .. } => means[columns].to_vec(),
            _ => vec![0.0; columns.len()],
        }
    }

    /// The metric of the group: recall at a depth where columns are ranked, else RMSE.
    pub fn measure(&self, depth: usize) -> Measure {
        match self {
            GroupLikelihood::BalancedBernoulli | GroupLikelihood::Multinomial => {
                Measure::Recall { at: depth }
            }
            _ => Measure::RootMeanSquaredError,
        }
    }

    /// Draws one row of the group from its distribution, in the column's own scale.
    ///
    /// `logits` are those of all columns of the group in one row, `scale` is the standard deviation
    /// of a logit around its mean, `ones` how many ones a row of a 0/1 block gets. The same key
    /// draws the same row.
    pub fn sample(&self, logits: &[f32], scale: f32, ones: usize, key: Key) -> Vec<f64> {
        let mut drawn = logits.to_vec();
        let mut uniform = vec![0.0f32; logits.len()];
        uniforms(key, &mut uniform);
        match self {
            GroupLikelihood::Bernoulli => {
                self.inverse_link(&mut drawn);
                drawn.iter().zip(&uniform).map(|(p, u)| f64::from(u8::from(u < p))).collect()
            }
            GroupLikelihood::Categorical => top_of(&gumbel(logits, &uniform), 1),
            GroupLikelihood::BalancedBernoulli | GroupLikelihood::Multinomial => {
                top_of(&gumbel(logits, &uniform), ones)
            }
            _ => {
                let mut noise = vec![0.0f32; logits.len()];
                normals(key, 0, &mut noise);
                drawn.iter_mut().zip(&noise).for_each(|(logit, noise)| *logit += scale * noise);
                self.inverse_link(&mut drawn);
                let means = self.column_means(0..logits.len());
                drawn.iter().zip(means).map(|(&value, mean)| f64::from(value) + mean).collect()
            }
        }
    }
}

/// Logits with Gumbel noise: the largest k are k draws without replacement from their softmax.
fn gumbel(logits: &[f32], uniform: &[f32]) -> Vec<f32> {
    let noise = |u: &f32| -(-u.max(f32::MIN_POSITIVE).ln()).max(f32::MIN_POSITIVE).ln();
    logits.iter().zip(uniform).map(|(logit, u)| logit + noise(u)).collect()
}

/// Ones at the largest `count` places.
fn top_of(keys: &[f32], count: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&one, &other| keys[other].total_cmp(&keys[one]));
    let mut row = vec![0.0; keys.len()];
    order.iter().take(count).for_each(|&at| row[at] = 1.0);
    row
}

/// The likelihoods of all groups of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Likelihoods(Vec<GroupLikelihood>);

impl Likelihoods {
    /// Fits means and deviations to the cells that are not `unknown`.
    pub fn fit(features: &Features<'_>, unknown: &CellMask, options: LikelihoodOptions) -> Self {
        let means = ColumnMeans::of(features, unknown).means;
        let known = |group: usize| {
            let about = &features.groups()[group];
            let cell = about.cells.start;
            let rows = (0..features.rows()).filter(move |&row| !unknown.contains(row, cell));
            let values = rows.map(move |row| features.value(group, row, about.features.start));
            values.filter(|value| !value.is_nan())
        };
        let gaussian = |values: &mut dyn Iterator<Item = f64>| {
            let (mean, deviation) = moments(values);
            GroupLikelihood::Gaussian { mean, deviation }
        };
        let groups = features.groups().iter().enumerate().map(|(group, about)| match about.kind {
            GroupKind::Number => gaussian(&mut known(group)),
            GroupKind::Count if options.counts == Counts::Plain => gaussian(&mut known(group)),
            GroupKind::Count => {
                let (mean, deviation) = moments(&mut known(group).map(f64::ln_1p));
                GroupLikelihood::LogGaussian { mean, deviation }
            }
            GroupKind::Boolean => GroupLikelihood::Bernoulli,
            GroupKind::Category(_) => GroupLikelihood::Categorical,
            GroupKind::BinaryBlock => match options.binary {
                BinaryLoss::BalancedBernoulli => GroupLikelihood::BalancedBernoulli,
                BinaryLoss::Multinomial => GroupLikelihood::Multinomial,
            },
            GroupKind::NumericBlock => match options.blocks {
                NumericBlocks::Raw => GroupLikelihood::identity(about),
                NumericBlocks::Standardised => {
                    let means = means[about.features.clone()].to_vec();
                    let deviation = block_deviation(features, unknown, group, &means);
                    GroupLikelihood::GaussianBlock { means, deviation }
                }
            },
        });
        Likelihoods(groups.collect())
    }

    /// Logits that are estimates already, except where they rank.
    pub fn identity(features: &Features<'_>) -> Self {
        let of_group = |group: &Group| match group.kind {
            GroupKind::BinaryBlock => GroupLikelihood::BalancedBernoulli,
            _ => GroupLikelihood::identity(group),
        };
        Likelihoods(features.groups().iter().map(of_group).collect())
    }

    /// The likelihood of a group.
    pub fn group(&self, group: usize) -> &GroupLikelihood {
        &self.0[group]
    }

    /// The logit of an observed value.
    pub fn logit(&self, group: usize, column: usize, value: f64) -> f32 {
        self.0[group].logit(column, value)
    }

    /// The loss of the known cells of some rows, as the engine has it.
    fn loss(
        &self,
        features: &Features<'_>,
        unknown: &CellMask,
        rows: &[u32],
    ) -> Result<Likelihood> {
        let weight = 1.0 / features.groups().len().max(1) as f32;
        let mut loss = Likelihood::new(rows.len());
        for (group, about) in features.groups().iter().enumerate() {
            let likelihood = &self.0[group];
            let targets = GroupTargets { features, unknown, likelihood, rows, group };
            loss = match (likelihood, &about.kind) {
                (GroupLikelihood::Categorical, GroupKind::Category(levels)) => {
                    loss.categorical(levels.len(), targets.levels(), weight)?
                }
                (GroupLikelihood::Bernoulli, _) => loss.bernoulli(targets.dense(), weight)?,
                (GroupLikelihood::BalancedBernoulli, _) => {
                    loss.balanced_bernoulli(targets.sparse_if_possible(), weight)?
                }
                (GroupLikelihood::Multinomial, _) => {
                    loss.multinomial(targets.sparse_if_possible(), weight)?
                }
                (GroupLikelihood::GaussianBlock { .. }, _) => {
                    loss.squared_error(targets.sparse_if_possible(), weight)?
                }
                _ => loss.squared_error(targets.dense(), weight)?,
            };
        }
        Ok(loss)
    }
}

impl GroupLikelihood {
    fn identity(group: &Group) -> Self {
        GroupLikelihood::GaussianBlock { means: vec![0.0; group.features.len()], deviation: 1.0 }
    }
}

/// Rows, and the loss of what is known of them.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The rows, in the order of the loss.
    pub rows: Vec<u32>,
    /// The loss, over logits of rows × features.
    pub likelihood: Arc<Likelihood>,
}

impl Observed {
    /// The rows with any cell that is not `unknown`.
    pub fn features(
        features: &Features<'_>,
        unknown: &CellMask,
        likelihoods: &Likelihoods,
    ) -> Result<Self> {
        let is_seen = |row: &u32| !unknown.is_whole(*row as usize);
        let rows: Vec<u32> = (0..features.rows() as u32).filter(is_seen).collect();
        Self::of_rows(features, unknown, likelihoods, rows)
    }

    /// Some rows.
    pub fn of_rows(
        features: &Features<'_>,
        unknown: &CellMask,
        likelihoods: &Likelihoods,
        rows: Vec<u32>,
    ) -> Result<Self> {
        let likelihood = Arc::new(likelihoods.loss(features, unknown, &rows)?);
        Ok(Observed { rows, likelihood })
    }

    /// The nodes whose label is known; none where there are no labels.
    pub fn labels(labels: Option<&Labels>) -> Result<Option<Self>> {
        let Some(labels) = labels else { return Ok(None) };
        let known = labels.codes.iter().enumerate();
        let (rows, classes): (Vec<u32>, Vec<u32>) =
            known.filter_map(|(row, class)| Some((row as u32, (*class)?))).unzip();
        if rows.is_empty() {
            return Ok(None);
        }
        let likelihood = Likelihood::new(rows.len());
        let likelihood = likelihood.categorical(labels.classes.len(), classes, 1.0)?;
        Ok(Some(Observed { rows, likelihood: Arc::new(likelihood) }))
    }
}

/// What is added to probabilities before their logarithm is taken.
const MIN_SHARE: f64 = 1e-4;

/// Counts beyond e^80 are no estimates; f32 ends at e^88.
const MAX_LOGARITHM: f64 = 80.0;

/// exp(logit) / Σ exp(logit).
pub(crate) fn softmax(logits: &mut [f32]) {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter_mut().for_each(|logit| *logit = (*logit - max).exp());
    let sum: f32 = logits.iter().sum();
    logits.iter_mut().for_each(|logit| *logit /= sum);
}

/// Mean and standard deviation; a column of one single value has deviation one.
fn moments(values: &mut dyn Iterator<Item = f64>) -> (f64, f64) {
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

/// The root of the mean squared difference between a block's known cells and their column means.
fn block_deviation(
    features: &Features<'_>,
    unknown: &CellMask,
    group: usize,
    means: &[f64],
) -> f64 {
    let Some(block) = features.block(group) else { return 1.0 };
    let first = features.groups()[group].cells.start;
    // Every cell as if it were zero, then what the stored ones change.
    let of_zeros: f64 = means.iter().map(|mean| mean * mean).sum();
    let (mut squares, mut cells) = (0.0, 0usize);
    for row in (0..features.rows()).filter(|&row| !unknown.is_whole(row)) {
        let hidden = |column: usize| unknown.contains(row, first + column);
        squares += of_zeros;
        cells += means.len();
        for (column, value) in block.cells(row) {
            let mean = means[column as usize];
            squares += (value - mean).powi(2) - mean * mean;
        }
        let holes = unknown.cells(row).iter().map(|&hole| hole as usize);
        for hole in holes.filter(|hole| (first..first + means.len()).contains(hole)) {
            let column = hole - first;
            debug_assert!(hidden(column), "a hole is hidden");
            let stored = block.cells_between(row, column..column + 1).next();
            squares -= (stored.map_or(0.0, |(_, value)| value) - means[column]).powi(2);
            cells -= 1;
        }
    }
    let deviation = (squares / cells.max(1) as f64).max(0.0).sqrt();
    if deviation > 0.0 { deviation } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 4000;

    fn draws(likelihood: &GroupLikelihood, logits: &[f32], scale: f32) -> Vec<Vec<f64>> {
        (0..DRAWS).map(|draw| likelihood.sample(logits, scale, 1, Key::new(draw, 0, 0))).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        values.sum::<f64>() / DRAWS as f64
    }

    #[test]
    fn draws_have_the_mean_and_the_scale_of_their_distribution() {
        let gaussian = GroupLikelihood::Gaussian { mean: 10.0, deviation: 2.0 };
        let drawn = draws(&gaussian, &[1.5], 0.5);
        let centre = mean(drawn.iter().map(|row| row[0]));
        let variance = mean(drawn.iter().map(|row| (row[0] - centre).powi(2)));
        assert!((centre - 13.0).abs() < 0.06, "{centre}");
        assert!((variance.sqrt() - 1.0).abs() < 0.05, "{}", variance.sqrt());
        let counts = GroupLikelihood::LogGaussian { mean: 1.0, deviation: 1.0 };
        assert!(draws(&counts, &[-9.0], 1.0).iter().all(|row| row[0] >= 0.0));
    }

    #[test]
    fn levels_are_drawn_as_often_as_their_probabilities_say() {
        let logits = [0.2f32, 1.4, -0.7];
        let mut expected = logits;
        GroupLikelihood::Categorical.inverse_link(&mut expected);
        let drawn = draws(&GroupLikelihood::Categorical, &logits, 0.0);
        assert!(drawn.iter().all(|row| row.iter().sum::<f64>() == 1.0));
        for (level, expected) in expected.iter().enumerate() {
            let share = mean(drawn.iter().map(|row| row[level]));
            assert!((share - f64::from(*expected)).abs() < 0.03, "{level}: {share}, {expected}");
        }
        let share = mean(draws(&GroupLikelihood::Bernoulli, &[0.8], 0.0).iter().map(|row| row[0]));
        assert!((share - 0.690).abs() < 0.03, "{share}");
    }
}
