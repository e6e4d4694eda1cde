//! Progress reports of long-running work, and cancellation.
//!
//! Libraries never print: the caller (command line, Python) passes its own [`Progress`].

use crate::error::{DataError, Result};

/// Receives progress updates and says whether to stop.
pub trait Progress: Sync {
    /// A new stage begins: what it does and its number of units, where that is known.
    fn begin(&self, stage: &str, total: Option<u64>);
    /// `units` more units of the current stage are done.
    fn advance(&self, units: u64);
    /// A few words about the state of the current stage, such as the loss.
    fn set_message(&self, _state: &str) {}
    /// The current stage is done.
    fn end(&self) {}
    /// Whether the work should stop.
    fn is_cancelled(&self) -> bool {
        false
    }
    /// Fails with [`DataError::Cancelled`] if the work should stop.
    fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(DataError::Cancelled) } else { Ok(()) }
    }
}

/// Ignores progress updates and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
}
