//! A watcher who is shown everything and stops nothing: for what is left to do after a stop.

use graphfill_data::Progress;

/// Passes on what happens; never asks to stop.
pub struct Undisturbed<'a>(pub &'a dyn Progress);

impl Progress for Undisturbed<'_> {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.0.begin(stage, total);
    }

    fn advance(&self, units: u64) {
        self.0.advance(units);
    }

    fn set_message(&self, state: &str) {
        self.0.set_message(state);
    }

    fn end(&self) {
        self.0.end();
    }
}
