//! Losses of single cells:  Σ_k w_k · loss(s_k, t_k),  each with a slope of its own
//!
//! One row of targets t at a time, beside the scores s of that row and the weights w of its cells.
//! Sparse targets are put where they are some columns at a time, so that all cells are alike.

use super::Targets;
use super::weights::{LANES, Weights};
use crate::SparseRows;

/// Columns whose targets are spread out at a time.
const STRIP: usize = 256;

/// The loss of one cell. Mark its method `#[inline(always)]`.
pub(super) trait JudgeCell {
    /// The loss of a score, and its slope; of no matter what where the target is NaN.
    fn judge(&self, score: f32, target: f32) -> (f32, f32);
}

/// The loss of one row, unscaled; the scores become `scale` times the derivative.
#[inline(always)]
pub(super) fn judge_row(
    kind: &impl JudgeCell,
    targets: &Targets,
    row: usize,
    scores: &mut [f32],
    weights: impl Weights,
    scale: f32,
) -> f64 {
    match targets {
        Targets::Sparse(rows) => judge_sparse(kind, rows, row, scores, weights, scale),
        Targets::Dense { values, .. } => {
            let targets = &values[row * scores.len()..][..scores.len()];
            judge_cells(kind, targets, scores, weights, scale)
        }
    }
}

/// Some columns at a time, with their targets put where they are.
#[inline(always)]
fn judge_sparse(
    kind: &impl JudgeCell,
    rows: &SparseRows,
    row: usize,
    scores: &mut [f32],
    weights: impl Weights,
    scale: f32,
) -> f64 {
    let view = rows.view();
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
        let weights = weights.part(begin, scores.len());
        loss += judge_cells(kind, &targets[..scores.len()], scores, weights, scale);
    }
    loss
}

#[inline(always)]
fn judge_cells(
    kind: &impl JudgeCell,
    targets: &[f32],
    scores: &mut [f32],
    weights: impl Weights,
    scale: f32,
) -> f64 {
    let mut sums = [0.0f32; LANES];
    let (whole, rest) = scores.as_chunks_mut::<LANES>();
    let (whole_targets, rest_targets) = targets.as_chunks::<LANES>();
    let done = whole.len() * LANES;
    for (chunk, (scores, targets)) in whole.iter_mut().zip(whole_targets).enumerate() {
        let weights = weights.lanes(chunk);
        for lane in 0..LANES {
            let (cell, derivative) =
                judge_cell(kind, scores[lane], targets[lane], weights[lane], scale);
            sums[lane] += cell;
            scores[lane] = derivative;
        }
    }
    for (at, ((score, &target), sum)) in
        rest.iter_mut().zip(rest_targets).zip(&mut sums).enumerate()
    {
        let (cell, derivative) = judge_cell(kind, *score, target, weights.at(done + at), scale);
        *sum += cell;
        *score = derivative;
    }
    sums.iter().map(|&sum| f64::from(sum)).sum()
}

/// The weighted loss, and `scale` times its slope; nothing where the cell was not observed or
/// weighs nothing, whatever its score is.
#[inline(always)]
fn judge_cell(
    kind: &impl JudgeCell,
    score: f32,
    target: f32,
    weight: f32,
    scale: f32,
) -> (f32, f32) {
    let (cell, slope) = kind.judge(score, target);
    let counts = !target.is_nan() && weight != 0.0;
    if counts { (weight * cell, weight * (scale * slope)) } else { (0.0, 0.0) }
}
