//! Some rows of the result, and l, the logarithms of the sums that the weights are divided by.
//!
//! Exponentials are taken of scores less the largest one, so that nothing overflows; the sum of
//! features that they weigh is divided by their own sum in the end.

use pulp::NullaryFnOnce;

use super::edges::{EMPTY_STAGE, Edges, MOST_HEADS, exp_all, leaky, stage_scores};
use crate::SparseView;
use crate::cpu::ln;
use crate::ops::row_sums::add_scaled_heads;

pub(super) struct Rows<'a> {
    pub(super) edges: Edges<'a>,
    pub(super) graph: SparseView<'a>,
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) out: Option<&'a mut [f32]>,
    pub(super) logarithms: Option<&'a mut [f32]>,
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Rows { edges, graph, first, count, mut out, mut logarithms } = self;
        let (heads, columns) = (edges.heads, edges.columns);
        let (mut most, mut sums) = ([0.0; MOST_HEADS], [0.0; MOST_HEADS]);
        let (most, sums) = (&mut most[..heads], &mut sums[..heads]);
        let mut stage = EMPTY_STAGE;
        for at in 0..count {
            let row = first + at;
            let mut out = out.as_mut().map(|out| &mut out[at * columns..][..columns]);
            if let Some(out) = &mut out {
                out.fill(0.0);
            }
            largest_scores(most, edges, graph, row);
            sums.fill(0.0);
            let target = edges.target(row);
            let mut entry = graph.entries(row).start;
            for neighbours in graph.columns(row).chunks(edges.at_a_time()) {
                let stage = &mut stage[..neighbours.len() * heads];
                for (scores, &from) in stage.chunks_exact_mut(heads).zip(neighbours) {
                    stage_scores(scores, edges.source(from as usize), target, most);
                }
                exp_all(stage);
                for weights in stage.chunks_exact(heads) {
                    for (sum, &weight) in sums.iter_mut().zip(weights) {
                        *sum += weight;
                    }
                }
                if let Some(out) = &mut out {
                    edges.mask.multiply(stage, entry * heads);
                    for (weights, &from) in stage.chunks_exact(heads).zip(neighbours) {
                        add_scaled_heads(out, weights, edges.features(from as usize));
                    }
                }
                entry += neighbours.len();
            }
            if let Some(out) = out {
                divide_heads(out, sums);
            }
            if let Some(logarithms) = &mut logarithms {
                let own = &mut logarithms[at * heads..][..heads];
                for ((own, &most), &sum) in own.iter_mut().zip(&*most).zip(&*sums) {
                    // Of no neighbours, anything finite.
                    *own = if sum > 0.0 { most + ln(sum) } else { sum };
                }
            }
        }
    }
}

/// The largest score of a row in each head.
#[inline(always)]
fn largest_scores(most: &mut [f32], edges: Edges<'_>, graph: SparseView<'_>, row: usize) {
    most.fill(f32::NEG_INFINITY);
    for &from in graph.columns(row) {
        for (most, &source) in most.iter_mut().zip(edges.source(from as usize)) {
            *most = most.max(source);
        }
    }
    // The score grows with the source, and with rounding never falls.
    for (most, &target) in most.iter_mut().zip(edges.target(row)) {
        *most = leaky(*most + target);
    }
}

#[inline(always)]
fn divide_heads(out: &mut [f32], sums: &[f32]) {
    let width = out.len() / sums.len();
    for (out, &sum) in out.chunks_exact_mut(width).zip(sums) {
        // A row without neighbours stays zeros.
        let share = if sum == 0.0 { 0.0 } else { 1.0 / sum };
        for value in out {
            *value *= share;
        }
    }
}
