//! Losses of single cells:  Σ_k w_k · loss(s_k, t_k),  each with a slope of its own
//!
//! One row of targets t at a time, beside the scores s of that row and the weights w of its cells.
//! Sparse targets are put where they are some columns at a time, so that all cells are alike.

use super::Targets;
use super::weights::{LANES, Weights};
use crate::SparseRows;

/// Cells that are taken at a time: whole vectors of them.
const STRIP: usize = 256;

/// The loss of one cell. Mark its method `#[inline(always)]`.
pub(super) trait JudgeCell {
    /// Whether it takes many steps. Compilers unroll a short loop whose length they know, and then
    /// find no vectors in it.
    const LONG: bool;

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
fn judge_cells<K: JudgeCell>(
    kind: &K,
    targets: &[f32],
    scores: &mut [f32],
    weights: impl Weights,
    scale: f32,
) -> f64 {
    let mut sums = [0.0f32; LANES];
    let whole = scores.len() / LANES * LANES;
    let (vectors, rest) = scores.split_at_mut(whole);
    if K::LONG {
        judge_long(kind, &targets[..whole], vectors, weights, scale, &mut sums);
    } else {
        judge_short(kind, &targets[..whole], vectors, weights, scale, &mut sums);
    }
    for (at, score) in rest.iter_mut().enumerate() {
        let cell = whole + at;
        let (loss, derivative) = judge_cell(kind, *score, targets[cell], weights.at(cell), scale);
        sums[at] += loss;
        *score = derivative;
    }
    let mut sum = 0.0;
    for lane in sums {
        sum += f64::from(lane);
    }
    sum
}

#[inline(always)]
fn judge_long<W: Weights>(
    kind: &impl JudgeCell,
    targets: &[f32],
    scores: &mut [f32],
    weights: W,
    scale: f32,
    sums: &mut [f32; LANES],
) {
    let chunks = scores.as_chunks_mut::<LANES>().0.iter_mut().zip(targets.as_chunks::<LANES>().0);
    for (chunk, (scores, targets)) in chunks.enumerate() {
        let lanes = weights.lanes(chunk);
        for lane in 0..LANES {
            let weight = W::lane(lanes, lane);
            let (loss, derivative) = judge_cell(kind, scores[lane], targets[lane], weight, scale);
            sums[lane] += loss;
            scores[lane] = derivative;
        }
    }
}

/// The losses are put down and summed up afterwards, so that no loop has both.
#[inline(always)]
fn judge_short(
    kind: &impl JudgeCell,
    targets: &[f32],
    scores: &mut [f32],
    weights: impl Weights,
    scale: f32,
    sums: &mut [f32; LANES],
) {
    for (at, scores) in scores.chunks_mut(STRIP).enumerate() {
        let (begin, len) = (at * STRIP, scores.len());
        let (targets, weights) = (&targets[begin..begin + len], weights.part(begin, len));
        let mut losses = [0.0; STRIP];
        let losses = &mut losses[..len];
        for cell in 0..len {
            let (loss, derivative) =
                judge_cell(kind, scores[cell], targets[cell], weights.at(cell), scale);
            losses[cell] = loss;
            scores[cell] = derivative;
        }
        for losses in losses.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                sums[lane] += losses[lane];
            }
        }
    }
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
