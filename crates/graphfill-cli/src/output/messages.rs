//! Messages for the person at the terminal, always on standard error: progress and notes, which
//! `--quiet` hides, and warnings and errors, which it does not.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::escape;
use super::hints;
use super::style::{Stream, Style};
use super::text_table::TextTable;

/// Prints messages.
pub(crate) struct Messages {
    quiet: bool,
    /// Notes and warnings so far, for reports.
    said: Mutex<Vec<String>>,
}

impl Messages {
    pub(crate) fn new(quiet: bool) -> Self {
        Messages { quiet, said: Mutex::default() }
    }

    /// Prints what was done.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            print(&escape::message(text));
        }
    }

    /// Prints a table.
    pub(crate) fn table(&self, table: &TextTable) {
        if !self.quiet {
            print(&table.render_for(Stream::Err));
        }
    }

    /// Prints something worth knowing.
    pub(crate) fn note(&self, text: &str) {
        self.record().push(text.to_owned());
        if !self.quiet {
            print(&format!("note: {}", escape::message(text)));
        }
    }

    /// Prints that a result may not be what was wanted.
    pub(crate) fn warning(&self, text: &str) {
        self.record().push(text.to_owned());
        let word = Stream::Err.paint("warning:", Style::Yellow);
        print(&format!("{word} {}", escape::message(text)));
    }

    fn record(&self) -> MutexGuard<'_, Vec<String>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The notes and warnings so far, shown or not.
    pub(crate) fn said(&self) -> Vec<String> {
        self.record().clone()
    }
}

/// Prints an error, what to do about it, and the flags that do it.
pub(crate) fn error(error: &anyhow::Error) {
    let word = Stream::Err.paint("error:", Style::Red);
    print(&format!("{word} {}", escape::message(&error.to_string())));
    if let Some(flags) = hints::flags_for(error) {
        print(&format!("  {}", escape::message(&flags)));
    }
}

fn print(text: &str) {
    // Nobody is left to tell when standard error itself fails.
    let _ = writeln!(std::io::stderr(), "{text}");
}
