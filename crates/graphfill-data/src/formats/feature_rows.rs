//! Rows of numbers on their way into a [`Block`]: NaN becomes a missing cell.

use crate::block::{Block, BlockBuilder, BlockLayout};
use crate::cell_mask::CellMask;

/// Collects the rows of a block in a file's order.
pub(crate) struct FeatureRows {
    width: usize,
    builder: BlockBuilder,
    /// `(row, column)` of the missing cells, rows ascending.
    missing: Vec<(usize, u32)>,
}

impl FeatureRows {
    /// No row yet, of `width` columns.
    pub(crate) fn new(width: usize, layout: BlockLayout) -> Self {
        FeatureRows { width, builder: BlockBuilder::new(width, layout), missing: Vec::new() }
    }

    /// Adds a row by its cells; `cells` is left empty for the next one.
    pub(crate) fn push(&mut self, cells: &mut Vec<(u32, f64)>) {
        let row = self.builder.rows();
        let missing = &mut self.missing;
        cells.retain(|&(column, value)| {
            if value.is_nan() {
                missing.push((row, column));
            }
            !value.is_nan()
        });
        self.builder.push_row(cells);
        cells.clear();
    }

    /// The number of rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.builder.rows()
    }

    /// The block.
    pub(crate) fn finish(self) -> Block {
        let missing = CellMask::of_cells(self.builder.rows(), self.width, &self.missing);
        self.builder.finish(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_a_number_means_missing() {
        let mut rows = FeatureRows::new(2, BlockLayout::List);
        rows.push(&mut vec![(0, f64::NAN), (1, 1.0)]);
        rows.push(&mut vec![]);
        rows.push(&mut vec![(1, f64::NAN), (0, f64::NAN)]);
        let block = rows.finish();
        assert_eq!((block.rows(), block.columns(0)), (3, &[1][..]));
        assert!(block.missing().contains(0, 0) && block.missing().is_whole(2));
        assert_eq!(block.missing().count(), 3);
    }
}
