//! CSV and TSV, plain or gzipped: node tables with a header, edge lists with or without one.
//!
//! The separator follows from the name (`.tsv`, `.tab`: tab; otherwise comma, or whichever of
//! comma, tab, semicolon and bar the first line has most of) unless the caller gives it.

mod edges;
mod nodes;
mod write;

use std::io::Read;
use std::path::Path;

pub(crate) use edges::read_edges;
pub(crate) use nodes::{line_of_row, read_nodes};
pub(crate) use write::{write_edges, write_nodes};

use crate::error::{DataError, Place, Result};
use crate::formats::open;

/// The separator of a text file.
pub(crate) fn delimiter_of(path: &Path, given: Option<u8>) -> Result<u8> {
    if let Some(delimiter) = given {
        return Ok(delimiter);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".tsv") || name.ends_with(".tab") {
        return Ok(b'\t');
    }
    let mut start = Vec::new();
    let source = open::open(path)?;
    source
        .take(1 << 16)
        .read_to_end(&mut start)
        .map_err(|error| open::Source::error(path, error))?;
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
    let candidates = [b',', b'\t', b';', b'|'];
    let best = candidates.into_iter().rev().max_by_key(|&delimiter| count(delimiter));
    Ok(best.unwrap_or(b','))
}

/// What a failed record means to the person who holds the file.
fn record_error(path: &Path, error: ::csv::Error) -> DataError {
    let line = error.position().map(::csv::Position::line);
    let place = Place { path: path.to_path_buf(), line, column: None };
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => open::Source::error(path, error),
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => DataError::malformed(
            place,
            format!("the row has {len} cells, the header {expected_len}"),
            "every row needs as many cells as the header; a separator inside a cell needs quotes around the cell",
        ),
        ::csv::ErrorKind::Utf8 { .. } => DataError::malformed(
            place,
            "the text is not UTF-8",
            "save the file as UTF-8 (spreadsheets offer it as an encoding on export)",
        ),
        other => DataError::malformed(place, format!("{other:?}"), "check the row"),
    }
}

/// The names in the first line.
pub(crate) fn column_names(path: &Path) -> Result<Vec<String>> {
    let delimiter = delimiter_of(path, None)?;
    let mut builder = ::csv::ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).comment(Some(b'#'));
    let mut reader = builder.from_reader(open::open(path)?);
    let mut record = ::csv::StringRecord::new();
    reader.read_record(&mut record).map_err(|error| record_error(path, error))?;
    Ok(record.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect())
}
