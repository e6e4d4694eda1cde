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

    /// Writes numbers in their own type.
    pub(crate) fn numbers<T: NumpyNumber>(
        &mut self,
        name: &str,
        mut values: impl ExactSizeIterator<Item = T>,
    ) -> Result<()> {
        let shape = [values.len()];
        self.array(name, T::DESCR, &shape, |out| values.try_for_each(|value| value.write(out)))
    }

    /// Writes positions of rows or columns: as `int32`, which scipy likes best, where all of them
    /// fit, and as `int64` otherwise.
    pub(crate) fn indices(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = u32> + Clone,
    ) -> Result<()> {
        self.integers(name, values.map(i64::from))
    }

    /// Writes whole numbers as `int32` where all of them fit, and as `int64` otherwise.
    pub(crate) fn integers(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = i64> + Clone,
    ) -> Result<()> {
        if fit_int32(values.clone()) {
            self.numbers(name, values.map(|value| value as i32))
        } else {
            self.numbers(name, values)
        }
    }

    pub(crate) fn strings<S: AsRef<str>>(&mut self, name: &str, values: &[S]) -> Result<()> {
        let characters = |value: &S| value.as_ref().chars().count();
        let longest = values.iter().map(characters).max().unwrap_or(0).max(1);
        if longest > MAX_CHARACTERS {
            return Err(DataError::request(
                format!(
                    "{}: a text of {longest} characters is too long for .npz, which takes up to {MAX_CHARACTERS}",
                    self.path.display()
                ),
                "write Parquet or CSV instead",
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

fn fit_int32(mut values: impl Iterator<Item = i64>) -> bool {
    values.all(|value| i32::try_from(value).is_ok())
}

/// A number that numpy knows: its type there, and its little-endian bytes.
pub(crate) trait NumpyNumber: Copy {
    const DESCR: &'static str;
    fn write(self, out: &mut dyn Write) -> io::Result<()>;
}

macro_rules! numpy_number {
    ($($number:ty => $descr:literal),*) => {$(
        impl NumpyNumber for $number {
            const DESCR: &'static str = $descr;
            fn write(self, out: &mut dyn Write) -> io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        }
    )*};
}

numpy_number!(u8 => "|u1", i32 => "<i4", i64 => "<i8", f32 => "<f4", f64 => "<f8");

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::npz::Archive;

    #[test]
    fn indices_beyond_31_bits_keep_their_values() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.npz");
        let (narrow, wide) = ([0u32, i32::MAX as u32], [7u32, 1 << 31, u32::MAX]);
        let mut archive = ArchiveWriter::create(&path).expect("created");
        archive.indices("narrow", narrow.iter().copied()).expect("written");
        archive.indices("wide", wide.iter().copied()).expect("written");
        archive.integers("classes", [-1i64, 3].into_iter()).expect("written");
        archive.commit().expect("renamed");
        let mut archive = Archive::open(&path).expect("opened");
        assert_eq!(archive.integers("narrow").expect("read"), narrow.map(i64::from));
        assert_eq!(archive.integers("wide").expect("read"), wide.map(i64::from));
        assert_eq!(archive.integers("classes").expect("read"), [-1, 3]);
        assert!(fit_int32([i64::from(i32::MIN), i64::from(i32::MAX)].into_iter()));
        assert!(!fit_int32([1 << 31].into_iter()) && !fit_int32([-(1 << 31) - 1].into_iter()));
    }
}
