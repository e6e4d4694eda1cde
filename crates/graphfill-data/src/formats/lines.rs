//! Text files line by line, plain or gzipped, held in one buffer of a line's length.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{DataError, Place, Result};
use crate::formats::open::{self, Source};
use crate::formats::row_counter::RowCounter;
use crate::progress::Progress;

/// The bytes unpacked at a time.
const BUFFER: usize = 1 << 18;

/// The longest line: far above any table's, far below what a broken file could make us hold.
const MAX_LINE: u64 = 1 << 26;

/// Gives every line, without its end, to `take(number, line)`; numbers start at 1. The file is
/// one stage for the watcher.
pub(crate) fn each_line(
    path: &Path,
    progress: &dyn Progress,
    mut take: impl FnMut(u64, &str) -> Result<()>,
) -> Result<()> {
    let mut reader = BufReader::with_capacity(BUFFER, open::open(path)?);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut counter = RowCounter::begin(progress, &format!("reading {name}"), None);
    let mut buffer = Vec::new();
    for number in 1.. {
        buffer.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut buffer);
        let read = read.map_err(|error| Source::error(path, error))?;
        if read == 0 {
            break;
        }
        let line = without_end(&buffer);
        if read as u64 == MAX_LINE && line.len() == read {
            let found = format!("the line is longer than {MAX_LINE} bytes");
            let remedy = "give each node or edge a line of its own";
            return Err(DataError::malformed(Place::line(path, number), found, remedy));
        }
        let line = std::str::from_utf8(line).map_err(|_| {
            let place = Place::line(path, number);
            DataError::malformed(place, "the line is not UTF-8 text", "save the file as UTF-8")
        })?;
        take(number, line)?;
        counter.row()?;
    }
    counter.end()
}

/// The line without its line feed and, where Windows wrote it, carriage return.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;

    #[test]
    fn lines_come_without_their_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lines.txt");
        std::fs::write(&path, "a\r\n\nb|c").expect("a written file");
        let mut seen = Vec::new();
        let done = each_line(&path, &NoProgress, |number, line| {
            seen.push((number, line.to_owned()));
            Ok(())
        });
        done.expect("readable lines");
        assert_eq!(seen, [(1, "a".to_owned()), (2, String::new()), (3, "b|c".to_owned())]);
    }

    #[test]
    fn names_the_line_that_is_no_text() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lines.txt");
        std::fs::write(&path, b"a\n\xff\xfe\n").expect("a written file");
        let error =
            each_line(&path, &NoProgress, |_, _| Ok(())).expect_err("bytes that are no text");
        assert!(error.to_string().contains("line 2: the line is not UTF-8"), "{error}");
    }
}
