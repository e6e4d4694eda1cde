//! Sums with weights:  out = Σ_k weight_k · input_k
//!
//! Addition, subtraction and scaling by a fixed number are all this, and so is the sum of the
//! contributions to a gradient.

use std::ops::{Add, Neg, Sub};

use pulp::{Arch, NullaryFnOnce};

use crate::cpu::{Call, for_each_portion};
use crate::cuda;
use crate::program::{Backward, MOST_INPUTS, Mismatch, Operation};
use crate::{Matrix, Shape};

const KERNELS: cuda::Source =
    cuda::Source::new("linear_combination.cu", include_str!("linear_combination.cu"))
        .with(&[&[cuda::Define::count("MAX_INPUTS", MOST_INPUTS)]]);

#[derive(Debug)]
struct LinearCombination {
    weights: Vec<f32>,
}

/// Σ weight · matrix over at least one pair.
#[track_caller]
pub(crate) fn linear_combination<'p>(terms: &[(f32, Matrix<'p>)]) -> Matrix<'p> {
    if let [all @ .., last] = terms
        && all.len() >= MOST_INPUTS
    {
        // More than an operation can take: the last ones after the sum of the others.
        let (first, rest) = all.split_at(MOST_INPUTS);
        let mut terms = vec![(1.0, linear_combination(first))];
        terms.extend(rest);
        terms.push(*last);
        return linear_combination(&terms);
    }
    let (weights, matrices): (Vec<f32>, Vec<Matrix<'p>>) = terms.iter().copied().unzip();
    matrices[0].program().record(LinearCombination { weights }, &matrices)
}

impl<'p> Matrix<'p> {
    /// Every number times a fixed one.
    #[must_use]
    #[track_caller]
    pub fn scale(self, by: f32) -> Matrix<'p> {
        linear_combination(&[(by, self)])
    }
}

impl<'p> Add for Matrix<'p> {
    type Output = Matrix<'p>;

    #[track_caller]
    fn add(self, other: Matrix<'p>) -> Matrix<'p> {
        linear_combination(&[(1.0, self), (1.0, other)])
    }
}

impl<'p> Sub for Matrix<'p> {
    type Output = Matrix<'p>;

    #[track_caller]
    fn sub(self, other: Matrix<'p>) -> Matrix<'p> {
        linear_combination(&[(1.0, self), (-1.0, other)])
    }
}

impl<'p> Neg for Matrix<'p> {
    type Output = Matrix<'p>;

    #[track_caller]
    fn neg(self) -> Matrix<'p> {
        self.scale(-1.0)
    }
}

impl Operation for LinearCombination {
    fn name(&self) -> &'static str {
        match self.weights[..] {
            [_] => "scale",
            [_, second] if second < 0.0 => "subtract",
            _ => "add",
        }
    }

    fn identity(&self) -> String {
        let weights: Vec<String> = self.weights.iter().map(f32::to_string).collect();
        format!("linear_combination({})", weights.join(", "))
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        for &other in inputs {
            let rule = "the matrices of a sum have the same shape";
            Mismatch::unless(inputs[0] == other, inputs[0], other, rule)?;
        }
        Ok(vec![inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        for (input, &weight) in self.weights.iter().enumerate() {
            backward.pass(input, 0, weight);
        }
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        const ANY: [(usize, usize); MOST_INPUTS] = {
            let mut any = [(0, 0); MOST_INPUTS];
            let mut input = 0;
            while input < MOST_INPUTS {
                any[input].1 = input;
                input += 1;
            }
            any
        };
        &ANY
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let out = call.output(0);
        let mut inputs = [None; MOST_INPUTS];
        for (at, input) in inputs[..self.weights.len()].iter_mut().enumerate() {
            *input = call.input_unless_in_place(at);
        }
        let weights = &self.weights[..];
        for_each_portion(out, |begin, out| {
            Arch::new().dispatch(Portion { weights, inputs: &inputs, begin, out });
        });
    }

    fn cuda_finish(&self, call: &cuda::Call<'_>) -> Option<cuda::Finish> {
        let out = call.output(0);
        match self.weights[..] {
            [own] => Some(cuda::Finish::Combine { own, other: None, weight: 0.0 }),
            [first, second] if call.input(0) == out && call.input(1) != out => {
                let other = Some(call.input(1));
                Some(cuda::Finish::Combine { own: first, other, weight: second })
            }
            [first, second] if call.input(1) == out && call.input(0) != out => {
                let other = Some(call.input(0));
                Some(cuda::Finish::Combine { own: second, other, weight: first })
            }
            _ => None,
        }
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (terms, quads) = (self.weights.len(), call.output_shape(0).len().div_ceil(4));
        // Terms that there are not are null pointers, which are not read.
        let mut arguments = [cuda::Argument::from(0usize); 2 * MOST_INPUTS + 3];
        for (term, &weight) in self.weights.iter().enumerate() {
            arguments[term] = call.input(term).into();
            arguments[MOST_INPUTS + term] = weight.into();
        }
        let rest = [(terms as u32).into(), call.output(0).into(), quads.into()];
        arguments[2 * MOST_INPUTS..].copy_from_slice(&rest);
        let kernel = match terms {
            0..=2 => "combine_two",
            3..=4 => "combine_four",
            _ => "combine_twelve",
        };
        call.launch(KERNELS.kernel(kernel), cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}

/// Numbers that are summed at a time.
const STRIP: usize = 64;

struct Portion<'a> {
    weights: &'a [f32],
    /// The one that is missing is what the output holds.
    inputs: &'a [Option<&'a [f32]>],
    begin: usize,
    out: &'a mut [f32],
}

impl NullaryFnOnce for Portion<'_> {
    type Output = ();

    /// Always in the order of the inputs, so that the sum does not depend on which of them the
    /// output is written over.
    #[inline(always)]
    fn call(self) {
        for (strip, out) in self.out.chunks_mut(STRIP).enumerate() {
            let begin = self.begin + strip * STRIP;
            let mut own = [0.0; STRIP];
            own[..out.len()].copy_from_slice(out);
            out.fill(0.0);
            for (&weight, input) in self.weights.iter().zip(self.inputs) {
                let input = match input {
                    Some(input) => &input[begin..begin + out.len()],
                    None => &own[..out.len()],
                };
                for (out, &x) in out.iter_mut().zip(input) {
                    *out += weight * x;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_and_their_gradients(shape in shapes(), a in -2.0f32..2.0) {
            check(&[shape, shape], |_, x| (x[0] + x[1]).scale(a) - x[0], |x| {
                x[0].zip(&x[1], |first, second| (first + second) * f64::from(a) - first)
            });
            check(&[shape], |_, x| -x[0], |x| x[0].map(|value| -value));
        }

        #[test]
        fn long_sums_are_split(count in 1usize..40) {
            check(&[Shape::new(2, 3)], |_, x| {
                linear_combination(&vec![(0.5, x[0]); count])
            }, |x| x[0].map(|value| value * 0.5 * count as f64));
        }
    }
}
