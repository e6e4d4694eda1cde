//! Ctrl-C and SIGTERM: the first signal asks running work to stop at the next safe place, the second
//! ends the program at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Stopped by Ctrl-C, as shells count it: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
/// Stopped by SIGTERM.
const TERMINATED: u8 = 143;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// The signal that asked, 0 for none.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Listens for Ctrl-C and SIGTERM from now on.
pub(crate) fn listen() {
    for (signal, code) in [(SIGINT, INTERRUPTED), (SIGTERM, TERMINATED)] {
        // In this order: the first signal finds the flag unset and sets it, the second ends the
        // program. Without a handler, signals end the program at once, which is good enough.
        let _ = flag::register_conditional_shutdown(signal, i32::from(code), Arc::clone(&ASKED));
        let _ = flag::register_usize(signal, Arc::clone(&SIGNAL), signal as usize);
        let _ = flag::register(signal, Arc::clone(&ASKED));
    }
}

/// Whether a signal asked to stop.
pub(crate) fn is_interrupted() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// The exit code that tells which signal it was.
pub(crate) fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) == SIGTERM as usize {
        true => TERMINATED,
        false => INTERRUPTED,
    }
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

/// An error if a signal asked to stop.
pub(crate) fn check() -> Result<(), graphfill::data::DataError> {
    if is_interrupted() { Err(graphfill::data::DataError::Cancelled) } else { Ok(()) }
}
