//! What a caller may choose about a card.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// How exactly a card multiplies matrices. Everything else is computed in single precision, and
/// parameters are kept in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Single precision: 24 bits.
    F32,
    /// Factors rounded to 11 bits, sums in single precision, on tensor cores. So are the factors of
    /// sparse products that gather more than a card can keep close.
    #[default]
    Tf32,
    /// Factors of dense products rounded to 8 bits, sums in single precision, on tensor cores; of
    /// sparse products as with TF32.
    Bf16,
}

impl Precision {
    /// All of them by name.
    pub const ALL: [(&'static str, Precision); 3] =
        [("f32", Precision::F32), ("tf32", Precision::Tf32), ("bf16", Precision::Bf16)];
}

impl fmt::Display for Precision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Precision::ALL.iter().find(|(_, precision)| precision == self);
        formatter.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Precision::ALL.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, precision)| *precision)
            .ok_or_else(|| format!("there is no precision `{text}`; there are f32, tf32 and bf16"))
    }
}

/// Whether a step is captured as a graph and replayed, or launched command by command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Launching {
    /// Captured in the second run, replayed afterwards.
    #[default]
    Captured,
    /// Command by command in every run: for profilers and for measuring what capturing gains.
    Eager,
}

impl Launching {
    /// All of them by name.
    pub const ALL: [(&'static str, Launching); 2] =
        [("captured", Launching::Captured), ("eager", Launching::Eager)];
}

impl fmt::Display for Launching {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Launching::ALL.iter().find(|(_, launching)| launching == self);
        formatter.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Launching {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Launching::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, launching)| *launching).ok_or_else(|| {
            format!("there is no way of launching `{text}`; there are captured and eager")
        })
    }
}

/// What a caller may choose about a card.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// How exactly it multiplies.
    pub precision: Precision,
    /// How steps are launched.
    pub launching: Launching,
    /// Where compiled kernels are kept; without a folder they are compiled in each process.
    pub cache: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_have_names() {
        for (name, precision) in Precision::ALL {
            assert_eq!(name.parse(), Ok(precision));
            assert_eq!(precision.to_string(), name);
        }
        assert!("fp8".parse::<Precision>().is_err());
    }

    #[test]
    fn ways_of_launching_have_names() {
        for (name, launching) in Launching::ALL {
            assert_eq!(name.parse(), Ok(launching));
            assert_eq!(launching.to_string(), name);
        }
        assert!("lazy".parse::<Launching>().is_err());
    }
}
