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

const TRANSPOSE: cuda::Kernel =
    cuda::Source::new("dense_product.cu", include_str!("dense_product.cu")).kernel("transpose");

/// Rows from which on a card multiplies so long that turning the right factor first is worth it.
const MANY_ROWS: usize = 1 << 14;

impl DenseProduct {
    /// Cards multiply fastest with a right factor that lies transposed. Where the left one is much
    /// larger, turning it costs nothing.
    fn is_worth_transposing(&self, left: Shape, right: Shape) -> bool {
        let is_plain = self.left == Factor::Plain && self.right == Factor::Plain;
        let is_narrow = !right.is_empty() && right.rows.max(right.columns) <= left.rows / 16;
        is_plain && left.rows >= MANY_ROWS && is_narrow
    }
}

impl Operation for DenseProduct {
    fn name(&self) -> &'static str {
        "product"
    }

    fn identity(&self) -> String {
        let factor = |factor: Factor| match factor {
            Factor::Plain => "plain",
            Factor::Transposed => "transposed",
        };
        format!("dense_product({}, {})", factor(self.left), factor(self.right))
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

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        if self.is_worth_transposing(inputs[0], inputs[1]) { inputs[1].len() } else { 0 }
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.output_shape(0);
        let left = (call.input_matrix(0), self.left);
        let mut right = (call.input_matrix(1), self.right);
        if self.is_worth_transposing(call.input_shape(0), call.input_shape(1)) {
            let cuda::Dense { at, rows, columns, .. } = right.0;
            let transposed = call.scratch(rows * columns);
            let grid = cuda::Grid::blocks(columns.div_ceil(32), cuda::THREADS);
            let arguments =
                [at.into(), transposed.into(), (rows as u32).into(), (columns as u32).into()];
            call.launch(TRANSPOSE, grid.by(rows.div_ceil(32)), arguments);
            right = (cuda::Dense::new(transposed, columns, rows), Factor::Transposed);
        }
        let out = cuda::Dense::new(call.output(0), rows, columns);
        call.product(left, right, out, cuda::Existing::Replace);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_value, some_numbers};
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
        fn many_rows(rows in MANY_ROWS..MANY_ROWS + 40, depth in 1usize..4, columns in 1usize..40) {
            let (left, right) = (some_numbers(rows * depth, 1), some_numbers(depth * columns, 2));
            let at = |values: &[f32], row: usize, column: usize, width: usize| {
                f64::from(values[row * width + column])
            };
            let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            let product = |(row, column): (usize, usize)| -> f64 {
                let along = 0..depth;
                along.map(|k| at(&left, row, k, depth) * at(&right, k, column, columns)).sum()
            };
            let expected: f64 = cells.map(product).map(|cell| cell * cell).sum();
            let shapes = [Shape::new(rows, depth), Shape::new(depth, columns)];
            check_value(&shapes, &[left.clone(), right.clone()], |_, x| {
                let product = x[0].product(x[1]);
                product.multiply(product).sum()
            }, expected);
        }

        #[test]
        fn a_matrix_times_itself(size in 1usize..6) {
            check(&[Shape::new(size, size)], |_, x| x[0].product(x[0]), |x| x[0].product(&x[0]));
        }
    }
}
