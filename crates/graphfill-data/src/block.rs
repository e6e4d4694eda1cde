//! Many columns that belong together (words, tags, an embedding), held as sparse rows.
//!
//! Zeros cost nothing and ones only their position; missing cells are a [`CellMask`] beside them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, StringArray};
use arrow_schema::{DataType, FieldRef};

use crate::cell_mask::CellMask;
use crate::error::{DataError, Result};
use crate::kind::BlockKind;

/// How the block stands in a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BlockLayout {
    /// One column of the file per column of the block, with these names.
    Columns(Vec<String>),
    /// As `Columns`, in a typed file, with these fields.
    TypedColumns(Vec<FieldRef>),
    /// One list column of the file.
    List,
    /// One list column of the file, of this Arrow type.
    TypedList(DataType),
}

/// The values of the stored cells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    /// The texts of a column of a text file, where a number would be spelt otherwise.
    spellings: Arc<Vec<Option<StringArray>>>,
}

/// Compressed sparse rows, as scipy's `csr_matrix` holds them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Csr<'a> {
    /// Row `r` has the stored cells `indptr[r]..indptr[r + 1]`.
    pub indptr: &'a [usize],
    /// The column of each stored cell, ascending in each row.
    pub indices: &'a [u32],
    /// The value of each stored cell.
    pub values: &'a BlockValues,
}

impl Block {
    /// A block of compressed sparse rows: row `r` has the columns `indices[indptr[r]..indptr[r+1]]`
    /// in any order, and as many values. NaN is a missing cell; zeros are not stored.
    ///
    /// # Errors
    /// If the arrays don't fit together, if a column lies outside `0..width` or stands twice in a
    /// row, or if a value is infinite.
    pub fn from_csr(
        indptr: &[usize],
        indices: &[u32],
        values: &[f64],
        width: usize,
    ) -> Result<Block> {
        let wrong = |found: String| {
            Err(DataError::request(
                found,
                "give indptr, indices and values as scipy.sparse.csr_matrix has them",
            ))
        };
        if indices.len() != values.len() {
            return wrong(format!("{} indices for {} values", indices.len(), values.len()));
        }
        let ascending = indptr.is_sorted() && indptr.first() == Some(&0);
        if !ascending || indptr.last() != Some(&indices.len()) {
            let last = indices.len();
            return wrong(format!("the row offsets don't ascend from 0 to {last}"));
        }
        let mut builder = BlockBuilder::new(width, BlockLayout::List);
        let mut missing = Vec::new();
        let mut cells: Vec<(u32, f64)> = Vec::new();
        for (row, range) in indptr.windows(2).enumerate() {
            let range = range[0]..range[1];
            cells.clear();
            cells.extend(indices[range.clone()].iter().copied().zip(values[range].iter().copied()));
            cells.sort_unstable_by_key(|cell| cell.0);
            if let Some((column, _)) = cells.last().filter(|cell| cell.0 as usize >= width) {
                return wrong(format!("row {row} has column {column} of {width}"));
            }
            if let Some(pair) = cells.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return wrong(format!("row {row} has column {} twice", pair[0].0));
            }
            if let Some((column, _)) = cells.iter().find(|cell| cell.1.is_infinite()) {
                return wrong(format!("row {row}, column {column} is infinite"));
            }
            let holes = cells.iter().filter(|cell| cell.1.is_nan());
            missing.extend(holes.map(|cell| (row, cell.0)));
            cells.retain(|cell| !cell.1.is_nan());
            builder.push_row(&mut cells);
        }
        let missing = CellMask::of_cells(builder.rows(), width, &missing);
        Ok(builder.finish(missing))
    }

    /// The stored cells as compressed sparse rows. Missing cells are not among them: see
    /// [`Block::missing`].
    pub fn as_csr(&self) -> Csr<'_> {
        Csr { indptr: &self.offsets, indices: &self.columns, values: &self.values }
    }

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
            BlockLayout::Columns(names) => names[column].clone(),
            BlockLayout::TypedColumns(fields) => fields[column].name().clone(),
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
        let values = BlockValues::F32(vec![1.0; self.stored()]);
        Block { values, spellings: Arc::default(), ..self.clone() }
    }

    /// The same block, its observed cells spelt as in `texts`: one text column of the file per
    /// column, none where the file has no texts. Columns whose numbers are spelt so anyway don't
    /// keep theirs.
    #[must_use]
    pub(crate) fn with_spellings(mut self, mut texts: Vec<Option<StringArray>>) -> Self {
        let mut unlike = vec![false; self.width];
        let mut numbers = vec![0.0; self.width];
        for row in 0..self.rows() {
            numbers.fill(0.0);
            self.cells(row).for_each(|(column, value)| numbers[column as usize] = value);
            for (column, text) in texts.iter().enumerate() {
                let text = text.as_ref().filter(|text| text.is_valid(row));
                unlike[column] |= text.is_some_and(|t| t.value(row) != self.spell(numbers[column]));
            }
        }
        texts
            .iter_mut()
            .zip(&unlike)
            .filter(|(_, kept)| !**kept)
            .for_each(|(text, _)| *text = None);
        self.spellings = if unlike.contains(&true) { Arc::new(texts) } else { Arc::default() };
        self
    }

    /// How an observed cell was spelt in its file, where a number would be spelt otherwise.
    pub(crate) fn spelling(&self, row: usize, column: usize) -> Option<&str> {
        let texts = self.spellings.get(column)?.as_ref()?;
        (row < texts.len() && texts.is_valid(row)).then(|| texts.value(row))
    }

    /// The shortest text that reads back as the same number.
    pub(crate) fn spell(&self, value: f64) -> String {
        match self.values {
            BlockValues::F32(_) => (value as f32).to_string(),
            BlockValues::Ones | BlockValues::F64(_) => value.to_string(),
        }
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
        // What is hidden is forgotten, its spelling too.
        let texts = self.spellings.iter().enumerate().map(|(column, texts)| {
            let cells = texts.as_ref()?.iter().enumerate();
            let kept = cells.map(|(row, text)| text.filter(|_| !missing.contains(row, column)));
            Some(kept.collect())
        });
        let spellings = Arc::new(texts.collect());
        Block { spellings, ..builder.finish(missing) }
    }

    /// The block with `rows` missing rows behind its own.
    #[must_use]
    pub fn with_missing_rows(&self, rows: usize) -> Block {
        let all = self.rows() + rows;
        let mut block = self.clone();
        block.offsets.resize(all + 1, self.columns.len());
        let own = &self.missing;
        let single = CellMask::build(all, self.width, |row, cells| {
            if row < own.rows() {
                cells.extend_from_slice(own.cells(row));
            }
        });
        let whole = (0..all).filter(|&row| row >= own.rows() || own.is_whole(row));
        block.missing = single.with_rows(whole);
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
            spellings: Arc::default(),
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
    fn compressed_rows_go_in_and_out() {
        let nan = f64::NAN;
        let made = Block::from_csr(&[0, 2, 2, 5], &[3, 0, 1, 2, 0], &[1.5, 2.0, 0.0, nan, 1.0], 4);
        let made = made.expect("good rows");
        let csr = made.as_csr();
        assert_eq!((csr.indptr, csr.indices), (&[0, 2, 2, 3][..], &[0, 3, 0][..]));
        assert_eq!(*csr.values, BlockValues::F32(vec![2.0, 1.5, 1.0]));
        assert!(made.missing().contains(2, 2) && made.missing().count() == 1);
        let bad = [
            (vec![0, 1], vec![0], vec![], "1 indices for 0 values"),
            (vec![0, 2, 1], vec![0], vec![1.0], "ascend"),
            (vec![1, 1], vec![0], vec![1.0], "ascend"),
            (vec![], vec![], vec![], "ascend"),
            (vec![0, 1], vec![4], vec![1.0], "column 4 of 4"),
            (vec![0, 2], vec![1, 1], vec![1.0, 2.0], "column 1 twice"),
            (vec![0, 1], vec![1], vec![f64::INFINITY], "infinite"),
        ];
        for (indptr, indices, values, part) in bad {
            let error = Block::from_csr(&indptr, &indices, &values, 4).expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn spellings_last_as_long_as_their_cells() {
        let texts = |column: [Option<&str>; 2]| Some(StringArray::from(column.to_vec()));
        let plain = block(&[&[(0, 1.5), (1, 0.5)], &[(0, 2.0), (1, 0.5)]]);
        let columns =
            vec![texts([Some("1.50"), Some("2.0")]), texts([Some("0.5"), Some("0.5")]), None, None];
        let spelt = plain.clone().with_spellings(columns);
        assert_eq!((spelt.spelling(0, 0), spelt.spelling(1, 0)), (Some("1.50"), Some("2.0")));
        assert_eq!(spelt.spelling(0, 1), None, "spelt so anyway");
        let hidden = CellMask::of_rows(2, 4, [1]);
        let again = spelt.with_hidden(&hidden).completed(|row, cells| {
            cells.extend((row == 1).then_some((0, 7.0)));
        });
        assert_eq!((again.spelling(0, 0), again.spelling(1, 0)), (Some("1.50"), None));
        assert_eq!(spelt.with_missing_rows(3).spelling(4, 0), None);
        assert_eq!(spelt.binarized().spelling(0, 0), None);
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
