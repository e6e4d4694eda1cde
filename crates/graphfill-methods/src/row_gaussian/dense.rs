//! Small dense matrices in double precision, row after row in one slice.
//!
//! Everything is made of dot products over contiguous rows: a product is taken with the transpose of
//! its second factor, a Cholesky factor A = LLᵀ is found row by row. Each number is summed by one
//! thread in one order, so that no result depends on the number of threads.

use rayon::prelude::*;

/// Rows of a product that one task computes.
const TASK_ROWS: usize = 8;

/// No pivot of a factorisation falls below it: a matrix that rounding has made indefinite is
/// treated as barely positive instead of giving NaN.
const SMALLEST_PIVOT: f64 = 1e-12;

/// Σ aᵢbᵢ.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_lanes.remainder().iter().zip(b_lanes.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_lanes.zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// ABᵀ \[a × b\] for A \[a × inner\] and B \[b × inner\], row by row on one thread.
fn product_rows(a: &[f64], b: &[f64], inner: usize, out: &mut [f64], columns: usize) {
    for (column, b) in b.chunks_exact(inner).enumerate() {
        for (row, a) in a.chunks_exact(inner).enumerate() {
            out[row * columns + column] = dot(a, b);
        }
    }
}

/// ABᵀ \[`rows` × `columns`\] for A \[`rows` × inner\] and B \[`columns` × inner\].
pub(crate) fn product(a: &[f64], b: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let inner = a.len().checked_div(rows).unwrap_or(0);
    let mut out = vec![0.0; rows * columns];
    if inner > 0 && columns > 0 {
        out.par_chunks_mut(TASK_ROWS * columns)
            .zip(a.par_chunks(TASK_ROWS * inner))
            .for_each(|(out, a)| product_rows(a, b, inner, out, columns));
    }
    out
}

/// Aᵀ \[columns × `rows`\] for A \[`rows` × columns\].
pub(crate) fn transposed(matrix: &[f64], rows: usize) -> Vec<f64> {
    let columns = matrix.len().checked_div(rows).unwrap_or(0);
    let mut out = Vec::with_capacity(matrix.len());
    for column in 0..columns {
        out.extend((0..rows).map(|row| matrix[row * columns + column]));
    }
    out
}

/// Adds a number to the diagonal.
pub(crate) fn add_to_diagonal(matrix: &mut [f64], size: usize, amount: f64) {
    for at in 0..size {
        matrix[at * size + at] += amount;
    }
}

/// The lower factor L of a symmetric positive definite A = LLᵀ. Only A's lower half is read; L's
/// upper half is left as it was.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cholesky {
    pub(super) size: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factorises a matrix \[size × size\].
    pub(crate) fn new(matrix: Vec<f64>, size: usize) -> Self {
        let mut lower = matrix;
        for row in 0..size {
            let (done, this) = lower.split_at_mut(row * size);
            for column in 0..row {
                let other = &done[column * size..=column * size + column];
                this[column] =
                    (this[column] - dot(&this[..column], &other[..column])) / other[column];
            }
            let pivot = this[row] - dot(&this[..row], &this[..row]);
            // Also where the pivot is NaN.
            this[row] = if pivot > SMALLEST_PIVOT { pivot } else { SMALLEST_PIVOT }.sqrt();
        }
        Cholesky { size, lower }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.lower[row * self.size..=row * self.size + row]
    }

    /// b becomes L⁻¹b; b is zero before element `first`.
    pub(super) fn forward(&self, b: &mut [f64], first: usize) {
        for at in first..self.size {
            let row = self.row(at);
            b[at] = (b[at] - dot(&row[first..at], &b[first..at])) / row[at];
        }
    }

    /// b becomes L⁻ᵀb.
    fn backward(&self, b: &mut [f64]) {
        for at in (0..self.size).rev() {
            let row = self.row(at);
            b[at] /= row[at];
            let solved = b[at];
            for (b, l) in b[..at].iter_mut().zip(row) {
                *b -= l * solved;
            }
        }
    }

    /// b becomes A⁻¹b.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        self.forward(b, 0);
        self.backward(b);
    }

    /// L⁻ᵀ \[size × size\]: row a is L⁻¹eₐ, so that A⁻¹ is the product of the rows with each other.
    pub(super) fn inverse_factor(&self) -> Vec<f64> {
        let mut rows = vec![0.0; self.size * self.size];
        if self.size > 0 {
            for (at, row) in rows.chunks_exact_mut(self.size).enumerate() {
                row[at] = 1.0;
                self.forward(row, at);
            }
        }
        rows
    }

    /// A⁻¹ \[size × size\].
    pub(super) fn inverse(&self) -> Vec<f64> {
        let size = self.size;
        let factor = self.inverse_factor();
        let mut inverse = vec![0.0; size * size];
        for row in 0..size {
            for column in row..size {
                let from = row * size + column..(row + 1) * size;
                let value =
                    dot(&factor[from], &factor[column * size + column..(column + 1) * size]);
                inverse[row * size + column] = value;
                inverse[column * size + row] = value;
            }
        }
        inverse
    }
}
