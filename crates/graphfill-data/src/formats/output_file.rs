//! Where an output goes: a file that appears whole or not at all, or standard output.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use super::opened::STANDARD_STREAM;
use crate::atomic_file::AtomicFile;
use crate::error::{DataError, Result};

/// An output that is being written.
pub(crate) enum OutputFile {
    File(AtomicFile),
    Stdout(BufWriter<Stdout>),
}

impl OutputFile {
    /// Starts writing; `-` is standard output.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path == Path::new(STANDARD_STREAM) {
            return Ok(OutputFile::Stdout(BufWriter::new(io::stdout())));
        }
        AtomicFile::create(path).map(OutputFile::File)
    }

    /// Brings everything written so far to the disk, where a full one shows.
    pub(crate) fn sync(&mut self) -> Result<()> {
        match self {
            OutputFile::File(file) => file.sync(),
            OutputFile::Stdout(_) => Ok(()),
        }
    }

    /// Puts the file in its place.
    pub(crate) fn commit(self) -> Result<()> {
        match self {
            OutputFile::File(file) => file.commit(),
            OutputFile::Stdout(mut stream) => {
                stream.flush().map_err(|error| DataError::write(STANDARD_STREAM, error))
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            OutputFile::File(file) => file.write(buffer),
            OutputFile::Stdout(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputFile::File(file) => file.flush(),
            OutputFile::Stdout(stream) => stream.flush(),
        }
    }
}
