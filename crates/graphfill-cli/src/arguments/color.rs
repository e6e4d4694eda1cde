//! `--color`: whether output has colours.

use std::ffi::OsString;

use clap::ValueEnum;

/// Whether output has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On terminals, unless NO_COLOR is set
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

impl ColorChoice {
    /// The choice among words that are not parsed yet, for the help and for complaints about them.
    pub(crate) fn among(words: &[OsString]) -> Self {
        let choice = |at: usize| match words[at].to_str()?.strip_prefix("--color")? {
            "" => Some(words.get(at + 1)?.to_str()?.to_owned()),
            rest => Some(rest.strip_prefix('=')?.to_owned()),
        };
        let chosen = (0..words.len()).filter_map(choice).next_back();
        let parsed = chosen.and_then(|word| ColorChoice::from_str(&word, false).ok());
        parsed.unwrap_or(ColorChoice::Auto)
    }
}

impl From<ColorChoice> for clap::ColorChoice {
    fn from(choice: ColorChoice) -> Self {
        match choice {
            ColorChoice::Auto => clap::ColorChoice::Auto,
            ColorChoice::Always => clap::ColorChoice::Always,
            ColorChoice::Never => clap::ColorChoice::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_found_before_parsing() {
        let among = |text: &str| {
            ColorChoice::among(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
        };
        assert_eq!(among("graphfill --help"), ColorChoice::Auto);
        assert_eq!(among("graphfill --color never --help"), ColorChoice::Never);
        assert_eq!(among("graphfill fill --color=always --frobnicate"), ColorChoice::Always);
        assert_eq!(among("graphfill --color"), ColorChoice::Auto);
        assert_eq!(among("graphfill --color=green --colors"), ColorChoice::Auto);
    }
}
