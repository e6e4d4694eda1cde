//! What is wrong with a pickle, before the name of its file is known.

use std::path::Path;

use crate::error::{DataError, Place};

/// What was found, and what to do about it.
#[derive(Debug, PartialEq)]
pub(in crate::formats) struct Problem {
    pub(in crate::formats) found: String,
    remedy: &'static str,
}

impl Problem {
    /// The bytes are no pickle, or not all of one.
    pub(super) fn damaged(found: impl Into<String>) -> Self {
        let remedy = "the file is damaged, cut short or no pickle: fetch or write it again";
        Problem { found: found.into(), remedy }
    }

    /// The pickle holds more than data, or data of a kind that is not read.
    pub(super) fn refused(found: impl Into<String>) -> Self {
        let remedy = "save it as numbers, lists, dicts, numpy arrays of numbers or a scipy \
                      csr_matrix, with pickle protocol 2 to 5";
        Problem { found: found.into(), remedy }
    }

    /// The pickle holds another thing than the file should.
    pub(in crate::formats) fn unexpected(expected: &str, found: &str) -> Self {
        Problem::refused(format!("found {found} where {expected} was expected"))
    }

    /// The same, with the byte of the file at which it was noticed.
    pub(super) fn at_byte(mut self, at: usize) -> Self {
        self.found = format!("at byte {at}: {}", self.found);
        self
    }

    /// The error for the person who holds the file.
    pub(in crate::formats) fn in_file(self, path: &Path) -> DataError {
        DataError::malformed(Place::file(path), self.found, self.remedy)
    }
}
