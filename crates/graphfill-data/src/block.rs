//! Many columns that belong together (words, tags, an embedding), held as sparse rows.
//!
//! Zeros cost nothing and ones only their position; missing cells are a [`CellMask`] beside them.

use std::ops::Range;

use arrow_schema::DataType;

use crate::cell_mask::CellMask;
use crate::kind::BlockKind;

/// How the block stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockLayout {
    /// One column of the file a column of the block, with these names.
    Columns(Vec<String>),
    /// As `Columns`, in a typed file, all of this Arrow type.
    TypedColumns(Vec<String>, DataType),
    /// One list column of the file.
    List,
    /// One list column of the file, of this Arrow type.
    TypedList(DataType),
}

/// The values of the stored cells.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockValues {
    /// Every stored cell is one.
    Ones,
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision, where the file had more digits than single precision holds.
    F64(Vec<f64>),
}

/// `rows × width` cells; what is neither stored nor missing is zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    width: usize,
    layout: BlockLayout,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: BlockValues,
    missing: CellMask,
}

impl Block {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether the values are zeros and ones.
    pub fn kind(&self) -> BlockKind {
        match self.values {
            BlockValues::Ones => BlockKind::Binary,
            BlockValues::F32(_) | BlockValues::F64(_) => BlockKind::Numeric,
        }
    }

    /// How the block stands in a file.
    pub fn layout(&self) -> &BlockLayout {
        &self.layout
    }

    /// The same block, standing otherwise in a file.
    #[must_use]
    pub fn with_layout(mut self, layout: BlockLayout) -> Self {
        self.layout = layout;
        self
    }

    /// The name of one of its columns, given the name of the block.
    pub fn column_name(&self, block: &str, column: usize) -> String {
        match &self.layout {
            BlockLayout::Columns(names) | BlockLayout::TypedColumns(names, _) => {
                names[column].clone()
            }
            BlockLayout::List | BlockLayout::TypedList(_) => format!("{block}[{column}]"),
        }
    }

    /// The missing cells.
    pub fn missing(&self) -> &CellMask {
        &self.missing
    }

    /// The values of the stored cells.
    pub fn values(&self) -> &BlockValues {
        &self.values
    }

    /// The number of stored (non-zero) cells.
    pub fn stored(&self) -> usize {
        self.columns.len()
    }

    /// The columns of the stored cells of a row, ascending.
    pub fn columns(&self, row: usize) -> &[u32] {
        &self.columns[self.offsets[row]..self.offsets[row + 1]]
    }

    /// The stored cells of a row as `(column, value)`, columns ascending.
    pub fn cells(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.cells_between(row, 0..self.width)
    }

    /// The stored cells of a row whose column lies in `range`.
    pub fn cells_between(
        &self,
        row: usize,
        range: Range<usize>,
    ) -> impl Iterator<Item = (u32, f64)> + '_ {
        let start = self.offsets[row];
        let columns = self.columns(row);
        let first = columns.partition_point(|&column| (column as usize) < range.start);
        let last = columns.partition_point(|&column| (column as usize) < range.end);
        (start + first..start + last).map(|slot| (self.columns[slot], self.value(slot)))
    }

    fn value(&self, slot: usize) -> f64 {
        match &self.values {
            BlockValues::Ones => 1.0,
            BlockValues::F32(values) => f64::from(values[slot]),
            BlockValues::F64(values) => values[slot],
        }
    }

    /// The same cells, each stored one a one, treated as numbers rather than ranked.
    #[must_use]
    pub fn binarized(&self) -> Block {
        Block { values: BlockValues::F32(vec![1.0; self.stored()]), ..self.clone() }
    }

    /// The same block with further cells missing (their values are forgotten).
    #[must_use]
    pub fn with_hidden(&self, hidden: &CellMask) -> Block {
        let missing = self.missing.union(hidden);
        self.rebuilt(missing, |_, _| {})
    }

    /// The same block with its missing cells given: `estimates(row, cells)` appends
    /// `(column, value)` for the row's missing cells, and what it leaves out becomes zero.
    #[must_use]
    pub fn completed(&self, estimates: impl FnMut(usize, &mut Vec<(u32, f64)>)) -> Block {
        let missing = CellMask::none(self.rows(), self.width);
        self.rebuilt(missing, estimates)
    }

    fn rebuilt(
        &self,
        missing: CellMask,
        mut more: impl FnMut(usize, &mut Vec<(u32, f64)>),
    ) -> Block {
        let mut builder = BlockBuilder::new(self.width, self.layout.clone());
        let mut cells = Vec::new();
        for row in 0..self.rows() {
            cells.clear();
            cells.extend(self.cells(row));
            more(row, &mut cells);
            cells.retain(|&(column, _)| !missing.contains(row, column as usize));
            builder.push_row(&mut cells);
        }
        builder.finish(missing)
    }

    /// The block with `rows` missing rows behind its own.
    #[must_use]
    pub fn with_missing_rows(&self, rows: usize) -> Block {
        let all = self.rows() + rows;
        let mut block = self.clone();
        block.offsets.resize(all + 1, self.columns.len());
        let own = &self.missing;
        block.missing = CellMask::build(all, self.width, |row, cells| {
            if row >= own.rows() || own.is_whole(row) {
                cells.extend(0..self.width as u32);
            } else {
                cells.extend_from_slice(own.cells(row));
            }
        });
        block
    }
}

/// Collects the rows of a [`Block`], one after the other.
#[derive(Debug)]
pub struct BlockBuilder {
    width: usize,
    layout: BlockLayout,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: BlockValues,
}

impl BlockBuilder {
    /// A block of `width` columns and no row yet.
    pub fn new(width: usize, layout: BlockLayout) -> Self {
        BlockBuilder {
            width,
            layout,
            offsets: vec![0],
            columns: Vec::new(),
            values: BlockValues::Ones,
        }
    }

    /// The number of rows so far.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Adds a row by its cells in any order; zeros may be among them, the last of a repeated
    /// column counts.
    pub fn push_row(&mut self, cells: &mut [(u32, f64)]) {
        cells.sort_by_key(|cell| cell.0);
        for (position, &(column, value)) in cells.iter().enumerate() {
            let repeated = cells.get(position + 1).is_some_and(|next| next.0 == column);
            if value != 0.0 && !repeated {
                self.columns.push(column);
                self.push_value(value);
            }
        }
        self.offsets.push(self.columns.len());
    }

    /// Keeps ones as nothing, and single precision until a value needs double.
    fn push_value(&mut self, value: f64) {
        let before = self.columns.len() - 1;
        let narrow = value as f32;
        loop {
            match &mut self.values {
                BlockValues::Ones if value == 1.0 => return,
                BlockValues::Ones => self.values = BlockValues::F32(vec![1.0; before]),
                BlockValues::F32(values) if f64::from(narrow) == value => {
                    return values.push(narrow);
                }
                BlockValues::F32(values) => {
                    let wide = values.iter().copied().map(f64::from).collect();
                    self.values = BlockValues::F64(wide);
                }
                BlockValues::F64(values) => return values.push(value),
            }
        }
    }

    /// The block, with these cells missing.
    ///
    /// # Panics
    /// If `missing` is of another size.
    pub fn finish(self, missing: CellMask) -> Block {
        assert_eq!((missing.rows(), missing.width()), (self.rows(), self.width));
        Block {
            width: self.width,
            layout: self.layout,
            offsets: self.offsets,
            columns: self.columns,
            values: self.values,
            missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: &[&[(u32, f64)]]) -> Block {
        let mut builder = BlockBuilder::new(4, BlockLayout::List);
        for row in rows {
            builder.push_row(&mut row.to_vec());
        }
        builder.finish(CellMask::none(rows.len(), 4))
    }

    #[test]
    fn widens_only_as_far_as_the_values_need() {
        assert_eq!(*block(&[&[(1, 1.0), (0, 0.0)]]).values(), BlockValues::Ones);
        let single = block(&[&[(1, 1.0)], &[(2, 0.5)]]);
        assert_eq!(*single.values(), BlockValues::F32(vec![1.0, 0.5]));
        let double = block(&[&[(1, 1.0)], &[(2, 0.1)]]);
        assert_eq!(*double.values(), BlockValues::F64(vec![1.0, 0.1]));
        assert_eq!(double.cells(1).collect::<Vec<_>>(), [(2, 0.1)]);
    }

    #[test]
    fn hiding_forgets_and_completing_gives_back() {
        let full = block(&[&[(0, 1.0), (3, 1.0)], &[(2, 1.0)]]);
        let hidden = CellMask::build(2, 4, |row, cells| {
            if row == 0 {
                cells.push(3);
            }
        });
        let holed = full.with_hidden(&hidden);
        assert_eq!(holed.columns(0), [0]);
        assert!(holed.missing().contains(0, 3));
        let again = holed.completed(|row, cells| {
            if row == 0 {
                cells.push((3, 1.0));
            }
        });
        assert_eq!(again, full);
    }
}
