//! Balanced cross-entropy of a 0/1 cell x with log-odds s:
//!
//!   on · x · ln(1 + e⁻ˢ) + off · (1 − x) · ln(1 + eˢ),   on = 1/(2p), off = 1/(2(1 − p))
//!
//! with slope (on·x + off·(1 − x)) · σ(s) − on·x.

use super::targets::entries;
use super::{JudgeRow, Targets};
use crate::SparseRows;
use crate::cpu::{exp, ln};

#[derive(Debug)]
pub(super) struct Bernoulli {
    pub(super) targets: Targets,
    on: f32,
    off: f32,
}

impl Bernoulli {
    pub(super) fn balanced(targets: Targets, observed: usize) -> Self {
        let share = targets.sum() / observed.max(1) as f64;
        // A kind that was never observed weighs nothing, but must be something to divide by.
        let weight = |share: f64| if share > 0.0 { (0.5 / share) as f32 } else { 0.5 };
        Bernoulli { targets, on: weight(share), off: weight(1.0 - share) }
    }

    pub(super) fn width(&self) -> usize {
        self.targets.shape().columns
    }

    /// All cells as zeros first, which is the same for every cell; then the ones are put right.
    #[inline(always)]
    fn judge_sparse(&self, ones: &SparseRows, row: usize, scores: &mut [f32], scale: f32) -> f64 {
        let mut loss = 0.0f64;
        for (column, x) in entries(ones, row) {
            let score = scores[column];
            let (positive, _) = softplus(score);
            let correction = self.on * (positive - score) - self.off * positive;
            loss += f64::from(x * correction);
        }
        let mut sums = [0.0f32; 16];
        let (chunks, rest) = scores.as_chunks_mut::<16>();
        for chunk in chunks {
            for lane in 0..16 {
                let (positive, slope) = softplus(chunk[lane]);
                sums[lane] += positive;
                chunk[lane] = self.off * scale * slope;
            }
        }
        for score in rest {
            let (positive, slope) = softplus(*score);
            sums[0] += positive;
            *score = self.off * scale * slope;
        }
        loss += f64::from(self.off) * sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
        for (column, x) in entries(ones, row) {
            let slope = scores[column] / (self.off * scale);
            let right = x * self.on + (1.0 - x) * self.off;
            scores[column] = scale * (right * slope - x * self.on);
        }
        loss
    }

    #[inline(always)]
    fn judge_dense(&self, targets: &[f32], scores: &mut [f32], scale: f32) -> f64 {
        let mut loss = 0.0f64;
        for (score, &x) in scores.iter_mut().zip(targets) {
            let (positive, slope) = softplus(*score);
            let weight = self.on * x + self.off * (1.0 - x);
            let cell = weight * positive - self.on * x * *score;
            let derivative = scale * (weight * slope - self.on * x);
            let observed = !x.is_nan();
            loss += if observed { f64::from(cell) } else { 0.0 };
            *score = if observed { derivative } else { 0.0 };
        }
        loss
    }
}

impl JudgeRow for Bernoulli {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], scale: f32) -> f64 {
        match &self.targets {
            Targets::Sparse(ones) => self.judge_sparse(ones, row, scores, scale),
            Targets::Dense { values, .. } => {
                let targets = &values[row * scores.len()..][..scores.len()];
                self.judge_dense(targets, scores, scale)
            }
        }
    }
}

/// ln(1 + eˢ) and its slope σ(s), neither of which overflows.
#[inline(always)]
pub(super) fn softplus(s: f32) -> (f32, f32) {
    let small = exp(-s.abs());
    let value = s.max(0.0) + ln(1.0 + small);
    let share = 1.0 / (1.0 + small);
    (value, if s >= 0.0 { share } else { small * share })
}
