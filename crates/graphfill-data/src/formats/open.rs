//! Opening files for reading: gzip is seen by its first bytes and unpacked on the way.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{DataError, Result};

/// The bytes read at a time: large enough that the system call doesn't count.
const BUFFER: usize = 1 << 18;

/// The first two bytes of every gzip file.
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The content of a file, unpacked where it is gzip.
pub(crate) struct Source {
    reader: Box<dyn Read>,
}

/// Opens a plain or gzipped file.
pub(crate) fn open(path: &Path) -> Result<Source> {
    let file = open_file(path)?;
    let mut buffered = BufReader::with_capacity(BUFFER, file);
    let start = buffered.fill_buf().map_err(|error| DataError::read(path, error))?;
    let reader: Box<dyn Read> = if start.starts_with(&GZIP_MAGIC) {
        Box::new(MultiGzDecoder::new(buffered))
    } else {
        Box::new(buffered)
    };
    Ok(Source { reader })
}

/// Opens a file, folders refused.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| DataError::read(path, error))?;
    let about = file.metadata().map_err(|error| DataError::read(path, error))?;
    if about.is_dir() {
        return Err(DataError::read(path, io::Error::from(io::ErrorKind::IsADirectory)));
    }
    Ok(file)
}

impl Source {
    /// The error that a failed read of this source means: broken compression, or the system's.
    pub(crate) fn error(path: &Path, error: io::Error) -> DataError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData => DataError::damaged(path, error),
            _ => DataError::read(path, error),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}
