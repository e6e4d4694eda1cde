//! Calibrated probabilities of booleans and categories, and adaptive prediction sets.
//!
//! Probabilities p of L levels are calibrated as
//!
//!   q_l ∝ exp(a log p_l + b_l)
//!
//! with a (Platt's slope, or a temperature) and b_l fitted to hidden cells by penalised maximum
//! likelihood. A prediction set (Romano, Sesia, Candès 2020) takes the likeliest levels until their
//! probabilities reach a threshold: the score of a level is the sum of the q that are larger, plus a
//! uniform share of its own, and the threshold is the quantile of the scores of the true levels of
//! hidden cells.

use graphfill_engine::random::{Key, uniforms};
use serde::{Deserialize, Serialize};

use super::classes::{ScoresByClass, quantile};
use super::surroundings::Surroundings;

/// Probabilities are kept this far from zero: a method that excludes a level may be wrong.
const MIN_PROBABILITY: f32 = 1e-3;
/// The weight of the penalty on a − 1 and on the b_l, in cells.
const PENALTY: f64 = 2.0;
/// The random stream of the shares of prediction sets.
const SET_STREAM: u32 = 0x5e70_0000;
/// Folds, by row, in which the scaling is fitted for the scores.
const FOLDS: u32 = 5;
/// Newton steps of the fit.
const STEPS: usize = 40;

/// The calibration of one boolean or category column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelCalibration {
    /// a.
    slope: f64,
    /// b_l, one per level.
    biases: Vec<f64>,
    /// Scores of the true levels of hidden cells.
    scores: ScoresByClass,
}

/// A hidden cell of a boolean or category.
#[derive(Debug, Clone, PartialEq)]
pub struct HiddenLevel {
    /// Its row.
    pub row: u32,
    /// The estimates of all levels.
    pub estimates: Vec<f32>,
    /// The observed level.
    pub truth: usize,
    /// What was observed around it.
    pub surroundings: Surroundings,
    /// A uniform number, for the share of its own probability in its score.
    pub(super) uniform: f64,
}

impl HiddenLevel {
    /// The level with the largest estimate.
    pub fn estimate(&self) -> usize {
        largest(&self.estimates)
    }
}

/// The position of the largest value, the first of equals.
pub(super) fn largest(values: &[f32]) -> usize {
    let ahead = |best: usize, at: usize| if values[at] > values[best] { at } else { best };
    (1..values.len()).fold(0, ahead)
}

impl LevelCalibration {
    /// Calibrates on hidden cells; none where they are too few.
    pub(super) fn fit(cells: &[&HiddenLevel]) -> Option<Self> {
        let fitted = |kept: &dyn Fn(u32) -> bool| {
            let own: Vec<&HiddenLevel> =
                cells.iter().filter(|cell| kept(cell.row)).copied().collect();
            LevelCalibration::scaled(&own)
        };
        // The score of a cell is told by a fit that has not seen it.
        let folds: Vec<LevelCalibration> =
            (0..FOLDS).map(|fold| fitted(&|row| fold_of(row) != fold)).collect::<Option<_>>()?;
        let scores = cells.iter().map(|cell| {
            let fold = &folds[fold_of(cell.row) as usize];
            let probabilities = fold.probabilities(&cell.estimates);
            (cell.surroundings.class(), score(&probabilities, cell.truth, cell.uniform))
        });
        let scores = ScoresByClass::new(scores)?;
        Some(LevelCalibration { scores, ..fitted(&|_| true)? })
    }

    /// The scaling of probabilities alone.
    fn scaled(cells: &[&HiddenLevel]) -> Option<Self> {
        let levels = cells.first()?.estimates.len();
        let logs: Vec<Vec<f64>> = cells.iter().map(|cell| log_shares(&cell.estimates)).collect();
        let truth: Vec<usize> = cells.iter().map(|cell| cell.truth).collect();
        let (slope, biases) = fit_scaling(&logs, &truth, levels);
        Some(LevelCalibration { slope, biases, scores: ScoresByClass::default() })
    }

    /// The calibrated probabilities of all levels.
    pub fn probabilities(&self, estimates: &[f32]) -> Vec<f64> {
        let logs = log_shares(estimates);
        softmax(logs.iter().zip(&self.biases).map(|(log, bias)| self.slope * log + bias).collect())
    }

    /// The levels of the prediction set, as positions, the likeliest first. The level `estimate` is
    /// always in it. None where too few cells were hidden for this level of coverage.
    pub(super) fn set(
        &self,
        probabilities: &[f64],
        estimate: usize,
        class: usize,
        uniform: f64,
        coverage: f64,
    ) -> Option<Vec<usize>> {
        let threshold = quantile(self.scores.of_class(class), coverage)?;
        let inside =
            |&level: &usize| level == estimate || score(probabilities, level, uniform) <= threshold;
        let mut set: Vec<usize> = (0..probabilities.len()).filter(inside).collect();
        set.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        Some(set)
    }

    /// How many hidden cells it was calibrated on.
    pub fn cells(&self) -> usize {
        self.scores.count()
    }
}

fn fold_of(row: u32) -> u32 {
    (row.wrapping_mul(0x9e37_79b1) >> 16) % FOLDS
}

/// The sum of the probabilities that are larger than that of a level, and a share of its own.
pub(super) fn score(probabilities: &[f64], level: usize, uniform: f64) -> f64 {
    let own = probabilities[level];
    let ahead = |(other, p): &(usize, &f64)| **p > own || (**p == own && *other < level);
    let larger: f64 = probabilities.iter().enumerate().filter(ahead).map(|(_, p)| p).sum();
    larger + uniform * own
}

/// A uniform number for one cell, the same in every run of a seed.
pub(super) fn uniform_of(seed: u64, row: u32, cell: usize) -> f64 {
    let mut out = [0.0f32];
    uniforms(Key::new(seed, SET_STREAM ^ (cell as u32), u64::from(row)), &mut out);
    f64::from(out[0])
}

/// Logarithms of the estimates as shares of one.
fn log_shares(estimates: &[f32]) -> Vec<f64> {
    let held = |&estimate: &f32| {
        let held =
            if estimate.is_finite() { estimate.max(MIN_PROBABILITY) } else { MIN_PROBABILITY };
        f64::from(held)
    };
    let total: f64 = estimates.iter().map(held).sum();
    estimates.iter().map(|estimate| (held(estimate) / total).ln()).collect()
}

fn softmax(mut logits: Vec<f64>) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter_mut().for_each(|logit| *logit = (*logit - largest).exp());
    let total: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|share| *share /= total);
    logits
}

/// a and b by Newton steps with the diagonal of the Hessian, halved until the penalised likelihood
/// grows.
fn fit_scaling(logs: &[Vec<f64>], truth: &[usize], levels: usize) -> (f64, Vec<f64>) {
    let (mut slope, mut biases) = (1.0, vec![0.0; levels]);
    let objective = |slope: f64, biases: &[f64]| {
        let penalty = (slope - 1.0).powi(2) + biases.iter().map(|bias| bias * bias).sum::<f64>();
        let fits = logs.iter().zip(truth).map(|(logs, &truth)| {
            let logits = logs.iter().zip(biases).map(|(log, bias)| slope * log + bias);
            softmax(logits.collect())[truth].max(1e-300).ln()
        });
        fits.sum::<f64>() - 0.5 * PENALTY * penalty
    };
    let mut best = objective(slope, &biases);
    for _ in 0..STEPS {
        let (mut slope_gradient, mut slope_curvature) = (-PENALTY * (slope - 1.0), PENALTY);
        let mut gradients: Vec<f64> = biases.iter().map(|bias| -PENALTY * bias).collect();
        let mut curvatures = vec![PENALTY; levels];
        for (logs, &truth) in logs.iter().zip(truth) {
            let logits = logs.iter().zip(&biases).map(|(log, bias)| slope * log + bias);
            let shares = softmax(logits.collect());
            let mean: f64 = shares.iter().zip(logs).map(|(q, log)| q * log).sum();
            let square: f64 = shares.iter().zip(logs).map(|(q, log)| q * log * log).sum();
            slope_gradient += logs[truth] - mean;
            slope_curvature += square - mean * mean;
            for (level, q) in shares.iter().enumerate() {
                gradients[level] += f64::from(u8::from(level == truth)) - q;
                curvatures[level] += q * (1.0 - q);
            }
        }
        let mut length = 1.0;
        let improved = std::iter::from_fn(|| {
            let slope = slope + length * slope_gradient / slope_curvature;
            let biases: Vec<f64> = biases
                .iter()
                .zip(gradients.iter().zip(&curvatures))
                .map(|(bias, (gradient, curvature))| bias + length * gradient / curvature)
                .collect();
            length *= 0.5;
            Some((objective(slope.max(0.0), &biases), slope.max(0.0), biases))
        })
        .take(12)
        .find(|(value, _, _)| *value > best);
        let Some((value, new_slope, new_biases)) = improved else { break };
        let is_settled = value - best < 1e-6;
        (best, slope, biases) = (value, new_slope, new_biases);
        if is_settled {
            break;
        }
    }
    (slope, biases)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells whose estimates are overconfident: they say 0.9 where 0.7 would be right.
    fn overconfident(count: usize) -> Vec<HiddenLevel> {
        let cell = |at: usize| HiddenLevel {
            estimates: vec![0.9, 0.05, 0.05],
            truth: match at % 10 {
                0..=6 => 0,
                7..=8 => 1,
                _ => 2,
            },
            row: at as u32,
            surroundings: Surroundings { neighbours: 0, degree: 0, hops: None, row_share: 0.0 },
            uniform: uniform_of(1, at as u32, 0),
        };
        (0..count).map(cell).collect()
    }

    fn fitted(count: usize) -> Option<LevelCalibration> {
        LevelCalibration::fit(&overconfident(count).iter().collect::<Vec<_>>())
    }

    #[test]
    fn probabilities_become_frequencies() {
        let calibration = fitted(1000).expect("enough cells");
        let probabilities = calibration.probabilities(&[0.9, 0.05, 0.05]);
        for (own, wanted) in probabilities.iter().zip([0.7, 0.2, 0.1]) {
            assert!((own - wanted).abs() < 0.01, "{probabilities:?}");
        }
    }

    #[test]
    fn sets_cover_what_was_asked_for() {
        let calibration = fitted(1000).expect("enough cells");
        let probabilities = calibration.probabilities(&[0.9, 0.05, 0.05]);
        for coverage in [0.8, 0.9, 0.95] {
            let covered = (0..10_000u32).filter(|&at| {
                let truth = match at % 10 {
                    0..=6 => 0,
                    7..=8 => 1,
                    _ => 2,
                };
                let uniform = uniform_of(2, at, 0);
                let set = calibration.set(&probabilities, 0, 0, uniform, coverage).expect("a set");
                set.contains(&truth)
            });
            let share = covered.count() as f64 / 1e4;
            assert!((share - coverage).abs() < 0.02, "{coverage}: {share}");
        }
    }

    #[test]
    fn few_cells_calibrate_nothing() {
        assert_eq!(fitted(19), None);
        assert!(fitted(20).is_some());
    }
}
