//! Sparse × dense:  out = A · X        A: rows × inner, fixed;  X: inner × columns
//!
//! For graphs (A the normalised adjacency), for features that are mostly zeros (A the table, X the
//! weights), and for taking rows (A one entry a row). The gradient of X is Aᵀ·G.

use std::sync::Arc;

use crate::cpu::{Call, sparse_times_dense};
use crate::cuda;
use crate::cuda::halves::{halve, halves_scratch};
use crate::cuda::sparse::{Dealt, pieces_scratch, sparse_source, sum_long_rows};
use crate::program::{Backward, Constant, Mismatch, Operation, Program};
use crate::{Matrix, Shape, SparseMatrix, SparseView};

const KERNELS: cuda::Source = sparse_source!("sparse_product.cu");

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

    fn rows(&self) -> SparseView<'_> {
        match self.side {
            Side::Plain => self.matrix.view(),
            Side::Transposed => self.matrix.transposed(),
        }
    }
}

impl Operation for SparseProduct {
    fn name(&self) -> &'static str {
        "sparse product"
    }

    fn identity(&self) -> String {
        let side = match self.side {
            Side::Plain => "plain",
            Side::Transposed => "transposed",
        };
        format!("sparse_product({}, {side})", self.matrix.identity())
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
        let columns = call.input_shape(0).columns;
        sparse_times_dense(self.rows(), call.input(0), columns, call.output(0));
    }

    fn cuda_can_finish(&self, finishes: &[cuda::Finish]) -> bool {
        cuda::Finishes::of(finishes).is_some()
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        let (rows, columns) = (self.rows(), inputs[0].columns);
        pieces_scratch(rows, columns) + halves_scratch(rows, columns)
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (view, columns) = (self.rows(), call.input_shape(0).columns);
        let part = match self.side {
            Side::Transposed if !self.matrix.is_symmetric() => "transpose",
            _ => "rows",
        };
        let identity = Arc::as_ptr(&self.matrix).addr();
        let sparse = call.sparse(identity, part, view)?;
        let (dense, out) = (call.input(0), call.output(0));
        let pieces = sum_long_rows(call, KERNELS, (identity, part), view, dense, columns)?;
        let rows = (view.rows() as u32).into();
        let matrix = [sparse.offsets.into(), sparse.columns.into(), sparse.values.into()];
        if let Some(halves) = halve(call, view, call.input_matrix(0)) {
            let dealt = Dealt::of_halves(view, columns);
            let dense = [halves.numbers.into(), halves.scales.into()];
            let rest = [out.into(), rows, dealt.width.into(), dealt.lanes.into()];
            let kernel = KERNELS.kernel("sparse_product_of_halves");
            let arguments = [&matrix[..], &dense, &rest].concat();
            call.launch_finishing(kernel, dealt.grid(view.rows()), &arguments);
        } else {
            let dealt = Dealt::new(view, columns);
            let name = if dealt.vectors { "sparse_product_of_vectors" } else { "sparse_product" };
            let rest = [dense.into(), out.into(), rows, dealt.width.into(), dealt.lanes.into()];
            let arguments = [&matrix[..], &rest].concat();
            call.launch_finishing(KERNELS.kernel(name), dealt.grid(view.rows()), &arguments);
        }
        if let Some(pieces) = pieces {
            let arguments = [pieces.list.into(), pieces.partial.into(), out.into(), columns.into()];
            let grid = cuda::Grid::blocks(pieces.count, cuda::THREADS);
            call.launch_finishing(KERNELS.kernel("add_pieces"), grid, &arguments);
        }
        Ok(())
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

    /// Rows of no entries, a few, and more than a card sums in one go.
    #[test]
    fn long_rows() {
        let lens = [2, 700, 0, 2000];
        let mut offsets = vec![0];
        lens.iter().for_each(|len| offsets.push(offsets[offsets.len() - 1] + len));
        let entries = offsets[lens.len()];
        let columns: Vec<u32> = (0..entries).map(|at| (at * 7 % 90) as u32).collect();
        let values = crate::testing::some_numbers(entries, 4);
        let mut exact = Reference::new(Shape::new(4, 90), |_, _| 0.0);
        for row in 0..4 {
            for at in offsets[row]..offsets[row + 1] {
                exact.values[row * 90 + columns[at] as usize] += f64::from(values[at]);
            }
        }
        let matrix = Arc::new(SparseMatrix::new(offsets, columns, Some(values), 90));
        for width in [3, 8, 64] {
            check(
                &[Shape::new(90, width)],
                |program, x| program.sparse_product(&matrix, x[0]),
                |x| exact.product(&x[0]),
            );
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
