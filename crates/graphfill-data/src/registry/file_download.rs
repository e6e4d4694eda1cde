//! One file to fetch, and what to tell the person when it cannot be fetched.

use std::path::Path;

use super::exchange::{Limits, RequestError};
use super::{DatasetInfo, RemoteFile};
use crate::error::DataError;

/// A file of a data set, where to get it and where to put it.
#[derive(Clone, Copy)]
pub(super) struct FileDownload<'a> {
    pub(super) info: &'a DatasetInfo,
    pub(super) file: &'a RemoteFile,
    /// The address that is asked: the publisher's, or a mirror's.
    pub(super) url: &'a str,
    pub(super) destination: &'a Path,
    pub(super) limits: Limits,
}

impl FileDownload<'_> {
    /// No answer came.
    pub(super) fn unanswered(&self, trouble: RequestError) -> DataError {
        let error = match trouble {
            RequestError::Stopped(error) => return error,
            RequestError::Network(error) => error,
        };
        self.failed(
            format!("no answer from {} ({})", self.host(), self.wording(&error)),
            format!(
                "check the network, and the variable HTTPS_PROXY where a proxy is needed;\n  {}",
                self.by_hand()
            ),
        )
    }

    /// The answer broke off; `part` keeps what came.
    pub(super) fn broken_off(
        &self,
        trouble: RequestError,
        part: &Path,
        had: u64,
        total: Option<u64>,
    ) -> DataError {
        let error = match trouble {
            RequestError::Stopped(error) => return error,
            RequestError::Network(error) => error,
        };
        let of_total = total.map(|total| format!(" of {total}")).unwrap_or_default();
        self.failed(
            format!("it broke off after {had}{of_total} bytes ({})", self.wording(&error)),
            format!("run the same command again: it goes on from {}", part.display()),
        )
    }

    /// The server answered something else than the file.
    pub(super) fn refused(&self, status: u16) -> DataError {
        let (meaning, advice) = match status {
            404 | 410 => ("not found", "the file may have moved, or the mirror may not have it"),
            401 | 403 => ("not allowed", "the server, or a proxy on the way, refuses it"),
            429 => ("too many requests", "wait a while and run the same command again"),
            500.. => ("a fault of the server", "run the same command again later"),
            _ => ("not what was asked for", "a proxy or a login page may stand on the way"),
        };
        self.failed(
            format!("{} answered with status {status} ({meaning})", self.host()),
            format!("{advice};\n  {}", self.by_hand()),
        )
    }

    /// The bytes are not the publisher's; they were removed.
    pub(super) fn corrupt(&self, found: &str, expected: &str, bytes: u64) -> DataError {
        self.failed(
            format!(
                "its {bytes} bytes are not the published ones: git blob id {found}, expected {expected}"
            ),
            format!(
                "they were removed; run the same command again. If it happens twice, the server or a proxy sends something else;\n  {}",
                self.by_hand()
            ),
        )
    }

    /// There is more than any data set has; it was removed.
    pub(super) fn too_large(&self, bytes: u64) -> DataError {
        self.failed(
            format!(
                "it has {bytes} bytes or more, and a file of a data set has at most {}",
                self.limits.bytes
            ),
            format!("the server or a proxy sends something else;\n  {}", self.by_hand()),
        )
    }

    fn failed(&self, problem: String, remedy: String) -> DataError {
        DataError::Download { url: self.url.to_owned(), problem, hint: remedy.into() }
    }

    fn by_hand(&self) -> String {
        format!(
            "to fetch it by hand, save {} as {};\n  or, where a folder DIR has {}/{} already, pass --data-dir DIR",
            self.file.url(),
            self.destination.display(),
            self.info.name,
            self.file.name,
        )
    }

    fn host(&self) -> &str {
        let behind_scheme = self.url.split_once("://").map_or(self.url, |(_, rest)| rest);
        behind_scheme.split('/').next().unwrap_or(behind_scheme)
    }

    fn wording(&self, error: &ureq::Error) -> String {
        use ureq::Timeout;
        match error {
            ureq::Error::HostNotFound => "the name of the host is not known here".into(),
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                format!("no connection within {} seconds", self.limits.connect.as_secs_f32())
            }
            ureq::Error::Timeout(_) => {
                format!("nothing came for {} seconds", self.limits.stall.as_secs_f32())
            }
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        }
    }
}
