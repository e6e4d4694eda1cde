//! The gradient of edge attention, with g that of out and m what dropout multiplied α with:
//!
//!   dα_ijh = m_ijh · ⟨g[i, head h], features[j, head h]⟩        d_ih = Σ_j α_ijh dα_ijh
//!   ds_ijh = α_ijh · (dα_ijh − d_ih) · slope of leaky_relu
//!   ∂target_ih = Σ_j ds_ijh        ∂source_jh = Σ_i ds_ijh
//!   ∂features[j, head h] = Σ_i m_ijh α_ijh · g[i, head h]
//!
//! One pass over the rows of the graph for d and ∂target, one over its columns for the others; both
//! find α again.
//!
//! On a CUDA card no dot product is taken for an edge: Σ_j w_j · ⟨g_i, features_j⟩ is the product of
//! g_i with Σ_j w_j · features_j, for any weights w, and the other way round for columns.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::edges::{EMPTY_STAGE, Edges, MOST_HEADS, Stage, exp_all, stage_scores, stage_slopes};
use super::{Attention, KERNELS, ROWS_A_TASK};
use crate::cpu::Call;
use crate::cuda;
use crate::ops::row_sums::{add_scaled_heads, dot_heads, grid_of_lists};
use crate::ops::wanted::wanted_portions;
use crate::program::{Constant, Mismatch, Operation};
use crate::{Shape, SparseView};

const OF_ROWS: [cuda::Kernel; 2] = [
    KERNELS.kernel("attend_gradient_of_rows_by_one"),
    KERNELS.kernel("attend_gradient_of_rows_by_four"),
];
const OF_COLUMNS: [cuda::Kernel; 2] = [
    KERNELS.kernel("attend_gradient_of_columns_by_one"),
    KERNELS.kernel("attend_gradient_of_columns_by_four"),
];

/// Inputs: the gradient of the result, features, source, target, l.
/// Outputs: the gradients of features, source and target.
#[derive(Debug)]
pub(super) struct EdgeAttentionGradient(pub(super) Attention);

impl Operation for EdgeAttentionGradient {
    fn name(&self) -> &'static str {
        "edge attention"
    }

    fn identity(&self) -> String {
        format!("edge_attention_gradient({})", self.0.identity())
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
        let (heads, width) = (*heads, call.input_shape(1).columns);
        let (rows, columns) = (graph.shape().rows, graph.shape().columns);
        let (by_features, by_source) = (call.wanted_output(0), call.wanted_output(1));
        let by_target = call.wanted_output(2);
        let (centre, words) = call.scratch().split_at_mut(rows * heads);
        let mask = self.0.mask(call, bytemuck::cast_slice_mut(words));
        let [gradient, features, source, target, logarithms] =
            [0, 1, 2, 3, 4].map(|input| call.input(input));
        let edges = Edges { features, source, target, mask, heads, columns: width };
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
        let by_features = wanted_portions(by_features, ROWS_A_TASK * width, tasks);
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

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        cuda::Call::scratch_len([inputs[4].len(), self.0.mask_len()])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Attention { graph, heads: head_count, dropout } = &self.0;
        let by_features = call.wanted_output(0);
        let (by_source, by_target) = (call.wanted_output(1), call.wanted_output(2));
        let centre = call.scratch(call.input_shape(4).len());
        let columns = call.input_shape(1).columns;
        let [bits, scale] = self.0.mask_on_card(call);
        let inputs = [0, 1, 2, 3, 4].map(|input| call.input(input).into());
        let [gradient, features, source, target, logarithms] = inputs;
        if by_source.is_some() || by_target.is_some() {
            let [offsets, neighbours, rows, heads] = self.0.rows_on_card(call)?;
            let (kernel, [width, lanes]) = self.0.walk(columns, OF_ROWS);
            let arguments = [
                offsets,
                neighbours,
                rows,
                heads,
                bits,
                scale,
                gradient,
                features,
                source,
                target,
                logarithms,
                centre.into(),
                by_target.into(),
                width,
                lanes,
            ];
            call.launch(kernel, grid_of_lists(graph.shape().rows * head_count), arguments);
        }
        if by_features.is_some() || by_source.is_some() {
            let [offsets, neighbours, rows, heads] = self.0.columns_on_card(call)?;
            let entries = match dropout {
                Some(dropout) => Some(dropout.by_column_on_card(call)?),
                None => None,
            };
            let (kernel, [width, lanes]) = self.0.walk(columns, OF_COLUMNS);
            let arguments = [
                offsets,
                neighbours,
                rows,
                heads,
                bits,
                scale,
                gradient,
                features,
                source,
                target,
                logarithms,
                centre.into(),
                entries.into(),
                by_features.into(),
                by_source.into(),
                width,
                lanes,
            ];
            call.launch(kernel, grid_of_lists(graph.shape().columns * head_count), arguments);
        }
        Ok(())
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
    fn call(self) {
        let Rows { edges, graph, gradient, logarithms, first, centre, mut by_target } = self;
        let heads = edges.heads;
        // Σ_j α · slope · dα and Σ_j α · slope, of which ∂target is made once d is known.
        let (mut sloped, mut slopes) = ([0.0; MOST_HEADS], [0.0; MOST_HEADS]);
        let (sloped, slopes) = (&mut sloped[..heads], &mut slopes[..heads]);
        let mut stages = Stages::new();
        for (at, centre) in centre.chunks_exact_mut(heads).enumerate() {
            let row = first + at;
            let (target, own) = (edges.target(row), edges.of_columns(gradient, row));
            let shift = edges.of_heads(logarithms, row);
            centre.fill(0.0);
            sloped.fill(0.0);
            slopes.fill(0.0);
            let mut entry = graph.entries(row).start;
            for neighbours in graph.columns(row).chunks(edges.at_a_time()) {
                let (weights, slope, products) = stages.begin(neighbours.len() * heads);
                for (edge, &from) in neighbours.iter().enumerate() {
                    let (edge, from) = (edge * heads..(edge + 1) * heads, from as usize);
                    let source = edges.source(from);
                    stage_scores(&mut weights[edge.clone()], source, target, shift);
                    stage_slopes(&mut slope[edge.clone()], source, target);
                    dot_heads(&mut products[edge], own, edges.features(from));
                }
                exp_all(weights);
                edges.mask.multiply(products, entry * heads);
                for edge in (0..weights.len()).step_by(heads) {
                    for head in 0..heads {
                        let (weight, by_weight) = (weights[edge + head], products[edge + head]);
                        let weight_slope = weight * slope[edge + head];
                        centre[head] += weight * by_weight;
                        sloped[head] += weight_slope * by_weight;
                        slopes[head] += weight_slope;
                    }
                }
                entry += neighbours.len();
            }
            if let Some(by_target) = &mut by_target {
                let by_target = &mut by_target[at * heads..][..heads];
                for (head, by_target) in by_target.iter_mut().enumerate() {
                    *by_target = sloped[head] - centre[head] * slopes[head];
                }
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
        let Columns { edges, graph, first, count, .. } = self;
        if let Some(by_source) = &mut self.by_source {
            by_source.fill(0.0);
        }
        if let Some(by_features) = &mut self.by_features {
            by_features.fill(0.0);
        }
        let mut stages = Stages::new();
        for at in 0..count {
            let mut position = graph.entries(first + at).start;
            for rows in graph.columns(first + at).chunks(edges.at_a_time()) {
                self.add_edges(at, rows, position, &mut stages);
                position += rows.len();
            }
        }
    }
}

impl Columns<'_> {
    /// Adds what comes from some rows to the gradients of a column, counted from the first.
    #[inline(always)]
    fn add_edges(&mut self, at: usize, rows: &[u32], position: usize, stages: &mut Stages) {
        let Columns { edges, entries, gradient, logarithms, centre, first, .. } = *self;
        let heads = edges.heads;
        let (source, features) = (edges.source(first + at), edges.features(first + at));
        let (weights, slopes, products) = stages.begin(rows.len() * heads);
        for (weights, &to) in weights.chunks_exact_mut(heads).zip(rows) {
            let shift = edges.of_heads(logarithms, to as usize);
            stage_scores(weights, source, edges.target(to as usize), shift);
        }
        exp_all(weights);
        for (edge, &to) in rows.iter().enumerate() {
            let (own, to) = (edge * heads..(edge + 1) * heads, to as usize);
            let weights = &mut weights[own.clone()];
            let gradient = edges.of_columns(gradient, to);
            let entry = entries.map_or(0, |entries| entries[position + edge] as usize);
            if let Some(by_source) = &mut self.by_source {
                let (slopes, products) = (&mut slopes[own.clone()], &mut products[own]);
                stage_slopes(slopes, source, edges.target(to));
                dot_heads(products, gradient, features);
                edges.mask.multiply(products, entry * heads);
                let by_source = &mut by_source[at * heads..][..heads];
                let centre = edges.of_heads(centre, to);
                for head in 0..heads {
                    by_source[head] +=
                        weights[head] * (products[head] - centre[head]) * slopes[head];
                }
            }
            if let Some(by_features) = &mut self.by_features {
                edges.mask.multiply(weights, entry * heads);
                let by_features = &mut by_features[at * edges.columns..][..edges.columns];
                add_scaled_heads(by_features, weights, gradient);
            }
        }
    }
}

/// Numbers for each of some edges and each head: weights, slopes, dα.
struct Stages([Stage; 3]);

impl Stages {
    #[inline(always)]
    fn new() -> Self {
        Stages([EMPTY_STAGE; 3])
    }

    #[inline(always)]
    fn begin(&mut self, len: usize) -> (&mut [f32], &mut [f32], &mut [f32]) {
        let [weights, slopes, products] = &mut self.0;
        (&mut weights[..len], &mut slopes[..len], &mut products[..len])
    }
}
