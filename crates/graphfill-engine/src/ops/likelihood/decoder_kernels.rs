//! The decoder and its loss on a CUDA card:  scores, G in their place, and the products with G
//!
//! As on the processor, some rows at a time; but these are far more, as a product of few rows keeps
//! no card busy.
//!
//! Products are fastest where rows begin at multiples of four numbers. Where they don't, scores, W
//! and ∂W have columns behind the others that fill up their rows: zeros in W, which are therefore
//! zeros among the scores, in G, which is left in their place, and in ∂W.

use std::array::from_fn;

use super::decoder_loss::{BY_BIAS, BY_LATENT, BY_WEIGHT, DecoderLoss, LOSS, by_offset, by_scale};
use super::kernel_sums::{Ends, Partial, SUMS, column_parts, finish, scale_rows, sum_columns};
use super::kernels::{Offset, Scores, bits, judge, slots};
use super::offsets::MOST_OFFSETS;
use crate::Shape;
use crate::cuda::{Address, Call, Dense, Existing};
use crate::ops::Factor;

/// Scores that exist at a time: 256 MiB.
const SCORES: usize = 1 << 26;
/// Columns from which on it pays to fill up rows.
const WIDE: usize = 64;

/// Numbers of temporary memory.
pub(super) fn scratch_on_card(operation: &DecoderLoss, inputs: &[Shape], wanted: &[bool]) -> usize {
    Call::scratch_len(scratch_parts(operation, inputs, wanted))
}

/// Says what a card does.
pub(super) fn run_on_card(operation: &DecoderLoss, call: &mut Call<'_>) -> Result<(), String> {
    let inputs: Vec<Shape> = (0..call.inputs()).map(|input| call.input_shape(input)).collect();
    let (scores, wanted) = (operation.likelihood.shape(), call.wanted());
    if scores.is_empty() {
        for at in 0..wanted.len() {
            let (output, numbers) = (call.wanted_output(at), call.output_shape(at).len());
            output.into_iter().for_each(|output| call.zero(output, numbers));
        }
        return Ok(());
    }
    let lens = scratch_parts(operation, &inputs, &wanted);
    let [scores_at, weight_at, by_weight_at, partial, column_sums] =
        lens.map(|len| call.scratch(len));
    let mut partial = Partial::new(partial, lens[3] / Partial::len(1));
    let sums = Sums::of(operation, &inputs, &wanted);
    let blocks = Blocks::of(scores);
    let (latent, weight) = (call.input_matrix(0), call.input_matrix(1));
    let filled = |at: Address| Dense::new(at, latent.columns, blocks.stride);
    let by_weight = call.wanted_output(BY_WEIGHT);
    let rows = if blocks.are_filled(scores) {
        scale_rows(call, weight, None, weight_at, blocks.stride);
        let by_weight = by_weight.map(|_| filled(by_weight_at));
        Rows { latent, weight: filled(weight_at), by_weight, scores_at }
    } else {
        Rows { latent, weight, by_weight: by_weight.map(filled), scores_at }
    };
    let mut parts = 0;
    for (first, count) in blocks.each(scores.rows) {
        rows.score(call, first, count);
        let judged = Scores {
            first,
            rows: count,
            stride: blocks.stride,
            bias: operation.bias_input().map(|bias| call.input(bias)),
            offsets: offsets(operation, call, first),
            summed: sums.of_all,
            ..Scores::whole(scores_at, Some(scores_at), scores)
        };
        judge(&operation.likelihood, call, &judged, &mut partial)?;
        rows.multiply_back(call, first, count);
        if sums.of_columns != 0 {
            let to = column_sums.offset_by(parts * SUMS * scores.columns);
            sum_columns(call, &judged, sums.of_columns, to);
            parts += column_parts(count, scores.columns);
        }
        let derivative = Dense { columns: scores.columns, ..rows.scores(count) };
        for (at, offset) in judged.offsets.into_iter().enumerate().take(operation.offsets) {
            if let Some(to) = call.wanted_output(by_offset(at)) {
                let to = to.offset_by(first * scores.columns);
                scale_rows(call, derivative, offset, to, scores.columns);
            }
        }
    }
    if let (true, Some(to)) = (blocks.are_filled(scores), by_weight) {
        let from = Dense { columns: scores.columns, ..filled(by_weight_at) };
        scale_rows(call, from, None, to, scores.columns);
    }
    if (sums.of_all, sums.of_columns) != (0, 0) {
        let by_scale = |at| call.wanted_output(by_scale(at));
        let ends = Ends {
            loss: call.wanted_output(LOSS),
            by_bias: call.wanted_output(BY_BIAS),
            by_scale: from_fn(|at| if at < operation.offsets { by_scale(at) } else { None }),
            by_column: sums.by_column,
            columns: scores.columns,
        };
        let column_sums = (sums.of_columns != 0).then_some((column_sums, parts));
        finish(call, &partial, column_sums, ends);
    }
    Ok(())
}

/// The numbers of each part of the temporary memory: scores, W and ∂W with their rows filled up, the
/// sums that thread blocks leave, those of columns.
fn scratch_parts(operation: &DecoderLoss, inputs: &[Shape], wanted: &[bool]) -> [usize; 5] {
    let (scores, width) = (operation.likelihood.shape(), inputs[0].columns);
    if scores.is_empty() {
        return [0; 5];
    }
    let blocks = Blocks::of(scores);
    let filled = if blocks.are_filled(scores) { width * blocks.stride } else { 0 };
    let each = || blocks.each(scores.rows).map(|(_, rows)| rows);
    let slots = each().map(|rows| slots(&operation.likelihood, rows)).sum();
    let parts: usize = match Sums::of(operation, inputs, wanted).of_columns {
        0 => 0,
        _ => each().map(|rows| column_parts(rows, scores.columns)).sum(),
    };
    [
        blocks.rows * blocks.stride,
        filled,
        if wanted[BY_WEIGHT] { filled } else { 0 },
        Partial::len(slots),
        parts * SUMS * scores.columns,
    ]
}

/// How many rows are scored before the next ones, and how far their rows are apart.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    rows: usize,
    stride: usize,
}

impl Blocks {
    fn of(scores: Shape) -> Self {
        let columns = scores.columns;
        let stride = if columns < WIDE { columns } else { columns.next_multiple_of(4) };
        let count = (scores.rows * stride).div_ceil(SCORES);
        Blocks { rows: scores.rows.div_ceil(count), stride }
    }

    fn are_filled(self, scores: Shape) -> bool {
        self.stride != scores.columns
    }

    /// The first row of each block, and how many it has.
    fn each(self, rows: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..rows).step_by(self.rows).map(move |first| (first, self.rows.min(rows - first)))
    }
}

/// Which sums are asked for, one bit each.
#[derive(Debug, Clone, Copy)]
struct Sums {
    /// The loss, the derivatives by scales that are one number.
    of_all: u32,
    /// The derivatives by the bias and by scales that have one number for each column.
    of_columns: u32,
    /// Those scales, whether or not anybody asks for the derivative.
    by_column: u32,
}

impl Sums {
    fn of(operation: &DecoderLoss, inputs: &[Shape], wanted: &[bool]) -> Self {
        let by_column = |at: usize| inputs[operation.offset_input(at) + 1] != Shape::SCALAR;
        let offsets = || 0..operation.offsets;
        let asked = |at: usize, each: bool| wanted[by_scale(at)] && by_column(at) == each;
        let one = offsets().map(|at| asked(at, false));
        let each = offsets().map(|at| asked(at, true));
        Sums {
            of_all: bits([wanted[LOSS]].into_iter().chain(one)),
            of_columns: bits([wanted[BY_BIAS]].into_iter().chain(each)),
            by_column: bits(offsets().map(by_column)),
        }
    }
}

/// The offsets beside the rows from `first` on.
fn offsets(
    operation: &DecoderLoss,
    call: &Call<'_>,
    first: usize,
) -> [Option<Offset>; MOST_OFFSETS] {
    from_fn(|at| {
        let input = operation.offset_input(at);
        (at < operation.offsets).then(|| Offset {
            values: call.input(input).offset_by(first * call.input_shape(input).columns),
            scale: call.input(input + 1),
            by_column: call.input_shape(input + 1) != Shape::SCALAR,
        })
    })
}

/// The factors of the products, all rows of them, and where some rows of scores are. W, ∂W and
/// scores have rows of the same length.
struct Rows {
    latent: Dense,
    weight: Dense,
    by_weight: Option<Dense>,
    scores_at: Address,
}

impl Rows {
    fn part(matrix: Dense, first: usize, rows: usize) -> Dense {
        Dense { at: matrix.at.offset_by(first * matrix.stride), rows, ..matrix }
    }

    fn scores(&self, rows: usize) -> Dense {
        Dense::new(self.scores_at, rows, self.weight.columns)
    }

    /// scores = Z·W of the rows from `first` on.
    fn score(&self, call: &mut Call<'_>, first: usize, rows: usize) {
        let latent = (Rows::part(self.latent, first, rows), Factor::Plain);
        let weight = (self.weight, Factor::Plain);
        call.product(latent, weight, self.scores(rows), Existing::Replace);
    }

    /// ∂Z = G·Wᵀ and ∂W += Zᵀ·G of these rows, with G in place of the scores.
    fn multiply_back(&self, call: &mut Call<'_>, first: usize, rows: usize) {
        let derivative = (self.scores(rows), Factor::Plain);
        if let Some(at) = call.wanted_output(BY_LATENT) {
            let by_latent = Rows::part(Dense { at, ..self.latent }, first, rows);
            let weight = (self.weight, Factor::Transposed);
            call.product(derivative, weight, by_latent, Existing::Replace);
        }
        if let Some(by_weight) = self.by_weight {
            let existing = if first == 0 { Existing::Replace } else { Existing::Add };
            let latent = (Rows::part(self.latent, first, rows), Factor::Transposed);
            call.product(latent, derivative, by_weight, existing);
        }
    }
}
