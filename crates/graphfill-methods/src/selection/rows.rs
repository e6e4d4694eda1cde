//! The cells on which candidates are compared: which rows, and what is true of them.

use std::ops::Range;

use graphfill_data::CellMask;
use rayon::prelude::*;

use crate::features::{Features, GroupKind};

/// More rows than these don't sharpen a comparison, but every candidate pays for them in memory:
/// a ranking needs its best columns, a numeric block one sum a row.
const MAX_RANKED_ROWS: usize = 2048;
const MAX_SUMMED_ROWS: usize = 1 << 14;

/// The rows of one set of validation cells.
#[derive(Debug, Clone)]
pub struct ValidationRows {
    touched: Vec<u32>,
    /// The hidden ones of each ranked row, for each binary block.
    ones: Vec<Vec<Vec<u32>>>,
}

impl ValidationRows {
    /// The rows that `cells` touches; of many, rankings are scored on evenly spaced ones.
    pub fn of(features: &Features<'_>, cells: &CellMask) -> Self {
        let mut rows = ValidationRows { touched: cells.touched_rows(), ones: Vec::new() };
        rows.ones = (0..features.groups().len())
            .map(|group| rows.hidden_ones(features, cells, group))
            .collect();
        rows
    }

    fn hidden_ones(
        &self,
        features: &Features<'_>,
        cells: &CellMask,
        group: usize,
    ) -> Vec<Vec<u32>> {
        let about = &features.groups()[group];
        let Some(block) = features.block(group).filter(|_| about.kind == GroupKind::BinaryBlock)
        else {
            return Vec::new();
        };
        self.ranked()
            .map(|at| {
                let row = self.touched[at];
                let ones = block.columns(row as usize).iter().copied();
                let hidden = |column: &u32| {
                    cells.contains(row as usize, about.cells.start + *column as usize)
                };
                ones.filter(hidden).collect()
            })
            .collect()
    }

    /// The rows, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.touched
    }

    /// How many of them rankings are scored on.
    pub fn ranked_count(&self) -> usize {
        self.touched.len().min(MAX_RANKED_ROWS)
    }

    /// How many of them numeric blocks are scored on.
    pub fn summed_count(&self) -> usize {
        self.touched.len().min(MAX_SUMMED_ROWS)
    }

    /// The hidden ones of the ranked rows in a binary block.
    pub fn ones(&self, group: usize) -> &[Vec<u32>] {
        &self.ones[group]
    }

    /// Where those that rankings are scored on stand in [`ValidationRows::rows`].
    pub fn ranked(&self) -> impl Iterator<Item = usize> + use<> {
        spread(self.touched.len(), self.ranked_count())
    }

    /// Where those that numeric blocks are scored on stand in [`ValidationRows::rows`].
    pub fn summed(&self) -> impl Iterator<Item = usize> + use<> {
        spread(self.touched.len(), self.summed_count())
    }
}

/// The true values of a group in one row, NaN where there is nothing to compare: `out` has one for
/// each of its features.
pub(crate) fn truth_of(
    features: &Features<'_>,
    cells: &CellMask,
    group: usize,
    row: usize,
    out: &mut [f64],
) {
    features.row_of(group, row, out);
    if cells.is_whole(row) {
        return;
    }
    let about = &features.groups()[group];
    for (feature, value) in about.features.clone().zip(out) {
        if !cells.contains(row, about.cell_of(feature)) {
            *value = f64::NAN;
        }
    }
}

/// So many evenly spaced places among `all`.
fn spread(all: usize, chosen: usize) -> impl Iterator<Item = usize> {
    (0..chosen).map(move |position| position * all / chosen)
}

/// The true values of a panel's validation cells, taken out once and compared many times.
pub struct ScoredCells<'a> {
    pub(super) features: &'a Features<'a>,
    pub(super) rows: &'a ValidationRows,
    pub(super) range: Range<usize>,
    /// Touched rows × features of the panel; NaN where there is nothing to compare.
    pub(super) truth: Vec<f64>,
    /// For each touched row, whether there is something to compare in all features of the panel.
    pub(super) complete: Vec<bool>,
}

impl<'a> ScoredCells<'a> {
    /// The cells of `cells` in the features `range`.
    pub fn new(
        features: &'a Features<'a>,
        rows: &'a ValidationRows,
        cells: &CellMask,
        range: Range<usize>,
    ) -> Self {
        let width = range.len();
        let mut truth = vec![f64::NAN; rows.rows().len() * width];
        truth.par_chunks_mut(width.max(1)).zip(rows.rows()).for_each(|(truth, &row)| {
            let row = row as usize;
            for (group, about, inside) in features.groups_in(range.clone()) {
                let truth = &mut truth[inside.start - range.start..inside.end - range.start];
                features.values_of(group, row, inside.clone(), truth);
                if cells.is_whole(row) {
                    continue;
                }
                for (feature, value) in inside.zip(truth) {
                    if !cells.contains(row, about.cell_of(feature)) {
                        *value = f64::NAN;
                    }
                }
            }
        });
        let complete = truth.chunks(width.max(1)).map(|row| !row.iter().any(|v| v.is_nan()));
        let complete = complete.collect();
        ScoredCells { features, rows, range, truth, complete }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranked_rows_are_spread_evenly() {
        let chosen = |all: usize, count: usize| spread(all, count).collect::<Vec<_>>();
        assert_eq!(chosen(4, 4), [0, 1, 2, 3]);
        assert_eq!(chosen(10, 3), [0, 3, 6]);
        assert_eq!(chosen(0, 0), [] as [usize; 0]);
        assert!(chosen(1000, 333).windows(2).all(|pair| pair[0] < pair[1]));
    }
}
