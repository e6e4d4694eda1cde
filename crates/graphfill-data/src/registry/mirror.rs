//! Another host that offers the same files under the same paths.
//!
//! `https://publisher/owner/file` becomes `BASE/owner/file`: scheme and host are replaced, the
//! path stays. It serves those behind a firewall, and tests without a network.

use std::fmt;
use std::str::FromStr;

use crate::error::{DataError, Result};

/// The base address that replaces scheme and host of every download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    base: String,
}

impl Mirror {
    /// A mirror at this base address; it may have a path of its own.
    ///
    /// # Errors
    /// [`DataError::Request`] where it is not the `http` or `https` address of a folder.
    pub fn new(base: &str) -> Result<Self> {
        let trimmed = base.trim().trim_end_matches('/');
        let host = trimmed.strip_prefix("http://").or_else(|| trimmed.strip_prefix("https://"));
        let usable = host.is_some_and(|host| {
            !host.is_empty()
                && !host.starts_with('/')
                && !host.contains(|letter: char| letter.is_whitespace() || "?#".contains(letter))
        });
        if !usable {
            return Err(DataError::request(
                format!(
                    "'{base}' is not the address of a mirror\n  give a base address such as https://mirror.example.org/data; the path of each file is put behind it"
                ),
                "",
            ));
        }
        Ok(Mirror { base: trimmed.to_owned() })
    }

    /// Where the mirror has what the publisher offers at `url`.
    pub fn address(&self, url: &str) -> String {
        let behind_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = behind_scheme.split_once('/').map_or("", |(_, path)| path);
        format!("{}/{path}", self.base)
    }
}

impl FromStr for Mirror {
    type Err = DataError;

    fn from_str(base: &str) -> Result<Self> {
        Mirror::new(base)
    }
}

impl fmt::Display for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_scheme_and_host_only() {
        let url = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/ind.cora.x";
        let address = |base: &str| Mirror::new(base).map(|mirror| mirror.address(url));
        assert_eq!(
            address("http://127.0.0.1:8000/").ok().as_deref(),
            Some("http://127.0.0.1:8000/kimiyoung/planetoid/master/data/ind.cora.x")
        );
        assert_eq!(
            address("https://mirror.example.org/graphs").ok().as_deref(),
            Some("https://mirror.example.org/graphs/kimiyoung/planetoid/master/data/ind.cora.x")
        );
    }

    #[test]
    fn refuses_what_is_no_address() {
        for base in ["", "mirror.example.org", "ftp://host", "http://", "http:///x", "http://h?x"] {
            let error = Mirror::new(base).expect_err("not an address");
            assert!(error.to_string().contains("https://mirror.example.org"), "{error}");
        }
    }
}
