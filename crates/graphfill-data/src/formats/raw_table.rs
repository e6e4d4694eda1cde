//! The columns of a node file as they stand in it, before ids, types and missing words are told.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, FieldRef};

use crate::error::{DataError, Place, Result};
use crate::formats::csv::Dialect;
use crate::kind::DeclaredKind;

/// The rows of one or more files, one after the other.
#[derive(Debug)]
pub(crate) struct RawTable {
    pub(crate) columns: Vec<RawColumn>,
    /// What a typed file says about itself; that of the first file counts.
    pub(crate) metadata: HashMap<String, String>,
    /// How the first text file is written down.
    pub(crate) dialect: Option<Dialect>,
    /// The first record of a text file, while it is not told whether it has the columns' names.
    pub(crate) first_row: Option<Vec<String>>,
    /// Whether the columns were given names because the file has none.
    pub(crate) headerless: bool,
    origins: Vec<Origin>,
}

#[derive(Debug)]
pub(crate) struct RawColumn {
    pub(crate) name: String,
    pub(crate) cells: RawCells,
    /// What the file itself declares the column to be.
    pub(crate) declared: Option<DeclaredKind>,
    /// The block to which the file itself says that the column belongs.
    pub(crate) block: Option<String>,
    /// The column's field in a typed file: its metadata, and whether it may be null.
    pub(crate) field: Option<FieldRef>,
}

#[derive(Debug)]
pub(crate) enum RawCells {
    /// Text cells of at most one byte (0/1 words, digits, Y/N): that byte, or 0 for a missing cell.
    Bytes(Vec<u8>),
    /// Anything else.
    Array(ArrayRef),
}

#[derive(Debug, Clone)]
struct Origin {
    path: PathBuf,
    rows: usize,
    /// The lines of a text file on which its rows start.
    lines: Option<LineNumbers>,
}

/// On which line each row of a text file starts; only rows that don't follow on the line after the row
/// before take memory.
#[derive(Debug, Clone)]
pub(crate) struct LineNumbers {
    first_line: u64,
    /// `(row, line)`, from where on lines follow rows one by one.
    jumps: Vec<(u64, u64)>,
}

impl LineNumbers {
    /// No row yet; the first record, which may be the header, stands on `line`.
    pub(crate) fn starting_at(line: u64) -> Self {
        LineNumbers { first_line: line, jumps: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: u64, line: u64) {
        if self.jumps.is_empty() || self.line(row) != line {
            self.jumps.push((row, line));
        }
    }

    /// The line of a row.
    fn line(&self, row: u64) -> u64 {
        let behind = self.jumps.partition_point(|&(first, _)| first <= row);
        match behind.checked_sub(1).map(|at| self.jumps[at]) {
            Some((first, line)) => line + (row - first),
            None => self.first_line,
        }
    }

    /// The same with the first record as row 0.
    fn with_first_record(mut self) -> Self {
        self.jumps.iter_mut().for_each(|(row, _)| *row += 1);
        self.jumps.insert(0, (0, self.first_line));
        self
    }
}

impl RawTable {
    pub(crate) fn from_text(
        path: &Path,
        dialect: Dialect,
        first_row: Vec<String>,
        columns: Vec<RawColumn>,
        lines: LineNumbers,
    ) -> Self {
        let rows = columns.first().map_or(0, |column| column.cells.len());
        let origin = Origin { path: path.to_path_buf(), rows, lines: Some(lines) };
        RawTable {
            columns,
            metadata: HashMap::new(),
            dialect: Some(dialect),
            first_row: Some(first_row),
            headerless: false,
            origins: vec![origin],
        }
    }

    pub(crate) fn from_typed(path: &Path, rows: usize, columns: Vec<RawColumn>) -> Self {
        let origin = Origin { path: path.to_path_buf(), rows, lines: None };
        RawTable {
            columns,
            metadata: HashMap::new(),
            dialect: None,
            first_row: None,
            headerless: false,
            origins: vec![origin],
        }
    }

    /// Takes the first record as the names of the columns.
    pub(crate) fn take_header(&mut self) {
        let names = self.first_row.take().into_iter().flatten();
        for (column, name) in self.columns.iter_mut().zip(names) {
            column.name = name;
        }
    }

    /// Takes the first record as a row like the others; the columns are called `column_1`, ….
    pub(crate) fn take_first_row(&mut self) {
        let Some(first) = self.first_row.take() else { return };
        for (at, (column, cell)) in self.columns.iter_mut().zip(first).enumerate() {
            column.name = numbered_name(at);
            column.prepend(&cell);
        }
        self.headerless = true;
        if let Some(origin) = self.origins.first_mut() {
            origin.rows += 1;
            origin.lines = origin.lines.take().map(LineNumbers::with_first_record);
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.origins.iter().map(|origin| origin.rows).sum()
    }

    /// Whether any of the rows come from a text file.
    pub(crate) fn is_text(&self) -> bool {
        self.origins.iter().any(|origin| origin.lines.is_some())
    }

    /// The first file, for messages about the table as a whole.
    pub(crate) fn path(&self) -> &Path {
        self.origins.first().map_or(Path::new(""), |origin| &origin.path)
    }

    /// Where a row came from: its line in a text file, its number from 1 in a typed one.
    pub(crate) fn place(&self, row: usize) -> Place {
        let mut before = 0;
        for origin in &self.origins {
            if row < before + origin.rows {
                let row = (row - before) as u64;
                let line = origin.lines.as_ref().map_or(row + 1, |lines| lines.line(row));
                return Place::line(&origin.path, line);
            }
            before += origin.rows;
        }
        Place::file(self.path())
    }

    /// The rows of `other` behind these; a column that one of them lacks is missing there.
    pub(crate) fn append(&mut self, other: RawTable) -> Result<()> {
        let (rows, more) = (self.rows(), other.rows());
        let path = other.path().to_path_buf();
        let mut others: Vec<Option<RawColumn>> = other.columns.into_iter().map(Some).collect();
        for column in &mut self.columns {
            let same = others.iter_mut().find(|candidate| {
                candidate.as_ref().is_some_and(|candidate| candidate.name == column.name)
            });
            let cells = same.and_then(Option::take).map(|column| column.cells);
            column.join(cells, rows, more, &path)?;
        }
        for new in others.into_iter().flatten() {
            let cells = new.cells.empty_like().padded(rows);
            let mut column = RawColumn {
                name: new.name,
                cells,
                declared: new.declared,
                block: new.block,
                field: new.field,
            };
            column.join(Some(new.cells), rows, more, &path)?;
            self.columns.push(column);
        }
        self.origins.extend(other.origins);
        Ok(())
    }
}

/// The name of a column in a file without names.
pub(crate) fn numbered_name(position: usize) -> String {
    format!("column_{}", position + 1)
}

impl RawColumn {
    pub(crate) fn new(name: String, cells: RawCells) -> Self {
        RawColumn { name, cells, declared: None, block: None, field: None }
    }

    /// Puts a text cell before the others.
    fn prepend(&mut self, cell: &str) {
        let cell = (!cell.trim().is_empty()).then_some(cell);
        let own = std::mem::replace(&mut self.cells, RawCells::Bytes(Vec::new())).into_array();
        let first = StringArray::from(vec![cell]);
        // Both are text.
        let joined = arrow_select::concat::concat(&[&first, own.as_ref()]);
        self.cells = RawCells::Array(joined.unwrap_or(own));
    }

    fn join(
        &mut self,
        cells: Option<RawCells>,
        rows: usize,
        more: usize,
        path: &Path,
    ) -> Result<()> {
        let own = std::mem::replace(&mut self.cells, RawCells::Bytes(Vec::new()));
        self.cells = match cells {
            None => own.padded(rows + more),
            Some(RawCells::Bytes(bytes)) if matches!(own, RawCells::Bytes(_)) => {
                let RawCells::Bytes(mut all) = own else { return Ok(()) };
                all.extend(bytes);
                RawCells::Bytes(all)
            }
            Some(cells) => {
                let (own, cells) = (own.into_array(), cells.into_array());
                let joined = crate::dictionary::concat(&[own.clone(), cells.clone()]);
                let joined = joined.map_err(|_| {
                    DataError::malformed(
                        Place::file(path).column(&self.name),
                        format!(
                            "its type is {}, while the files before have {}",
                            cells.data_type(),
                            own.data_type()
                        ),
                        "give the column one type in all files, or another name",
                    )
                })?;
                RawCells::Array(joined)
            }
        };
        Ok(())
    }
}

impl RawCells {
    pub(crate) fn len(&self) -> usize {
        match self {
            RawCells::Bytes(bytes) => bytes.len(),
            RawCells::Array(cells) => cells.len(),
        }
    }

    fn empty_like(&self) -> RawCells {
        match self {
            RawCells::Bytes(_) => RawCells::Bytes(Vec::new()),
            RawCells::Array(cells) => RawCells::Array(cells.slice(0, 0)),
        }
    }

    /// Missing cells behind the own ones, up to `rows`.
    fn padded(self, rows: usize) -> RawCells {
        match self {
            RawCells::Bytes(mut bytes) => {
                bytes.resize(rows, 0);
                RawCells::Bytes(bytes)
            }
            RawCells::Array(cells) => {
                let gap = arrow_array::new_null_array(cells.data_type(), rows - cells.len());
                let padded = arrow_select::concat::concat(&[cells.as_ref(), gap.as_ref()]);
                // Two arrays of one type always join.
                RawCells::Array(padded.unwrap_or(cells))
            }
        }
    }

    pub(crate) fn into_array(self) -> ArrayRef {
        match self {
            RawCells::Array(cells) => cells,
            RawCells::Bytes(bytes) => {
                let mut text = StringBuilder::with_capacity(bytes.len(), bytes.len());
                for byte in bytes {
                    match byte {
                        0 => text.append_null(),
                        byte => text.append_value(char::from(byte).encode_utf8(&mut [0; 4])),
                    }
                }
                Arc::new(text.finish())
            }
        }
    }

    /// The cells of a text column; none for another type.
    pub(crate) fn text(&self) -> Option<StringArray> {
        match self {
            RawCells::Bytes(bytes) => {
                let cells = RawCells::Bytes(bytes.clone()).into_array();
                Some(StringArray::from(cells.to_data()))
            }
            RawCells::Array(cells) if *cells.data_type() == DataType::Utf8 => {
                Some(StringArray::from(cells.to_data()))
            }
            RawCells::Array(_) => None,
        }
    }
}

/// Two columns of one name could not be told apart, neither here nor by who reads the file next.
pub(crate) fn check_distinct(path: &Path, names: &[String]) -> Result<()> {
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(DataError::malformed(
            Place::file(path),
            format!("two columns are called '{}'", pair[0]),
            "give every column a name of its own",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_rows_are_known_without_reading_again() {
        let mut lines = LineNumbers::starting_at(1);
        for (row, line) in [(0, 2), (1, 3), (2, 6), (3, 7)] {
            lines.push(row, line);
        }
        assert_eq!(lines.jumps.len(), 2);
        assert_eq!([0, 1, 2, 3].map(|row| lines.line(row)), [2, 3, 6, 7]);
        let lines = lines.with_first_record();
        assert_eq!([0, 1, 2, 3, 4].map(|row| lines.line(row)), [1, 2, 3, 6, 7]);
    }
}
