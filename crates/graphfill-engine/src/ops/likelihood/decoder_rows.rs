//! Some rows of a decoder:  scores = Z·W + bias + Σ s ⊙ O, judged, and G·Wᵀ while G is at hand
//!
//! A thread takes a few rows through all of it, so that their scores stay in the cache.

use rayon::prelude::*;

use super::offsets::{MOST_OFFSETS, Offset};
use super::{Likelihood, Unweighted};
use crate::cpu::{Dense, Existing, PackedRight, product_rows};

/// Rows that one thread takes at a time: whole tiles of a product, whether of six rows or eight.
pub(super) const ROWS_A_TASK: usize = 24;

/// Sums of a task: the loss, and the derivative by the one scale of each offset.
pub(super) const SUMS: usize = 1 + MOST_OFFSETS;

/// What scoring and judging some rows needs.
pub(super) struct Rows<'a> {
    pub(super) likelihood: &'a Likelihood,
    pub(super) latent: Dense<'a>,
    pub(super) forward: PackedRight<'a>,
    pub(super) back: Option<PackedRight<'a>>,
    pub(super) bias: Option<&'a [f32]>,
    pub(super) offsets: [Option<Offset<'a>>; MOST_OFFSETS],
}

impl Rows<'_> {
    /// Scores and judges the rows from `first` on: G is left in `scores`, G·Wᵀ in `by_latent`
    /// unless that is empty; the sums of all tasks.
    pub(super) fn judge(
        &self,
        first: usize,
        scores: &mut [f32],
        by_latent: &mut [f32],
        partial: &mut [f64],
    ) -> [f64; SUMS] {
        let columns = self.likelihood.shape().columns;
        let tasks = (scores.len() / columns.max(1)).div_ceil(ROWS_A_TASK);
        let partial = &mut partial.as_chunks_mut::<SUMS>().0[..tasks];
        let scores = scores.par_chunks_mut((ROWS_A_TASK * columns).max(1));
        if by_latent.is_empty() {
            scores.zip(&mut *partial).enumerate().for_each(|(task, (scores, sums))| {
                *sums = self.task(first + task * ROWS_A_TASK, scores);
            });
        } else {
            let by_latent = by_latent.par_chunks_mut(ROWS_A_TASK * self.latent.columns());
            let tasks = scores.zip(by_latent).zip(&mut *partial).enumerate();
            tasks.for_each(|(task, ((scores, by_latent), sums))| {
                *sums = self.task(first + task * ROWS_A_TASK, scores);
                if let Some(back) = self.back {
                    let rows = scores.len() / columns.max(1);
                    let derivative = Dense::new(scores, rows, columns);
                    product_rows(derivative, 0, 0, back, by_latent, Existing::Replace);
                }
            });
        }
        let mut sums = [0.0; SUMS];
        for part in &*partial {
            add(&mut sums, part);
        }
        sums
    }

    fn task(&self, first: usize, scores: &mut [f32]) -> [f64; SUMS] {
        let columns = self.likelihood.shape().columns;
        product_rows(self.latent, first, 0, self.forward, scores, Existing::Replace);
        if let Some(bias) = self.bias {
            for row in scores.chunks_exact_mut(columns.max(1)) {
                row.iter_mut().zip(bias).for_each(|(score, bias)| *score += bias);
            }
        }
        for offset in self.offsets.iter().flatten() {
            offset.add_to(scores, first);
        }
        let mut sums = [0.0; SUMS];
        sums[0] = self.likelihood.judge(first, scores, Unweighted);
        for (offset, by_scale) in self.offsets.iter().zip(&mut sums[1..]) {
            *by_scale = offset.map_or(0.0, |offset| offset.by_one_scale(scores, first));
        }
        sums
    }
}

/// Sums of some rows added to those of others.
pub(super) fn add(sums: &mut [f64; SUMS], others: &[f64; SUMS]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}
