//! Cholesky in double precision:  A = L·Lᵀ, log|A| = 2 Σ ln L_ii, A⁻¹ = L⁻ᵀ·L⁻¹
//!
//! For the small matrices of a regulariser (width × width). Everything is dot products of rows that
//! lie in one piece: rows of L, and rows of U = L⁻ᵀ, whose row i is column i of L⁻¹.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Overwrites the lower triangle of a symmetric, positive definite matrix with L; log|A|. Where the
/// matrix is not positive definite the result is NaN.
pub(crate) fn cholesky(matrix: &mut [f64], size: usize) -> f64 {
    Arch::new().dispatch(Factorise { matrix, size })
}

/// The inverse of A from the L of [`cholesky`], in single precision; `scratch` holds size².
pub(crate) fn inverse(factor: &[f64], size: usize, scratch: &mut [f64], out: &mut [f32]) {
    let upper = &mut scratch[..size * size];
    upper.par_chunks_mut(size.max(1)).enumerate().for_each(|(column, out)| {
        Arch::new().dispatch(Solve { factor, size, column, out });
    });
    let upper = &*upper;
    out.par_chunks_mut(size.max(1)).enumerate().for_each(|(row, out)| {
        Arch::new().dispatch(InverseRow { upper, size, row, out });
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
        for i in 0..size {
            let (above, row) = matrix.split_at_mut(i * size);
            let row = &mut row[..size];
            for j in 0..i {
                let other = &above[j * size..j * size + j + 1];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = (row[i] - dot(&row[..i], &row[..i])).sqrt();
            row[i] = pivot;
            log_determinant += 2.0 * pivot.ln();
        }
        log_determinant
    }
}

/// Column `column` of L⁻¹: the x with L·x = unit vector.
struct Solve<'a> {
    factor: &'a [f64],
    size: usize,
    column: usize,
    out: &'a mut [f64],
}

impl NullaryFnOnce for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Solve { factor, size, column, out } = self;
        out[..column].fill(0.0);
        out[column] = 1.0 / factor[column * size + column];
        for row in column + 1..size {
            let left = &factor[row * size..row * size + row + 1];
            out[row] = -dot(&left[column..row], &out[column..row]) / left[row];
        }
    }
}

/// A⁻¹_ij = Σ_{k ≥ max(i, j)} U_ik U_jk
struct InverseRow<'a> {
    upper: &'a [f64],
    size: usize,
    row: usize,
    out: &'a mut [f32],
}

impl NullaryFnOnce for InverseRow<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let InverseRow { upper, size, row, out } = self;
        let own = &upper[row * size..(row + 1) * size];
        for (column, out) in out.iter_mut().enumerate() {
            let from = row.max(column);
            let other = &upper[column * size..(column + 1) * size];
            *out = dot(&own[from..], &other[from..]) as f32;
        }
    }
}

/// Sixteen sums side by side, then their sum.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 16];
    let (a, a_rest) = a.as_chunks::<16>();
    let (b, b_rest) = b.as_chunks::<16>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
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
