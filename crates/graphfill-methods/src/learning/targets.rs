//! The known cells of one group as targets of its loss.

use graphfill_data::CellMask;
use graphfill_engine::{MISSING_CATEGORY, SparseRows, Targets};

use super::likelihood::GroupLikelihood;
use crate::features::Features;

/// The cells of one group in some rows.
pub(super) struct GroupTargets<'a> {
    pub(super) features: &'a Features<'a>,
    pub(super) unknown: &'a CellMask,
    pub(super) likelihood: &'a GroupLikelihood,
    pub(super) rows: &'a [u32],
    pub(super) group: usize,
}

impl GroupTargets<'_> {
    /// Sparse where every cell is known and the logit of a zero is zero in every column, else dense.
    pub(super) fn sparse_if_possible(&self) -> Targets {
        let is_complete = self.rows.iter().all(|&row| self.holes(row as usize) == 0);
        if is_complete && self.likelihood.zeros_stay() { self.sparse() } else { self.dense() }
    }

    /// How many of the group's cells are unknown in a row.
    fn holes(&self, row: usize) -> usize {
        let cells = &self.features.groups()[self.group].cells;
        if self.unknown.is_whole(row) {
            return cells.len();
        }
        let holes = self.unknown.cells(row);
        let from = holes.partition_point(|&hole| (hole as usize) < cells.start);
        let to = holes.partition_point(|&hole| (hole as usize) < cells.end);
        to - from
    }

    fn sparse(&self) -> Targets {
        let width = self.features.groups()[self.group].features.len();
        let block = self.features.block(self.group);
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in self.rows {
            let cells = block.into_iter().flat_map(|block| block.cells(row as usize));
            for (column, value) in cells.filter(|&(_, value)| value != 0.0) {
                columns.push(column);
                values.push(self.likelihood.logit(column as usize, value));
            }
            offsets.push(columns.len());
        }
        let ones = values.iter().all(|&value| value == 1.0);
        Targets::Sparse(SparseRows::new(offsets, columns, (!ones).then_some(values), width))
    }

    /// Cell by cell, NaN where unknown.
    pub(super) fn dense(&self) -> Targets {
        let about = &self.features.groups()[self.group];
        let width = about.features.len();
        let mut values = vec![f32::NAN; self.rows.len() * width];
        for (&row, values) in self.rows.iter().zip(values.chunks_exact_mut(width.max(1))) {
            let row = row as usize;
            if self.holes(row) == about.cells.len() {
                continue;
            }
            for (column, (feature, value)) in about.features.clone().zip(&mut *values).enumerate() {
                if !self.unknown.contains(row, about.cell_of(feature)) {
                    let found = self.features.value(self.group, row, feature);
                    *value = self.likelihood.logit(column, found);
                }
            }
        }
        Targets::dense([self.rows.len(), width], values)
    }

    pub(super) fn levels(&self) -> Vec<u32> {
        let level = |&row: &u32| {
            let known = self.holes(row as usize) == 0;
            let level = self.features.level(self.group, row as usize);
            level.filter(|_| known).unwrap_or(MISSING_CATEGORY)
        };
        self.rows.iter().map(level).collect()
    }
}

#[cfg(test)]
mod tests {
    use graphfill_data::block::{BlockBuilder, BlockLayout};
    use graphfill_data::{Column, IdColumn, NodeIds, NodeTable};

    use super::*;
    use crate::features::Features;
    use crate::learning::{LikelihoodOptions, Likelihoods};

    /// The first column of the block has mean 0, the second has not: its unstored zeros are targets
    /// below the mean, not at it.
    #[test]
    fn zeros_are_targets_wherever_any_column_is_centred() {
        let mut builder = BlockBuilder::new(2, BlockLayout::List);
        for (first, second) in [(1.0, 4.0), (-1.0, 0.0), (0.0, 0.0), (0.0, 4.0)] {
            builder.push_row(&mut [(0, first), (1, second)]);
        }
        let block = builder.finish(CellMask::none(4, 2));
        let columns = vec![Column::block("block", block)];
        let (id, ids) = (IdColumn::default(), NodeIds::numbered(4));
        let table = NodeTable::new(id, ids, columns, None).expect("a row per node");
        let (features, unknown) = (Features::of(&table), CellMask::none(4, 2));
        let likelihoods = Likelihoods::fit(&features, &unknown, LikelihoodOptions::PLAIN);
        let likelihood = likelihoods.group(0);
        assert_eq!(likelihood.logit(0, 0.0), 0.0);
        assert!(likelihood.logit(1, 0.0) < 0.0);
        let rows = [0, 1, 2, 3];
        let targets = GroupTargets {
            features: &features,
            unknown: &unknown,
            likelihood,
            rows: &rows,
            group: 0,
        };
        assert!(matches!(targets.sparse_if_possible(), Targets::Dense { .. }));
    }
}
