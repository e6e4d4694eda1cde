//! Checks of the files that a command is to write, before hours of work rather than after.

use std::path::{Path, PathBuf};

use graphfill::data::atomic_file::{AtomicFile, check_not_an_input};
use graphfill::data::formats::STANDARD_STREAM;

use crate::arguments::UsageError;

/// Fails where two outputs are one file, one is an input, or one cannot be written.
pub(super) fn check(outputs: &[&PathBuf], inputs: &[PathBuf]) -> anyhow::Result<()> {
    let located: Vec<PathBuf> = outputs.iter().map(|path| location(path)).collect();
    for (at, path) in outputs.iter().enumerate() {
        check_not_an_input(path, inputs)?;
        if located[..at].contains(&located[at]) {
            let found = format!("{} is to be written twice: name two files", path.display());
            return Err(UsageError(found).into());
        }
        if !is_standard_stream(path) {
            drop(AtomicFile::create(path)?);
        }
    }
    Ok(())
}

/// Fails where a report would go to standard output.
pub(super) fn check_report(path: Option<&PathBuf>) -> anyhow::Result<()> {
    match path {
        Some(path) if is_standard_stream(path) => {
            let found =
                "--report: a report is a page for a browser: name a file, such as report.html";
            Err(UsageError(found.to_owned()).into())
        }
        _ => Ok(()),
    }
}

/// Whether a path stands for standard output.
pub(super) fn is_standard_stream(path: &Path) -> bool {
    path == Path::new(STANDARD_STREAM)
}

/// The same for all spellings of a path, also where there is no such file yet.
fn location(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    match (path.canonicalize(), folder.canonicalize(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Ok(folder), Some(name)) if !is_standard_stream(path) => folder.join(name),
        _ => path.to_path_buf(),
    }
}
