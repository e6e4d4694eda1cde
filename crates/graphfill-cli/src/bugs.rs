//! Panics become errors: one message that asks for a report, and exit code 1.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs the job; a panic in it becomes an error. Panics that a reader catches for itself (a
/// damaged Parquet file) stay silent.
pub(crate) fn catch_panics<T>(job: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = LAST.lock() {
            *last = Some(info.to_string());
        }
    }));
    let done = panic::catch_unwind(AssertUnwindSafe(job));
    let _ = panic::take_hook();
    done.unwrap_or_else(|_| {
        let what = LAST.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
        Err(anyhow::anyhow!(
            "graphfill has a bug: {what}\n  no output was written; please report it with the command that led here"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let error = catch_panics::<()>(|| panic!("the sum of two parts")).expect_err("an error");
        assert!(error.to_string().contains("the sum of two parts"), "{error}");
    }
}
