//! Cross-entropy of a 0/1 cell x with log-odds s:
//!
//!   on · x · ln(1 + e⁻ˢ) + off · (1 − x) · ln(1 + eˢ)
//!   plain: on = off = 1;   balanced, with p the share of ones: on = 1/(2p), off = 1/(2(1 − p))
//!
//! with slope (on·x + off·(1 − x)) · σ(s) − on·x.

use super::{JudgeRow, Targets};
use crate::SparseRows;
use crate::cpu::{exp, ln};

/// Cells that are judged side by side.
const LANES: usize = 16;
/// Columns whose targets are spread out at a time.
const STRIP: usize = 256;

#[derive(Debug)]
pub(super) struct Bernoulli {
    pub(super) targets: Targets,
    on: f32,
    off: f32,
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

    /// Some columns at a time, with their ones put where they are.
    #[inline(always)]
    fn judge_sparse(&self, ones: &SparseRows, row: usize, scores: &mut [f32], scale: f32) -> f64 {
        let view = ones.view();
        let (columns, values) = (view.columns(row), view.values(row));
        let (mut loss, mut next) = (0.0, 0);
        for (at, scores) in scores.chunks_mut(STRIP).enumerate() {
            let begin = at * STRIP;
            let mut targets = [0.0; STRIP];
            // The columns of a row rise.
            while let Some(&column) = columns.get(next)
                && (column as usize) < begin + scores.len()
            {
                targets[column as usize - begin] = values.map_or(1.0, |values| values[next]);
                next += 1;
            }
            loss += self.judge_cells(&targets[..scores.len()], scores, scale);
        }
        loss
    }

    #[inline(always)]
    fn judge_cells(&self, targets: &[f32], scores: &mut [f32], scale: f32) -> f64 {
        let mut sums = [0.0f32; LANES];
        let (whole, rest) = scores.as_chunks_mut::<LANES>();
        let (whole_targets, rest_targets) = targets.as_chunks::<LANES>();
        for (scores, targets) in whole.iter_mut().zip(whole_targets) {
            for lane in 0..LANES {
                let (cell, derivative) = self.cell(scores[lane], targets[lane], scale);
                sums[lane] += cell;
                scores[lane] = derivative;
            }
        }
        for ((score, &x), sum) in rest.iter_mut().zip(rest_targets).zip(&mut sums) {
            let (cell, derivative) = self.cell(*score, x, scale);
            *sum += cell;
            *score = derivative;
        }
        sums.iter().map(|&sum| f64::from(sum)).sum()
    }

    /// The loss of one cell, and `scale` times its slope; nothing where the cell was not observed.
    #[inline(always)]
    fn cell(&self, score: f32, x: f32, scale: f32) -> (f32, f32) {
        let (positive, slope) = softplus(score);
        let on = self.on * x;
        let weight = on + self.off * (1.0 - x);
        let (cell, derivative) = (weight * positive - on * score, scale * (weight * slope - on));
        if x.is_nan() { (0.0, 0.0) } else { (cell, derivative) }
    }
}

impl JudgeRow for Bernoulli {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], scale: f32) -> f64 {
        match &self.targets {
            Targets::Sparse(ones) => self.judge_sparse(ones, row, scores, scale),
            Targets::Dense { values, .. } => {
                let targets = &values[row * scores.len()..][..scores.len()];
                self.judge_cells(targets, scores, scale)
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
