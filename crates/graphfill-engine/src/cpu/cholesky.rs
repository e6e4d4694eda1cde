//! Cholesky in double precision:  A = L·Lᵀ, log|A| = 2 Σ ln L_ii, A⁻¹ = L⁻ᵀ·L⁻¹
//!
//! For the small matrices of a regulariser (width × width). Everything is dot products of rows that
//! lie in one piece: rows of L, and rows of U = L⁻ᵀ, whose row i is column i of L⁻¹. Four rows at a
//! time are multiplied with a fifth, which is loaded once for all.

use std::ops::Range;

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Sums that are kept side by side: a vector.
const LANES: usize = 8;

/// Rows that are worked on together.
const TOGETHER: usize = 4;

/// Overwrites the lower triangle of a symmetric, positive definite matrix with L; log|A|. Where the
/// matrix is not positive definite the result is NaN.
pub(crate) fn cholesky(matrix: &mut [f64], size: usize) -> f64 {
    Arch::new().dispatch(Factorise { matrix, size })
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

struct Factorise<'a> {
    matrix: &'a mut [f64],
    size: usize,
}

impl NullaryFnOnce for Factorise<'_> {
    type Output = f64;

    /// L_ij = (A_ij − Σ_{k<j} L_ik L_jk) / L_jj,  L_ii = √(A_ii − Σ_{k<i} L_ik²)
    #[inline(always)]
    fn call(self) -> f64 {
        let Factorise { matrix, size } = self;
        let mut log_determinant = 0.0;
        for first in (0..size).step_by(TOGETHER) {
            let (above, rows) = matrix.split_at_mut(first * size);
            let count = TOGETHER.min(size - first);
            let rows = &mut rows[..count * size];
            // Columns left of the diagonal block, for all the rows together.
            for j in 0..first {
                let other = &above[j * size..j * size + j + 1];
                let dots = dots(rows, size, count, 0..j, &other[..j]);
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
                    row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
                }
                let pivot = (row[i] - dot(&row[..i], &row[..i])).sqrt();
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

impl NullaryFnOnce for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Solve { factor, size, first, out } = self;
        let count = out.len() / size;
        for (at, out) in out.chunks_exact_mut(size).enumerate() {
            out[..first + count].fill(0.0);
            out[first + at] = 1.0 / factor[(first + at) * size + first + at];
        }
        for row in first + 1..size {
            let left = &factor[row * size..row * size + row + 1];
            let dots = dots(out, size, count, first..row, &left[first..row]);
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

impl NullaryFnOnce for InverseRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let InverseRows { upper, size, first, out } = self;
        let count = out.len() / size;
        let own = &upper[first * size..(first + count) * size];
        for column in 0..size {
            // U is zero left of its diagonal, so that nothing is lost by starting late enough.
            let from = first.max(column);
            let other = &upper[column * size..(column + 1) * size];
            let dots = dots(own, size, count, from..size, &other[from..]);
            for (row, dot) in dots[..count].iter().enumerate() {
                out[row * size + column] = *dot as f32;
            }
        }
    }
}

/// ⟨rows[i, range], other⟩ for up to four rows.
#[inline(always)]
fn dots(
    rows: &[f64],
    size: usize,
    count: usize,
    range: Range<usize>,
    other: &[f64],
) -> [f64; TOGETHER] {
    let row = |at: usize| {
        // A row that is not there is the first one again, and nobody looks at its result.
        let at = if at < count { at } else { 0 };
        &rows[at * size + range.start..at * size + range.end]
    };
    let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
    let mut sums = [[0.0f64; LANES]; TOGETHER];
    let whole = other.len() / LANES * LANES;
    let (chunks, rest) = other.as_chunks::<LANES>();
    let chunks = chunks.iter().zip(a.as_chunks::<LANES>().0).zip(b.as_chunks::<LANES>().0);
    let chunks = chunks.zip(c.as_chunks::<LANES>().0).zip(d.as_chunks::<LANES>().0);
    for ((((other, a), b), c), d) in chunks {
        for lane in 0..LANES {
            sums[0][lane] += a[lane] * other[lane];
            sums[1][lane] += b[lane] * other[lane];
            sums[2][lane] += c[lane] * other[lane];
            sums[3][lane] += d[lane] * other[lane];
        }
    }
    let mut totals = [0.0; TOGETHER];
    for (at, total) in totals.iter_mut().enumerate() {
        *total = sums[at].iter().sum();
    }
    for (k, &other) in rest.iter().enumerate() {
        totals[0] += a[whole + k] * other;
        totals[1] += b[whole + k] * other;
        totals[2] += c[whole + k] * other;
        totals[3] += d[whole + k] * other;
    }
    totals
}

/// Sums side by side, then their sum.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
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
            let log_determinant = cholesky(&mut factor, size);
            let lower = Reference::new(square, |i, j| if j <= i { factor[i * size + j] } else { 0.0 });
            let again = lower.product(&lower.transposed());
            for (again, exact) in again.values.iter().zip(&matrix.values) {
                prop_assert!((again - exact).abs() < 1e-10);
            }
            let exact: f64 = (0..size).map(|i| 2.0 * lower.at(i, i).ln()).sum();
            prop_assert!((log_determinant - exact).abs() < 1e-10);
            let mut inverted = vec![0.0f32; size * size];
            inverse(&factor, size, &mut vec![f64::NAN; size * size], &mut inverted);
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
    fn what_is_not_positive_definite_gives_nan() {
        assert!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2).is_nan());
    }
}
