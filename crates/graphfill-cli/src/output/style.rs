//! Colours and bold text: on terminals, unless `--color` or `NO_COLOR` says otherwise.

use std::io::IsTerminal;
use std::sync::OnceLock;

use crate::arguments::ColorChoice;

static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output: data.
    Out,
    /// Standard error: messages.
    Err,
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The best value of a column.
    Bold,
    /// The word "error".
    Red,
    /// The word "warning".
    Yellow,
}

/// Follows the caller's choice from now on.
pub(crate) fn choose(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

impl Stream {
    /// Whether text there has colours.
    pub(crate) fn is_coloured(self) -> bool {
        match CHOICE.get().copied().unwrap_or(ColorChoice::Auto) {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                self.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
            }
        }
    }

    /// The columns of the terminal there, where it is one.
    pub(crate) fn width(self) -> Option<usize> {
        let size = match self {
            _ if !self.is_terminal() => None,
            Stream::Out => terminal_size::terminal_size_of(std::io::stdout()),
            Stream::Err => terminal_size::terminal_size_of(std::io::stderr()),
        };
        size.map(|(width, _)| usize::from(width.0))
    }

    fn is_terminal(self) -> bool {
        match self {
            Stream::Out => std::io::stdout().is_terminal(),
            Stream::Err => std::io::stderr().is_terminal(),
        }
    }

    /// The text in a style, where this stream has colours.
    pub(crate) fn paint(self, text: &str, style: Style) -> String {
        if self.is_coloured() { style.apply(text) } else { text.to_owned() }
    }
}

impl Style {
    /// The text with the escapes of the style.
    pub(crate) fn apply(self, text: &str) -> String {
        let code = match self {
            Style::Bold => "1",
            Style::Red => "1;31",
            Style::Yellow => "33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
