//! From scores to values, by least squares on cells whose values are known:
//!
//!   x̂ = μ_a + c (score − s̄_a)       μ_a, s̄_a: means of attribute a over those cells
//!
//! c is one number a group. The columns of 0/1 blocks are ranked and need none of it.

use graphfill_data::CellMask;

use crate::error::Result;
use crate::features::Features;
use crate::learning::{Decoded, TrainedModel};
use crate::method::{EstimateSink, Estimates};

/// Which cells the line is drawn through.
pub(super) enum Cells<'a> {
    /// Those of a mask.
    Hidden(&'a CellMask),
    /// Those that are not in a mask.
    Known(&'a CellMask),
}

/// A slope and an intercept for every feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calibration {
    slopes: Vec<f32>,
    intercepts: Vec<f32>,
}

impl Calibration {
    /// The line of a model's own scores.
    pub(super) fn of(features: &Features<'_>, models: &Decoded, cells: &Cells<'_>) -> Result<Self> {
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
            let products: f64 = own.iter().map(Moments::covariance).sum();
            let squares: f64 = own.iter().map(Moments::variance).sum();
            let slope = if squares > 0.0 { products / squares } else { 0.0 };
            for (feature, moments) in group.features.clone().zip(own) {
                calibration.slopes[feature] = slope as f32;
                let intercept = moments.value_mean() - slope * moments.score_mean();
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

/// Sums over the cells of one feature.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    score: f64,
    value: f64,
    squares: f64,
    products: f64,
}

impl Moments {
    fn add(&mut self, score: f64, value: f64) {
        self.count += 1.0;
        self.score += score;
        self.value += value;
        self.squares += score * score;
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

    fn variance(&self) -> f64 {
        self.squares - self.score * self.score_mean()
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
                        self.of_feature[feature].add(estimates.value(row, feature), value);
                    }
                }
            }
        }
        Ok(())
    }
}
