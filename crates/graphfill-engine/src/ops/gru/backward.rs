//! The gradient of gated recurrent units through time, with g that of h′, complete once all later
//! times have been walked:
//!
//!   ∂n = g ⊙ (1 − z) ⊙ (1 − n²)             before tanh
//!   ∂z = g ⊙ (h − n) ⊙ z ⊙ (1 − z)          before σ
//!   ∂r = ∂n ⊙ q ⊙ r ⊙ (1 − r)               before σ
//!   ∂q = ∂n ⊙ r
//!   ∂x = [∂r | ∂z | ∂n],  p = [∂r | ∂z | ∂q]
//!   ∂h = g ⊙ z + p·Wᵀ,  ∂W = Σ_t hᵀ·p,  ∂b = Σ p

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::time::Time;
use super::{Direction, KERNELS, ROWS_A_TASK, identity_of};
use crate::Shape;
use crate::cpu::{Call, Dense, Existing, pack_right, product, product_rows, product_scratch};
use crate::cuda;
use crate::ops::Factor;
use crate::ops::column_sums::SumsOnCard;
use crate::ops::wanted::wanted_portions;
use crate::program::{Mismatch, Operation};

const BACKWARD: cuda::Kernel = KERNELS.kernel("gru_backward");

/// Inputs: the gradient of the states, the states, r | z | n, q, the recurrent weight.
/// Outputs: the gradients of the gates' inputs, of the recurrent weight and of its bias.
#[derive(Debug)]
pub(super) struct GruGradient {
    pub(super) length: usize,
    pub(super) direction: Direction,
}

/// Where the scratch memory goes.
struct Parts<'a> {
    /// Wᵀ, packed.
    packed: &'a mut [f32],
    /// The gradient of the states of the time before: batch × hidden.
    carry: &'a mut [f32],
    /// p of one time: batch × 3·hidden.
    products: &'a mut [f32],
    /// ∂b of each task: tasks × 3·hidden.
    biases: &'a mut [f32],
    /// For the product that gives ∂W.
    rest: &'a mut [f32],
}

impl<'a> Parts<'a> {
    fn lengths(hidden: usize, batch: usize) -> [usize; 5] {
        let tasks = batch.div_ceil(ROWS_A_TASK);
        [
            3 * hidden * product_scratch(1, hidden),
            batch * hidden,
            batch * 3 * hidden,
            tasks * 3 * hidden,
            product_scratch(batch, 3 * hidden),
        ]
    }

    fn new(scratch: &'a mut [f32], hidden: usize, batch: usize) -> Self {
        let [packed, carry, products, biases, _] = Parts::lengths(hidden, batch);
        let (packed, scratch) = scratch.split_at_mut(packed);
        let (carry, scratch) = scratch.split_at_mut(carry);
        let (products, scratch) = scratch.split_at_mut(products);
        let (biases, rest) = scratch.split_at_mut(biases);
        Parts { packed, carry, products, biases, rest }
    }
}

impl Operation for GruGradient {
    fn name(&self) -> &'static str {
        "gru"
    }

    fn identity(&self) -> String {
        format!("gru_gradient({})", identity_of(self.length, self.direction))
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[2], inputs[4], Shape::new(1, inputs[2].columns)])
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        Parts::lengths(inputs[4].rows, inputs[0].rows / self.length).iter().sum()
    }

    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        let rows = inputs[0].rows - inputs[0].rows / self.length;
        2 * ((1 + usize::from(wanted[1])) * rows * inputs[4].len()) as u64
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let Shape { rows: hidden, columns } = call.input_shape(4);
        let batch = call.input_shape(0).rows / self.length;
        let mut by_input = call.wanted_output(0);
        let mut by_weight = call.wanted_output(1);
        if let Some(by_weight) = &mut by_weight {
            by_weight.fill(0.0);
        }
        let [upstream, states, gates, inner, weight] =
            [0, 1, 2, 3, 4].map(|input| call.input(input));
        let parts = Parts::new(call.scratch(), hidden, batch);
        parts.biases.fill(0.0);
        parts.carry.fill(0.0);
        let weight = Dense::new(weight, hidden, columns).transposed();
        let weight = pack_right(weight, 0..columns, parts.packed);
        let time = Time::new(self.length, self.direction, batch);
        let times = if hidden * batch == 0 { 0 } else { self.length };
        for at in time.order().rev().take(times) {
            let previous = time.before(at).map(|before| &states[time.rows(before, hidden)]);
            let own = Slices {
                upstream: &upstream[time.rows(at, hidden)],
                previous,
                gates: &gates[time.rows(at, columns)],
                inner: &inner[time.rows(at, hidden)],
                hidden,
            };
            let by_input = by_input.as_mut().map(|all| &mut all[time.rows(at, columns)]);
            let chunk = ROWS_A_TASK * hidden;
            let tasks = batch.div_ceil(ROWS_A_TASK);
            let outputs = parts
                .carry
                .par_chunks_mut(chunk)
                .zip(parts.products.par_chunks_mut(3 * chunk))
                .zip(parts.biases.par_chunks_mut(columns))
                .zip(wanted_portions(by_input, 3 * chunk, tasks));
            outputs.enumerate().for_each(|(task, (((carry, products), bias), by_input))| {
                let count = carry.len() / hidden;
                let own = own.rows(task * ROWS_A_TASK, count);
                let (carry, products) = (&mut *carry, &mut *products);
                Arch::new().dispatch(Rows { own, carry, products, bias, by_input });
                // Before the first time there is no state that anything could depend on.
                if previous.is_some() {
                    let products = Dense::new(products, count, columns);
                    product_rows(products, 0, 0, weight, carry, Existing::Add);
                }
            });
            if let (Some(by_weight), Some(previous)) = (&mut by_weight, previous) {
                let previous = Dense::new(previous, batch, hidden).transposed();
                let products = Dense::new(parts.products, batch, columns);
                product(previous, products, by_weight, Existing::Add, parts.rest);
            }
        }
        if let Some(out) = call.wanted_output(2) {
            out.fill(0.0);
            for bias in parts.biases.chunks_exact(columns.max(1)) {
                out.iter_mut().zip(bias).for_each(|(out, bias)| *out += bias);
            }
        }
    }

    fn cuda_scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        let products = self.products_kept(inputs[2], wanted);
        let carry = inputs[0].len() / self.length;
        let sums = if wanted[2] { SumsOnCard::new(products).scratch_len() } else { 0 };
        cuda::Call::scratch_len([carry, products.len()]) + sums
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows: hidden, columns } = call.input_shape(4);
        let batch = call.input_shape(0).rows / self.length;
        let (narrow, wide) = (batch * hidden, batch * columns);
        let kept = self.products_kept(call.input_shape(2), &call.wanted());
        let (carry, products) = (call.scratch(narrow), call.scratch(kept.len()));
        let products_at = |at: usize| {
            if kept.rows > batch { products.offset_by(at * wide) } else { products }
        };
        let [upstream, states, gates, inner] = [0, 1, 2, 3].map(|input| call.input(input));
        let (weight, by_input) = (call.input_matrix(4), call.wanted_output(0));
        let time = Time::new(self.length, self.direction, batch);
        for (walked, at) in time.order().rev().enumerate() {
            let previous = time.before(at).map(|before| states.offset_by(before * narrow));
            let arguments = [
                upstream.offset_by(at * narrow).into(),
                previous.into(),
                gates.offset_by(at * wide).into(),
                inner.offset_by(at * narrow).into(),
                u32::from(walked > 0).into(),
                carry.into(),
                products_at(at).into(),
                by_input.map(|all| all.offset_by(at * wide)).into(),
                (hidden as u32).into(),
                narrow.into(),
            ];
            call.launch(BACKWARD, cuda::Grid::strided(narrow), arguments);
            if previous.is_some() {
                let left = (cuda::Dense::new(products_at(at), batch, columns), Factor::Plain);
                let out = cuda::Dense::new(carry, batch, hidden);
                call.product(left, (weight, Factor::Transposed), out, cuda::Existing::Add);
            }
        }
        if let Some(out) = call.wanted_output(1) {
            // The states of all times but the last, and the products of the times that follow them.
            let rows = (self.length - 1) * batch;
            let (state, product) = match self.direction {
                Direction::Forward => (states, products.offset_by(wide)),
                Direction::Backward => (states.offset_by(narrow), products),
            };
            let left = (cuda::Dense::new(state, rows, hidden), Factor::Transposed);
            let right = (cuda::Dense::new(product, rows, columns), Factor::Plain);
            let out = cuda::Dense::new(out, hidden, columns);
            call.product(left, right, out, cuda::Existing::Replace);
        }
        if let Some(out) = call.wanted_output(2) {
            SumsOnCard::new(kept).launch(call, products, out);
        }
        Ok(())
    }
}

impl GruGradient {
    /// The shape of p on a card: of all times, if ∂W or ∂b are made of it, or of one.
    fn products_kept(&self, gates: Shape, wanted: &[bool]) -> Shape {
        let all = wanted[1] || wanted[2];
        Shape::new(if all { gates.rows } else { gates.rows / self.length }, gates.columns)
    }
}

/// What the gradient of one time is computed from, or that of some of its rows.
#[derive(Debug, Clone, Copy)]
struct Slices<'a> {
    upstream: &'a [f32],
    /// None where the state before is zeros.
    previous: Option<&'a [f32]>,
    gates: &'a [f32],
    inner: &'a [f32],
    hidden: usize,
}

impl Slices<'_> {
    #[inline(always)]
    fn rows(self, first: usize, count: usize) -> Self {
        let narrow = first * self.hidden..(first + count) * self.hidden;
        Slices {
            upstream: &self.upstream[narrow.clone()],
            previous: self.previous.map(|previous| &previous[narrow.clone()]),
            gates: &self.gates[3 * narrow.start..3 * narrow.end],
            inner: &self.inner[narrow],
            hidden: self.hidden,
        }
    }
}

/// What is computed for some rows: `carry` comes as what later times ask of these states.
struct Rows<'a> {
    own: Slices<'a>,
    carry: &'a mut [f32],
    products: &'a mut [f32],
    bias: &'a mut [f32],
    by_input: Option<&'a mut [f32]>,
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let hidden = self.own.hidden;
        for row in 0..self.carry.len() / hidden {
            let products = &mut self.products[row * 3 * hidden..][..3 * hidden];
            let carry = &mut self.carry[row * hidden..][..hidden];
            let own = self.own.rows(row, 1);
            gates_of_row(own, carry, products);
            if let Some(by_input) = &mut self.by_input {
                by_input[row * 3 * hidden..][..3 * hidden].copy_from_slice(products);
            }
            // ∂q = ∂n ⊙ r
            let (reset, new) = (&own.gates[..hidden], &mut products[2 * hidden..]);
            for (new, &reset) in new.iter_mut().zip(reset) {
                *new *= reset;
            }
            for (bias, &product) in self.bias.iter_mut().zip(&*products) {
                *bias += product;
            }
        }
    }
}

/// ∂r | ∂z | ∂n of one row; `carry` becomes g ⊙ z.
#[inline(always)]
fn gates_of_row(own: Slices<'_>, carry: &mut [f32], out: &mut [f32]) {
    let hidden = own.hidden;
    let [reset, update, new] = [0, 1, 2].map(|gate| gate * hidden..(gate + 1) * hidden);
    let (by_reset, out) = out.split_at_mut(hidden);
    let (by_update, by_new) = out.split_at_mut(hidden);
    let (reset, update, new) = (&own.gates[reset], &own.gates[update], &own.gates[new]);
    let (upstream, inner) = (&own.upstream[..hidden], &own.inner[..hidden]);
    for at in 0..hidden {
        let (r, z, n) = (reset[at], update[at], new[at]);
        let gradient = upstream[at] + carry[at];
        let before_tanh = gradient * (1.0 - z) * (1.0 - n * n);
        by_new[at] = before_tanh;
        by_reset[at] = before_tanh * inner[at] * (r * (1.0 - r));
        by_update[at] = gradient * (z * (1.0 - z));
        carry[at] = gradient * z;
    }
    match own.previous {
        Some(previous) => {
            for ((by_update, &previous), &new) in by_update.iter_mut().zip(previous).zip(new) {
                *by_update *= previous - new;
            }
        }
        None => by_update.iter_mut().zip(new).for_each(|(by_update, &new)| *by_update *= -new),
    }
}
