//! What propagation says, for every cell, as if the cell were unknown.
//!
//! For unknown cells that is the estimate itself. A known cell is estimated with its row hidden, in
//! one of ten folds of the rows: so training sees guesses of the same kind as the missing rows will
//! have, and never the answer.

use std::ops::Range;

use graphfill_data::{CellMask, splits};

use crate::error::Result;
use crate::features::Features;
use crate::learning::Scales;
use crate::method::{EstimateSink, Estimates, Fitted, Task};

/// Folds of the rows.
const FOLDS: usize = 10;

/// Estimates of all cells, nodes × features, as scores.
pub(super) fn cross_fitted(
    fitted: &dyn Fitted,
    task: &Task<'_>,
    unknown: &CellMask,
    scales: &Scales,
) -> Result<Vec<f32>> {
    let features = task.features;
    let mut collected = Collected {
        features,
        unknown,
        scales,
        rows: Rows::Unknown,
        values: vec![0.0; features.rows() * features.width()],
    };
    // Nothing is wanted but estimates, which every column of the task has.
    let everything = CellMask::of_rows(features.rows(), features.cells(), 0..features.rows());
    let validation = [everything];
    let estimate = |unknown: &CellMask, sink: &mut Collected<'_>| {
        fitted.estimate(&Task { unknown, validation: &validation, ..*task }, sink)
    };
    estimate(unknown, &mut collected)?;
    let seen = |row: &u32| !unknown.is_whole(*row as usize);
    let seen: Vec<u32> = (0..features.rows() as u32).filter(seen).collect();
    let order = splits::shuffled(&seen, task.seed);
    for fold in 0..FOLDS {
        let rows = share(order.len(), fold);
        let mut rows = order[rows].to_vec();
        rows.sort_unstable();
        let hidden = CellMask::of_rows(
            features.rows(),
            features.cells(),
            rows.iter().map(|&row| row as usize),
        );
        collected.rows = Rows::Known(rows);
        estimate(&unknown.union(&hidden), &mut collected)?;
    }
    Ok(collected.values)
}

/// The part of `count` things that a fold has.
fn share(count: usize, fold: usize) -> Range<usize> {
    fold * count / FOLDS..(fold + 1) * count / FOLDS
}

/// Which cells are taken from estimates.
enum Rows {
    /// The unknown cells of all rows.
    Unknown,
    /// The known cells of these.
    Known(Vec<u32>),
}

struct Collected<'a> {
    features: &'a Features<'a>,
    unknown: &'a CellMask,
    scales: &'a Scales,
    rows: Rows,
    values: Vec<f32>,
}

impl EstimateSink for Collected<'_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let all: Vec<u32>;
        let (rows, wanted) = match &self.rows {
            Rows::Unknown => {
                all = self.unknown.touched_rows();
                (&all, true)
            }
            Rows::Known(rows) => (rows, false),
        };
        let width = self.features.width();
        for (group, about, inside) in self.features.groups_in(estimates.features()) {
            for &row in rows {
                let row = row as usize;
                let to = &mut self.values[row * width + inside.start..row * width + inside.end];
                let from = estimates.row(row, inside.clone());
                for ((to, from), feature) in to.iter_mut().zip(from).zip(inside.clone()) {
                    if self.unknown.contains(row, about.cell_of(feature)) == wanted {
                        let column = feature - about.features.start;
                        *to = self.scales.score_of_estimate(group, column, from);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_fold() {
        for count in [0, 3, 10, 137] {
            let all: Vec<usize> = (0..FOLDS).flat_map(|fold| share(count, fold)).collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }
}
