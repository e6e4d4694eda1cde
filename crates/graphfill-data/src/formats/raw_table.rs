//! A node file on its way to a table: columns as they stand in the file, nothing interpreted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, FieldRef};

use crate::error::{DataError, Place, Result};
use crate::formats::csv;
use crate::kind::DeclaredKind;

/// The rows of one or more files, one after the other.
#[derive(Debug)]
pub(crate) struct RawTable {
    pub(crate) columns: Vec<RawColumn>,
    /// What a typed file says about itself; that of the first file counts.
    pub(crate) metadata: HashMap<String, String>,
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
    text: Option<u8>,
}

impl RawTable {
    pub(crate) fn from_text(path: &Path, delimiter: u8, columns: Vec<RawColumn>) -> Self {
        let rows = columns.first().map_or(0, |column| column.cells.len());
        let origin = Origin { path: path.to_path_buf(), rows, text: Some(delimiter) };
        RawTable { columns, metadata: HashMap::new(), origins: vec![origin] }
    }

    pub(crate) fn from_typed(path: &Path, rows: usize, columns: Vec<RawColumn>) -> Self {
        let origin = Origin { path: path.to_path_buf(), rows, text: None };
        RawTable { columns, metadata: HashMap::new(), origins: vec![origin] }
    }

    pub(crate) fn rows(&self) -> usize {
        self.origins.iter().map(|origin| origin.rows).sum()
    }

    /// Whether any of the rows come from a text file.
    pub(crate) fn is_text(&self) -> bool {
        self.origins.iter().any(|origin| origin.text.is_some())
    }

    /// The first file, for messages about the table as a whole.
    pub(crate) fn path(&self) -> &Path {
        self.origins.first().map_or(Path::new(""), |origin| &origin.path)
    }

    /// Where a row came from.
    pub(crate) fn place(&self, row: usize) -> Place {
        let mut before = 0;
        for origin in &self.origins {
            if row < before + origin.rows {
                let row = row - before;
                let line = match origin.text {
                    Some(delimiter) => csv::line_of_row(&origin.path, delimiter, row),
                    None => Some(row as u64 + 1),
                };
                return Place { path: origin.path.clone(), line, column: None };
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
            let mut column = RawColumn {
                name: new.name,
                cells: new.cells.empty_like(),
                declared: new.declared,
                block: new.block,
                field: new.field,
            };
            column.cells = column.cells.padded(rows);
            column.join(Some(new.cells), rows, more, &path)?;
            self.columns.push(column);
        }
        self.origins.extend(other.origins);
        Ok(())
    }
}

impl RawColumn {
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
