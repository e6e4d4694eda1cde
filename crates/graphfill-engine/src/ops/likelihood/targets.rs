//! What was observed in a block of columns.

use std::fmt;

use super::{fingerprint_of, problem_of};
use crate::{Result, Shape, SparseRows};

/// Stands for a category that was not observed.
pub const MISSING_CATEGORY: u32 = u32::MAX;

/// Observed cells of a block.
pub enum Targets {
    /// Every cell is observed, and most are zero. The columns of a row rise.
    Sparse(SparseRows),
    /// Cell by cell, row after row; NaN where nothing was observed.
    Dense {
        /// Rows and columns.
        shape: Shape,
        /// The numbers.
        values: Vec<f32>,
    },
}

impl Targets {
    /// Dense targets.
    ///
    /// # Panics
    /// If there are more or fewer values than cells.
    pub fn dense(shape: impl Into<Shape>, values: Vec<f32>) -> Self {
        let shape = shape.into();
        assert_eq!(values.len(), shape.len(), "a value for every cell");
        Targets::Dense { shape, values }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        match self {
            Targets::Sparse(rows) => rows.shape(),
            Targets::Dense { shape, .. } => *shape,
        }
    }

    /// How many cells were observed.
    pub fn observed(&self) -> usize {
        match self {
            Targets::Sparse(rows) => rows.shape().len(),
            Targets::Dense { values, .. } => values.iter().filter(|value| !value.is_nan()).count(),
        }
    }

    /// In the identity of an operation.
    pub(super) fn identity(&self) -> String {
        match self {
            Targets::Sparse(rows) => rows.identity(),
            Targets::Dense { shape, values } => {
                let words = values.iter().map(|value| u64::from(value.to_bits()));
                format!("dense({shape}, {:016x})", fingerprint_of(words))
            }
        }
    }

    /// The sum of what was observed.
    pub(super) fn sum(&self) -> f64 {
        let sum = |values: &[f32]| -> f64 {
            values.iter().filter(|value| !value.is_nan()).map(|&value| f64::from(value)).sum()
        };
        match self {
            Targets::Sparse(rows) => rows.values().map_or(rows.entries() as f64, sum),
            Targets::Dense { values, .. } => sum(values),
        }
    }

    /// Whether every observed value lies where the loss makes sense, and no cell is told twice.
    pub(super) fn check_values(
        &self,
        operation: &'static str,
        least: f32,
        most: f32,
    ) -> Result<()> {
        let outside = |value: &&f32| !(least..=most).contains(*value);
        let found = match self {
            Targets::Sparse(rows) => rows.values().and_then(|values| values.iter().find(outside)),
            Targets::Dense { values, .. } => {
                values.iter().filter(|value| !value.is_nan()).find(outside)
            }
        };
        if let Some(value) = found {
            let problem = format!("{value} was observed, not a number from {least} to {most}");
            return Err(problem_of(operation, problem));
        }
        if let Targets::Sparse(rows) = self {
            let view = rows.view();
            let rising = |row: &usize| view.columns(*row).windows(2).all(|pair| pair[0] < pair[1]);
            if let Some(row) = (0..view.rows()).find(|row| !rising(row)) {
                let problem = format!("the columns of row {row} do not rise");
                return Err(problem_of(operation, problem));
            }
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Targets::Sparse(rows) => rows.bytes(),
            Targets::Dense { values, .. } => size_of_val(&values[..]) as u64,
        }
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}

/// The entries of a sparse row: column and value.
#[inline(always)]
pub(super) fn entries(rows: &SparseRows, row: usize) -> impl Iterator<Item = (usize, f32)> {
    let view = rows.view();
    let values = view.values(row);
    let columns = view.columns(row).iter().enumerate();
    columns.map(move |(at, &column)| (column as usize, values.map_or(1.0, |values| values[at])))
}
