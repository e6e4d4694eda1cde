//! Node tables from text: every cell kept as it is spelt, blank cells missing.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use csv::StringRecord;

use super::dialect::Dialect;
use super::records::{Comments, Records};
use crate::error::{DataError, Place, Result};
use crate::formats::opened::Text;
use crate::formats::options::ReadOptions;
use crate::formats::raw_table::{LineNumbers, RawCells, RawColumn, RawTable};
use crate::progress::Progress;

/// How many rows pass between two reports of progress.
const REPORT_INTERVAL: u64 = 1 << 14;

/// The most text that one column can hold: its cells are addressed with 31 bits.
const MAX_TEXT: usize = i32::MAX as usize;

/// Reads the rows of a node file. Whether the first row has the names of the columns is decided later,
/// when the edges are known.
pub(crate) fn read_nodes(
    text: Text,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<RawTable> {
    let path = text.path.clone();
    let dialect = Dialect::of(&text, options.nodes.delimiter);
    let mut records = Records::new(text, &dialect, Comments::Data);
    let mut record = StringRecord::new();
    if !records.read(&mut record)? {
        return Err(DataError::malformed(
            Place::file(&path),
            "the file is empty",
            "a node table starts with a line of column names",
        ));
    }
    let first: Vec<String> = record.iter().map(str::to_owned).collect();
    let mut lines = LineNumbers::starting_at(record.position().map_or(1, csv::Position::line));
    let mut columns: Vec<GrowingCells> = first.iter().map(|_| GrowingCells::new()).collect();
    let mut rows = 0u64;
    progress.begin("reading nodes", None);
    while records.read(&mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != first.len() {
            // Only spaces as separators come here: the parser of other files sees to it itself.
            let found =
                format!("the row has {} cells, the first row {}", record.len(), first.len());
            let advice = "every row needs as many cells as the first";
            return Err(DataError::malformed(Place::line(&path, line), found, advice));
        }
        lines.push(rows, line);
        for (column, cell) in columns.iter_mut().zip(record.iter()) {
            column.push((!cell.trim().is_empty()).then_some(cell)).map_err(|found| {
                DataError::malformed(Place::line(&path, line), found, "write the table as Parquet")
            })?;
        }
        rows += 1;
        if rows.is_multiple_of(REPORT_INTERVAL) {
            let bytes: usize = columns.iter().map(GrowingCells::bytes).sum();
            let place = Place::line(&path, line);
            DataError::check_memory(place, "the table", bytes as u64, options.memory_limit)?;
            progress.advance(REPORT_INTERVAL);
            progress.check()?;
        }
    }
    progress.end();
    let columns = columns.into_iter().map(|cells| RawColumn::new(String::new(), cells.finish()));
    Ok(RawTable::from_text(&path, dialect, first, columns.collect(), lines))
}

/// A column while it is read: one byte per cell as long as no cell needs more.
enum GrowingCells {
    Bytes(Vec<u8>),
    Text(StringBuilder),
}

impl GrowingCells {
    fn new() -> Self {
        GrowingCells::Bytes(Vec::new())
    }

    fn bytes(&self) -> usize {
        match self {
            GrowingCells::Bytes(bytes) => bytes.len(),
            GrowingCells::Text(text) => text.values_slice().len() + 5 * text.offsets_slice().len(),
        }
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
