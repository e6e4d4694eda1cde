//! Cholesky in double precision:  A = L·Lᵀ, log|A| = 2 Σ ln L_ii, A⁻¹ = L⁻ᵀ·L⁻¹
//!
//! For the small matrices of a regulariser (width × width). Everything is dot products of rows that
//! lie in one piece: rows of L, and rows of U = L⁻ᵀ, whose row i is column i of L⁻¹. Four rows at a
//! time are multiplied with a fifth, which is loaded once for all.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Rows that are worked on together.
const TOGETHER: usize = 4;

/// Overwrites the lower triangle of a symmetric, positive definite matrix with L; log|A|. Where the
/// matrix holds NaN so does the result.
///
/// No pivot of a matrix M + least · I with positive semidefinite M is below `least`; where rounding
/// of M says otherwise, it is `least`.
pub(crate) fn cholesky(matrix: &mut [f64], size: usize, least: f64) -> f64 {
    Arch::new().dispatch(Factorise { matrix, size, least })
}

/// The inverse of A from the L of [`cholesky`], in single precision; `scratch` holds size².
pub(crate) fn inverse(factor: &[f64], size: usize, scratch: &mut [f64], out: &mut [f32]) {
    let upper = &mut scratch[..size * size];
    let rows = (TOGETHER * size).max(1);
    upper.par_chunks_mut(rows).enumerate().for_each(|(task, out)| {
        Arch::new().dispatch(Solve { factor, size, first: task * TOGETHER, out });
    });
    let upper = &*upper;
    out.par_chunks_mut(rows).enumerate().for_each(|(task, out)| {
        Arch::new().dispatch(InverseRows { upper, size, first: task * TOGETHER, out });
    });
}

/// A⁻¹·x in double precision, in place, from what [`inverse`] left in its scratch.
pub(crate) fn inverse_times(scratch: &[f64], x: &mut [f64], between: &mut [f64]) {
    let size = x.len();
    between.fill(0.0);
    for (upper, &x) in scratch.chunks_exact(size.max(1)).zip(&*x) {
        between.iter_mut().zip(upper).for_each(|(between, upper)| *between += x * upper);
    }
    for (upper, x) in scratch.chunks_exact(size.max(1)).zip(x) {
        *x = upper.iter().zip(&*between).map(|(upper, between)| upper * between).sum();
    }
}

/// factor · A⁻¹x − Bx: what is lost of A⁻¹x, where B is factor · A⁻¹ in single precision.
pub(crate) fn rounded_off(factor: f64, x: &[f64], solved: &[f64], single: &[f32], out: &mut [f64]) {
    out.iter_mut().zip(solved).for_each(|(out, solved)| *out = factor * solved);
    // B is symmetric: its rows are its columns.
    for (row, x) in single.chunks_exact(x.len().max(1)).zip(x) {
        out.iter_mut().zip(row).for_each(|(out, &cell)| *out -= x * f64::from(cell));
    }
}

struct Factorise<'a> {
    matrix: &'a mut [f64],
    size: usize,
    least: f64,
}

impl WithSimd for Factorise<'_> {
    type Output = f64;

    /// L_ij = (A_ij − Σ_{k<j} L_ik L_jk) / L_jj,  L_ii = √(A_ii − Σ_{k<i} L_ik²)
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Factorise { matrix, size, least } = self;
        let mut log_determinant = 0.0;
        for first in (0..size).step_by(TOGETHER) {
            let (above, rows) = matrix.split_at_mut(first * size);
            let count = TOGETHER.min(size - first);
            let rows = &mut rows[..count * size];
            // Columns left of the diagonal block, for all the rows together.
            for j in 0..first {
                let other = &above[j * size..j * size + j + 1];
                let dots = dots(simd, rows, size, count, 0..j, &other[..j]);
                for (row, dot) in dots[..count].iter().enumerate() {
                    let value = &mut rows[row * size + j];
                    *value = (*value - dot) / other[j];
                }
            }
            // The diagonal block, row by row.
            for i in first..first + count {
                let (before, row) = rows.split_at_mut((i - first) * size);
                let row = &mut row[..size];
                for j in first..i {
                    let other = &before[(j - first) * size..(j - first) * size + j + 1];
                    row[j] = (row[j] - dot(simd, &row[..j], &other[..j])) / other[j];
                }
                let square = row[i] - dot(simd, &row[..i], &row[..i]);
                // Not `max`, which would hide NaN.
                let pivot = if square < least { least.sqrt() } else { square.sqrt() };
                row[i] = pivot;
                log_determinant += 2.0 * pivot.ln();
            }
        }
        log_determinant
    }
}

/// The columns of L⁻¹ from `first` on: for each the x with L·x = unit vector.
struct Solve<'a> {
    factor: &'a [f64],
    size: usize,
    first: usize,
    out: &'a mut [f64],
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Solve { factor, size, first, out } = self;
        let count = out.len() / size;
        for (at, out) in out.chunks_exact_mut(size).enumerate() {
            out[..first + count].fill(0.0);
            out[first + at] = 1.0 / factor[(first + at) * size + first + at];
        }
        for row in first + 1..size {
            let left = &factor[row * size..row * size + row + 1];
            let dots = dots(simd, out, size, count, first..row, &left[first..row]);
            for (at, dot) in dots[..count].iter().enumerate() {
                if first + at < row {
                    out[at * size + row] = -dot / left[row];
                }
            }
        }
    }
}

/// A⁻¹_ij = Σ_{k ≥ max(i, j)} U_ik U_jk, for the rows i from `first` on.
struct InverseRows<'a> {
    upper: &'a [f64],
    size: usize,
    first: usize,
    out: &'a mut [f32],
}

impl WithSimd for InverseRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let InverseRows { upper, size, first, out } = self;
        let count = out.len() / size;
        let own = &upper[first * size..(first + count) * size];
        for column in 0..size {
            // U is zero left of its diagonal, so that nothing is lost by starting late enough.
            let from = first.max(column);
            let other = &upper[column * size..(column + 1) * size];
            let dots = dots(simd, own, size, count, from..size, &other[from..]);
            for (row, dot) in dots[..count].iter().enumerate() {
                out[row * size + column] = *dot as f32;
            }
        }
    }
}

/// ⟨rows[i, range], other⟩ for up to four rows.
#[inline(always)]
fn dots<S: Simd>(
    simd: S,
    rows: &[f64],
    size: usize,
    count: usize,
    range: Range<usize>,
    other: &[f64],
) -> [f64; TOGETHER] {
    let row = |at: usize| {
        // A row that is not there is the first one again, and nobody looks at its result.
        let at = if at < count { at } else { 0 };
        S::as_simd_f64s(&rows[at * size + range.start..at * size + range.end])
    };
    let rows = [row(0), row(1), row(2), row(3)];
    let (other, other_rest) = S::as_simd_f64s(other);
    let mut sums = [simd.splat_f64s(0.0); TOGETHER];
    for (at, &other) in other.iter().enumerate() {
        for (sum, (row, _)) in sums.iter_mut().zip(&rows) {
            *sum = simd.mul_add_f64s(row[at], other, *sum);
        }
    }
    let mut totals = [0.0; TOGETHER];
    for ((total, sum), (_, rest)) in totals.iter_mut().zip(sums).zip(&rows) {
        *total = simd.reduce_sum_f64s(sum);
        for (own, other) in rest.iter().zip(other_rest) {
            *total += own * other;
        }
    }
    totals
}

/// ⟨a, b⟩
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    dots(simd, a, a.len(), 1, 0..a.len(), b)[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::testing::Reference;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn factor_and_inverse_give_the_matrix_and_the_identity(size in 0usize..40) {
            let square = Shape::new(size, size);
            let any = Reference::new(square, |i, j| ((i * 31 + j * 17) as f64 * 0.37).sin());
            let mut matrix = any.product(&any.transposed());
            (0..size).for_each(|i| matrix.values[i * size + i] += 0.5);
            let mut factor = matrix.values.clone();
            let log_determinant = cholesky(&mut factor, size, 0.0);
            let lower = Reference::new(square, |i, j| if j <= i { factor[i * size + j] } else { 0.0 });
            let again = lower.product(&lower.transposed());
            for (again, exact) in again.values.iter().zip(&matrix.values) {
                prop_assert!((again - exact).abs() < 1e-10);
            }
            let exact: f64 = (0..size).map(|i| 2.0 * lower.at(i, i).ln()).sum();
            prop_assert!((log_determinant - exact).abs() < 1e-10);
            let mut inverted = vec![0.0f32; size * size];
            let mut scratch = vec![f64::NAN; size * size];
            inverse(&factor, size, &mut scratch, &mut inverted);
            let wave: Vec<f64> = (0..size).map(|at| (at as f64 * 0.9).cos()).collect();
            let mut solved = wave.clone();
            inverse_times(&scratch, &mut solved, &mut vec![f64::NAN; size]);
            let solved = Reference { shape: Shape::new(size, 1), values: solved };
            for (again, exact) in matrix.product(&solved).values.iter().zip(&wave) {
                prop_assert!((again - exact).abs() < 1e-10);
            }
            let inverted = Reference {
                shape: square,
                values: inverted.iter().map(|&value| f64::from(value)).collect(),
            };
            let identity = matrix.product(&inverted);
            for i in 0..size {
                for j in 0..size {
                    let exact = f64::from(u8::from(i == j));
                    prop_assert!((identity.at(i, j) - exact).abs() < 1e-4);
                }
            }
        }
    }

    #[test]
    fn what_is_not_a_number_gives_nan() {
        assert!(cholesky(&mut [1.0, 0.0, f64::NAN, 1.0], 2, 0.1).is_nan());
    }

    #[test]
    fn pivots_stay_above_what_they_cannot_fall_below() {
        let log_determinant = cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2, 0.01);
        assert!((log_determinant - 0.01f64.ln()).abs() < 1e-12, "{log_determinant}");
    }
}
