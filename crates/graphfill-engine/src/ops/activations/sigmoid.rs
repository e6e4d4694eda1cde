//! Logistic:  σ(x) = 1 / (1 + e⁻ˣ),  slope σ(1 − σ)

use super::{Activate, Activation};
use crate::Matrix;
use crate::cpu::sigmoid;
use crate::cuda::Function;

#[derive(Debug, Clone, Copy)]
struct Sigmoid;

impl<'p> Matrix<'p> {
    /// The logistic function of every number.
    #[must_use]
    #[track_caller]
    pub fn sigmoid(self) -> Matrix<'p> {
        self.program().record(Activate(Sigmoid), &[self])
    }
}

impl Activation for Sigmoid {
    const NAME: &'static str = "sigmoid";

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        sigmoid(x)
    }

    #[inline(always)]
    fn slope(self, value: f32) -> f32 {
        value * (1.0 - value)
    }

    fn in_kernels(self) -> (Function, f32) {
        (Function::Sigmoid, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_and_slopes(shape in shapes()) {
            check(&[shape], |_, x| x[0].sigmoid(), |x| x[0].map(|x| 1.0 / (1.0 + (-x).exp())));
        }
    }
}
