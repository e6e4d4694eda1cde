//! Leaky rectified linear:  x where positive, leak · x elsewhere

use super::{Activate, Activation};
use crate::Matrix;
use crate::cuda::Function;

#[derive(Debug, Clone, Copy)]
struct LeakyRelu {
    leak: f32,
}

impl<'p> Matrix<'p> {
    /// Negative numbers times `leak`, which is positive.
    #[must_use]
    #[track_caller]
    pub fn leaky_relu(self, leak: f32) -> Matrix<'p> {
        if leak.is_nan() || leak <= 0.0 {
            self.program().fail("leaky relu", format!("the leak is {leak}, not positive"));
        }
        self.program().record(Activate(LeakyRelu { leak }), &[self])
    }
}

impl Activation for LeakyRelu {
    const NAME: &'static str = "leaky relu";

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x > 0.0 { x } else { self.leak * x }
    }

    #[inline(always)]
    fn slope(self, value: f32) -> f32 {
        if value > 0.0 { 1.0 } else { self.leak }
    }

    fn identity(self) -> String {
        format!("{}, leak={}", Self::NAME, self.leak)
    }

    fn in_kernels(self) -> (Function, f32) {
        (Function::LeakyRelu, self.leak)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_and_slopes(shape in shapes(), leak in 0.01f32..2.0) {
            let reference = |x: f64| if x > 0.0 { x } else { f64::from(leak) * x };
            check(&[shape], |_, x| x[0].leaky_relu(leak), |x| x[0].map(reference));
        }
    }
}
