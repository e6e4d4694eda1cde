//! Node tables from text: every cell kept as it is spelt.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use csv::{ReaderBuilder, StringRecord};

use super::{delimiter_of, record_error};
use crate::error::{DataError, Place, Result};
use crate::formats::open::{self, Source};
use crate::formats::options::ReadOptions;
use crate::formats::raw_table::{RawCells, RawColumn, RawTable, check_distinct};
use crate::progress::Progress;

/// How many rows pass between two looks at the progress.
const REPORT_INTERVAL: u64 = 1 << 14;

/// The most text that one column can hold: its cells are addressed with 31 bits.
const MAX_TEXT: usize = i32::MAX as usize;

/// Reads the rows of a node file.
pub(crate) fn read_nodes(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<RawTable> {
    let delimiter = delimiter_of(path, options.delimiter)?;
    let mut reader = reader(path, delimiter)?;
    let header = header(path, &mut reader)?;
    let mut columns: Vec<GrowingCells> = header.iter().map(|_| GrowingCells::new()).collect();
    let mut record = StringRecord::new();
    let mut rows = 0u64;
    progress.begin("reading nodes", None);
    while reader.read_record(&mut record).map_err(|error| record_error(path, error))? {
        for (column, cell) in columns.iter_mut().zip(record.iter()) {
            let cell = if is_missing(cell, &options.missing_values) { None } else { Some(cell) };
            column.push(cell).map_err(|found| {
                let line = record.position().map(csv::Position::line);
                let place = Place { path: path.to_path_buf(), line, column: None };
                DataError::malformed(place, found, "write the table as Parquet")
            })?;
        }
        rows += 1;
        if rows.is_multiple_of(REPORT_INTERVAL) {
            progress.advance(REPORT_INTERVAL);
            progress.check()?;
        }
    }
    progress.end();
    if rows == 0 {
        return Err(DataError::malformed(
            Place::file(path),
            "the file has a header and no row",
            "a node table has one row a node",
        ));
    }
    let columns = header.into_iter().zip(columns).map(|(name, cells)| RawColumn {
        name,
        cells: cells.finish(),
        declared: None,
        block: None,
        field: None,
    });
    Ok(RawTable::from_text(path, delimiter, columns.collect()))
}

/// The line on which a row starts: looked up again, since only errors need it.
pub(crate) fn line_of_row(path: &Path, delimiter: u8, row: usize) -> Option<u64> {
    let mut reader = reader(path, delimiter).ok()?;
    let mut record = StringRecord::new();
    for _ in 0..row + 2 {
        reader.read_record(&mut record).ok()?;
    }
    record.position().map(csv::Position::line)
}

fn reader(path: &Path, delimiter: u8) -> Result<csv::Reader<Source>> {
    let source = open::open(path)?;
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).buffer_capacity(1 << 18);
    Ok(builder.from_reader(source))
}

fn header(path: &Path, reader: &mut csv::Reader<Source>) -> Result<Vec<String>> {
    let mut record = StringRecord::new();
    let found = reader.read_record(&mut record).map_err(|error| record_error(path, error))?;
    if !found {
        return Err(DataError::malformed(
            Place::file(path),
            "the file is empty",
            "a node table starts with a line of column names",
        ));
    }
    if record.iter().any(|name| name.contains('\0')) {
        return Err(DataError::malformed(
            Place::file(path),
            "the file is not text",
            "check that it is a CSV or TSV file; other formats are known by their ending",
        ));
    }
    let names: Vec<String> = record
        .iter()
        .enumerate()
        .map(|(position, name)| match position {
            // Some programs mark UTF-8 with an invisible character in front of the first name.
            0 => name.trim_start_matches('\u{feff}').to_owned(),
            _ => name.to_owned(),
        })
        .collect();
    check_distinct(path, &names)?;
    Ok(names)
}

fn is_missing(cell: &str, spellings: &[String]) -> bool {
    let cell = cell.trim();
    cell.is_empty()
        || cell.eq_ignore_ascii_case("nan")
        || spellings.iter().any(|spelling| spelling == cell)
}

/// A column while it is read: one byte a cell as long as no cell needs more.
enum GrowingCells {
    Bytes(Vec<u8>),
    Text(StringBuilder),
}

impl GrowingCells {
    fn new() -> Self {
        GrowingCells::Bytes(Vec::new())
    }

    fn push(&mut self, cell: Option<&str>) -> std::result::Result<(), String> {
        if let GrowingCells::Bytes(bytes) = self {
            match cell.map(str::as_bytes) {
                None => {
                    bytes.push(0);
                    return Ok(());
                }
                Some(&[byte]) if byte != 0 => {
                    bytes.push(byte);
                    return Ok(());
                }
                Some(_) => self.widen(),
            }
        }
        let GrowingCells::Text(text) = self else { return Ok(()) };
        if text.values_slice().len() + cell.map_or(0, str::len) > MAX_TEXT {
            return Err("a column holds more than 2 GiB of text".to_owned());
        }
        text.append_option(cell);
        Ok(())
    }

    fn widen(&mut self) {
        let GrowingCells::Bytes(bytes) = self else { return };
        let mut text = StringBuilder::with_capacity(bytes.len(), bytes.len());
        for &byte in bytes.iter() {
            match byte {
                0 => text.append_null(),
                byte => text.append_value(char::from(byte).encode_utf8(&mut [0; 4])),
            }
        }
        *self = GrowingCells::Text(text);
    }

    fn finish(self) -> RawCells {
        match self {
            GrowingCells::Bytes(bytes) => RawCells::Bytes(bytes),
            GrowingCells::Text(mut text) => RawCells::Array(Arc::new(text.finish())),
        }
    }
}
