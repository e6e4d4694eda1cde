//! Ctrl-C: the first asks running work to stop at the next safe place, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on.
pub(crate) fn listen() {
    // A second call (as in tests) finds the handler in place, which is as good.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(crate::STOPPED));
        }
    });
}

/// Whether somebody asked to stop.
pub(crate) fn is_interrupted() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Work was stopped, and this is left of it.
#[derive(Debug)]
pub(crate) struct Stopped(pub(crate) String);

impl std::fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

/// An error if somebody did.
pub(crate) fn check() -> Result<(), graphfill::data::DataError> {
    if is_interrupted() { Err(graphfill::data::DataError::Cancelled) } else { Ok(()) }
}
