//! Gated recurrent units along sequences (Cho and others, 2014), with h₀ = 0:
//!
//!   r = σ(x_r + h·W_r + b_r)        z = σ(x_z + h·W_z + b_z)
//!   q = h·W_n + b_n                 n = tanh(x_n + r ⊙ q)
//!   h′ = (1 − z) ⊙ n + z ⊙ h
//!
//! x: length·batch × 3·hidden, the inputs' share of the gates, columns r | z | n, the rows of time t
//! being t·batch..(t + 1)·batch; W: hidden × 3·hidden; b: 1 × 3·hidden; out: all h′, length·batch ×
//! hidden, in the order of x.

mod backward;
mod forward;
mod layer;
mod time;

use pulp::Arch;
use rayon::prelude::*;

use super::Factor;
use crate::cpu::{Call, Dense, Existing, pack_right, product_rows, product_scratch};
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};
use backward::GruGradient;
use time::Time;

/// Rows that one thread takes at a time: a multiple of the tiles of products, six or eight rows.
const ROWS_A_TASK: usize = 24;

const KERNELS: cuda::Source = cuda::Source::new("gru.cu", include_str!("gru.cu"));
const FORWARD: cuda::Kernel = KERNELS.kernel("gru_forward");

/// Which way a sequence is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the first time to the last.
    Forward,
    /// From the last time to the first. The state of a time still has the place of that time.
    Backward,
}

#[derive(Debug)]
struct Gru {
    length: usize,
    direction: Direction,
}

impl<'p> Matrix<'p> {
    /// The states of gated recurrent units. This matrix is the inputs' share of the gates, reset,
    /// update and new side by side, with all rows of the first time first; the others are the
    /// weight and the bias of the states' share.
    #[must_use]
    #[track_caller]
    pub fn gru(
        self,
        recurrent_weight: Matrix<'p>,
        recurrent_bias: Matrix<'p>,
        length: usize,
        direction: Direction,
    ) -> Matrix<'p> {
        let rows = self.rows();
        if length == 0 || rows % length != 0 {
            let problem = format!("{rows} rows are not a whole number of sequences of {length}");
            self.program().fail("gru", problem);
            return self;
        }
        let operands = [self, recurrent_weight, recurrent_bias];
        self.program().record(Gru { length, direction }, &operands)
    }
}

/// Outputs: the states; for the gradient r | z | n, and q.
/// What a layer depends on, in the identity of an operation.
fn identity_of(length: usize, direction: Direction) -> String {
    let direction = match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    };
    format!("length={length}, direction={direction}")
}

impl Operation for Gru {
    fn name(&self) -> &'static str {
        "gru"
    }

    fn identity(&self) -> String {
        format!("gru({})", identity_of(self.length, self.direction))
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let [gates, weight, bias] = [inputs[0], inputs[1], inputs[2]];
        let hidden = weight.rows;
        let rule = "a recurrent weight has the columns of the gates, three for each of its rows";
        let fits = weight.columns == 3 * hidden && gates.columns == weight.columns;
        Mismatch::unless(fits, gates, weight, rule)?;
        let rule = "a recurrent bias is one row with the columns of the recurrent weight";
        Mismatch::unless(bias == Shape::new(1, weight.columns), weight, bias, rule)?;
        Ok(vec![Shape::new(gates.rows, hidden), gates, Shape::new(gates.rows, hidden)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let upstream = backward.upstream(0);
        let [states, gates, inner] = [0, 1, 2].map(|output| backward.output(output));
        let operands = [upstream, states, gates, inner, backward.input(1)];
        let operation = GruGradient { length: self.length, direction: self.direction };
        let gradients = backward.program().record_all(operation, &operands);
        for (input, gradient) in gradients.into_iter().enumerate().take(3) {
            backward.add(input, gradient);
        }
    }

    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        let (hidden, batch) = (inputs[1].rows, inputs[0].rows / self.length);
        // The weight packed, and one time of what is saved for the gradient, if nobody wants that.
        let one_time = |wanted: bool, columns: usize| if wanted { 0 } else { batch * columns };
        hidden * product_scratch(1, 3 * hidden)
            + one_time(wanted[1], 3 * hidden)
            + one_time(wanted[2], hidden)
    }

    fn arithmetic(&self, inputs: &[Shape], _wanted: &[bool]) -> u64 {
        let rows = inputs[0].rows - inputs[0].rows / self.length;
        2 * (rows * inputs[1].len()) as u64
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let hidden = call.input_shape(1).rows;
        let batch = call.input_shape(0).rows / self.length;
        if hidden == 0 || batch == 0 {
            return;
        }
        let [input, weight, bias] = [0, 1, 2].map(|input| call.input(input));
        let (packed, rest) = call.scratch().split_at_mut(hidden * product_scratch(1, 3 * hidden));
        let weight = pack_right(Dense::new(weight, hidden, 3 * hidden), 0..hidden, packed);
        let time = Time::new(self.length, self.direction, batch);
        // Always wanted: the gradient reads them too.
        let states = call.output(0);
        let mut gates = call.wanted_output(1);
        let mut inner = call.wanted_output(2);
        let one_time = if gates.is_some() { 0 } else { batch * 3 * hidden };
        let (one_gates, one_inner) = rest.split_at_mut(one_time);
        for at in time.order() {
            let (previous, states) = time.split(states, at, hidden);
            // What nobody wants is one time long, written again and again.
            let gates = match &mut gates {
                Some(gates) => &mut gates[time.rows(at, 3 * hidden)],
                None => &mut *one_gates,
            };
            let inner = match &mut inner {
                Some(inner) => &mut inner[time.rows(at, hidden)],
                None => &mut one_inner[..batch * hidden],
            };
            let input = &input[time.rows(at, 3 * hidden)];
            let chunk = ROWS_A_TASK * hidden;
            let outputs = states.par_chunks_mut(chunk).zip(inner.par_chunks_mut(chunk));
            let inputs = gates.par_chunks_mut(3 * chunk).zip(input.par_chunks(3 * chunk));
            outputs.zip(inputs).enumerate().for_each(
                |(task, ((states, inner), (gates, input)))| {
                    let first = task * ROWS_A_TASK;
                    let previous = match previous {
                        Some(previous) => {
                            let left = Dense::new(previous, batch, hidden);
                            product_rows(left, first, 0, weight, gates, Existing::Replace);
                            &previous[first * hidden..][..states.len()]
                        }
                        None => {
                            gates.fill(0.0);
                            &[]
                        }
                    };
                    let rows = forward::Rows { input, bias, previous, gates, inner, states };
                    Arch::new().dispatch(rows);
                },
            );
        }
    }

    fn cuda_scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        // The products of one time, if nobody wants the gates that take their place.
        let one_time = inputs[0].len() / self.length;
        if wanted[1] { 0 } else { cuda::Call::scratch_len([one_time]) }
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let hidden = call.input_shape(1).rows;
        let batch = call.input_shape(0).rows / self.length;
        let (narrow, wide) = (batch * hidden, batch * 3 * hidden);
        let (gates, inner) = (call.wanted_output(1), call.wanted_output(2));
        let one_time = if gates.is_some() { None } else { Some(call.scratch(wide)) };
        let [input, bias, states] = [call.input(0), call.input(2), call.output(0)];
        let weight = call.input_matrix(1);
        let time = Time::new(self.length, self.direction, batch);
        for at in time.order() {
            let gates = gates.map(|gates| gates.offset_by(at * wide));
            let previous = time.before(at).map(|before| states.offset_by(before * narrow));
            let mut products = None;
            if let (Some(previous), Some(out)) = (previous, gates.or(one_time)) {
                let left = cuda::Dense::new(previous, batch, hidden);
                let out = cuda::Dense::new(out, batch, 3 * hidden);
                let right = (weight, Factor::Plain);
                call.product((left, Factor::Plain), right, out, cuda::Existing::Replace);
                products = Some(out.at);
            }
            let arguments = [
                input.offset_by(at * wide).into(),
                bias.into(),
                products.into(),
                previous.into(),
                gates.into(),
                inner.map(|inner| inner.offset_by(at * narrow)).into(),
                states.offset_by(at * narrow).into(),
                (hidden as u32).into(),
                narrow.into(),
            ];
            call.launch(FORWARD, cuda::Grid::strided(narrow), arguments);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
