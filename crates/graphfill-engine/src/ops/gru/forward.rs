//! The gates and states of some rows at one time, their products being known.

use pulp::NullaryFnOnce;

use crate::cpu::{sigmoid, tanh};

pub(super) struct Rows<'a> {
    pub(super) input: &'a [f32],
    pub(super) bias: &'a [f32],
    /// Empty where all of it is zeros.
    pub(super) previous: &'a [f32],
    /// h·W, and in its place r | z | n.
    pub(super) gates: &'a mut [f32],
    pub(super) inner: &'a mut [f32],
    pub(super) states: &'a mut [f32],
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Rows { input, bias, previous, gates, inner, states } = self;
        let hidden = bias.len() / 3;
        let rows = states.chunks_exact_mut(hidden).zip(inner.chunks_exact_mut(hidden));
        let shares = gates.chunks_exact_mut(3 * hidden).zip(input.chunks_exact(3 * hidden));
        for (row, ((states, inner), (gates, input))) in rows.zip(shares).enumerate() {
            for ((gate, &input), &bias) in
                gates[..2 * hidden].iter_mut().zip(&input[..2 * hidden]).zip(&bias[..2 * hidden])
            {
                *gate = sigmoid(input + (*gate + bias));
            }
            let (reset, gates) = gates.split_at_mut(hidden);
            let (update, new) = gates.split_at_mut(hidden);
            let numbers = new.iter_mut().zip(inner).zip(&input[2 * hidden..]);
            for (((new, inner), &input), (&bias, &reset)) in
                numbers.zip(bias[2 * hidden..].iter().zip(&*reset))
            {
                *inner = *new + bias;
                *new = tanh(input + reset * *inner);
            }
            for ((state, &update), &new) in states.iter_mut().zip(&*update).zip(&*new) {
                *state = (1.0 - update) * new;
            }
            if !previous.is_empty() {
                let previous = &previous[row * hidden..][..hidden];
                for ((state, &update), &previous) in states.iter_mut().zip(&*update).zip(previous) {
                    *state += update * previous;
                }
            }
        }
    }
}
