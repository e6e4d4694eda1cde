//! Exponential linear:  x where positive, eˣ − 1 elsewhere

use super::{Activate, Activation};
use crate::Matrix;
use crate::cpu::exp;
use crate::cuda::Function;

#[derive(Debug, Clone, Copy)]
struct Elu;

impl<'p> Matrix<'p> {
    /// Exponential linear units.
    #[must_use]
    #[track_caller]
    pub fn elu(self) -> Matrix<'p> {
        self.program().record(Activate(Elu), &[self])
    }
}

impl Activation for Elu {
    const NAME: &'static str = "elu";

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x > 0.0 { x } else { exp(x) - 1.0 }
    }

    #[inline(always)]
    fn slope(self, value: f32) -> f32 {
        if value > 0.0 { 1.0 } else { value + 1.0 }
    }

    fn in_kernels(self) -> (Function, f32) {
        (Function::Elu, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_and_slopes(shape in shapes()) {
            check(&[shape], |_, x| x[0].elu(), |x| x[0].map(|x| if x > 0.0 { x } else { x.exp_m1() }));
        }
    }
}
