//! Product of single numbers:  out = a · b

use crate::cpu::{Call, Combine, combine};
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

const MULTIPLY: cuda::Kernel =
    cuda::Source::new("multiply.cu", include_str!("multiply.cu")).kernel("multiply");

#[derive(Debug)]
struct Multiply;

impl<'p> Matrix<'p> {
    /// Every number times the one in the same place of another matrix.
    #[must_use]
    #[track_caller]
    pub fn multiply(self, other: Matrix<'p>) -> Matrix<'p> {
        self.program().record(Multiply, &[self, other])
    }
}

impl Combine for Multiply {
    #[inline(always)]
    fn combine(&self, a: f32, b: f32) -> f32 {
        a * b
    }
}

impl Operation for Multiply {
    fn name(&self) -> &'static str {
        "multiply"
    }

    fn identity(&self) -> String {
        "multiply".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let rule = "matrices are multiplied number by number";
        Mismatch::unless(inputs[0] == inputs[1], inputs[0], inputs[1], rule)?;
        Ok(vec![inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        for (input, other) in [(0, 1), (1, 0)] {
            if backward.wants(input) {
                let gradient = backward.upstream(0).multiply(backward.input(other));
                backward.add(input, gradient);
            }
        }
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0), (0, 1)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (first, second) = (call.input_unless_in_place(0), call.input_unless_in_place(1));
        combine(first, second, call.output(0), self);
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let quads = call.output_shape(0).len().div_ceil(4);
        let (first, second, out) = (call.input(0), call.input(1), call.output(0));
        let arguments = [first.into(), second.into(), out.into(), quads.into()];
        call.launch(MULTIPLY, cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_and_squares(shape in shapes()) {
            check(&[shape, shape], |_, x| x[0].multiply(x[1]), |x| x[0].zip(&x[1], |a, b| a * b));
            check(&[shape], |_, x| x[0].multiply(x[0]), |x| x[0].map(|a| a * a));
        }
    }
}
