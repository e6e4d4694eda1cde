//! Exponential:  eˣ,  slope eˣ

use super::{Activate, Activation};
use crate::Matrix;
use crate::cpu::exp;
use crate::cuda::Function;

#[derive(Debug, Clone, Copy)]
struct Exp;

impl<'p> Matrix<'p> {
    /// The exponential of every number (e^88.3 above that, so that nothing becomes infinite).
    #[must_use]
    #[track_caller]
    pub fn exp(self) -> Matrix<'p> {
        self.program().record(Activate(Exp), &[self])
    }
}

impl Activation for Exp {
    const NAME: &'static str = "exp";

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        exp(x)
    }

    #[inline(always)]
    fn slope(self, value: f32) -> f32 {
        value
    }

    fn in_kernels(self) -> (Function, f32) {
        (Function::Exp, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_and_slopes(shape in shapes()) {
            check(&[shape], |_, x| x[0].exp(), |x| x[0].map(f64::exp));
        }
    }
}
