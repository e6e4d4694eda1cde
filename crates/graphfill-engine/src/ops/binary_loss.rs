//! Mean logistic loss of logits against one label for all:
//!
//!   out = Σ (softplus(x) − label · x) / count        1 × 1
//!
//! softplus(x) = ln(1 + eˣ) = max(x, 0) + ln(1 + e^−|x|), which neither overflows nor loses digits.
//! The derivative, (σ(x) − label) / count, is computed in the same pass.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::sum::Shares;
use super::wanted::wanted_portions;
use crate::cpu::{Call, PORTION, as_doubles, doubles, exp, ln, sigmoid};
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

const BINARY_LOSS: cuda::Kernel =
    cuda::Source::new("binary_loss.cu", include_str!("binary_loss.cu")).kernel("binary_loss");

/// What all the logits should say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Yes: large logits cost nothing.
    One,
    /// No: logits far below zero cost nothing.
    Zero,
}

#[derive(Debug)]
struct BinaryLoss {
    label: Label,
}

impl<'p> Matrix<'p> {
    /// The mean logistic loss of these logits if all of them have the same label; 0 of none.
    #[must_use]
    #[track_caller]
    pub fn binary_loss(self, label: Label) -> Matrix<'p> {
        self.program().record(BinaryLoss { label }, &[self])
    }
}

/// Outputs: the loss, its derivative.
impl Operation for BinaryLoss {
    fn name(&self) -> &'static str {
        "binary loss"
    }

    fn identity(&self) -> String {
        let label = match self.label {
            Label::One => "one",
            Label::Zero => "zero",
        };
        format!("binary_loss(label={label})")
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![Shape::SCALAR, inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.add_derivative(0, 0, backward.output(1));
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        doubles(inputs[0].len().div_ceil(PORTION))
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let logits = call.input(0);
        let share = 1.0 / logits.len().max(1) as f32;
        let label = match self.label {
            Label::One => 1.0,
            Label::Zero => 0.0,
        };
        let sums = as_doubles(call.scratch());
        let count = logits.len().div_ceil(PORTION);
        let derivative = wanted_portions(call.wanted_output(1), PORTION, count);
        let sums = &mut sums[..count];
        let loss = call.wanted_output(0);
        logits.par_chunks(PORTION).zip(derivative).zip(sums.par_iter_mut()).for_each(
            |((logits, derivative), sum)| {
                if loss.is_some() {
                    *sum = Arch::new().dispatch(Loss { logits, label });
                }
                if let Some(out) = derivative {
                    Arch::new().dispatch(Derivative { logits, label, share, out });
                }
            },
        );
        if let Some(loss) = loss {
            loss[0] = (sums.iter().sum::<f64>() / logits.len().max(1) as f64) as f32;
        }
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        cuda::Call::scratch_len([Shares::of(inputs[0]).scratch()])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let count = call.input_shape(0).len();
        let shares = Shares::of(call.input_shape(0));
        let (loss, derivative) = (call.wanted_output(0), call.wanted_output(1));
        let partial = call.scratch(shares.scratch());
        let sign: f32 = match self.label {
            Label::One => -1.0,
            Label::Zero => 1.0,
        };
        let share = 1.0 / count.max(1) as f64;
        let arguments = [
            call.input(0).into(),
            count.into(),
            sign.into(),
            (share as f32).into(),
            loss.map(|_| partial).into(),
            derivative.into(),
        ];
        call.launch(BINARY_LOSS, shares.grid, arguments);
        if let Some(loss) = loss {
            shares.add(call, partial, share, loss);
        }
        Ok(())
    }
}

/// Σ (softplus(x) − label · x) over a portion.
struct Loss<'a> {
    logits: &'a [f32],
    label: f32,
}

impl NullaryFnOnce for Loss<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let mut sums = [0.0f64; 16];
        let (logits, rest) = self.logits.as_chunks::<16>();
        for logits in logits {
            for lane in 0..16 {
                sums[lane] += f64::from(term(logits[lane], self.label));
            }
        }
        for (lane, &logit) in rest.iter().enumerate() {
            sums[lane] += f64::from(term(logit, self.label));
        }
        sums.iter().sum()
    }
}

#[inline(always)]
fn term(logit: f32, label: f32) -> f32 {
    (logit.max(0.0) - label * logit) + ln(1.0 + exp(-logit.abs()))
}

struct Derivative<'a> {
    logits: &'a [f32],
    label: f32,
    share: f32,
    out: &'a mut [f32],
}

impl NullaryFnOnce for Derivative<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (out, &logit) in self.out.iter_mut().zip(self.logits) {
            *out = (sigmoid(logit) - self.label) * self.share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, check_at, check_value, shapes};
    use proptest::prelude::*;

    fn loss(logits: &Reference, label: f64) -> Reference {
        let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        let terms = logits.map(|x| softplus(x) - label * x);
        let count = logits.shape.len().max(1) as f64;
        Reference::scalar(terms.values.iter().sum::<f64>() / count)
    }

    proptest! {
        #[test]
        fn is_the_mean_over_cells(shape in shapes()) {
            for (label, number) in [(Label::One, 1.0), (Label::Zero, 0.0)] {
                check(&[shape], |_, x| x[0].binary_loss(label), |x| loss(&x[0], number));
                check(&[shape], |_, x| x[0].binary_loss(label).scale(-2.0), |x| {
                    loss(&x[0], number).map(|value| -2.0 * value)
                });
            }
        }
    }

    #[test]
    fn large_logits_neither_overflow_nor_vanish() {
        let values = [vec![-300.0, -40.0, 0.0, 40.0, 300.0]];
        for (label, number) in [(Label::One, 1.0), (Label::Zero, 0.0)] {
            check_at(
                &[Shape::new(5, 1)],
                &values,
                |_, x| x[0].binary_loss(label),
                |x| loss(&x[0], number),
            );
        }
    }

    #[test]
    fn beyond_one_portion() {
        let values = [vec![1.0; 20_000]];
        let expected = (-1.0f64).exp().ln_1p();
        check_value(
            &[Shape::new(100, 200)],
            &values,
            |_, x| x[0].binary_loss(Label::One),
            expected,
        );
    }
}
