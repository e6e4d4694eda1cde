//! The gradient of edge attention, with g that of out and m what dropout multiplied α with:
//!
//!   dα_ijh = m_ijh · ⟨g[i, head h], features[j, head h]⟩        d_ih = Σ_j α_ijh dα_ijh
//!   ds_ijh = α_ijh · (dα_ijh − d_ih) · slope of leaky_relu
//!   ∂target_ih = Σ_j ds_ijh        ∂source_jh = Σ_i ds_ijh
//!   ∂features[j, head h] = Σ_i m_ijh α_ijh · g[i, head h]
//!
//! One pass over the rows of the graph for d and ∂target, one over its columns for the others; both
//! find α again.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::edges::{Edges, ForHeads, for_heads, leaky, slope};
use super::{Attention, ROWS_A_TASK};
use crate::cpu::{Call, exp};
use crate::ops::row_sums::{add_scaled, dot};
use crate::ops::wanted::wanted_portions;
use crate::program::{Constant, Mismatch, Operation};
use crate::{Shape, SparseView};

/// Inputs: the gradient of the result, features, source, target, l.
/// Outputs: the gradients of features, source and target.
#[derive(Debug)]
pub(super) struct EdgeAttentionGradient(pub(super) Attention);

impl Operation for EdgeAttentionGradient {
    fn name(&self) -> &'static str {
        "edge attention"
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(inputs[1..4].to_vec())
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        inputs[4].len() + self.0.mask_len()
    }

    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        let needed = [wanted[1] || wanted[2], wanted[0], wanted[1]];
        needed.into_iter().filter(|&needed| needed).count() as u64 * self.0.edge_product(inputs[1])
    }

    fn constants(&self) -> Vec<Constant> {
        self.0.constants()
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let Attention { graph, heads, dropout } = &self.0;
        let (heads, width) = (*heads, call.input_shape(1).columns / heads);
        let (rows, columns) = (graph.shape().rows, graph.shape().columns);
        let (by_features, by_source) = (call.wanted_output(0), call.wanted_output(1));
        let by_target = call.wanted_output(2);
        let (centre, words) = call.scratch().split_at_mut(rows * heads);
        let mask = self.0.mask(call, bytemuck::cast_slice_mut(words));
        let [gradient, features, source, target, logarithms] =
            [0, 1, 2, 3, 4].map(|input| call.input(input));
        let edges = Edges { features, source, target, mask, heads, width };
        if by_source.is_some() || by_target.is_some() {
            let portion = ROWS_A_TASK * heads;
            let by_target = wanted_portions(by_target, portion, rows.div_ceil(ROWS_A_TASK));
            let tasks = centre.par_chunks_mut(portion).zip(by_target).enumerate();
            tasks.for_each(|(task, (centre, by_target))| {
                let (graph, first) = (graph.view(), task * ROWS_A_TASK);
                let own = Rows { edges, graph, gradient, logarithms, first, centre, by_target };
                Arch::new().dispatch(own);
            });
        }
        if by_features.is_none() && by_source.is_none() {
            return;
        }
        let tasks = columns.div_ceil(ROWS_A_TASK);
        let by_features = wanted_portions(by_features, ROWS_A_TASK * heads * width, tasks);
        let by_source = wanted_portions(by_source, ROWS_A_TASK * heads, tasks);
        by_features.zip(by_source).enumerate().for_each(|(task, (by_features, by_source))| {
            let first = task * ROWS_A_TASK;
            Arch::new().dispatch(Columns {
                edges,
                graph: graph.transposed(),
                entries: dropout.as_ref().map(|dropout| &dropout.by_column[..]),
                gradient,
                logarithms,
                centre,
                first,
                count: ROWS_A_TASK.min(columns - first),
                by_features,
                by_source,
            });
        });
    }
}

/// d and ∂target of some rows.
struct Rows<'a> {
    edges: Edges<'a>,
    graph: SparseView<'a>,
    gradient: &'a [f32],
    logarithms: &'a [f32],
    first: usize,
    centre: &'a mut [f32],
    by_target: Option<&'a mut [f32]>,
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let heads = self.edges.heads;
        for at in 0..self.centre.len() / heads {
            for_heads(heads, &mut Row { rows: &mut self, at });
        }
    }
}

struct Row<'r, 'a> {
    rows: &'r mut Rows<'a>,
    /// Counted from the first of the portion.
    at: usize,
}

impl ForHeads for Row<'_, '_> {
    #[inline(always)]
    fn block<const HEADS: usize>(&mut self, begin: usize) {
        let Rows { edges, graph, gradient, logarithms, first, .. } = *self.rows;
        let row = first + self.at;
        let logarithms: [f32; HEADS] = edges.of_heads(logarithms, row, begin);
        let mut centre = [0.0; HEADS];
        // Σ_j α · slope · dα and Σ_j α · slope, of which ∂target is made once d is known.
        let (mut sloped, mut slopes) = ([0.0; HEADS], [0.0; HEADS]);
        for (entry, &neighbour) in graph.entries(row).zip(graph.columns(row)) {
            let neighbour = neighbour as usize;
            let raw: [f32; HEADS] = edges.raw(row, neighbour, begin);
            let mut by_weight: [f32; HEADS] = edges.factors(entry, begin);
            for (head, by_weight) in by_weight.iter_mut().enumerate() {
                let features = edges.slice(edges.features, neighbour, begin + head);
                *by_weight *= dot(edges.slice(gradient, row, begin + head), features);
            }
            for head in 0..HEADS {
                let weight = exp(leaky(raw[head]) - logarithms[head]);
                let weight_slope = weight * slope(raw[head]);
                centre[head] += weight * by_weight[head];
                sloped[head] += weight_slope * by_weight[head];
                slopes[head] += weight_slope;
            }
        }
        let place = self.at * edges.heads + begin;
        self.rows.centre[place..place + HEADS].copy_from_slice(&centre);
        if let Some(by_target) = &mut self.rows.by_target {
            for head in 0..HEADS {
                by_target[place + head] = sloped[head] - centre[head] * slopes[head];
            }
        }
    }
}

/// ∂features and ∂source of some columns, the graph being the transposed one.
struct Columns<'a> {
    edges: Edges<'a>,
    graph: SparseView<'a>,
    /// The numbers of the entries among the rows, where dropout asks for them.
    entries: Option<&'a [u32]>,
    gradient: &'a [f32],
    logarithms: &'a [f32],
    centre: &'a [f32],
    first: usize,
    count: usize,
    by_features: Option<&'a mut [f32]>,
    by_source: Option<&'a mut [f32]>,
}

impl NullaryFnOnce for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        for at in 0..self.count {
            for_heads(self.edges.heads, &mut Column { columns: &mut self, at });
        }
    }
}

struct Column<'c, 'a> {
    columns: &'c mut Columns<'a>,
    /// Counted from the first of the portion.
    at: usize,
}

impl ForHeads for Column<'_, '_> {
    #[inline(always)]
    fn block<const HEADS: usize>(&mut self, begin: usize) {
        let Columns { edges, graph, entries, gradient, logarithms, centre, first, .. } =
            *self.columns;
        let column = first + self.at;
        let place = self.at * edges.heads + begin;
        let mut by_features = self.columns.by_features.as_mut().map(|all| {
            let own = &mut all[place * edges.width..][..HEADS * edges.width];
            own.fill(0.0);
            own
        });
        let wants_source = self.columns.by_source.is_some();
        let mut by_source = [0.0; HEADS];
        for (position, &row) in graph.entries(column).zip(graph.columns(column)) {
            let row = row as usize;
            let entry = entries.map_or(0, |entries| entries[position] as usize);
            let factors: [f32; HEADS] = edges.factors(entry, begin);
            let raw: [f32; HEADS] = edges.raw(row, column, begin);
            let logarithms: [f32; HEADS] = edges.of_heads(logarithms, row, begin);
            let mut weights = [0.0; HEADS];
            for head in 0..HEADS {
                weights[head] = exp(leaky(raw[head]) - logarithms[head]);
            }
            if let Some(by_features) = &mut by_features {
                for (head, out) in by_features.chunks_exact_mut(edges.width).enumerate() {
                    let gradient = edges.slice(gradient, row, begin + head);
                    add_scaled(out, factors[head] * weights[head], gradient);
                }
            }
            if wants_source {
                let centre: [f32; HEADS] = edges.of_heads(centre, row, begin);
                for head in 0..HEADS {
                    let features = edges.slice(edges.features, column, begin + head);
                    let product = dot(edges.slice(gradient, row, begin + head), features);
                    let by_weight = factors[head] * product;
                    by_source[head] +=
                        weights[head] * (by_weight - centre[head]) * slope(raw[head]);
                }
            }
        }
        if let Some(out) = &mut self.columns.by_source {
            out[place..place + HEADS].copy_from_slice(&by_source);
        }
    }
}
