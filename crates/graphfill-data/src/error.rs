//! Errors of reading, writing, splitting and downloading data.
//!
//! Every error says what was found, where (file, line, column, id), and carries a typed [`Hint`]: what
//! to do, and which [`Setting`] decides it. The library does not know command-line flags or Python
//! keywords; whoever shows the error spells the setting in its own way.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::hint::{Hint, Setting};

/// A result whose error is a [`DataError`].
pub type Result<T, E = DataError> = std::result::Result<T, E>;

/// Where in a file something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Its line (1-based, the header counted), where the file has lines.
    pub line: Option<u64>,
    /// The column or array, where there is one.
    pub column: Option<String>,
}

impl Place {
    /// The file as a whole.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Place { path: path.into(), line: None, column: None }
    }

    /// A line of the file.
    pub fn line(path: impl Into<PathBuf>, line: u64) -> Self {
        Place { path: path.into(), line: Some(line), column: None }
    }

    /// The same place, narrowed to a column or a named array.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column '{column}'")?;
        }
        Ok(())
    }
}

/// Everything that reading, writing, splitting or downloading data can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file could not be opened or read.
    #[error("cannot read {}: {source}{}", path.display(), remedy_for_io(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file could not be written; nothing was left behind.
    #[error("cannot write {}: {source}; nothing was changed there{}", path.display(), remedy_for_io(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The content is not what the format or the table needs.
    #[error("{place}: {found}{hint}")]
    Malformed {
        /// Where.
        place: Place,
        /// What was found, and what was expected.
        found: String,
        /// What to do.
        hint: Hint,
    },
    /// The caller names a column that the file does not have.
    #[error("{place}: there is no column '{name}'{hint}")]
    UnknownColumn {
        /// The file.
        place: Place,
        /// The column that was asked for.
        name: String,
        /// The columns that there are.
        hint: Hint,
    },
    /// An edge names a node that the node table doesn't have.
    #[error("{place}: the edge names node '{id}', which is not in the node table{hint}")]
    UnknownNode {
        /// The edge.
        place: Place,
        /// The id that has no row.
        id: String,
        /// What to do.
        hint: Hint,
    },
    /// Two rows have the same id.
    #[error("{place}: the id '{id}' stands here a second time{hint}")]
    DuplicateId {
        /// The second row.
        place: Place,
        /// The repeated id.
        id: String,
        /// What to do.
        hint: Hint,
    },
    /// The estimates of a column do not fit its type.
    #[error("the estimates of column '{column}' do not fit its type {problem}")]
    Estimates {
        /// The column.
        column: String,
        /// Its type, and what does not fit.
        problem: String,
    },
    /// The request itself makes no sense for this data.
    #[error("{found}{hint}")]
    Request {
        /// What is wrong with the request.
        found: String,
        /// What to do.
        hint: Hint,
    },
    /// Reading the file would need more memory than is allowed.
    #[error(
        "{place}: {what} would need {needed} bytes of memory, more than the limit of {limit}{hint}"
    )]
    MemoryLimit {
        /// The file, and the array or column.
        place: Place,
        /// What would need the memory.
        what: String,
        /// The bytes that it would need.
        needed: u64,
        /// The limit.
        limit: u64,
        /// What to do.
        hint: Hint,
    },
    /// A download failed.
    #[error("cannot download {url}: {problem}{hint}")]
    Download {
        /// The address.
        url: String,
        /// What happened.
        problem: String,
        /// What to do.
        hint: Hint,
    },
    /// The person (or the caller) asked to stop.
    #[error("stopped before the end, as asked; no output was written")]
    Cancelled,
}

impl DataError {
    /// The content at `place` is wrong: what was found, and what to do about it.
    pub fn malformed(place: Place, found: impl Into<String>, hint: impl Into<Hint>) -> Self {
        DataError::Malformed { place, found: found.into(), hint: hint.into() }
    }

    /// The request makes no sense: what is wrong with it, and what to do about it.
    pub fn request(found: impl Into<String>, hint: impl Into<Hint>) -> Self {
        DataError::Request { found: found.into(), hint: hint.into() }
    }

    /// Checks that something of `needed` bytes fits into `limit` bytes, before it is allocated.
    pub fn check_memory(place: Place, what: &str, needed: u64, limit: u64) -> Result<()> {
        if needed <= limit {
            return Ok(());
        }
        let hint = Hint::new("check that the file is what it should be, or allow more memory")
            .with(Setting::MemoryLimit(needed));
        Err(DataError::MemoryLimit { place, what: what.to_owned(), needed, limit, hint })
    }

    /// What to do about the error, and which settings decide it.
    pub fn hint(&self) -> Option<&Hint> {
        match self {
            DataError::Malformed { hint, .. }
            | DataError::UnknownColumn { hint, .. }
            | DataError::UnknownNode { hint, .. }
            | DataError::DuplicateId { hint, .. }
            | DataError::Request { hint, .. }
            | DataError::MemoryLimit { hint, .. }
            | DataError::Download { hint, .. } => Some(hint),
            DataError::Read { .. }
            | DataError::Write { .. }
            | DataError::Estimates { .. }
            | DataError::Cancelled => None,
        }
    }

    /// Reading `path` failed.
    pub fn read(path: impl AsRef<Path>, source: io::Error) -> Self {
        DataError::Read { path: path.as_ref().to_path_buf(), source }
    }

    /// Writing `path` failed.
    pub fn write(path: impl AsRef<Path>, source: io::Error) -> Self {
        DataError::Write { path: path.as_ref().to_path_buf(), source: plain_cause(source) }
    }

    /// The file ends too early or its compression is broken.
    pub fn damaged(path: impl AsRef<Path>, what: impl fmt::Display) -> Self {
        DataError::malformed(
            Place::file(path.as_ref()),
            format!("the file is damaged or cut short: {what}"),
            "fetch or write it again; a partial download looks like this",
        )
    }
}

/// The operating system's own error behind what libraries wrapped around it: the name of a
/// temporary file says nothing to the user, and the kind decides on the remedy.
fn plain_cause(error: io::Error) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(found) = cause {
        if let Some(io) = found.downcast_ref::<io::Error>() {
            if let Some(code) = io.raw_os_error() {
                return io::Error::from_raw_os_error(code);
            }
            cause = io.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
        } else {
            cause = found.source();
        }
    }
    error
}

fn remedy_for_io(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "\n  check the path; it is taken relative to the current folder",
        io::ErrorKind::PermissionDenied => {
            "\n  check the permissions of the file and of its folder"
        }
        io::ErrorKind::StorageFull => {
            "\n  the disk is full: free some space or choose another folder"
        }
        io::ErrorKind::IsADirectory => "\n  this is a folder; name a file",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_full_disk_is_still_a_full_disk() {
        let full = io::Error::from_raw_os_error(28);
        let kind = full.kind();
        let wrapped = io::Error::other(io::Error::other(full));
        let DataError::Write { source, .. } = DataError::write("out.csv", wrapped) else {
            panic!("another error")
        };
        assert_eq!(source.kind(), kind);
        let unknown = DataError::write("out.csv", io::Error::other("a reason")).to_string();
        assert!(unknown.contains("a reason"), "{unknown}");
    }
}
