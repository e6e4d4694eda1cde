//! Scaling by a learnt number:  out = s · x        s: 1 × 1

use crate::cpu::{Call, Convert, convert};
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

#[derive(Debug)]
struct ScaleBy;

impl<'p> Matrix<'p> {
    /// Every number times a scalar of the program.
    #[must_use]
    #[track_caller]
    pub fn scale_by(self, scalar: Matrix<'p>) -> Matrix<'p> {
        self.program().record(ScaleBy, &[self, scalar])
    }
}

impl Operation for ScaleBy {
    fn name(&self) -> &'static str {
        "scale by"
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let rule = "a matrix is scaled by a single number";
        Mismatch::unless(inputs[1] == Shape::SCALAR, inputs[0], inputs[1], rule)?;
        Ok(vec![inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let gradient = backward.upstream(0);
        if backward.wants(0) {
            backward.add(0, gradient.scale_by(backward.input(1)));
        }
        if backward.wants(1) {
            backward.add(1, gradient.multiply(backward.input(0)).sum());
        }
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let scalar = Times(call.input(1)[0]);
        convert(call.input_unless_in_place(0), call.output(0), &scalar);
    }
}

struct Times(f32);

impl Convert for Times {
    #[inline(always)]
    fn convert(&self, x: f32) -> f32 {
        x * self.0
    }
}

#[cfg(test)]
mod tests {
    use crate::Shape;
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_factors_have_gradients(shape in shapes()) {
            check(&[shape, Shape::SCALAR], |_, x| x[0].scale_by(x[1]), |x| {
                x[0].map(|value| value * x[1].values[0])
            });
        }
    }
}
