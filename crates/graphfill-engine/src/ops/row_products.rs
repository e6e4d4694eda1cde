//! Products of rows with rows:  out[i] = Σ_k a[i, k] · b[i, k]        rows × 1
//!
//! With g the gradient of the output, that of a is b with every row times its g, and the other way.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::row_sums::{dot, grid_of_rows, lanes_of_row};
use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Rows that one thread takes at a time.
const ROWS_A_TASK: usize = 64;

const ROW_PRODUCTS: cuda::Kernel =
    cuda::Source::new("row_products.cu", include_str!("row_products.cu")).kernel("row_products");

#[derive(Debug)]
struct RowProducts;

impl<'p> Matrix<'p> {
    /// The scalar product of every row with the same row of another matrix, as one column.
    #[must_use]
    #[track_caller]
    pub fn row_products(self, other: Matrix<'p>) -> Matrix<'p> {
        self.program().record(RowProducts, &[self, other])
    }
}

impl Operation for RowProducts {
    fn name(&self) -> &'static str {
        "row products"
    }

    fn identity(&self) -> String {
        "row_products".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let rule = "every row has one of the same length beside it";
        Mismatch::unless(inputs[0] == inputs[1], inputs[0], inputs[1], rule)?;
        Ok(vec![Shape::new(inputs[0].rows, 1)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let gradient = backward.upstream(0);
        for (input, other) in [(0, 1), (1, 0)] {
            if backward.wants(input) {
                let rows = backward.input(other).scale_rows(gradient);
                backward.add(input, rows);
            }
        }
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (first, second) = (call.input(0), call.input(1));
        let (columns, out) = (call.input_shape(0).columns, call.output(0));
        out.par_chunks_mut(ROWS_A_TASK).enumerate().for_each(|(task, out)| {
            let own = task * ROWS_A_TASK * columns..(task * ROWS_A_TASK + out.len()) * columns;
            let (first, second) = (&first[own.clone()], &second[own]);
            Arch::new().dispatch(Rows { first, second, out });
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.input_shape(0);
        let lanes = lanes_of_row(columns);
        let arguments = [
            call.input(0).into(),
            call.input(1).into(),
            call.output(0).into(),
            rows.into(),
            (columns as u32).into(),
            lanes.into(),
        ];
        call.launch(ROW_PRODUCTS, grid_of_rows(rows, lanes), arguments);
        Ok(())
    }
}

struct Rows<'a> {
    first: &'a [f32],
    second: &'a [f32],
    out: &'a mut [f32],
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let columns = self.first.len() / self.out.len();
        for (row, out) in self.out.iter_mut().enumerate() {
            let own = row * columns..(row + 1) * columns;
            *out = dot(&self.first[own.clone()], &self.second[own]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Shape;
    use crate::testing::{Reference, check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_row_by_itself(shape in shapes(), many in 60usize..140) {
            for shape in [shape, Shape::new(many, 3)] {
                let sum = |a: &Reference, b: &Reference| {
                    Reference::new(Shape::new(shape.rows, 1), |row, _| {
                        a.row(row).iter().zip(b.row(row)).map(|(a, b)| a * b).sum()
                    })
                };
                check(&[shape, shape], |_, x| x[0].row_products(x[1]), |x| sum(&x[0], &x[1]));
                check(&[shape], |_, x| x[0].row_products(x[0]), |x| sum(&x[0], &x[0]));
            }
        }
    }
}
