//! Cross-entropy of a 0/1 cell x with log-odds s:
//!
//!   on · x · ln(1 + e⁻ˢ) + off · (1 − x) · ln(1 + eˢ)
//!   plain: on = off = 1;   balanced, with p the share of ones: on = 1/(2p), off = 1/(2(1 − p))
//!
//! with slope (on·x + off·(1 − x)) · σ(s) − on·x.

use super::cells::{JudgeCell, judge_row};
use super::weights::Weights;
use super::{JudgeRow, Targets};
use crate::cpu::{exp, ln};

#[derive(Debug)]
pub(super) struct Bernoulli {
    pub(super) targets: Targets,
    pub(super) on: f32,
    pub(super) off: f32,
}

impl Bernoulli {
    pub(super) fn balanced(targets: Targets, observed: usize) -> Self {
        let share = targets.sum() / observed.max(1) as f64;
        // A kind that was never observed weighs nothing.
        let weight = |share: f64| if share > 0.0 { (0.5 / share) as f32 } else { 0.0 };
        Bernoulli { targets, on: weight(share), off: weight(1.0 - share) }
    }

    pub(super) fn plain(targets: Targets) -> Self {
        Bernoulli { targets, on: 1.0, off: 1.0 }
    }

    pub(super) fn width(&self) -> usize {
        self.targets.shape().columns
    }
}

impl JudgeCell for Bernoulli {
    const LONG: bool = true;

    #[inline(always)]
    fn judge(&self, score: f32, x: f32) -> (f32, f32) {
        let (positive, slope) = softplus(score);
        let on = self.on * x;
        let weight = on + self.off * (1.0 - x);
        (weight * positive - on * score, weight * slope - on)
    }
}

impl JudgeRow for Bernoulli {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], weights: impl Weights, scale: f32) -> f64 {
        judge_row(self, &self.targets, row, scores, weights, scale)
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
