//! The records of a text table, one at a time, with a cap on their length.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use csv::{ReaderBuilder, StringRecord};

use super::dialect::{COMMENTS, Delimiter, Dialect, LineEnd};
use crate::error::{DataError, Place, Result};
use crate::formats::opened::{Text, stream_error};
use crate::hint::{Hint, Setting};

/// The longest record: far above any table's, far below what a broken file could make us hold.
const MAX_RECORD: usize = 64 << 20;
/// The bytes parsed at a time.
const BUFFER: usize = 1 << 18;

/// Whether lines that start with `#` or `%` are comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    Skipped,
    Data,
}

/// Reads records; the caller keeps the buffer.
pub(super) struct Records {
    path: PathBuf,
    parser: Parser,
    comments: Comments,
    budget: Rc<Cell<usize>>,
    /// The parser leaves the line feed of CR LF to the next record, whose line it then counts one short.
    line_end: LineEnd,
}

enum Parser {
    Separated(Box<csv::Reader<Capped>>),
    Whitespace { reader: BufReader<Capped>, line: String, number: u64 },
}

impl Records {
    /// The records of a text.
    pub(super) fn new(text: Text, dialect: &Dialect, comments: Comments) -> Self {
        let path = text.path.clone();
        let budget = Rc::new(Cell::new(MAX_RECORD));
        let capped = Capped { inner: text.into_reader(), budget: budget.clone() };
        let parser = match dialect.delimiter {
            Delimiter::Byte(byte) => {
                let mut builder = ReaderBuilder::new();
                builder.delimiter(byte).has_headers(false).buffer_capacity(BUFFER);
                if comments == Comments::Skipped {
                    builder.comment(Some(COMMENTS[0]));
                }
                Parser::Separated(Box::new(builder.from_reader(capped)))
            }
            Delimiter::Whitespace => Parser::Whitespace {
                reader: BufReader::with_capacity(BUFFER, capped),
                line: String::new(),
                number: 0,
            },
        };
        Records { path, parser, comments, budget, line_end: dialect.line_end }
    }

    /// Reads the next record; false at the end.
    pub(super) fn read(&mut self, record: &mut StringRecord) -> Result<bool> {
        self.budget.set(MAX_RECORD);
        match &mut self.parser {
            Parser::Separated(reader) => loop {
                let more = reader.read_record(record);
                let more = more
                    .map_err(|error| record_error(&self.path, error, reader.position().line()))?;
                let first = record.as_slice().as_bytes().first();
                let skipped =
                    more && first == Some(&COMMENTS[1]) && self.comments == Comments::Skipped;
                if !skipped {
                    if self.line_end == LineEnd::CrLf
                        && let Some(position) = record.position().filter(|at| at.byte() > 0)
                    {
                        let mut position = position.clone();
                        position.set_line(position.line() + 1);
                        record.set_position(Some(position));
                    }
                    return Ok(more);
                }
            },
            Parser::Whitespace { reader, line, number } => loop {
                line.clear();
                self.budget.set(MAX_RECORD);
                let read = reader.read_line(line);
                *number += 1;
                if read.map_err(|error| line_error(&self.path, *number, error))? == 0 {
                    return Ok(false);
                }
                let comment = line.as_bytes().first().is_some_and(|byte| COMMENTS.contains(byte));
                if line.trim().is_empty() || (comment && self.comments == Comments::Skipped) {
                    continue;
                }
                split_words(line, record);
                let mut position = csv::Position::new();
                position.set_line(*number);
                record.set_position(Some(position));
                return Ok(true);
            },
        }
    }
}

/// The words of a line; a Python dictionary at its end, as networkx writes it, is one cell.
fn split_words(line: &str, record: &mut StringRecord) {
    record.clear();
    let mut rest = line.trim();
    while !rest.is_empty() {
        if rest.starts_with('{') && rest.ends_with('}') {
            record.push_field(rest);
            return;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        record.push_field(&rest[..end]);
        rest = rest[end..].trim_start();
    }
}

/// A stream that fails once a record has taken more than its budget.
struct Capped {
    inner: Box<dyn Read>,
    budget: Rc<Cell<usize>>,
}

impl Read for Capped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.budget.get();
        if left == 0 {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a record is too long"));
        }
        let read = self.inner.read(buffer)?;
        self.budget.set(left.saturating_sub(read));
        Ok(read)
    }
}

fn too_long(place: Place) -> DataError {
    let found = format!("the row is longer than {} MiB", MAX_RECORD >> 20);
    let advice =
        "check the quotes: one that is opened and not closed swallows the rest of the file";
    DataError::malformed(place, found, advice)
}

fn not_utf8(place: Place) -> DataError {
    let hint = Hint::new("save the file as UTF-8, or state its encoding").with(Setting::Encoding);
    DataError::malformed(place, "the text is not UTF-8", hint)
}

fn line_error(path: &Path, line: u64, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_long(Place::line(path, line)),
        io::ErrorKind::InvalidData if error.get_ref().is_some() => {
            not_utf8(Place::line(path, line))
        }
        _ => stream_error(path, error),
    }
}

/// The error of the CSV parser, as the person who holds the file needs it.
fn record_error(path: &Path, error: csv::Error, line: u64) -> DataError {
    let place = Place::line(path, error.position().map_or(line, csv::Position::line));
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => too_long(place),
        csv::ErrorKind::Io(error) => stream_error(path, error),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => DataError::malformed(
            place,
            format!("the row has {len} cells, the first row {expected_len}"),
            Hint::new("every row needs as many cells as the first; a separator inside a cell needs quotes around the cell")
                .with(Setting::Delimiter),
        ),
        csv::ErrorKind::Utf8 { .. } => not_utf8(place),
        other => DataError::malformed(place, format!("{other:?}"), "check the row"),
    }
}
