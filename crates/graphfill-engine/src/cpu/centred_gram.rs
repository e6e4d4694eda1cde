//! MᵀM of a matrix whose rows are alike, in double precision:     M: rows × columns
//!
//!   MᵀM = CᵀC + rcᵀ + crᵀ + rows · ccᵀ,    C = M − 1cᵀ,  c ≈ the mean row,  r = Cᵀ1
//!
//! Where rows are alike, MᵀM is next to rows · ccᵀ, and single precision would leave nothing of how
//! they differ. So only CᵀC is computed in it; sums over rows, and with them all else, are exact.

use rayon::prelude::*;

use super::{Dense, gram};

/// Columns whose sums one thread makes at a time.
const COLUMNS_A_TASK: usize = 16;
/// Rows that one thread centres at a time.
const ROWS_A_TASK: usize = 64;

/// Temporary memory of [`centred_gram`].
pub(crate) struct Centring<'a> {
    /// C: rows × columns.
    pub(crate) centred: &'a mut [f32],
    /// CᵀC: columns × columns.
    pub(crate) gram: &'a mut [f32],
    /// What [`gram`] asks for.
    pub(crate) packing: &'a mut [f32],
    /// r: columns.
    pub(crate) rest: &'a mut [f64],
}

/// MᵀM, and the mean row.
pub(crate) fn centred_gram(
    matrix: &[f32],
    out: &mut [f64],
    mean: &mut [f64],
    scratch: Centring<'_>,
) {
    let Centring { centred, gram: single, packing, rest } = scratch;
    let columns = mean.len();
    let rows = matrix.len() / columns.max(1);
    if columns == 0 {
        return;
    }
    let count = rows.max(1) as f64;
    sum_rows(matrix, mean);
    // As single precision has it, so that the difference is exact.
    mean.iter_mut().for_each(|mean| *mean = f64::from((*mean / count) as f32));
    let centre = &*mean;
    let portion = ROWS_A_TASK * columns;
    centred.par_chunks_mut(portion).zip(matrix.par_chunks(portion)).for_each(|(to, from)| {
        for (to, from) in to.chunks_exact_mut(columns).zip(from.chunks_exact(columns)) {
            for ((to, from), centre) in to.iter_mut().zip(from).zip(centre) {
                *to = from - *centre as f32;
            }
        }
    });
    sum_rows(centred, rest);
    gram(Dense::new(centred, rows, columns), single, packing);
    for (row, (out, single)) in
        out.chunks_exact_mut(columns).zip(single.chunks_exact(columns)).enumerate()
    {
        let (own_centre, own_rest) = (centre[row], rest[row]);
        let along_centre = own_rest + count * own_centre;
        for (column, (out, &single)) in out.iter_mut().zip(single).enumerate() {
            *out = f64::from(single) + along_centre * centre[column] + own_centre * rest[column];
        }
    }
    mean.iter_mut().zip(&*rest).for_each(|(mean, rest)| *mean += rest / count);
}

/// Σ_i M_i, in the order of rows.
fn sum_rows(matrix: &[f32], sums: &mut [f64]) {
    let columns = sums.len();
    sums.par_chunks_mut(COLUMNS_A_TASK).enumerate().for_each(|(task, sums)| {
        sums.fill(0.0);
        for row in matrix.chunks_exact(columns) {
            for (sum, &value) in sums.iter_mut().zip(&row[task * COLUMNS_A_TASK..]) {
                *sum += f64::from(value);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::product_scratch;
    use proptest::prelude::*;

    proptest! {
        /// Rows that differ by a thousandth: single precision has their squares to 1e-7, which is a
        /// tenth of how much they differ by.
        #[test]
        fn says_how_rows_differ(rows in 0usize..150, columns in 0usize..40) {
            let cell = |at: usize| 1.0 + 1e-3 * (at as f32 * 0.7).sin();
            let matrix: Vec<f32> = (0..rows * columns).map(cell).collect();
            let (mut out, mut mean) = (vec![f64::NAN; columns * columns], vec![f64::NAN; columns]);
            let scratch = Centring {
                centred: &mut vec![f32::NAN; rows * columns],
                gram: &mut vec![f32::NAN; columns * columns],
                packing: &mut vec![f32::NAN; product_scratch(rows, columns)],
                rest: &mut vec![f64::NAN; columns],
            };
            centred_gram(&matrix, &mut out, &mut mean, scratch);
            let at = |row: usize, column: usize| f64::from(matrix[row * columns + column]);
            for one in 0..columns {
                let sum: f64 = (0..rows).map(|row| at(row, one)).sum();
                prop_assert!((mean[one] - sum / rows.max(1) as f64).abs() < 1e-12);
                for other in 0..columns {
                    let exact: f64 = (0..rows).map(|row| at(row, one) * at(row, other)).sum();
                    let off = (out[one * columns + other] - exact).abs();
                    prop_assert!(off < 1e-12 * rows.max(1) as f64, "{off}");
                }
            }
        }
    }
}
