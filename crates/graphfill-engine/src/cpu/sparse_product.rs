//! Sparse × dense:  out[i, :] = finish(i, Σ_j a_ij · dense[j, :])      rows × width
//!
//! Memory-bound: each entry of A fetches one row of the panel. So the panel is narrow (a few cache
//! lines a row), the sum stays in registers, and what the caller does with a finished row happens
//! while the row is still there.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::SparseView;

/// The widths that a panel may have: one kernel each, whose sum fits the registers.
pub const PANEL_WIDTHS: [usize; 4] = [8, 16, 32, 64];

/// Rows that one thread takes at a time: few enough to balance skewed degrees.
const ROWS_A_TASK: usize = 128;

/// The narrowest panel that holds so many columns; at most the widest there is.
pub fn panel_width(columns: usize) -> usize {
    let fitting = PANEL_WIDTHS.into_iter().find(|&width| width >= columns);
    fitting.unwrap_or(PANEL_WIDTHS[PANEL_WIDTHS.len() - 1])
}

/// What happens to a finished sum. A trait rather than a closure: methods that are always inlined
/// are compiled for the vectors found when the program runs, closures are not.
pub trait FinishRow: Sync {
    /// Whether the row is computed at all; `out` keeps what it holds otherwise.
    #[inline(always)]
    fn wants(&self, row: usize) -> bool {
        let _ = row;
        true
    }

    /// Turns the sum into the row of the output. Mark it `#[inline(always)]`.
    fn finish(&self, row: usize, sum: &[f32], out: &mut [f32]);
}

/// Keeps the sum as it is.
#[derive(Debug, Clone, Copy)]
pub struct Store;

impl FinishRow for Store {
    #[inline(always)]
    fn finish(&self, _row: usize, sum: &[f32], out: &mut [f32]) {
        out.copy_from_slice(sum);
    }
}

/// Computes the rows that `finish` wants and hands it each finished sum.
///
/// `dense` has as many rows as `matrix` has columns, `out` as many as it has rows, each of
/// `width` numbers. The result does not depend on the number of threads.
///
/// # Panics
/// If `width` is none of [`PANEL_WIDTHS`], or a panel is of another size.
pub fn sparse_product(
    matrix: SparseView<'_>,
    dense: &[f32],
    width: usize,
    out: &mut [f32],
    finish: &impl FinishRow,
) {
    assert_eq!(dense.len(), matrix.width() * width, "rows of the panel");
    assert_eq!(out.len(), matrix.rows() * width, "rows of the output");
    match width {
        8 => in_parallel::<8, _>(matrix, dense, out, finish),
        16 => in_parallel::<16, _>(matrix, dense, out, finish),
        32 => in_parallel::<32, _>(matrix, dense, out, finish),
        64 => in_parallel::<64, _>(matrix, dense, out, finish),
        _ => panic!("a panel of width {width}; the widths are {PANEL_WIDTHS:?}"),
    }
}

fn in_parallel<const WIDTH: usize, F: FinishRow>(
    matrix: SparseView<'_>,
    dense: &[f32],
    out: &mut [f32],
    finish: &F,
) {
    let arch = Arch::new();
    out.par_chunks_mut(ROWS_A_TASK * WIDTH).enumerate().for_each(|(task, out)| {
        let first = task * ROWS_A_TASK;
        arch.dispatch(Rows::<WIDTH, F> { matrix, dense, first, out, finish });
    });
}

/// The rows from `first` on.
struct Rows<'a, const WIDTH: usize, F> {
    matrix: SparseView<'a>,
    dense: &'a [f32],
    first: usize,
    out: &'a mut [f32],
    finish: &'a F,
}

impl<const WIDTH: usize, F: FinishRow> NullaryFnOnce for Rows<'_, WIDTH, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (out, _) = self.out.as_chunks_mut::<WIDTH>();
        for (at, out_row) in out.iter_mut().enumerate() {
            let row = self.first + at;
            if self.finish.wants(row) {
                let sum = row_sum::<WIDTH>(self.matrix, row, self.dense);
                self.finish.finish(row, &sum, out_row);
            }
        }
    }
}

/// Σ_j a_ij · dense[j, :] for one row, in the order of its entries.
#[inline(always)]
fn row_sum<const WIDTH: usize>(matrix: SparseView<'_>, row: usize, dense: &[f32]) -> [f32; WIDTH] {
    let mut sum = [0.0f32; WIDTH];
    let (panel, _) = dense.as_chunks::<WIDTH>();
    let columns = matrix.columns(row);
    match matrix.values(row) {
        Some(values) => {
            for (&column, &value) in columns.iter().zip(values) {
                let other = &panel[column as usize];
                for lane in 0..WIDTH {
                    // Not `mul_add`: on a machine without fused instructions it is a slow call.
                    sum[lane] += value * other[lane];
                }
            }
        }
        None => {
            for &column in columns {
                let other = &panel[column as usize];
                for lane in 0..WIDTH {
                    sum[lane] += other[lane];
                }
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows of `(column, value)`, as compressed rows.
    fn compressed(rows: &[Vec<(u32, f32)>]) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            columns.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            offsets.push(columns.len());
        }
        (offsets, columns, values)
    }

    struct OddRows;

    impl FinishRow for OddRows {
        fn wants(&self, row: usize) -> bool {
            row % 2 == 1
        }

        fn finish(&self, _row: usize, sum: &[f32], out: &mut [f32]) {
            out.copy_from_slice(sum);
        }
    }

    fn reference(rows: &[Vec<(u32, f32)>], dense: &[f32], width: usize) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() * width];
        for (row, entries) in rows.iter().enumerate() {
            for &(column, value) in entries {
                for lane in 0..width {
                    out[row * width + lane] +=
                        f64::from(value) * f64::from(dense[column as usize * width + lane]);
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn agrees_with_the_plain_sum(
            rows in prop::collection::vec(
                prop::collection::vec((0u32..9, -2.0f32..2.0), 0..12), 0..300),
            which in 0usize..4,
            with_values: bool,
            seed in 0u32..1000,
        ) {
            let width = PANEL_WIDTHS[which];
            let mut rows = rows;
            if !with_values {
                rows.iter_mut().flatten().for_each(|entry| entry.1 = 1.0);
            }
            let dense: Vec<f32> = (0..9 * width as u32)
                .map(|at| ((at * 2_654_435 + seed) % 1000) as f32 / 500.0 - 1.0)
                .collect();
            let (offsets, columns, values) = compressed(&rows);
            let values = with_values.then_some(&values[..]);
            let view = SparseView::new(&offsets, &columns, values, 9);
            let mut out = vec![7.0f32; rows.len() * width];
            sparse_product(view, &dense, width, &mut out, &OddRows);
            let expected = reference(&rows, &dense, width);
            for (at, (&found, &expected)) in out.iter().zip(&expected).enumerate() {
                let expected = if OddRows.wants(at / width) { expected } else { 7.0 };
                prop_assert!((f64::from(found) - expected).abs() < 1e-4, "{found} {expected}");
            }
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let rows: Vec<Vec<(u32, f32)>> = (0..1000u32)
            .map(|row| (0..row % 17).map(|k| ((row * 31 + k * 7) % 1000, 0.1 + k as f32)).collect())
            .collect();
        let (offsets, columns, values) = compressed(&rows);
        let view = SparseView::new(&offsets, &columns, Some(&values), 1000);
        let dense: Vec<f32> = (0..16_000).map(|at| (at as f32).sin()).collect();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let mut out = vec![0.0f32; 16_000];
            pool.expect("a pool").install(|| {
                sparse_product(view, &dense, 16, &mut out, &Store);
            });
            out
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn the_narrowest_fitting_panel_is_chosen() {
        assert_eq!([1, 8, 9, 33, 64, 500].map(panel_width), [8, 8, 16, 64, 64, 64]);
    }
}
