//! Sparse × dense for matrices of any width:  out[i, :] = Σ_j a_ij · dense[j, :]
//!
//! Memory-bound: each entry of A fetches one row. The sum of a strip of columns stays in registers,
//! and strips are as wide as the registers allow, so that a fetched row is read on while it comes.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::SparseView;

/// Rows that one thread takes at a time: few enough to balance skewed degrees.
const ROWS_A_TASK: usize = 32;

/// The product of a sparse matrix with a dense one of `width` columns.
pub(crate) fn sparse_times_dense(
    matrix: SparseView<'_>,
    dense: &[f32],
    width: usize,
    out: &mut [f32],
) {
    assert_eq!(dense.len(), matrix.width() * width, "rows of the dense matrix");
    assert_eq!(out.len(), matrix.rows() * width, "rows of the output");
    let arch = Arch::new();
    out.par_chunks_mut((ROWS_A_TASK * width).max(1)).enumerate().for_each(|(task, out)| {
        arch.dispatch(Rows { matrix, dense, width, first: task * ROWS_A_TASK, out });
    });
}

struct Rows<'a> {
    matrix: SparseView<'a>,
    dense: &'a [f32],
    width: usize,
    first: usize,
    out: &'a mut [f32],
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (at, out) in self.out.chunks_exact_mut(self.width).enumerate() {
            sparse_row(self.matrix, self.first + at, self.dense, out);
        }
    }
}

/// One row of the product, in strips of columns.
#[inline(always)]
pub(crate) fn sparse_row(matrix: SparseView<'_>, row: usize, dense: &[f32], out: &mut [f32]) {
    let width = out.len();
    let mut begin = 0;
    while begin + 128 <= width {
        strip::<128>(matrix, row, dense, width, begin, out);
        begin += 128;
    }
    while begin + 16 <= width {
        strip::<16>(matrix, row, dense, width, begin, out);
        begin += 16;
    }
    while begin < width {
        strip::<1>(matrix, row, dense, width, begin, out);
        begin += 1;
    }
}

#[inline(always)]
fn strip<const STRIP: usize>(
    matrix: SparseView<'_>,
    row: usize,
    dense: &[f32],
    width: usize,
    begin: usize,
    out: &mut [f32],
) {
    let mut sum = [0.0f32; STRIP];
    let columns = matrix.columns(row);
    let other = |column: u32| {
        let at = column as usize * width + begin;
        &dense[at..at + STRIP]
    };
    match matrix.values(row) {
        Some(values) => {
            for (&column, &value) in columns.iter().zip(values) {
                for (sum, &other) in sum.iter_mut().zip(other(column)) {
                    *sum += value * other;
                }
            }
        }
        None => {
            for &column in columns {
                for (sum, &other) in sum.iter_mut().zip(other(column)) {
                    *sum += other;
                }
            }
        }
    }
    out[begin..begin + STRIP].copy_from_slice(&sum);
}
