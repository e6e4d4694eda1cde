//! Attention over neighbours (Veličković and others, "Graph attention networks", 2018):
//!
//!   e_ijh = leaky_relu(source_jh + target_ih)        j through the neighbours of i
//!   α_ijh = exp(e_ijh) / Σ_j exp(e_ijh)
//!   out[i, head h] = Σ_j α_ijh · features[j, head h]
//!
//! features: columns of the graph × heads·width, source: columns of the graph × heads, target: rows
//! of the graph × heads, out: rows of the graph × heads·width. A row without neighbours is zeros.
//!
//! Nothing is kept for an edge: the gradient finds α again as exp(e − l), l = ln Σ_j exp(e_ijh)
//! being kept for each row and head.

mod edges;
mod forward;
mod gradient;
mod layer;
mod mask;

use std::sync::Arc;

use pulp::Arch;
use rayon::prelude::*;

use super::row_sums::{grid_of_lists, lanes_of_row};
use super::wanted::wanted_portions;
use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, Constant, Mismatch, Operation, Program};
use crate::{Matrix, Shape, SparseMatrix, SparseView};
use edges::{Edges, MOST_HEADS};
use gradient::EdgeAttentionGradient;
use mask::{Dropout, Mask};

/// Rows that one thread takes at a time: few enough to balance skewed degrees.
const ROWS_A_TASK: usize = 32;

const KERNELS: cuda::Source =
    cuda::Source::new("edge_attention.cu", include_str!("edge_attention.cu")).with(&[DEFINES]);
const DEFINES: &[cuda::Define] = &[cuda::Define::float("LEAK", edges::LEAK)];
const ATTEND: [cuda::Kernel; 2] =
    [KERNELS.kernel("attend_by_one"), KERNELS.kernel("attend_by_four")];

#[derive(Debug)]
struct EdgeAttention(Attention);

/// What it and its gradient depend on.
#[derive(Debug, Clone)]
struct Attention {
    graph: Arc<SparseMatrix>,
    heads: usize,
    dropout: Option<Dropout>,
}

impl Attention {
    /// In the identity of an operation.
    fn identity(&self) -> String {
        let (graph, heads) = (self.graph.identity(), self.heads);
        let dropout = self.dropout.as_ref().map_or("none".to_owned(), Dropout::identity);
        format!("{graph}, heads={heads}, dropout: {dropout}")
    }
}

impl Program {
    /// Weighted means over the neighbours of each row of the graph, whose values don't matter; the
    /// columns of the features are split among the heads, at most 64, each with its own weights.
    #[track_caller]
    pub fn edge_attention<'p>(
        &'p self,
        graph: &Arc<SparseMatrix>,
        features: Matrix<'p>,
        source_scores: Matrix<'p>,
        target_scores: Matrix<'p>,
        heads: usize,
    ) -> Matrix<'p> {
        let scores = [source_scores, target_scores];
        self.edge_attention_with_dropout(graph, features, scores, heads, 0.0)
    }

    /// [`Program::edge_attention`], each weight being dropped with a probability of `rate` after
    /// they have been made to sum up to one; the others are scaled so that the mean stays. The
    /// scores are those of sources and targets.
    #[track_caller]
    pub fn edge_attention_with_dropout<'p>(
        &'p self,
        graph: &Arc<SparseMatrix>,
        features: Matrix<'p>,
        [source_scores, target_scores]: [Matrix<'p>; 2],
        heads: usize,
        rate: f32,
    ) -> Matrix<'p> {
        let columns = features.columns();
        if !(1..=MOST_HEADS).contains(&heads) || columns == 0 || columns % heads != 0 {
            let problem = format!(
                "{columns} columns cannot be split among {heads} heads, of which there may be \
                 {MOST_HEADS}"
            );
            self.fail("edge attention", problem);
            return features;
        }
        if !(0.0..1.0).contains(&rate) {
            let problem = format!("the rate of dropout is {rate}, not in 0 ≤ rate < 1");
            self.fail("edge attention", problem);
        }
        let dropout = (rate > 0.0).then(|| Dropout::new(rate, self.new_stream(), graph));
        let attention = Attention { graph: Arc::clone(graph), heads, dropout };
        self.record(EdgeAttention(attention), &[features, source_scores, target_scores])
    }
}

impl Attention {
    /// Scratch numbers of the mask.
    fn mask_len(&self) -> usize {
        let draws = self.graph.entries() * self.heads;
        self.dropout.as_ref().map_or(0, |_| Dropout::words(draws))
    }

    fn mask<'a>(&self, call: &Call<'_>, words: &'a mut [u32]) -> Mask<'a> {
        match &self.dropout {
            Some(dropout) => dropout.draw(call.key(dropout.stream), words),
            None => Mask::Whole,
        }
    }

    /// What kernels are told of the rows of the graph: offsets, neighbours, rows, heads.
    fn rows_on_card(&self, call: &mut cuda::Call<'_>) -> Result<[cuda::Argument; 4], String> {
        self.entries_on_card(call, "rows", self.graph.view())
    }

    /// The same of its columns.
    fn columns_on_card(&self, call: &mut cuda::Call<'_>) -> Result<[cuda::Argument; 4], String> {
        let part = if self.graph.is_symmetric() { "rows" } else { "transpose" };
        self.entries_on_card(call, part, self.graph.transposed())
    }

    fn entries_on_card(
        &self,
        call: &mut cuda::Call<'_>,
        part: &str,
        view: SparseView<'_>,
    ) -> Result<[cuda::Argument; 4], String> {
        let graph = call.sparse(Arc::as_ptr(&self.graph).addr(), part, view)?;
        let heads = self.heads as u32;
        Ok([graph.offsets.into(), graph.columns.into(), view.rows().into(), heads.into()])
    }

    /// What kernels are told of dropout, its bits being drawn: the bits, the scale.
    fn mask_on_card(&self, call: &mut cuda::Call<'_>) -> [cuda::Argument; 2] {
        match &self.dropout {
            Some(dropout) => dropout.draw_on_card(call, self.graph.entries() * self.heads),
            None => [None.into(), 1.0f32.into()],
        }
    }

    /// How a card walks the columns of a head, and by which of the kernels for one number and for
    /// four at a time: what the width is counted in them, and the lanes that take it together.
    fn walk(
        &self,
        columns: usize,
        [one, four]: [cuda::Kernel; 2],
    ) -> (cuda::Kernel, [cuda::Argument; 2]) {
        let width = columns / self.heads;
        let (kernel, at_a_time) = if width % 4 == 0 { (four, 4) } else { (one, 1) };
        (kernel, [((width / at_a_time) as u32).into(), lanes_of_row(width).into()])
    }

    fn constants(&self) -> Vec<Constant> {
        let graph = Constant::shared(&self.graph, self.graph.bytes());
        [graph].into_iter().chain(self.dropout.as_ref().map(Dropout::constant)).collect()
    }

    /// The floating-point operations of one number for each edge and column.
    fn edge_product(&self, features: Shape) -> u64 {
        2 * (self.graph.entries() * features.columns) as u64
    }
}

/// Outputs: the means, l for each row and head.
impl Operation for EdgeAttention {
    fn name(&self) -> &'static str {
        "edge attention"
    }

    fn identity(&self) -> String {
        format!("edge_attention({})", self.0.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (graph, heads) = (self.0.graph.shape(), self.0.heads);
        let rule = "the columns of the graph are the rows of the features";
        Mismatch::unless(inputs[0].rows == graph.columns, graph, inputs[0], rule)?;
        let (source, target) = (Shape::new(graph.columns, heads), Shape::new(graph.rows, heads));
        let rule = "source scores have a row for each column of the graph, a column for each head";
        Mismatch::unless(inputs[1] == source, source, inputs[1], rule)?;
        let rule = "target scores have a row for each row of the graph, a column for each head";
        Mismatch::unless(inputs[2] == target, target, inputs[2], rule)?;
        Ok(vec![Shape::new(graph.rows, inputs[0].columns), target])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let inputs = [0, 1, 2].map(|input| backward.input(input));
        let [features, source, target] = inputs;
        let operands = [backward.upstream(0), features, source, target, backward.output(1)];
        let operation = EdgeAttentionGradient(self.0.clone());
        let gradients = backward.program().record_all(operation, &operands);
        for (input, gradient) in gradients.into_iter().enumerate().take(inputs.len()) {
            backward.add(input, gradient);
        }
    }

    fn scratch(&self, _inputs: &[Shape], wanted: &[bool]) -> usize {
        if wanted[0] { self.0.mask_len() } else { 0 }
    }

    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        if wanted[0] { self.0.edge_product(inputs[0]) } else { 0 }
    }

    fn constants(&self) -> Vec<Constant> {
        self.0.constants()
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let heads = self.0.heads;
        let Shape { rows, columns } = call.output_shape(0);
        let (out, logarithms) = (call.wanted_output(0), call.wanted_output(1));
        let words = bytemuck::cast_slice_mut(call.scratch());
        let mask = if out.is_some() { self.0.mask(call, words) } else { Mask::Whole };
        let [features, source, target] = [0, 1, 2].map(|input| call.input(input));
        let edges = Edges { features, source, target, mask, heads, columns };
        let graph = self.0.graph.view();
        let tasks = rows.div_ceil(ROWS_A_TASK);
        let out = wanted_portions(out, ROWS_A_TASK * columns, tasks);
        let logarithms = wanted_portions(logarithms, ROWS_A_TASK * heads, tasks);
        out.zip(logarithms).enumerate().for_each(|(task, (out, logarithms))| {
            let first = task * ROWS_A_TASK;
            let count = ROWS_A_TASK.min(rows - first);
            Arch::new().dispatch(forward::Rows { edges, graph, first, count, out, logarithms });
        });
    }

    fn cuda_scratch(&self, _inputs: &[Shape], wanted: &[bool]) -> usize {
        if wanted[0] { cuda::Call::scratch_len([self.0.mask_len()]) } else { 0 }
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows: count, columns } = call.output_shape(0);
        let [offsets, neighbours, rows, heads] = self.0.rows_on_card(call)?;
        let out = call.wanted_output(0);
        let unmasked = [None.into(), 1.0f32.into()];
        let [bits, scale] = if out.is_some() { self.0.mask_on_card(call) } else { unmasked };
        let (kernel, [width, lanes]) = self.0.walk(columns, ATTEND);
        let arguments = [
            offsets,
            neighbours,
            rows,
            heads,
            bits,
            scale,
            call.input(0).into(),
            call.input(1).into(),
            call.input(2).into(),
            out.into(),
            call.wanted_output(1).into(),
            width,
            lanes,
        ];
        call.launch(kernel, grid_of_lists(count * self.0.heads), arguments);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
