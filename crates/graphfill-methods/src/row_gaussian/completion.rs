//! Completion, the E-step: what the known cells of a row say about its unknown ones.
//!
//! For a row with residuals r = z − μ − gB \[p\], known cells o and unknown ones m,
//!
//! > r̂ₘ = Σₘₒ(Σₒₒ + λI)⁻¹rₒ,  C += Σₘₘ − Σₘₒ(Σₒₒ + λI)⁻¹Σₒₘ.
//!
//! With the precision P = (Σ + λI)⁻¹ these are −Pₘₘ⁻¹Pₘₒrₒ and Pₘₘ⁻¹ − λI, which is the shorter way
//! where few cells are unknown.

use rayon::prelude::*;

use super::cells::Cells;
use super::dense::{Cholesky, add_to_diagonal, dot};

/// Sums are taken over so many portions of the rows, whatever the number of threads.
const PORTIONS: usize = 32;

/// Σ + λI and its inverse \[p × p\].
#[derive(Debug)]
pub(super) struct Penalised {
    pub(super) size: usize,
    pub(super) penalty: f64,
    pub(super) covariance: Vec<f64>,
    pub(super) precision: Vec<f64>,
}

impl Penalised {
    /// Adds λ to the diagonal of a covariance \[size × size\].
    pub(super) fn new(covariance: &[f64], size: usize, penalty: f64) -> Self {
        let mut covariance = covariance.to_vec();
        add_to_diagonal(&mut covariance, size, penalty);
        let precision = Cholesky::new(covariance.clone(), size).inverse();
        Penalised { size, penalty, covariance, precision }
    }
}

/// The columns of a pattern that are (un)known.
pub(super) fn columns_where(pattern: &[bool], known: bool) -> Vec<usize> {
    (0..pattern.len()).filter(|&column| pattern[column] == known).collect()
}

/// The rows and columns `at` of a matrix \[size × size\].
pub(super) fn part(matrix: &[f64], size: usize, at: &[usize]) -> Vec<f64> {
    at.iter().flat_map(|&row| at.iter().map(move |&column| matrix[row * size + column])).collect()
}

/// How rows of one pattern are completed.
struct Completion<'a> {
    penalised: &'a Penalised,
    pattern: &'a [bool],
    known: Vec<usize>,
    unknown: Vec<usize>,
    by_precision: bool,
    /// Of Pₘₘ or of Σₒₒ + λI.
    factor: Cholesky,
    /// L⁻¹Σₒᵤ for every unknown u; empty by precision.
    reach: Vec<f64>,
    /// Σₘₘ − Σₘₒ(Σₒₒ + λI)⁻¹Σₒₘ.
    remaining: Vec<f64>,
}

impl<'a> Completion<'a> {
    fn new(penalised: &'a Penalised, pattern: &'a [bool]) -> Self {
        let (known, unknown) = (columns_where(pattern, true), columns_where(pattern, false));
        let (o, m) = (known.len(), unknown.len());
        let by_precision = 3 * m * m * m < o * o * o + 3 * o * m * (o + m);
        let size = penalised.size;
        let (factor, reach, mut remaining);
        if by_precision {
            factor = Cholesky::new(part(&penalised.precision, size, &unknown), m);
            reach = Vec::new();
            remaining = factor.inverse();
        } else {
            factor = Cholesky::new(part(&penalised.covariance, size, &known), o);
            let mut rows = vec![0.0; m * o];
            for (at, &column) in unknown.iter().enumerate() {
                let row = &mut rows[at * o..(at + 1) * o];
                for (value, &other) in row.iter_mut().zip(&known) {
                    *value = penalised.covariance[column * size + other];
                }
                factor.forward(row, 0);
            }
            remaining = part(&penalised.covariance, size, &unknown);
            for (one, row) in remaining.chunks_exact_mut(m.max(1)).enumerate() {
                for (other, value) in row.iter_mut().enumerate() {
                    *value -= dot(&rows[one * o..(one + 1) * o], &rows[other * o..(other + 1) * o]);
                }
            }
            reach = rows;
        }
        add_to_diagonal(&mut remaining, m, -penalised.penalty);
        Completion { penalised, pattern, known, unknown, by_precision, factor, reach, remaining }
    }

    /// Fills the unknown cells of a row of residuals.
    fn fill(&self, residuals: &mut [f64]) {
        let size = self.penalised.size;
        if self.by_precision {
            for &column in &self.unknown {
                residuals[column] = 0.0;
            }
            let precision = |column| &self.penalised.precision[column * size..(column + 1) * size];
            let mut filled: Vec<f64> =
                self.unknown.iter().map(|&column| -dot(precision(column), residuals)).collect();
            self.factor.solve(&mut filled);
            for (&column, value) in self.unknown.iter().zip(filled) {
                residuals[column] = value;
            }
        } else {
            let o = self.known.len();
            let mut evidence: Vec<f64> = self.known.iter().map(|&at| residuals[at]).collect();
            self.factor.forward(&mut evidence, 0);
            for (at, &column) in self.unknown.iter().enumerate() {
                residuals[column] = dot(&self.reach[at * o..(at + 1) * o], &evidence);
            }
        }
    }

    /// Adds the covariance that remains in a row's unknown cells.
    fn add_remaining(&self, sum: &mut [f64]) {
        let m = self.unknown.len();
        for (at, &row) in self.unknown.iter().enumerate() {
            for (other, &column) in self.unknown.iter().enumerate() {
                sum[row * self.penalised.size + column] += self.remaining[at * m + other];
            }
        }
    }
}

/// Fills the unknown cells of residuals \[rows × p\] and gives C \[p × p\]. It is quickest where rows
/// of one pattern follow each other.
pub(super) fn complete(
    cells: &Cells<'_>,
    rows: &[usize],
    residuals: &mut [f64],
    penalised: &Penalised,
) -> Vec<f64> {
    let columns = cells.columns;
    let portion = rows.len().div_ceil(PORTIONS).max(1);
    let sums: Vec<Vec<f64>> = residuals
        .par_chunks_mut((portion * columns).max(1))
        .zip(rows.par_chunks(portion))
        .map(|(residuals, rows)| {
            let mut sum = vec![0.0; columns * columns];
            let mut current: Option<Completion<'_>> = None;
            for (residuals, &row) in residuals.chunks_exact_mut(columns).zip(rows) {
                let pattern = cells.known_in(row);
                let completion = match current.take() {
                    Some(same) if same.pattern == pattern => same,
                    _ => Completion::new(penalised, pattern),
                };
                completion.fill(residuals);
                completion.add_remaining(&mut sum);
                current = Some(completion);
            }
            sum
        })
        .collect();
    let mut total = vec![0.0; columns * columns];
    for sum in &sums {
        for (total, value) in total.iter_mut().zip(sum) {
            *total += value;
        }
    }
    total
}
