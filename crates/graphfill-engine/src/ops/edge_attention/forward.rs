//! Some rows of the result, and the logarithms of the sums that the weights were divided by.

use pulp::NullaryFnOnce;

use super::edges::{Edges, ForHeads, for_heads, leaky};
use crate::SparseView;
use crate::cpu::{exp, ln};
use crate::ops::row_sums::add_scaled;

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
        let columns = edges.heads * edges.width;
        for at in 0..count {
            let out = out.as_mut().map(|out| &mut out[at * columns..][..columns]);
            let logarithms =
                logarithms.as_mut().map(|all| &mut all[at * edges.heads..][..edges.heads]);
            for_heads(edges.heads, &mut Row { edges, graph, row: first + at, out, logarithms });
        }
    }
}

struct Row<'a, 'o> {
    edges: Edges<'a>,
    graph: SparseView<'a>,
    row: usize,
    out: Option<&'o mut [f32]>,
    logarithms: Option<&'o mut [f32]>,
}

impl ForHeads for Row<'_, '_> {
    #[inline(always)]
    fn block<const HEADS: usize>(&mut self, begin: usize) {
        let Row { edges, graph, row, .. } = *self;
        let logarithms = self.log_sums::<HEADS>(begin);
        if let Some(out) = &mut self.logarithms {
            out[begin..begin + HEADS].copy_from_slice(&logarithms);
        }
        let Some(out) = &mut self.out else { return };
        let out = &mut out[begin * edges.width..][..HEADS * edges.width];
        out.fill(0.0);
        for (entry, &neighbour) in graph.entries(row).zip(graph.columns(row)) {
            let neighbour = neighbour as usize;
            let raw: [f32; HEADS] = edges.raw(row, neighbour, begin);
            let mut weights: [f32; HEADS] = edges.factors(entry, begin);
            for head in 0..HEADS {
                weights[head] *= exp(leaky(raw[head]) - logarithms[head]);
            }
            for (head, out) in out.chunks_exact_mut(edges.width).enumerate() {
                let features = edges.slice(edges.features, neighbour, begin + head);
                add_scaled(out, weights[head], features);
            }
        }
    }
}

impl Row<'_, '_> {
    /// ln Σ_j exp(score), by way of the largest score so that nothing overflows; 0 of none.
    #[inline(always)]
    fn log_sums<const HEADS: usize>(&self, begin: usize) -> [f32; HEADS] {
        let neighbours = self.graph.columns(self.row);
        if neighbours.is_empty() {
            return [0.0; HEADS];
        }
        let mut most = [f32::NEG_INFINITY; HEADS];
        for &neighbour in neighbours {
            let raw: [f32; HEADS] = self.edges.raw(self.row, neighbour as usize, begin);
            for head in 0..HEADS {
                most[head] = most[head].max(leaky(raw[head]));
            }
        }
        let mut sums = [0.0; HEADS];
        for &neighbour in neighbours {
            let raw: [f32; HEADS] = self.edges.raw(self.row, neighbour as usize, begin);
            for head in 0..HEADS {
                sums[head] += exp(leaky(raw[head]) - most[head]);
            }
        }
        for head in 0..HEADS {
            sums[head] = most[head] + ln(sums[head]);
        }
        sums
    }
}
