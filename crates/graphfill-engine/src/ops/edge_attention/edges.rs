//! What is known of an edge: its score in each head, and the weight that follows from it.
//!
//! The scores of some edges are staged side by side before their exponentials are taken, all heads
//! of one edge after those of another: one long loop, which fills vectors however few the heads.

use super::mask::Mask;
use crate::cpu::exp;

/// The most heads that there may be.
pub(super) const MOST_HEADS: usize = 64;

/// Numbers that are staged at a time.
const STAGE: usize = 512;

/// The slope of scores below zero.
pub(super) const LEAK: f32 = 0.2;

/// One number for each of some edges and each head.
pub(super) type Stage = [f32; STAGE];

pub(super) const EMPTY_STAGE: Stage = [0.0; STAGE];

/// What the passes over edges read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges<'a> {
    pub(super) features: &'a [f32],
    pub(super) source: &'a [f32],
    pub(super) target: &'a [f32],
    pub(super) mask: Mask<'a>,
    pub(super) heads: usize,
    /// Columns of all heads.
    pub(super) columns: usize,
}

impl<'a> Edges<'a> {
    /// How many edges are staged at a time.
    #[inline(always)]
    pub(super) fn at_a_time(&self) -> usize {
        STAGE / self.heads
    }

    /// source_j
    #[inline(always)]
    pub(super) fn source(&self, from: usize) -> &'a [f32] {
        self.of_heads(self.source, from)
    }

    /// target_i
    #[inline(always)]
    pub(super) fn target(&self, to: usize) -> &'a [f32] {
        self.of_heads(self.target, to)
    }

    /// features[j, :]
    #[inline(always)]
    pub(super) fn features(&self, from: usize) -> &'a [f32] {
        self.of_columns(self.features, from)
    }

    /// A row of a matrix that has a column for each head.
    #[inline(always)]
    pub(super) fn of_heads<'m>(&self, matrix: &'m [f32], row: usize) -> &'m [f32] {
        &matrix[row * self.heads..][..self.heads]
    }

    /// A row of a matrix as wide as the features.
    #[inline(always)]
    pub(super) fn of_columns<'m>(&self, matrix: &'m [f32], row: usize) -> &'m [f32] {
        &matrix[row * self.columns..][..self.columns]
    }
}

/// score − shift of one edge, in each head.
#[inline(always)]
pub(super) fn stage_scores(out: &mut [f32], source: &[f32], target: &[f32], shift: &[f32]) {
    for ((out, (&source, &target)), &shift) in
        out.iter_mut().zip(source.iter().zip(target)).zip(shift)
    {
        *out = leaky(source + target) - shift;
    }
}

/// The slope of the score of one edge, in each head.
#[inline(always)]
pub(super) fn stage_slopes(out: &mut [f32], source: &[f32], target: &[f32]) {
    for (out, (&source, &target)) in out.iter_mut().zip(source.iter().zip(target)) {
        *out = if source + target > 0.0 { 1.0 } else { LEAK };
    }
}

#[inline(always)]
pub(super) fn exp_all(stage: &mut [f32]) {
    for value in stage {
        *value = exp(*value);
    }
}

#[inline(always)]
pub(super) fn leaky(raw: f32) -> f32 {
    raw.max(LEAK * raw)
}
