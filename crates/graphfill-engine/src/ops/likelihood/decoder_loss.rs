//! The decoder and its loss as one operation, over blocks of rows:
//!
//!   loss(Z·W + bias + s·O)        Z: rows × width, W: width × columns, O: rows × columns, s: 1 × 1
//!
//! The scores of all rows would be as large as the table. Here some rows are scored, judged (which
//! leaves the derivative G of the loss in place of the scores) and multiplied back before the next
//! ones are looked at:
//!
//!   ∂Z = G·Wᵀ     ∂W += Zᵀ·G     ∂bias += Σ_i G_i     ∂s += Σ G ⊙ O     ∂O = s·G

use std::sync::Arc;

use super::Likelihood;
use super::decoder_rows::{ROWS_A_TASK, Rows};
use crate::cpu::{
    Call, Dense, Existing, as_doubles, cut, cut_len, doubles, pack_right, packed_len, product,
    product_scratch,
};
use crate::ops::column_sums::{column_sums, column_sums_scratch};
use crate::program::{Backward, Constant, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Scores that exist at a time: 4 MiB.
const SCORES: usize = 1 << 20;
/// Portions that a block has at least, however wide its rows are.
const LEAST_TASKS: usize = 4;

#[derive(Debug)]
struct DecoderLoss {
    likelihood: Arc<Likelihood>,
    bias: bool,
    offset: bool,
}

/// A linear decoder: what rows are multiplied with to become scores, and what is added.
#[derive(Debug, Clone, Copy)]
pub struct Decoder<'p> {
    /// width × columns.
    pub weight: Matrix<'p>,
    /// 1 × columns.
    pub bias: Option<Matrix<'p>>,
    /// Scores to start from, rows × columns, and the number that they are scaled by, 1 × 1.
    pub offset: Option<(Matrix<'p>, Matrix<'p>)>,
}

impl<'p> Decoder<'p> {
    /// A product and nothing else.
    pub fn new(weight: Matrix<'p>) -> Self {
        Decoder { weight, bias: None, offset: None }
    }
}

impl<'p> Matrix<'p> {
    /// The loss of the scores that a linear decoder gives these rows. The scores never exist as a
    /// whole; nor does anything else of their size.
    #[must_use]
    #[track_caller]
    pub fn decoder_loss(self, decoder: Decoder<'p>, likelihood: &Arc<Likelihood>) -> Matrix<'p> {
        let mut inputs = vec![self, decoder.weight];
        inputs.extend(decoder.bias);
        inputs.extend(decoder.offset.into_iter().flat_map(|(offset, scale)| [offset, scale]));
        let operation = DecoderLoss {
            likelihood: Arc::clone(likelihood),
            bias: decoder.bias.is_some(),
            offset: decoder.offset.is_some(),
        };
        self.program().record(operation, &inputs)
    }
}

/// Where the outputs are.
const LOSS: usize = 0;
const BY_LATENT: usize = 1;
const BY_WEIGHT: usize = 2;
const BY_BIAS: usize = 3;
const BY_SCALE: usize = 4;
const BY_OFFSET: usize = 5;

impl DecoderLoss {
    fn bias_input(&self) -> Option<usize> {
        self.bias.then_some(2)
    }

    fn offset_inputs(&self) -> Option<(usize, usize)> {
        let first = if self.bias { 3 } else { 2 };
        self.offset.then_some((first, first + 1))
    }
}

/// How many rows are scored before the next ones: by their width alone, and whole tasks.
fn rows_a_block(shape: Shape) -> usize {
    let most = (SCORES / shape.columns.max(1)) / ROWS_A_TASK * ROWS_A_TASK;
    most.max(LEAST_TASKS * ROWS_A_TASK).min(shape.rows.next_multiple_of(ROWS_A_TASK))
}

/// The temporary memory, cut into its uses.
struct Scratch<'a> {
    scores: &'a mut [f32],
    weight: &'a mut [f32],
    weight_transposed: &'a mut [f32],
    product: &'a mut [f32],
    sums: &'a mut [f32],
    /// The loss and the derivative by the scale, of each task.
    partial: &'a mut [f64],
}

/// How many numbers each part of [`Scratch`] has.
fn scratch_parts(scores: Shape, width: usize, wanted: &[bool]) -> [usize; 6] {
    let rows = rows_a_block(scores);
    let columns = scores.columns;
    let if_wanted = |output: usize, len: usize| if wanted[output] { len } else { 0 };
    [
        rows * columns,
        packed_len(width, columns),
        if_wanted(BY_LATENT, packed_len(columns, width)),
        if_wanted(BY_WEIGHT, product_scratch(rows, columns)),
        if_wanted(BY_BIAS, columns + column_sums_scratch(Shape::new(rows, columns))),
        doubles(2 * rows.div_ceil(ROWS_A_TASK)),
    ]
}

impl<'a> Scratch<'a> {
    fn new(scratch: &'a mut [f32], parts: [usize; 6]) -> Self {
        let [scores, weight, weight_transposed, product, sums, partial] = cut(scratch, parts);
        let partial = as_doubles(partial);
        Scratch { scores, weight, weight_transposed, product, sums, partial }
    }
}

impl Operation for DecoderLoss {
    fn name(&self) -> &'static str {
        "decoder loss"
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (latent, weight, observed) = (inputs[0], inputs[1], self.likelihood.shape());
        let rule = "the columns of the rows are the rows of the decoder";
        Mismatch::unless(latent.columns == weight.rows, latent, weight, rule)?;
        let scores = Shape::new(latent.rows, weight.columns);
        let rule = "there is a score for every cell that may be observed";
        Mismatch::unless(scores == observed, scores, observed, rule)?;
        let row = Shape::new(1, scores.columns);
        if let Some(bias) = self.bias_input() {
            let rule = "a bias is one row of as many columns";
            Mismatch::unless(inputs[bias] == row, scores, inputs[bias], rule)?;
        }
        if let Some((offset, scale)) = self.offset_inputs() {
            let rule = "the offset has the shape of the scores";
            Mismatch::unless(inputs[offset] == scores, scores, inputs[offset], rule)?;
            let rule = "the offset is scaled by a single number";
            Mismatch::unless(inputs[scale] == Shape::SCALAR, scores, inputs[scale], rule)?;
        }
        Ok(vec![Shape::SCALAR, latent, weight, row, Shape::SCALAR, scores])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.add_derivative(0, LOSS, backward.output(BY_LATENT));
        backward.add_derivative(1, LOSS, backward.output(BY_WEIGHT));
        if let Some(bias) = self.bias_input() {
            backward.add_derivative(bias, LOSS, backward.output(BY_BIAS));
        }
        if let Some((offset, scale)) = self.offset_inputs() {
            // As large as the scores, so computed only for who asks for it.
            backward.add_derivative(offset, LOSS, backward.output(BY_OFFSET));
            backward.add_derivative(scale, LOSS, backward.output(BY_SCALE));
        }
    }

    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        cut_len(scratch_parts(self.likelihood.shape(), inputs[0].columns, wanted))
    }

    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        let products = 1 + u64::from(wanted[BY_LATENT]) + u64::from(wanted[BY_WEIGHT]);
        products * 2 * (inputs[0].len() * inputs[1].columns) as u64
    }

    fn constants(&self) -> Vec<Constant> {
        vec![Constant::shared(&self.likelihood, self.likelihood.bytes())]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let scores = self.likelihood.shape();
        let width = call.input_shape(0).columns;
        let (latent, weight) = (call.input(0), call.input(1));
        let [loss, by_latent, by_weight, by_bias, by_scale, by_offset] =
            [LOSS, BY_LATENT, BY_WEIGHT, BY_BIAS, BY_SCALE, BY_OFFSET]
                .map(|at| call.wanted_output(at));
        let wanted = [true, by_latent.is_some(), by_weight.is_some(), by_bias.is_some(), true];
        let parts = scratch_parts(scores, width, &wanted);
        let scratch = Scratch::new(call.scratch(), parts);
        let weight = Dense::new(weight, width, scores.columns);
        let forward = pack_right(weight, 0..width, scratch.weight);
        let back = wanted[BY_LATENT]
            .then(|| pack_right(weight.transposed(), 0..scores.columns, scratch.weight_transposed));
        let rows = Rows {
            likelihood: &self.likelihood,
            latent: Dense::new(latent, scores.rows, width),
            forward,
            back,
            bias: self.bias_input().map(|bias| call.input(bias)),
            offset: self.offset_inputs().map(|(o, s)| (call.input(o), call.input(s)[0])),
        };
        let mut totals = [0.0; 2];
        let mut by_latent = by_latent.unwrap_or_default();
        if scores.is_empty() {
            by_latent.fill(0.0);
        }
        let (mut by_weight, mut by_bias, mut by_offset) = (by_weight, by_bias, by_offset);
        let block = rows_a_block(scores);
        for first in (0..scores.rows).step_by(block.max(1)) {
            let count = block.min(scores.rows - first);
            let part = &mut scratch.scores[..count * scores.columns];
            let by_latent_part;
            let split = if wanted[BY_LATENT] { count * width } else { 0 };
            (by_latent_part, by_latent) = std::mem::take(&mut by_latent).split_at_mut(split);
            let sums = rows.judge(first, part, by_latent_part, scratch.partial);
            totals = [totals[0] + sums[0], totals[1] + sums[1]];
            let existing = if first == 0 { Existing::Replace } else { Existing::Add };
            if let Some(by_weight) = &mut by_weight {
                let latent = &latent[first * width..(first + count) * width];
                let latent = Dense::new(latent, count, width).transposed();
                let derivative = Dense::new(part, count, scores.columns);
                product(latent, derivative, by_weight, existing, scratch.product);
            }
            if let Some(by_bias) = &mut by_bias {
                let (sums, partial) = scratch.sums.split_at_mut(scores.columns);
                column_sums(part, scores.columns, partial, sums);
                add_row(by_bias, sums, existing);
            }
            if let (Some(by_offset), Some((_, scale))) = (&mut by_offset, rows.offset) {
                let to = &mut by_offset[first * scores.columns..][..part.len()];
                to.iter_mut().zip(&*part).for_each(|(to, derivative)| *to = scale * derivative);
            }
        }
        // Without scores there is nothing that a block would have written.
        if scores.is_empty() {
            by_weight.into_iter().chain(by_bias).for_each(|derivative| derivative.fill(0.0));
        }
        loss.into_iter().for_each(|loss| loss[0] = totals[0] as f32);
        by_scale.into_iter().for_each(|by_scale| by_scale[0] = totals[1] as f32);
    }
}

fn add_row(to: &mut [f32], row: &[f32], existing: Existing) {
    match existing {
        Existing::Replace => to.copy_from_slice(row),
        Existing::Add => to.iter_mut().zip(row).for_each(|(to, row)| *to += row),
    }
}
