//! The check of a reader's memory against its limit, cheap enough for every line of a file.

use std::path::Path;

use graphfill_data::{DataError, Place, Result};

/// Fails if `what`, read from `path`, needs more than `limit` bytes.
pub(crate) fn check(path: &Path, what: &str, needed: u64, limit: u64) -> Result<()> {
    if needed <= limit {
        return Ok(());
    }
    DataError::check_memory(Place::file(path), what, needed, limit)
}
