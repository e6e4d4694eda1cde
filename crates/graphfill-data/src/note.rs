//! What a reader guessed or noticed, for the person whose data it is.

use std::fmt;

use crate::hint::{Hint, Setting};

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Something was guessed or left out.
    Note,
    /// The results are probably not what was wanted.
    Warning,
}

/// A sentence about the data, with the settings that would change what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// How much it matters.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
    /// What to do if it is not as it should be.
    pub hint: Hint,
}

impl Note {
    /// Something was guessed or left out.
    pub fn new(text: impl Into<String>) -> Self {
        Note { severity: Severity::Note, text: text.into(), hint: Hint::default() }
    }

    /// The results are probably not what was wanted.
    pub fn warning(text: impl Into<String>) -> Self {
        Note { severity: Severity::Warning, ..Note::new(text) }
    }

    /// The same note with the setting that would change what was done.
    #[must_use]
    pub fn with(mut self, setting: Setting) -> Self {
        self.hint = self.hint.with(setting);
        self
    }
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Note::new(text)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
