//! Squared error of a number t with score s:  (s − t)², slope 2(s − t)

use super::cells::{JudgeCell, judge_row};
use super::weights::Weights;
use super::{JudgeRow, Targets};

#[derive(Debug)]
pub(super) struct SquaredError(pub(super) Targets);

impl JudgeCell for SquaredError {
    const LONG: bool = false;

    #[inline(always)]
    fn judge(&self, score: f32, target: f32) -> (f32, f32) {
        let difference = score - target;
        (difference * difference, 2.0 * difference)
    }
}

impl JudgeRow for SquaredError {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], weights: impl Weights, scale: f32) -> f64 {
        judge_row(self, &self.0, row, scores, weights, scale)
    }
}
