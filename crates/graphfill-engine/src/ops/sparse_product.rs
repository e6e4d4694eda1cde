//! Sparse × dense:  out = A · X        A: rows × inner, fixed;  X: inner × columns
//!
//! For graphs (A the normalised adjacency), for features that are mostly zeros (A the table, X the
//! weights), and for taking rows (A one entry a row). The gradient of X is Aᵀ·G.

use std::sync::Arc;

use crate::cpu::{Call, sparse_times_dense};
use crate::program::{Backward, Constant, Mismatch, Operation, Program};
use crate::{Matrix, Shape, SparseMatrix};

#[derive(Debug)]
struct SparseProduct {
    matrix: Arc<SparseMatrix>,
    side: Side,
}

/// Which of the two sparse matrices: A or Aᵀ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Plain,
    Transposed,
}

impl Program {
    /// The product of a sparse matrix, which stays, with a dense one.
    #[track_caller]
    pub fn sparse_product<'p>(
        &'p self,
        matrix: &Arc<SparseMatrix>,
        dense: Matrix<'p>,
    ) -> Matrix<'p> {
        let matrix = Arc::clone(matrix);
        self.record(SparseProduct { matrix, side: Side::Plain }, &[dense])
    }

    /// The product of a sparse matrix's transpose with a dense one.
    #[track_caller]
    pub fn transposed_sparse_product<'p>(
        &'p self,
        matrix: &Arc<SparseMatrix>,
        dense: Matrix<'p>,
    ) -> Matrix<'p> {
        let matrix = Arc::clone(matrix);
        self.record(SparseProduct { matrix, side: Side::Transposed }, &[dense])
    }
}

impl SparseProduct {
    fn shape(&self) -> Shape {
        match self.side {
            Side::Plain => self.matrix.shape(),
            Side::Transposed => self.matrix.shape().transposed(),
        }
    }
}

impl Operation for SparseProduct {
    fn name(&self) -> &'static str {
        "sparse product"
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (sparse, dense) = (self.shape(), inputs[0]);
        let rule = "the columns of the sparse matrix are the rows of the dense one";
        Mismatch::unless(sparse.columns == dense.rows, sparse, dense, rule)?;
        Ok(vec![Shape::new(sparse.rows, dense.columns)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let side = match self.side {
            Side::Plain => Side::Transposed,
            Side::Transposed => Side::Plain,
        };
        let gradient = backward.upstream(0);
        let operation = SparseProduct { matrix: Arc::clone(&self.matrix), side };
        backward.add(0, backward.program().record(operation, &[gradient]));
    }

    fn arithmetic(&self, inputs: &[Shape], _wanted: &[bool]) -> u64 {
        2 * (self.matrix.entries() * inputs[0].columns) as u64
    }

    fn constants(&self) -> Vec<Constant> {
        vec![Constant::shared(&self.matrix, self.matrix.bytes())]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let rows = match self.side {
            Side::Plain => self.matrix.view(),
            Side::Transposed => self.matrix.transposed(),
        };
        sparse_times_dense(rows, call.input(0), call.input_shape(0).columns, call.output(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, sparse_matrices};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_sides(
            (matrix, exact) in sparse_matrices(),
            columns in prop_oneof![0usize..5, 127usize..150],
        ) {
            let dense = Shape::new(exact.shape.columns, columns);
            check(&[dense], |program, x| program.sparse_product(&matrix, x[0]), |x| {
                exact.product(&x[0])
            });
            let dense = Shape::new(exact.shape.rows, columns);
            check(&[dense], |program, x| program.transposed_sparse_product(&matrix, x[0]), |x| {
                exact.transposed().product(&x[0])
            });
        }
    }

    #[test]
    fn a_symmetric_matrix_is_its_own_transpose() {
        let values = Some(vec![2.0, 3.0, 3.0]);
        let matrix = Arc::new(SparseMatrix::symmetric(vec![0, 2, 3], vec![0, 1, 0], values));
        let exact = Reference { shape: Shape::new(2, 2), values: vec![2.0, 3.0, 3.0, 0.0] };
        check(
            &[Shape::new(2, 5)],
            |program, x| program.sparse_product(&matrix, x[0]),
            |x| exact.product(&x[0]),
        );
    }
}
