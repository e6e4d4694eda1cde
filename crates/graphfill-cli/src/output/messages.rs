//! Messages for the person at the terminal, always on standard error: progress and notes, which
//! `--quiet` hides, and warnings and errors, which it does not.

use std::io::Write;

use super::escape;
use super::hints;
use super::style::{Stream, Style};
use super::text_table::TextTable;

/// Prints messages.
pub(crate) struct Messages {
    quiet: bool,
}

impl Messages {
    pub(crate) fn new(quiet: bool) -> Self {
        Messages { quiet }
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
        if !self.quiet {
            print(&format!("note: {}", escape::message(text)));
        }
    }

    /// Prints that a result may not be what was wanted.
    #[allow(clippy::unused_self, reason = "messages are printed in one way")]
    pub(crate) fn warning(&self, text: &str) {
        let word = Stream::Err.paint("warning:", Style::Yellow);
        print(&format!("{word} {}", escape::message(text)));
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
