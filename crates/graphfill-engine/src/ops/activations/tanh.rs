//! Hyperbolic tangent:  slope 1 − tanh²

use super::{Activate, Activation};
use crate::Matrix;
use crate::cpu::tanh;
use crate::cuda::Function;

#[derive(Debug, Clone, Copy)]
struct Tanh;

impl<'p> Matrix<'p> {
    /// The hyperbolic tangent of every number.
    #[must_use]
    #[track_caller]
    pub fn tanh(self) -> Matrix<'p> {
        self.program().record(Activate(Tanh), &[self])
    }
}

impl Activation for Tanh {
    const NAME: &'static str = "tanh";

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        tanh(x)
    }

    #[inline(always)]
    fn slope(self, value: f32) -> f32 {
        1.0 - value * value
    }

    fn in_kernels(self) -> (Function, f32) {
        (Function::Tanh, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_and_slopes(shape in shapes()) {
            check(&[shape], |_, x| x[0].tanh(), |x| x[0].map(f64::tanh));
        }
    }
}
