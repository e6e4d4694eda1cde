//! Builds a feature [`Block`] row by row; NaN becomes a missing cell.

use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::{Block, CellMask};

/// The bytes per stored cell: its column and, at worst, its value in double precision.
const BYTES_PER_CELL: u64 = 12;
/// The bytes per missing cell: its row and column here, its column in the finished mask.
const BYTES_PER_MISSING_CELL: u64 = 20;

/// Collects the rows of a block in the order of a file.
pub(crate) struct FeatureRows {
    width: usize,
    builder: BlockBuilder,
    stored: u64,
    /// `(row, column)` of the missing cells, rows ascending.
    missing: Vec<(usize, u32)>,
}

impl FeatureRows {
    /// Starts a block of `width` columns without rows.
    pub(crate) fn new(width: usize, layout: BlockLayout) -> Self {
        let builder = BlockBuilder::new(width, layout);
        FeatureRows { width, builder, stored: 0, missing: Vec::new() }
    }

    /// Adds a row of `(column, value)` cells and clears `cells`.
    pub(crate) fn push(&mut self, cells: &mut Vec<(u32, f64)>) {
        let row = self.builder.rows();
        let missing = &mut self.missing;
        cells.retain(|&(column, value)| {
            if value.is_nan() {
                missing.push((row, column));
            }
            !value.is_nan()
        });
        self.stored += cells.iter().filter(|cell| cell.1 != 0.0).count() as u64;
        self.builder.push_row(cells);
        cells.clear();
    }

    /// The number of rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.builder.rows()
    }

    /// An upper bound on the bytes that the rows so far take.
    pub(crate) fn memory(&self) -> u64 {
        let rows = 24 * self.builder.rows() as u64;
        rows + BYTES_PER_CELL * self.stored + BYTES_PER_MISSING_CELL * self.missing.len() as u64
    }

    /// The finished block.
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
        assert_eq!(rows.memory(), 3 * 24 + 12 + 3 * 20);
        let block = rows.finish();
        assert_eq!((block.rows(), block.columns(0)), (3, &[1][..]));
        assert!(block.missing().contains(0, 0) && block.missing().is_whole(2));
        assert_eq!(block.missing().count(), 3);
    }
}
