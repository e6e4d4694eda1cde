//! Messages for the person at the terminal: always on standard error.

use std::io::{IsTerminal, Write};

/// Says things, or keeps quiet.
pub(crate) struct Messages {
    quiet: bool,
}

impl Messages {
    pub(crate) fn new(quiet: bool) -> Self {
        Messages { quiet }
    }

    /// Something the person asked to know.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            print_error_line(text);
        }
    }

    /// Something the person should know.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            print_error_line(&format!("{} {text}", paint("note:", YELLOW)));
        }
    }
}

/// An error and its remedy.
pub(crate) fn error(error: &anyhow::Error) {
    print_error_line(&format!("{} {error}", paint("error:", RED)));
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[33m";

fn paint(text: &str, colour: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some() || !std::io::stderr().is_terminal();
    if plain { text.to_owned() } else { format!("{colour}{text}\x1b[0m") }
}

fn print_error_line(text: &str) {
    // Nobody is left to tell when standard error itself fails.
    let _ = writeln!(std::io::stderr(), "{text}");
}
