//! Arrays into an `.npz` archive.

use std::io::{self, Write};
use std::path::Path;

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::array::MAX_CHARACTERS;
use crate::atomic_file::AtomicFile;
use crate::error::{DataError, Result};

/// An archive on its way to its place.
pub(crate) struct ArchiveWriter<'a> {
    path: &'a Path,
    zip: ZipWriter<DeferredErrorWriter>,
}

impl<'a> ArchiveWriter<'a> {
    pub(crate) fn create(path: &'a Path) -> Result<Self> {
        Ok(ArchiveWriter {
            path,
            zip: ZipWriter::new(DeferredErrorWriter {
                file: AtomicFile::create(path)?,
                failure: None,
                position: 0,
            }),
        })
    }

    fn array(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        elements: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let failed = |error: io::Error| DataError::write(self.path, error);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .large_file(true);
        self.zip
            .start_file(format!("{name}.npy"), options)
            .map_err(|error| failed(io::Error::other(error)))?;
        let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
        let sides = if sides.len() == 1 { format!("{},", sides[0]) } else { sides.join(", ") };
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sides}), }}");
        // numpy wants the data to start at a multiple of 64 bytes.
        let padding = 64 - (10 + header.len() + 1) % 64;
        header.extend(std::iter::repeat_n(' ', padding % 64));
        header.push('\n');
        let write = || {
            self.zip.write_all(b"\x93NUMPY\x01\x00")?;
            self.zip.write_all(&(header.len() as u16).to_le_bytes())?;
            self.zip.write_all(header.as_bytes())?;
            let mut buffered = io::BufWriter::with_capacity(1 << 16, &mut self.zip);
            elements(&mut buffered)?;
            buffered.flush()
        };
        write().map_err(|error| DataError::write(self.path, error))
    }

    pub(crate) fn int32(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = i32>,
    ) -> Result<()> {
        let shape = [values.len()];
        self.array(name, "<i4", &shape, |out| {
            values.into_iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
        })
    }

    pub(crate) fn int64(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = i64>,
    ) -> Result<()> {
        let shape = [values.len()];
        self.array(name, "<i8", &shape, |out| {
            values.into_iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
        })
    }

    pub(crate) fn uint8(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = u8>,
    ) -> Result<()> {
        let shape = [values.len()];
        self.array(name, "|u1", &shape, |out| {
            values.into_iter().try_for_each(|value| out.write_all(&[value]))
        })
    }

    pub(crate) fn float32(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = f32>,
    ) -> Result<()> {
        let shape = [values.len()];
        self.array(name, "<f4", &shape, |out| {
            values.into_iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
        })
    }

    pub(crate) fn float64(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = f64>,
    ) -> Result<()> {
        let shape = [values.len()];
        self.array(name, "<f8", &shape, |out| {
            values.into_iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
        })
    }

    pub(crate) fn strings<S: AsRef<str>>(&mut self, name: &str, values: &[S]) -> Result<()> {
        let characters = |value: &S| value.as_ref().chars().count();
        let longest = values.iter().map(characters).max().unwrap_or(0).max(1);
        if longest > MAX_CHARACTERS {
            return Err(DataError::request(
                format!(
                    "{}: a text of {longest} characters is too long for .npz, which takes up to {MAX_CHARACTERS}\n  write Parquet or CSV instead",
                    self.path.display()
                ),
                "",
            ));
        }
        self.array(name, &format!("<U{longest}"), &[values.len()], |out| {
            for value in values {
                let mut written = 0;
                for character in value.as_ref().chars() {
                    out.write_all(&(character as u32).to_le_bytes())?;
                    written += 1;
                }
                for _ in written..longest {
                    out.write_all(&[0; 4])?;
                }
            }
            Ok(())
        })
    }

    pub(crate) fn commit(self) -> Result<()> {
        let path = self.path;
        let finished = self.zip.finish();
        let DeferredErrorWriter { file, failure, .. } =
            finished.map_err(|error| DataError::write(path, io::Error::other(error)))?;
        match failure {
            None => file.commit(),
            Some(error) => Err(DataError::write(path, error)),
        }
    }
}

/// A file that keeps its first failure for the end: the archive's writer, dropped after a failed
/// write, would try once more and print about it.
struct DeferredErrorWriter {
    file: AtomicFile,
    failure: Option<io::Error>,
    /// Where the writer believes to be, also after a failure.
    position: u64,
}

impl Write for DeferredErrorWriter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = match self.failure {
            Some(_) => buffer.len(),
            None => self.file.write(buffer).unwrap_or_else(|error| {
                self.failure = Some(error);
                buffer.len()
            }),
        };
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        if let (None, Err(error)) = (&self.failure, self.file.flush()) {
            self.failure = Some(error);
        }
        Ok(())
    }
}

impl io::Seek for DeferredErrorWriter {
    fn seek(&mut self, target: io::SeekFrom) -> io::Result<u64> {
        if self.failure.is_none() {
            match self.file.seek(target) {
                Ok(position) => {
                    self.position = position;
                    return Ok(position);
                }
                Err(error) => self.failure = Some(error),
            }
        }
        self.position = match target {
            io::SeekFrom::Start(position) => position,
            io::SeekFrom::Current(by) => self.position.saturating_add_signed(by),
            io::SeekFrom::End(_) => self.position,
        };
        Ok(self.position)
    }
}
