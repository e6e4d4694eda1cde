//! Dense product:  out = A · B, each of them transposed or not     rows × depth · depth × columns
//!
//! With G the gradient of A·B: that of A is G·Bᵀ, that of B is Aᵀ·G; a transposed factor has the
//! transpose of that.

use crate::cpu::{Call, Dense, Existing, product, product_scratch};
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Initial, Matrix, Shape};

/// Whether a factor is used as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    /// As it is.
    Plain,
    /// Rows and columns exchanged.
    Transposed,
}

#[derive(Debug)]
struct DenseProduct {
    left: Factor,
    right: Factor,
}

impl<'p> Matrix<'p> {
    /// The product with another matrix.
    #[must_use]
    #[track_caller]
    pub fn product(self, right: Matrix<'p>) -> Matrix<'p> {
        self.product_of(Factor::Plain, right, Factor::Plain)
    }

    /// The product with another matrix, each of them transposed or not.
    #[must_use]
    #[track_caller]
    pub fn product_of(self, own: Factor, right: Matrix<'p>, other: Factor) -> Matrix<'p> {
        self.program().record(DenseProduct { left: own, right: other }, &[self, right])
    }

    /// A linear layer: times a parameter `NAME.weight`, which begins as Glorot says, plus a
    /// parameter `NAME.bias`, which begins at zero.
    #[must_use]
    #[track_caller]
    pub fn linear(self, name: &str, columns: usize) -> Matrix<'p> {
        let program = self.program();
        let weight = [self.columns(), columns];
        let weight = program.parameter(&format!("{name}.weight"), weight, Initial::Glorot);
        let bias = program.parameter(&format!("{name}.bias"), [1, columns], Initial::ZEROS);
        self.product(weight).add_bias(bias)
    }
}

impl Factor {
    fn of(self, shape: Shape) -> Shape {
        match self {
            Factor::Plain => shape,
            Factor::Transposed => shape.transposed(),
        }
    }

    fn exchanged(self) -> Factor {
        match self {
            Factor::Plain => Factor::Transposed,
            Factor::Transposed => Factor::Plain,
        }
    }
}

impl Operation for DenseProduct {
    fn name(&self) -> &'static str {
        "product"
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (left, right) = (self.left.of(inputs[0]), self.right.of(inputs[1]));
        let rule = "the columns of the left factor are the rows of the right one";
        Mismatch::unless(left.columns == right.rows, left, right, rule)?;
        Ok(vec![Shape::new(left.rows, right.columns)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let gradient = backward.upstream(0);
        let (left, right) = (backward.input(0), backward.input(1));
        if backward.wants(0) {
            let other = self.right.exchanged();
            backward.add(
                0,
                match self.left {
                    Factor::Plain => gradient.product_of(Factor::Plain, right, other),
                    Factor::Transposed => {
                        right.product_of(self.right, gradient, Factor::Transposed)
                    }
                },
            );
        }
        if backward.wants(1) {
            let other = self.left.exchanged();
            backward.add(
                1,
                match self.right {
                    Factor::Plain => left.product_of(other, gradient, Factor::Plain),
                    Factor::Transposed => gradient.product_of(Factor::Transposed, left, self.left),
                },
            );
        }
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        let right = self.right.of(inputs[1]);
        product_scratch(right.rows, right.columns)
    }

    fn arithmetic(&self, inputs: &[Shape], _wanted: &[bool]) -> u64 {
        2 * (inputs[0].len() * self.right.of(inputs[1]).columns) as u64
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let matrix = |at: usize, factor: Factor| {
            let Shape { rows, columns } = call.input_shape(at);
            let transposed = factor == Factor::Transposed;
            Dense::new(call.input(at), rows, columns).transposed_if(transposed)
        };
        let (left, right) = (matrix(0, self.left), matrix(1, self.right));
        product(left, right, call.output(0), Existing::Replace, call.scratch());
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.output_shape(0);
        let left = (call.input_matrix(0), self.left);
        let right = (call.input_matrix(1), self.right);
        let out = cuda::Dense::new(call.output(0), rows, columns);
        call.product(left, right, out, cuda::Existing::Replace);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_combinations_of_transposes(
            rows in 0usize..6, depth in 0usize..6, columns in prop_oneof![0usize..6, 31usize..35],
        ) {
            use Factor::{Plain, Transposed};
            let (left, right) = (Shape::new(rows, depth), Shape::new(depth, columns));
            for (own, other) in [
                (Plain, Plain), (Plain, Transposed), (Transposed, Plain), (Transposed, Transposed),
            ] {
                let shapes = [own.of(left), other.of(right)];
                let plain = |x: &crate::testing::Reference, factor| match factor {
                    Plain => x.clone(),
                    Transposed => x.transposed(),
                };
                check(&shapes, |_, x| x[0].product_of(own, x[1], other), |x| {
                    plain(&x[0], own).product(&plain(&x[1], other))
                });
            }
        }

        #[test]
        fn a_matrix_times_itself(size in 1usize..6) {
            check(&[Shape::new(size, size)], |_, x| x[0].product(x[0]), |x| x[0].product(&x[0]));
        }
    }
}
