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

use super::wanted::wanted_portions;
use crate::cpu::Call;
use crate::program::{Backward, Constant, Mismatch, Operation, Program};
use crate::{Matrix, Shape, SparseMatrix};
use edges::{Edges, MOST_HEADS};
use gradient::EdgeAttentionGradient;
use mask::{Dropout, Mask};

/// Rows that one thread takes at a time: few enough to balance skewed degrees.
const ROWS_A_TASK: usize = 32;

#[derive(Debug)]
struct EdgeAttention(Attention);

/// What it and its gradient depend on.
#[derive(Debug, Clone)]
struct Attention {
    graph: Arc<SparseMatrix>,
    heads: usize,
    dropout: Option<Dropout>,
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
}

#[cfg(test)]
mod tests;
