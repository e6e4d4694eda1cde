//! The decoder and its loss as one operation, over blocks of rows:
//!
//!   loss(Z·W + bias + Σ s ⊙ O)        Z: rows × width, W: width × columns, bias: 1 × columns,
//!                                     O: rows × columns, s: 1 × 1 or 1 × columns
//!
//! The scores of all rows would be as large as the table. Here some rows are scored, judged (which
//! leaves the derivative G of the loss in place of the scores) and multiplied back before the next
//! ones are looked at:
//!
//!   ∂Z = G·Wᵀ     ∂W += Zᵀ·G     ∂bias += Σ_i G_i     ∂s += Σ G ⊙ O     ∂O = s ⊙ G

use std::array::from_fn;
use std::sync::Arc;

use super::Likelihood;
use super::decoder_kernels::{run_on_card, scratch_on_card};
use super::decoder_rows::{ROWS_A_TASK, Rows, SUMS, add};
use super::offsets::{MOST_OFFSETS, Offset};
use crate::cpu::{
    Call, Dense, Existing, as_doubles, cut, cut_len, doubles, pack_right, packed_len, product,
    product_scratch,
};
use crate::cuda;
use crate::ops::column_sums::{column_products, column_sums, column_sums_scratch};
use crate::program::{Backward, Constant, MOST_OUTPUTS, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Scores that exist at a time: 4 MiB.
const SCORES: usize = 1 << 20;
/// Portions that a block has at least, however wide its rows are.
const LEAST_TASKS: usize = 4;

#[derive(Debug)]
pub(super) struct DecoderLoss {
    pub(super) likelihood: Arc<Likelihood>,
    bias: bool,
    pub(super) offsets: usize,
}

/// A linear decoder: what rows are multiplied with to become scores, and what is added.
#[derive(Debug, Clone)]
pub struct Decoder<'p> {
    /// width × columns.
    pub weight: Matrix<'p>,
    /// 1 × columns.
    pub bias: Option<Matrix<'p>>,
    /// Scores to start from, each rows × columns, and what they are scaled by: one number, 1 × 1, or
    /// one for each column, 1 × columns. All of them are added; there may be four.
    pub offsets: Vec<(Matrix<'p>, Matrix<'p>)>,
}

impl<'p> Decoder<'p> {
    /// A product and nothing else.
    pub fn new(weight: Matrix<'p>) -> Self {
        Decoder { weight, bias: None, offsets: Vec::new() }
    }
}

impl<'p> Matrix<'p> {
    /// The loss of the scores that a linear decoder gives these rows. The scores never exist as a
    /// whole; nor does anything else of their size.
    #[must_use]
    #[track_caller]
    pub fn decoder_loss(self, decoder: Decoder<'p>, likelihood: &Arc<Likelihood>) -> Matrix<'p> {
        let Decoder { weight, bias, mut offsets } = decoder;
        if offsets.len() > MOST_OFFSETS {
            let problem = format!(
                "the decoder has {} offsets, and {MOST_OFFSETS} are the most; add some of them up",
                offsets.len()
            );
            self.program().fail("decoder loss", problem);
            offsets.truncate(MOST_OFFSETS);
        }
        let mut inputs = vec![self, weight];
        inputs.extend(bias);
        inputs.extend(offsets.iter().flat_map(|&(offset, scale)| [offset, scale]));
        let (likelihood, bias) = (Arc::clone(likelihood), bias.is_some());
        let operation = DecoderLoss { likelihood, bias, offsets: offsets.len() };
        self.program().record(operation, &inputs)
    }
}

/// Where the outputs are.
pub(super) const LOSS: usize = 0;
pub(super) const BY_LATENT: usize = 1;
pub(super) const BY_WEIGHT: usize = 2;
pub(super) const BY_BIAS: usize = 3;
/// Two for each offset.
pub(super) const fn by_scale(offset: usize) -> usize {
    4 + 2 * offset
}
pub(super) const fn by_offset(offset: usize) -> usize {
    5 + 2 * offset
}

impl DecoderLoss {
    pub(super) fn bias_input(&self) -> Option<usize> {
        self.bias.then_some(2)
    }

    /// Where an offset is among the inputs; its scale comes next.
    pub(super) fn offset_input(&self, offset: usize) -> usize {
        if self.bias { 3 + 2 * offset } else { 2 + 2 * offset }
    }

    /// How many numbers each part of [`Scratch`] has, by the shapes of inputs and which outputs are
    /// wanted.
    fn scratch_parts(&self, input: impl Fn(usize) -> Shape, wanted: &[bool]) -> [usize; 6] {
        let (scores, width) = (self.likelihood.shape(), input(0).columns);
        let (rows, columns) = (rows_a_block(scores), scores.columns);
        let by_column = |offset| input(self.offset_input(offset) + 1) != Shape::SCALAR;
        let scales = (0..self.offsets).any(|at| wanted[by_scale(at)] && by_column(at));
        let part = |wanted: bool, len: usize| if wanted { len } else { 0 };
        let sums = columns + column_sums_scratch(Shape::new(rows, columns));
        [
            rows * columns,
            packed_len(width, columns),
            part(wanted[BY_LATENT], packed_len(columns, width)),
            part(wanted[BY_WEIGHT], product_scratch(rows, columns)),
            part(wanted[BY_BIAS] || scales, sums),
            doubles(SUMS * rows.div_ceil(ROWS_A_TASK)),
        ]
    }

    /// The offsets as the kernels see them.
    fn offsets<'a>(&self, call: &Call<'a>, wanted: &[bool]) -> [Option<Offset<'a>>; MOST_OFFSETS] {
        let columns = self.likelihood.shape().columns;
        from_fn(|at| {
            let input = self.offset_input(at);
            (at < self.offsets).then(|| Offset {
                values: call.input(input),
                scale: call.input(input + 1),
                columns,
                by_scale: wanted[by_scale(at)],
            })
        })
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
    /// The sums of each task.
    partial: &'a mut [f64],
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

    fn identity(&self) -> String {
        let DecoderLoss { likelihood, bias, offsets } = self;
        let likelihood = likelihood.identity();
        format!("decoder_loss({likelihood}, bias={bias}, offsets={offsets})")
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
        let mut outputs = vec![Shape::SCALAR, latent, weight, row];
        for at in 0..self.offsets {
            let (offset, scale) =
                (inputs[self.offset_input(at)], inputs[self.offset_input(at) + 1]);
            let rule = "an offset has the shape of the scores";
            Mismatch::unless(offset == scores, scores, offset, rule)?;
            let rule = "an offset is scaled by a single number or by one for each column";
            Mismatch::unless(scale == Shape::SCALAR || scale == row, scores, scale, rule)?;
            outputs.extend([scale, offset]);
        }
        Ok(outputs)
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.add_derivative(0, LOSS, backward.output(BY_LATENT));
        backward.add_derivative(1, LOSS, backward.output(BY_WEIGHT));
        if let Some(bias) = self.bias_input() {
            backward.add_derivative(bias, LOSS, backward.output(BY_BIAS));
        }
        for at in 0..self.offsets {
            let offset = self.offset_input(at);
            // As large as the scores, so computed only for who asks for it.
            backward.add_derivative(offset, LOSS, backward.output(by_offset(at)));
            backward.add_derivative(offset + 1, LOSS, backward.output(by_scale(at)));
        }
    }

    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        cut_len(self.scratch_parts(|input| inputs[input], wanted))
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
        let mut outputs: [_; MOST_OUTPUTS] = from_fn(|at| call.wanted_output(at));
        let wanted = outputs.each_ref().map(Option::is_some);
        let parts = self.scratch_parts(|input| call.input_shape(input), &wanted);
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
            offsets: self.offsets(call, &wanted),
        };
        let mut totals = [0.0; SUMS];
        let mut by_latent = outputs[BY_LATENT].take().unwrap_or_default();
        // Without scores there is nothing that a block would write.
        if scores.is_empty() {
            by_latent.fill(0.0);
            for derivative in outputs[BY_WEIGHT..].iter_mut().flatten() {
                derivative.fill(0.0);
            }
        }
        let block = rows_a_block(scores);
        for first in (0..scores.rows).step_by(block.max(1)) {
            let count = block.min(scores.rows - first);
            let part = &mut scratch.scores[..count * scores.columns];
            let by_latent_part;
            let split = if wanted[BY_LATENT] { count * width } else { 0 };
            (by_latent_part, by_latent) = std::mem::take(&mut by_latent).split_at_mut(split);
            let sums = rows.judge(first, part, by_latent_part, scratch.partial);
            add(&mut totals, &sums);
            let existing = if first == 0 { Existing::Replace } else { Existing::Add };
            if let Some(by_weight) = &mut outputs[BY_WEIGHT] {
                let latent = &latent[first * width..(first + count) * width];
                let latent = Dense::new(latent, count, width).transposed();
                let derivative = Dense::new(part, count, scores.columns);
                product(latent, derivative, by_weight, existing, scratch.product);
            }
            if let Some(by_bias) = &mut outputs[BY_BIAS] {
                let (sums, partial) = scratch.sums.split_at_mut(scores.columns);
                column_sums(part, scores.columns, partial, sums);
                add_row(by_bias, sums, existing);
            }
            for (at, offset) in rows.offsets.iter().enumerate() {
                let Some(offset) = offset else { continue };
                if let (Some(by_scale), true) = (&mut outputs[by_scale(at)], offset.by_column()) {
                    let (sums, partial) = scratch.sums.split_at_mut(scores.columns);
                    let values = offset.rows(first, part.len());
                    column_products(part, values, scores.columns, partial, sums);
                    add_row(by_scale, sums, existing);
                }
                if let Some(by_offset) = &mut outputs[by_offset(at)] {
                    offset.by_offset(part, &mut by_offset[first * scores.columns..][..part.len()]);
                }
            }
        }
        if let Some(loss) = &mut outputs[LOSS] {
            loss[0] = totals[0] as f32;
        }
        for (at, offset) in rows.offsets.iter().enumerate() {
            let one = offset.is_some_and(|offset| !offset.by_column());
            if let (Some(by_scale), true) = (&mut outputs[by_scale(at)], one) {
                by_scale[0] = totals[1 + at] as f32;
            }
        }
    }

    fn cuda_scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        scratch_on_card(self, inputs, wanted)
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        run_on_card(self, call)
    }
}

fn add_row(to: &mut [f32], row: &[f32], existing: Existing) {
    match existing {
        Existing::Replace => to.copy_from_slice(row),
        Existing::Add => to.iter_mut().zip(row).for_each(|(to, row)| *to += row),
    }
}
