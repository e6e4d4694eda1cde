//! From scores to values, by least squares on cells whose values are known:
//!
//!   x̂ = μ_a + c σ_a (score − s̄_a)
//!
//! μ_a and σ_a are the mean and the standard deviation of attribute a, s̄_a is the mean of its scores on
//! those cells. Scores are logarithms, which spread as far for rare attributes as for frequent ones:
//! without σ_a, estimates of rare attributes would, too.
//!
//! Those cells are validation cells, which the model has not seen, and not the ones that settings are
//! compared on: half of the rows each. c is one number per group, the slope of least squares shrunk by
//! how likely it is by chance: c = slope · max(0, 1 − 1/F). The columns of 0/1 blocks are ranked and
//! need none of it.

use graphfill_data::CellMask;

use crate::error::Result;
use crate::features::{ColumnMeans, Features};
use crate::learning::{Decoded, TrainedModel};
use crate::method::{EstimateSink, Estimates};

/// Which cells the line is drawn through.
pub(super) enum Cells<'a> {
    /// Those of a mask.
    Hidden(&'a CellMask),
    /// Those that are not in a mask.
    Known(&'a CellMask),
}

/// Means and standard deviations of features over their known cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Columns {
    /// Those over all cells that are not in `unknown`.
    pub(super) fn of(features: &Features<'_>, unknown: &CellMask) -> Self {
        let ColumnMeans { means, known } = ColumnMeans::of(features, unknown);
        let mut squares = vec![0.0; features.width()];
        for (group, about) in features.groups().iter().enumerate() {
            for row in 0..features.rows() {
                let mut add = |feature: usize, value: f64| {
                    if !value.is_nan() && !unknown.contains(row, about.cell_of(feature)) {
                        squares[feature] += value * value;
                    }
                };
                match features.block(group) {
                    Some(block) => block.cells(row).for_each(|(column, value)| {
                        add(about.features.start + column as usize, value);
                    }),
                    None => about
                        .features
                        .clone()
                        .for_each(|feature| add(feature, features.value(group, row, feature))),
                }
            }
        }
        let counts = known.iter().map(|&count| f64::from(count.max(1)));
        let moments = squares.iter().zip(counts).zip(&means);
        let deviation = |((squares, count), mean): ((&f64, f64), &f64)| {
            (squares / count - mean * mean).max(0.0).sqrt()
        };
        Columns { deviations: moments.map(deviation).collect(), means }
    }
}

/// A slope and an intercept for every feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calibration {
    slopes: Vec<f32>,
    intercepts: Vec<f32>,
}

impl Calibration {
    /// The line of a model's own scores.
    pub(super) fn of(
        features: &Features<'_>,
        models: &Decoded,
        columns: &Columns,
        cells: &Cells<'_>,
    ) -> Result<Self> {
        let wanted: Vec<bool> = features.groups().iter().map(|group| !group.is_ranking()).collect();
        let mut sums =
            Sums { features, cells, of_feature: vec![Moments::default(); features.width()] };
        if wanted.contains(&true) {
            let rows = match cells {
                Cells::Hidden(cells) => Some(cells.touched_rows()),
                Cells::Known(_) => None,
            };
            models.estimate(features, &wanted, rows.as_deref(), &mut sums)?;
        }
        let mut calibration = Calibration {
            slopes: vec![1.0; features.width()],
            intercepts: vec![0.0; features.width()],
        };
        for group in features.groups().iter().filter(|group| !group.is_ranking()) {
            let own = &sums.of_feature[group.features.clone()];
            let deviations = &columns.deviations[group.features.clone()];
            let slope = shrunk_slope(own, deviations);
            for ((feature, moments), deviation) in group.features.clone().zip(own).zip(deviations) {
                // Nobody knows the mean score of a column without cells.
                let slope = if moments.count > 0.0 { slope * deviation } else { 0.0 };
                calibration.slopes[feature] = slope as f32;
                let intercept = columns.means[feature] - slope * moments.score_mean();
                calibration.intercepts[feature] = intercept as f32;
            }
        }
        Ok(calibration)
    }

    /// The model whose scores are values.
    pub(super) fn apply(&self, model: &mut TrainedModel) {
        for row in model.weight.chunks_exact_mut(self.slopes.len().max(1)) {
            row.iter_mut().zip(&self.slopes).for_each(|(weight, slope)| *weight *= slope);
        }
        let before = model.bias.take().unwrap_or_else(|| vec![0.0; self.slopes.len()]);
        let lines = self.slopes.iter().zip(&self.intercepts);
        let bias = before.iter().zip(lines).map(|(bias, (slope, cut))| slope * bias + cut);
        model.bias = Some(bias.collect());
    }
}

/// The slope that the columns of a group share, per standard deviation of the column.
fn shrunk_slope(columns: &[Moments], deviations: &[f64]) -> f64 {
    let sum = |of: &dyn Fn(&Moments, f64) -> f64| {
        columns
            .iter()
            .zip(deviations)
            .map(|(column, &deviation)| of(column, deviation))
            .sum::<f64>()
    };
    let products = sum(&|column, deviation| deviation * column.covariance());
    let squares = sum(&|column, deviation| deviation * deviation * column.score_variance());
    if squares <= 0.0 {
        return 0.0;
    }
    let explained = products * products / squares;
    let rest = (sum(&|column, _| column.value_variance()) - explained).max(0.0);
    let freedom = sum(&|column, _| (column.count - 1.0).max(0.0)) - 1.0;
    let by_chance = if explained > 0.0 { rest / (explained * freedom.max(0.0)) } else { 1.0 };
    // Nothing explained by nothing is NaN, and no reason to believe in a slope.
    let share = 1.0 - by_chance;
    if share > 0.0 { products / squares * share } else { 0.0 }
}

/// Sums over the cells of one feature.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    score: f64,
    value: f64,
    score_squares: f64,
    value_squares: f64,
    products: f64,
}

impl Moments {
    fn add(&mut self, score: f64, value: f64) {
        self.count += 1.0;
        self.score += score;
        self.value += value;
        self.score_squares += score * score;
        self.value_squares += value * value;
        self.products += score * value;
    }

    fn score_mean(&self) -> f64 {
        self.score / self.count.max(1.0)
    }

    fn value_mean(&self) -> f64 {
        self.value / self.count.max(1.0)
    }

    fn covariance(&self) -> f64 {
        self.products - self.score * self.value_mean()
    }

    fn score_variance(&self) -> f64 {
        self.score_squares - self.score * self.score_mean()
    }

    fn value_variance(&self) -> f64 {
        self.value_squares - self.value * self.value_mean()
    }
}

struct Sums<'a, 'b> {
    features: &'b Features<'a>,
    cells: &'b Cells<'b>,
    of_feature: Vec<Moments>,
}

impl EstimateSink for Sums<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        for (group, about, inside) in self.features.groups_in(estimates.features()) {
            for row in 0..self.features.rows() {
                for feature in inside.clone() {
                    let cell = about.cell_of(feature);
                    let is_meant = match self.cells {
                        Cells::Hidden(cells) => cells.contains(row, cell),
                        Cells::Known(unknown) => !unknown.contains(row, cell),
                    };
                    if is_meant {
                        let value = self.features.value(group, row, feature);
                        self.of_feature[feature].add(estimates.mean(row, feature), value);
                    }
                }
            }
        }
        Ok(())
    }
}
