//! How the errors of a row's cells hang together: a Gaussian copula.
//!
//! The rank of an error among those of its column becomes a normal score z. Correlations of the scores
//! of cells that were hidden in the same row,
//!
//!   ρ_jk = n_jk / (n_jk + 10) · mean over rows of z_j z_k,
//!
//! say how errors go together; pairs that were hidden together in few rows count as independent. A draw
//! of a row takes correlated normal scores for its missing cells and reads each column's own
//! distribution of errors at their ranks.

use std::collections::HashMap;
use std::ops::Range;

use graphfill_engine::random::{Key, normals};
use serde::{Deserialize, Serialize};

use crate::features::{Features, Group, GroupKind};

/// The largest number of columns whose errors may be correlated.
pub(super) const MAX_COLUMNS: usize = 256;
/// So many rows without any correlation are added to those that were seen.
const SHRINKAGE: f64 = 10.0;
/// No pair is more correlated than this.
const MAX_CORRELATION: f64 = 0.98;

/// The positions of each group among the columns whose errors may be correlated: one per number, one per
/// boolean, none for categories and 0/1 blocks.
pub(super) fn correlated_columns(features: &Features<'_>) -> Vec<Range<usize>> {
    let mut next = 0;
    let range = |group: &Group| {
        let start = next;
        next += match group.kind {
            GroupKind::Category(_) | GroupKind::BinaryBlock => 0,
            _ => group.features.len(),
        };
        start..next
    };
    features.groups().iter().map(range).collect()
}

/// Correlations of the errors of columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorCorrelation {
    /// The correlation of each pair, row by row of the lower triangle without its diagonal.
    lower: Vec<f32>,
}

/// Gathers the normal scores of errors by row.
#[derive(Default)]
pub(super) struct ScoresByRow(HashMap<u32, Vec<(usize, f64)>>);

impl ScoresByRow {
    /// The normal score of the error of one hidden cell.
    pub(super) fn add(&mut self, row: u32, column: usize, score: f64) {
        self.0.entry(row).or_default().push((column, score));
    }

    /// The correlations of so many columns.
    pub(super) fn correlation(self, columns: usize) -> ErrorCorrelation {
        if columns > MAX_COLUMNS {
            return ErrorCorrelation::default();
        }
        let pairs = columns * columns.saturating_sub(1) / 2;
        let mut sums = vec![(0.0f64, 0.0f64); pairs];
        // In the order of rows: sums of floats depend on it.
        let mut rows: Vec<(u32, Vec<(usize, f64)>)> = self.0.into_iter().collect();
        rows.sort_unstable_by_key(|(row, _)| *row);
        for (_, mut cells) in rows {
            cells.sort_unstable_by_key(|(column, _)| *column);
            for (at, &(column, score)) in cells.iter().enumerate() {
                for &(other, other_score) in cells[..at].iter().filter(|cell| cell.0 < column) {
                    let sum = &mut sums[pair(column, other)];
                    *sum = (sum.0 + score * other_score, sum.1 + 1.0);
                }
            }
        }
        let correlation = |&(sum, rows): &(f64, f64)| {
            (sum / (rows + SHRINKAGE)).clamp(-MAX_CORRELATION, MAX_CORRELATION) as f32
        };
        ErrorCorrelation { lower: sums.iter().map(correlation).collect() }
    }
}

/// The position of a pair in the lower triangle.
fn pair(column: usize, other: usize) -> usize {
    column * (column - 1) / 2 + other
}

/// Draws normal scores for the missing cells of rows. Factors are kept by pattern.
pub(super) struct JointDraws<'a> {
    correlation: &'a ErrorCorrelation,
    factors: HashMap<Vec<usize>, Vec<f64>>,
}

impl<'a> JointDraws<'a> {
    pub(super) fn new(correlation: &'a ErrorCorrelation) -> Self {
        JointDraws { correlation, factors: HashMap::new() }
    }

    /// Normal scores of some columns (ascending) of one row.
    pub(super) fn draw(&mut self, columns: &[usize], key: Key) -> Vec<f64> {
        let mut noise = vec![0.0f32; columns.len()];
        normals(key, 0, &mut noise);
        if self.correlation.lower.is_empty() || columns.len() < 2 {
            return noise.into_iter().map(f64::from).collect();
        }
        let correlation = self.correlation;
        let factor = match self.factors.get(columns) {
            Some(factor) => factor,
            None => {
                let factor = cholesky(columns, correlation);
                self.factors.entry(columns.to_vec()).or_insert(factor)
            }
        };
        let size = columns.len();
        (0..size)
            .map(|row| {
                let own = &factor[row * size..row * size + row + 1];
                own.iter().zip(&noise).map(|(entry, noise)| entry * f64::from(*noise)).sum()
            })
            .collect()
    }
}

/// The lower Cholesky factor of the correlations of some columns. Where pairs contradict one another
/// (the matrix has no factor), all correlations shrink until there is one.
fn cholesky(columns: &[usize], correlation: &ErrorCorrelation) -> Vec<f64> {
    let size = columns.len();
    let entry = |row: usize, column: usize, shrink: f64| match row == column {
        true => 1.0,
        false => shrink * f64::from(correlation.lower[pair(columns[row], columns[column])]),
    };
    let mut shrink = 1.0;
    loop {
        let mut factor = vec![0.0f64; size * size];
        let mut is_positive = true;
        for row in 0..size {
            for column in 0..=row {
                let inner: f64 = (0..column)
                    .map(|at| factor[row * size + at] * factor[column * size + at])
                    .sum();
                let rest = entry(row, column, shrink) - inner;
                factor[row * size + column] = match row == column {
                    true => {
                        is_positive &= rest > 1e-9;
                        rest.max(1e-9).sqrt()
                    }
                    false => rest / factor[column * size + column],
                };
            }
        }
        if is_positive {
            return factor;
        }
        shrink *= 0.9;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_correlation_of_the_errors() {
        let mut scores = ScoresByRow::default();
        let mut noise = vec![0.0f32; 3 * 2000];
        normals(Key::new(5, 1, 0), 0, &mut noise);
        for (row, noise) in noise.chunks_exact(3).enumerate() {
            // The errors of columns 0 and 2 have correlation 0.8; that of column 1 is its own.
            let shared = f64::from(noise[0]);
            scores.add(row as u32, 0, shared);
            scores.add(row as u32, 1, f64::from(noise[1]));
            scores.add(row as u32, 2, 0.8 * shared + 0.6 * f64::from(noise[2]));
        }
        let correlation = scores.correlation(3);
        let mut draws = JointDraws::new(&correlation);
        let drawn: Vec<Vec<f64>> =
            (0..4000).map(|row| draws.draw(&[0, 1, 2], Key::new(9, 2, row))).collect();
        let mean = |pick: &dyn Fn(&Vec<f64>) -> f64| {
            drawn.iter().map(pick).sum::<f64>() / drawn.len() as f64
        };
        assert!((mean(&|z| z[0] * z[2]) - 0.8).abs() < 0.06);
        assert!(mean(&|z| z[0] * z[1]).abs() < 0.06);
        assert!((mean(&|z| z[2] * z[2]) - 1.0).abs() < 0.06);
    }

    #[test]
    fn contradicting_correlations_still_have_a_factor() {
        let lower = vec![0.98, 0.98, -0.98];
        let correlation = ErrorCorrelation { lower };
        assert!(cholesky(&[0, 1, 2], &correlation).iter().all(|entry| entry.is_finite()));
    }
}
