//! How long-running work reports where it is, and learns that it should stop.
//!
//! Libraries never print: the door (command line, Python) brings its own [`Progress`].

use crate::error::{DataError, Result};

/// A watcher of long-running work.
pub trait Progress: Sync {
    /// A new stage begins: what it does and how many units it has, where that is known.
    fn begin(&self, stage: &str, total: Option<u64>);
    /// `units` more are done in the current stage.
    fn advance(&self, units: u64);
    /// How it goes in the current stage, in a few words.
    fn set_message(&self, _state: &str) {}
    /// The current stage is over.
    fn end(&self) {}
    /// Whether somebody asked to stop.
    fn is_cancelled(&self) -> bool {
        false
    }
    /// Fails with [`DataError::Cancelled`] once somebody asked to stop.
    fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(DataError::Cancelled) } else { Ok(()) }
    }
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
}
