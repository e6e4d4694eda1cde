//! Rectified linear:  max(x, 0)

use super::{Activate, Activation};
use crate::Matrix;
use crate::cuda::Function;

#[derive(Debug, Clone, Copy)]
struct Relu;

impl<'p> Matrix<'p> {
    /// The positive part of every number.
    #[must_use]
    #[track_caller]
    pub fn relu(self) -> Matrix<'p> {
        self.program().record(Activate(Relu), &[self])
    }
}

impl Activation for Relu {
    const NAME: &'static str = "relu";

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        // NaN stays NaN, which `max` would turn into 0.
        if x <= 0.0 { 0.0 } else { x }
    }

    #[inline(always)]
    fn slope(self, value: f32) -> f32 {
        if value <= 0.0 { 0.0 } else { 1.0 }
    }

    fn in_kernels(self) -> (Function, f32) {
        (Function::Relu, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_and_slopes(shape in shapes()) {
            check(&[shape], |_, x| x[0].relu(), |x| x[0].map(|x| x.max(0.0)));
        }
    }
}
