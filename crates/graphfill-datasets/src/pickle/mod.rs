//! A strict reader of Python pickles, protocols 2 to 5: it builds numbers, strings, lists, dicts,
//! numpy arrays and scipy CSR matrices, runs no code, and refuses every other global by name.
//!
//! Objects are kept in one list and refer to each other by position, so nothing recurses along the
//! nesting of a pickle. Every length is checked against the bytes of the file, and the memory of all
//! objects against a limit.

mod arrays;
mod calls;
mod heap;
mod machine;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod writer;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use graphfill_data::{DataError, Place, Result};

use crate::memory;
pub(crate) use arrays::CsrMatrix;
pub(crate) use heap::{Heap, Value};

/// The largest pickle in bytes. It also keeps the number of objects below 2³².
const MAX_BYTES: u64 = 1 << 30;

/// The content of a pickle: its top value, and the objects that the value refers to.
pub(crate) struct Pickle<'a> {
    pub(crate) heap: Heap<'a>,
    pub(crate) root: Value,
}

/// Why a pickle is not read, before the name of its file is known.
#[derive(Debug, PartialEq)]
pub(crate) enum Problem {
    /// The content is wrong: what was found, and what to do about it.
    Content { found: String, advice: &'static str },
    /// The objects would need this many bytes, more than the limit.
    Memory { needed: u64, limit: u64 },
}

impl Problem {
    /// The bytes are no pickle, or only a part of one.
    fn damaged(found: impl Into<String>) -> Self {
        let advice = "the file is damaged, cut short or no pickle: fetch or write it again";
        Problem::Content { found: found.into(), advice }
    }

    /// The pickle holds more than data, or data of a type that is not read.
    fn refused(found: impl Into<String>) -> Self {
        let advice = "save it as numbers, lists, dicts, numpy arrays of numbers or a scipy \
                      csr_matrix, with pickle protocol 2 to 5";
        Problem::Content { found: found.into(), advice }
    }

    /// A value has another type than the file should have there.
    pub(crate) fn unexpected(expected: &str, found: &str) -> Self {
        Problem::refused(format!("found {found} where {expected} was expected"))
    }

    /// The same problem with the byte offset of the instruction.
    fn at_byte(self, at: usize) -> Self {
        match self {
            Problem::Content { found, advice } => {
                Problem::Content { found: format!("at byte {at}: {found}"), advice }
            }
            memory @ Problem::Memory { .. } => memory,
        }
    }

    /// The error for the caller.
    pub(crate) fn in_file(self, path: &Path) -> DataError {
        let place = Place::file(path);
        match self {
            Problem::Content { found, advice } => DataError::malformed(place, found, advice),
            Problem::Memory { needed, limit } => {
                let checked = DataError::check_memory(place.clone(), "the pickle", needed, limit);
                let within = || DataError::malformed(place, "the pickle is too large", "");
                checked.err().unwrap_or_else(within)
            }
        }
    }
}

/// Fails if `needed` bytes are more than `limit`.
fn check_limit(needed: u64, limit: u64) -> Result<(), Problem> {
    if needed > limit { Err(Problem::Memory { needed, limit }) } else { Ok(()) }
}

/// Reads a whole file of at most [`MAX_BYTES`] and `limit` bytes.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let failed = |error| DataError::read(path, error);
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    memory::check(path, "the pickle", size, limit)?;
    let mut content = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut content).map_err(failed)?;
    Ok(content)
}

/// Parses a pickle whose objects may take `limit` bytes; bytes after its end are ignored, as
/// Python does.
pub(crate) fn parse(bytes: &[u8], limit: u64) -> Result<Pickle<'_>, Problem> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::refused(format!("the pickle is longer than {MAX_BYTES} bytes")));
    }
    machine::Machine::new(bytes, limit).run()
}

/// Parses a pickle and asks for everything that a reader may ask for.
pub(crate) fn fuzz(bytes: &[u8]) {
    const LIMIT: u64 = 1 << 28;
    if let Ok(pickle) = parse(bytes, LIMIT) {
        let heap = &pickle.heap;
        // Both a value and a problem are fine; only a panic is a finding.
        let _ = CsrMatrix::new(heap, pickle.root, LIMIT);
        let _ = heap.array(pickle.root).and_then(|array| array.floats(heap, LIMIT));
    }
}
