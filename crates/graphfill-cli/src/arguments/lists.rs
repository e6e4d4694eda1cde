//! Items of lists such as `--methods 'fp, arb'`: spaces around commas do not count.

use std::convert::Infallible;

/// A name without the spaces around it.
pub(super) fn item(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_owned())
}

/// A whole number from 1 to 65,535, with or without spaces around it.
pub(super) fn depth(text: &str) -> Result<u16, String> {
    let depth = text.trim().parse().ok().filter(|depth| *depth > 0);
    depth.ok_or_else(|| "must be whole numbers from 1 to 65535".to_owned())
}
