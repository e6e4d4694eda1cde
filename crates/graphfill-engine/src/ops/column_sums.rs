//! Sums of columns:  out[0, k] = Σ_i x[i, k]
//!
//! Fixed portions of rows are summed side by side, then their sums in order.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::cpu::Call;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Rows of a portion.
const ROWS: usize = 256;

#[derive(Debug)]
struct ColumnSums;

impl<'p> Matrix<'p> {
    /// The sum of every column, as one row.
    #[must_use]
    #[track_caller]
    pub fn column_sums(self) -> Matrix<'p> {
        self.program().record(ColumnSums, &[self])
    }
}

impl Operation for ColumnSums {
    fn name(&self) -> &'static str {
        "column sums"
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![Shape::new(1, inputs[0].columns)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let row = backward.upstream(0);
        let zeros = backward.program().constant(backward.input(0).shape(), 0.0);
        backward.add(0, zeros.add_bias(row));
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        column_sums_scratch(inputs[0])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let columns = call.input_shape(0).columns;
        column_sums(call.input(0), columns, call.scratch(), call.output(0));
    }
}

/// Temporary numbers that [`column_sums`] needs.
pub(super) fn column_sums_scratch(shape: Shape) -> usize {
    shape.rows.div_ceil(ROWS) * shape.columns
}

/// Sums the columns of `x` into `out`.
pub(super) fn column_sums(x: &[f32], columns: usize, partial: &mut [f32], out: &mut [f32]) {
    out.fill(0.0);
    if columns == 0 {
        return;
    }
    let partial = &mut partial[..x.len().div_ceil(ROWS * columns) * columns];
    partial.par_chunks_mut(columns).zip(x.par_chunks(ROWS * columns)).for_each(|(sums, rows)| {
        sums.fill(0.0);
        Arch::new().dispatch(AddRows { rows, sums });
    });
    Arch::new().dispatch(AddRows { rows: partial, sums: out });
}

/// out[k] = Σ_i x[i, k] · others[i, k], in the same portions.
pub(super) fn column_products(
    x: &[f32],
    others: &[f32],
    columns: usize,
    partial: &mut [f32],
    out: &mut [f32],
) {
    out.fill(0.0);
    if columns == 0 {
        return;
    }
    let partial = &mut partial[..x.len().div_ceil(ROWS * columns) * columns];
    let portions = x.par_chunks(ROWS * columns).zip(others.par_chunks(ROWS * columns));
    partial.par_chunks_mut(columns).zip(portions).for_each(|(sums, (rows, others))| {
        sums.fill(0.0);
        Arch::new().dispatch(AddProducts { rows, others, sums });
    });
    Arch::new().dispatch(AddRows { rows: partial, sums: out });
}

/// sums[k] += Σ_i rows[i, k], in the order of the rows.
pub(super) struct AddRows<'a> {
    pub(super) rows: &'a [f32],
    pub(super) sums: &'a mut [f32],
}

impl NullaryFnOnce for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for row in self.rows.chunks_exact(self.sums.len()) {
            for (sum, &value) in self.sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

/// sums[k] += Σ_i rows[i, k] · others[i, k], in the order of the rows.
struct AddProducts<'a> {
    rows: &'a [f32],
    others: &'a [f32],
    sums: &'a mut [f32],
}

impl NullaryFnOnce for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let columns = self.sums.len();
        let rows = self.rows.chunks_exact(columns).zip(self.others.chunks_exact(columns));
        for (row, other) in rows {
            for ((sum, &value), &other) in self.sums.iter_mut().zip(row).zip(other) {
                *sum += value * other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_every_row(shape in shapes(), many in 0usize..600) {
            for shape in [shape, Shape::new(many, 2)] {
                check(&[shape], |_, x| x[0].column_sums(), |x| {
                    Reference::new(Shape::new(1, shape.columns), |_, column| {
                        (0..shape.rows).map(|row| x[0].at(row, column)).sum()
                    })
                });
            }
        }
    }
}
