//! Reads text files line by line, plain or gzipped, with one buffer of a line's length.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use graphfill_data::{DataError, Place, Progress, Result};

/// The bytes read from the file, and unpacked, at a time.
const BUFFER: usize = 1 << 18;

/// The longest line in bytes: far above that of any data set, and a bound on the buffer.
const MAX_LINE: u64 = 1 << 26;

/// The lines between two progress updates.
const REPORT_INTERVAL: u64 = 1 << 16;

/// Calls `take(number, line)` for each line, without its line end; numbers start at 1.
///
/// # Errors
/// If the file cannot be read or unpacked, a line is longer than [`MAX_LINE`] or not UTF-8, `take`
/// fails, or `progress` is cancelled.
pub(crate) fn each_line(
    path: &Path,
    progress: &dyn Progress,
    mut take: impl FnMut(u64, &str) -> Result<()>,
) -> Result<()> {
    let mut reader = open(path).map_err(|error| DataError::read(path, error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    progress.begin(&format!("reading {name}"), None);
    let mut buffer = Vec::new();
    for number in 1.. {
        buffer.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut buffer);
        let read = read.map_err(|error| read_error(path, error))?;
        if read == 0 {
            progress.advance((number - 1) % REPORT_INTERVAL);
            break;
        }
        let line = buffer.strip_suffix(b"\n").unwrap_or(&buffer);
        if read as u64 == MAX_LINE && line.len() == read {
            return Err(DataError::malformed(
                Place::line(path, number),
                format!("the line is longer than {MAX_LINE} bytes"),
                "give each node or edge a line of its own",
            ));
        }
        let line = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).map_err(|_| {
            let place = Place::line(path, number);
            DataError::malformed(place, "the line is not UTF-8 text", "save the file as UTF-8")
        })?;
        take(number, line)?;
        if number % REPORT_INTERVAL == 0 {
            progress.advance(REPORT_INTERVAL);
            progress.check()?;
        }
    }
    progress.end();
    progress.check()
}

/// Opens a file; gzip is recognised by its first two bytes.
fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::with_capacity(BUFFER, File::open(path)?);
    if file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file))));
    }
    Ok(Box::new(file))
}

/// Tells broken compression from an error of the operating system.
fn read_error(path: &Path, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            DataError::damaged(path, error)
        }
        _ => DataError::read(path, error),
    }
}

#[cfg(test)]
mod tests {
    use graphfill_data::NoProgress;

    use super::*;

    #[test]
    fn lines_come_without_their_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lines.txt");
        std::fs::write(&path, "a\r\n\nb|c").expect("a written file");
        let mut seen = Vec::new();
        each_line(&path, &NoProgress, |number, line| {
            seen.push((number, line.to_owned()));
            Ok(())
        })
        .expect("readable lines");
        assert_eq!(seen, [(1, "a".to_owned()), (2, String::new()), (3, "b|c".to_owned())]);
    }

    #[test]
    fn names_the_line_that_is_no_text() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lines.txt");
        std::fs::write(&path, b"a\n\xff\xfe\n").expect("a written file");
        let error = each_line(&path, &NoProgress, |_, _| Ok(())).expect_err("bytes, not text");
        assert!(error.to_string().contains("line 2: the line is not UTF-8"), "{error}");
    }
}
