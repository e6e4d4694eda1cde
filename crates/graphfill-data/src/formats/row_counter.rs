//! Tells a watcher how many rows were read, and asks it from time to time whether to stop.

use crate::error::Result;
use crate::progress::Progress;

/// The rows between two reports: often enough for a person, too seldom to cost anything.
const REPORT_EVERY: u64 = 1 << 16;

/// Counts the rows of one stage.
pub(crate) struct RowCounter<'a> {
    progress: &'a dyn Progress,
    unreported: u64,
}

impl<'a> RowCounter<'a> {
    /// Begins the stage.
    pub(crate) fn begin(progress: &'a dyn Progress, stage: &str, total: Option<u64>) -> Self {
        progress.begin(stage, total);
        RowCounter { progress, unreported: 0 }
    }

    /// One more row is read; fails once somebody asked to stop.
    pub(crate) fn row(&mut self) -> Result<()> {
        self.unreported += 1;
        if self.unreported == REPORT_EVERY { self.report() } else { Ok(()) }
    }

    /// Ends the stage.
    pub(crate) fn end(mut self) -> Result<()> {
        self.report()?;
        self.progress.end();
        Ok(())
    }

    fn report(&mut self) -> Result<()> {
        self.progress.advance(std::mem::take(&mut self.unreported));
        self.progress.check()
    }
}
