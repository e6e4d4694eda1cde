//! Messages for the person at the terminal, always on standard error: progress and notes, which
//! `--quiet` hides, and warnings and errors, which it does not.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use graphfill::data::{Note, Severity};

use super::escape;
use super::hints;
use super::style::{Stream, Style};
use super::text_table::TextTable;

/// Prints messages, or keeps them for a caller who shows them in another way.
pub(crate) struct Messages {
    quiet: bool,
    prints: bool,
    /// Notes and warnings so far.
    said: Mutex<Vec<Note>>,
}

impl Messages {
    pub(crate) fn new(quiet: bool) -> Self {
        Messages { quiet, prints: true, said: Mutex::default() }
    }

    /// Messages that are kept and not printed.
    pub(crate) fn kept() -> Self {
        Messages { quiet: true, prints: false, said: Mutex::default() }
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
        self.tell(&Note::new(text));
    }

    /// Prints that a result may not be what was wanted.
    pub(crate) fn warning(&self, text: &str) {
        self.tell(&Note::warning(text));
    }

    /// Prints a note with the flags that would change what was done.
    pub(crate) fn tell(&self, note: &Note) {
        self.record().push(note.clone());
        if !self.prints || (self.quiet && note.severity == Severity::Note) {
            return;
        }
        let word = match note.severity {
            Severity::Note => "note:".to_owned(),
            Severity::Warning => Stream::Err.paint("warning:", Style::Yellow),
        };
        print(&format!("{word} {}", escape::message(&with_flags(note))));
    }

    fn record(&self) -> MutexGuard<'_, Vec<Note>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The notes and warnings so far, shown or not.
    pub(crate) fn said(&self) -> Vec<String> {
        self.record().iter().map(with_flags).collect()
    }

    /// The notes and warnings since this was last asked.
    pub(crate) fn take(&self) -> Vec<Note> {
        std::mem::take(&mut *self.record())
    }
}

fn with_flags(note: &Note) -> String {
    match hints::flags_of_hint(&note.hint) {
        Some(flags) => format!("{note} ({flags})"),
        None => note.text.clone(),
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
