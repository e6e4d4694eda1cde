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

/// What begins a line of an edge file that is not an edge.
const COMMENT: u8 = b'#';

/// Separators that are looked for; of two that are as frequent, the first.
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

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
    Ok(most_frequent_separator(&start))
}

/// The separator that the first line has most of, outside of quotes. Comments above it are prose,
/// with commas of their own.
fn most_frequent_separator(start: &[u8]) -> u8 {
    let mut lines = start.split(|&byte| byte == b'\n');
    let line = lines.clone().find(|line| !line.starts_with(&[COMMENT])).or_else(|| lines.next());
    let mut counts = [0; SEPARATORS.len()];
    let mut quoted = false;
    for byte in line.unwrap_or_default() {
        if *byte == b'"' {
            quoted = !quoted;
        } else if let Some(at) = SEPARATORS.iter().position(|one| one == byte).filter(|_| !quoted) {
            counts[at] += 1;
        }
    }
    let best = (0..SEPARATORS.len()).rev().max_by_key(|&at| counts[at]);
    SEPARATORS[best.unwrap_or(0)]
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
    builder.delimiter(delimiter).has_headers(false).comment(Some(COMMENT));
    let mut reader = builder.from_reader(open::open(path)?);
    let mut record = ::csv::StringRecord::new();
    reader.read_record(&mut record).map_err(|error| record_error(path, error))?;
    Ok(record.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect())
}
