//! A table of standardised numbers with holes, and portions of it ready to compute with.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Evidence further than this from its column's mean counts as this far.
const LARGEST_EVIDENCE: f32 = 5.0;

/// A table of standardised numbers, some of them known.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    /// Number of rows n.
    pub rows: usize,
    /// Number of columns p.
    pub columns: usize,
    /// Rows × columns: finite where a cell is known, else anything.
    pub values: &'a [f32],
    /// Rows × columns: which cells are known.
    pub known: &'a [bool],
    /// Columns that are known or missing together, such as the 0/1 columns of one category. They
    /// cover every column once, in order, and none is empty; a column that stands alone is a block of one.
    pub blocks: &'a [Range<usize>],
    /// Whether a column holds numbers; else it holds standardised zeros and ones.
    pub is_number: &'a [bool],
}

impl Cells<'_> {
    /// Which cells of a row are known.
    pub(super) fn known_in(&self, row: usize) -> &[bool] {
        &self.known[row * self.columns..(row + 1) * self.columns]
    }

    /// A value as it was given.
    pub(super) fn value(&self, row: usize, column: usize) -> f64 {
        f64::from(self.values[row * self.columns + column])
    }

    /// The known values of some rows \[rows × p\] as evidence: clipped, zero where nothing is known.
    pub(super) fn evidence(&self, rows: &[usize]) -> Vec<f64> {
        let mut evidence = Vec::with_capacity(rows.len() * self.columns);
        for &row in rows {
            let values = &self.values[row * self.columns..(row + 1) * self.columns];
            evidence.extend(values.iter().zip(self.known_in(row)).map(|(&value, &known)| {
                if known && !value.is_nan() {
                    f64::from(value.clamp(-LARGEST_EVIDENCE, LARGEST_EVIDENCE))
                } else {
                    0.0
                }
            }));
        }
        evidence
    }

    /// Puts rows that know the same cells side by side, so that they share a factorisation.
    pub(super) fn sort_by_pattern(&self, rows: &mut [usize]) {
        rows.sort_unstable_by_key(|&row| (self.known_in(row), row));
    }
}

/// Cells with the context of every row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) cells: &'a Cells<'a>,
    pub(super) context: &'a [f32],
    pub(super) scale: &'a ContextScale,
}

impl Data<'_> {
    /// The standardised contexts \[rows × q\] of some rows.
    pub(super) fn contexts(&self, rows: &[usize]) -> Vec<f64> {
        self.scale.standardised(self.context, rows)
    }
}

/// The mean and the spread of every context column, by which contexts are standardised.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ContextScale {
    mean: Vec<f64>,
    inverse_deviation: Vec<f64>,
}

impl ContextScale {
    /// Of a context \[rows × q\]. A column that does not vary is left out (scaled to nothing).
    pub(super) fn new(context: &[f32], rows: usize) -> Self {
        let columns = context.len().checked_div(rows).unwrap_or(0);
        let mut mean = vec![0.0; columns];
        let mut inverse_deviation = vec![0.0; columns];
        for column in 0..columns {
            let values = || context.iter().skip(column).step_by(columns).map(|&v| f64::from(v));
            let centre = values().sum::<f64>() / rows as f64;
            let variance = values().map(|v| (v - centre).powi(2)).sum::<f64>() / rows as f64;
            if variance > 1e-18 && variance.is_finite() {
                mean[column] = centre;
                inverse_deviation[column] = variance.sqrt().recip();
            }
        }
        ContextScale { mean, inverse_deviation }
    }

    /// Number of context columns q.
    pub(super) fn columns(&self) -> usize {
        self.mean.len()
    }

    /// The standardised contexts \[rows × q\] of some rows.
    pub(super) fn standardised(&self, context: &[f32], rows: &[usize]) -> Vec<f64> {
        let columns = self.columns();
        let mut out = Vec::with_capacity(rows.len() * columns);
        for &row in rows {
            let values = &context[row * columns..(row + 1) * columns];
            out.extend(values.iter().enumerate().map(|(column, &value)| {
                let scaled =
                    (f64::from(value) - self.mean[column]) * self.inverse_deviation[column];
                if scaled.is_finite() { scaled } else { 0.0 }
            }));
        }
        out
    }
}
