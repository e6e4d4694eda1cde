//! A set of cells of a table: whole rows, and single cells in other rows.
//!
//! Missing cells, cells hidden for validation and cells hidden for testing are all cell masks.
//! A whole row costs one flag, a single cell four bytes, so that both "half of all rows" and
//! "a tenth of all cells" stay small for millions of nodes.

use std::ops::Range;

/// Cells `(row, column)` of a table with `rows` rows and `width` columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellMask {
    width: usize,
    whole: Vec<bool>,
    offsets: Vec<usize>,
    cells: Vec<u32>,
}

impl CellMask {
    /// No cell of a table with `rows` rows and `width` columns.
    pub fn none(rows: usize, width: usize) -> Self {
        CellMask { width, whole: vec![false; rows], offsets: vec![0; rows + 1], cells: Vec::new() }
    }

    /// The whole of the given rows.
    pub fn of_rows(rows: usize, width: usize, chosen: impl IntoIterator<Item = usize>) -> Self {
        CellMask::none(rows, width).with_rows(chosen)
    }

    /// These cells `(row, column)`, rows ascending.
    pub fn of_cells(rows: usize, width: usize, cells: &[(usize, u32)]) -> Self {
        let mut left = cells.iter().peekable();
        CellMask::build(rows, width, |row, columns| {
            while let Some((_, column)) = left.next_if(|cell| cell.0 == row) {
                columns.push(*column);
            }
        })
    }

    /// The same cells and the whole of the given rows; costs nothing per column.
    #[must_use]
    pub fn with_rows(mut self, chosen: impl IntoIterator<Item = usize>) -> Self {
        for row in chosen {
            self.whole[row] = true;
        }
        let doubled = |row: usize| self.whole[row] && self.offsets[row] != self.offsets[row + 1];
        if !(0..self.rows()).any(doubled) {
            return self;
        }
        let mut clean = CellMask::build(self.rows(), self.width, |row, cells| {
            if !self.whole[row] {
                cells.extend_from_slice(self.cells(row));
            }
        });
        clean.whole = self.whole;
        clean
    }

    /// The cells that `list` puts into its second argument, row by row.
    ///
    /// `list(row, cells)` appends the columns of the row's cells in any order; a row all of whose
    /// columns are listed becomes a whole row.
    pub fn build(rows: usize, width: usize, mut list: impl FnMut(usize, &mut Vec<u32>)) -> Self {
        let mut mask = CellMask {
            width,
            whole: vec![false; rows],
            offsets: Vec::with_capacity(rows + 1),
            cells: Vec::new(),
        };
        mask.offsets.push(0);
        let mut row_cells = Vec::new();
        for row in 0..rows {
            row_cells.clear();
            list(row, &mut row_cells);
            row_cells.sort_unstable();
            row_cells.dedup();
            if row_cells.len() == width && width > 0 {
                mask.whole[row] = true;
            } else {
                mask.cells.extend_from_slice(&row_cells);
            }
            mask.offsets.push(mask.cells.len());
        }
        mask
    }

    /// The number of rows of the table.
    pub fn rows(&self) -> usize {
        self.whole.len()
    }

    /// The number of columns of the table.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether every cell of the row is in the set.
    pub fn is_whole(&self, row: usize) -> bool {
        self.whole[row]
    }

    /// The columns of the row's single cells, ascending; empty where the whole row is in the set.
    pub fn cells(&self, row: usize) -> &[u32] {
        &self.cells[self.offsets[row]..self.offsets[row + 1]]
    }

    /// The cells whose columns lie in `columns`, counted from its start.
    #[must_use]
    pub fn slice(&self, columns: Range<usize>) -> CellMask {
        let (start, end) = (columns.start as u32, columns.end as u32);
        let single = CellMask::build(self.rows(), columns.len(), |row, cells| {
            let own = self.cells(row);
            let first = own.partition_point(|&cell| cell < start);
            let last = own.partition_point(|&cell| cell < end);
            cells.extend(own[first..last].iter().map(|cell| cell - start));
        });
        single.with_rows((0..self.rows()).filter(|&row| self.whole[row]))
    }

    /// Whether no cell of the row is in the set.
    pub fn is_clear(&self, row: usize) -> bool {
        !self.whole[row] && self.offsets[row] == self.offsets[row + 1]
    }

    /// Whether the cell is in the set.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.whole[row] || self.cells(row).binary_search(&(column as u32)).is_ok()
    }

    /// Whether no cell is in the set.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty() && !(self.width > 0 && self.whole.contains(&true))
    }

    /// The number of cells in the set.
    pub fn count(&self) -> usize {
        self.whole_rows() * self.width + self.cells.len()
    }

    /// The number of whole rows in the set.
    pub fn whole_rows(&self) -> usize {
        self.whole.iter().filter(|&&whole| whole).count()
    }

    /// The rows that have at least one cell in the set, ascending.
    pub fn touched_rows(&self) -> Vec<u32> {
        (0..self.rows()).filter(|&row| !self.is_clear(row)).map(|row| row as u32).collect()
    }

    /// The cells of either set.
    ///
    /// # Panics
    /// If the tables differ in size.
    #[must_use]
    pub fn union(&self, other: &CellMask) -> CellMask {
        assert_eq!((self.rows(), self.width), (other.rows(), other.width), "masks of two tables");
        if other.is_empty() {
            return self.clone();
        }
        let single = CellMask::build(self.rows(), self.width, |row, cells| {
            cells.extend_from_slice(self.cells(row));
            cells.extend_from_slice(other.cells(row));
        });
        single.with_rows((0..self.rows()).filter(|&row| self.whole[row] || other.whole[row]))
    }

    /// The cells of this set that are not in the other one.
    #[must_use]
    pub fn without(&self, other: &CellMask) -> CellMask {
        let untouched = |row: usize| self.whole[row] && other.is_clear(row);
        let single = CellMask::build(self.rows(), self.width, |row, cells| {
            if other.whole[row] || untouched(row) {
                return;
            }
            let taken = other.cells(row);
            let kept = |column: &u32| taken.binary_search(column).is_err();
            if self.whole[row] {
                cells.extend((0..self.width as u32).filter(kept));
            } else {
                cells.extend(self.cells(row).iter().copied().filter(kept));
            }
        });
        single.with_rows((0..self.rows()).filter(|&row| untouched(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn mask_of(cells: &BTreeSet<(usize, usize)>) -> CellMask {
        CellMask::build(5, 4, |row, list| {
            list.extend(cells.iter().filter(|cell| cell.0 == row).map(|cell| cell.1 as u32));
        })
    }

    fn cells_of(mask: &CellMask) -> BTreeSet<(usize, usize)> {
        (0..5)
            .flat_map(|row| (0..4).map(move |column| (row, column)))
            .filter(|&(row, column)| mask.contains(row, column))
            .collect()
    }

    #[test]
    fn whole_rows_of_a_wide_table_list_no_column() {
        let width = 4_000_000_000;
        let mask = CellMask::of_rows(3, width, [0, 2]);
        let one = CellMask::build(3, width, |row, cells| cells.extend((row == 1).then_some(7)));
        let both = mask.union(&one);
        assert_eq!((both.count(), both.cells.len()), (8_000_000_001, 1));
        assert_eq!(both.without(&one), mask);
        assert_eq!(one.with_rows([0, 1]), CellMask::of_rows(3, width, [0, 1]));
    }

    proptest! {
        #[test]
        fn behaves_as_a_set(
            first in prop::collection::btree_set((0usize..5, 0usize..4), 0..20),
            second in prop::collection::btree_set((0usize..5, 0usize..4), 0..20),
        ) {
            let (a, b) = (mask_of(&first), mask_of(&second));
            prop_assert_eq!(cells_of(&a), first.clone());
            prop_assert_eq!(a.count(), first.len());
            prop_assert_eq!(a.is_empty(), first.is_empty());
            prop_assert_eq!(a.union(&b), mask_of(&(&first | &second)));
            prop_assert_eq!(a.without(&b), mask_of(&(&first - &second)));
            let middle = a.slice(1..3);
            for (row, column) in (0..5).flat_map(|row| [(row, 0), (row, 1)]) {
                prop_assert_eq!(middle.contains(row, column), first.contains(&(row, column + 1)));
            }
        }
    }
}
