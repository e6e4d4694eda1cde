//! Files that appear whole or not at all: written beside their place under another name, flushed
//! to disk, then renamed.

use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{DataError, Result};

/// A file on its way; dropped before [`AtomicFile::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Starts writing what will become `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let path = &resolve_target(path)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".graphfill-");
        let permissions = usual_permissions();
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        // The name of the temporary file would only confuse.
        let file = builder
            .tempfile_in(folder)
            .map_err(|error| DataError::write(path, io::Error::from(error.kind())))?;
        Ok(AtomicFile { path: path.to_path_buf(), writer: BufWriter::new(file) })
    }

    /// Brings everything written so far to the disk, where a full one shows.
    pub fn sync(&mut self) -> Result<()> {
        let flushed = self.writer.flush().and_then(|()| self.writer.get_ref().as_file().sync_all());
        flushed.map_err(|error| DataError::write(&self.path, error))
    }

    /// Puts the file in its place.
    pub fn commit(self) -> Result<()> {
        let path = self.path;
        let file = self
            .writer
            .into_inner()
            .map_err(|error| DataError::write(&path, error.into_error()))?;
        file.as_file().sync_all().map_err(|error| DataError::write(&path, error))?;
        file.persist(&path).map_err(|error| DataError::write(&path, error.error))?;
        tracing::debug!(?path, "file written");
        Ok(())
    }
}

/// Writes a whole file at once.
pub fn write(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(content).map_err(|error| DataError::write(path, error))?;
    file.commit()
}

impl Write for AtomicFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.writer.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl io::Seek for AtomicFile {
    fn seek(&mut self, position: io::SeekFrom) -> io::Result<u64> {
        self.writer.seek(position)
    }
}

/// Where the file really goes: behind a link, and never over a folder or a device.
fn resolve_target(path: &Path) -> Result<PathBuf> {
    let Ok(about) = fs::metadata(path) else { return Ok(path.to_path_buf()) };
    if about.is_dir() {
        return Err(DataError::write(path, io::Error::from(io::ErrorKind::IsADirectory)));
    }
    if !about.is_file() {
        let found = io::Error::other("it is there already and is not a plain file");
        return Err(DataError::write(path, found));
    }
    fs::canonicalize(path).map_err(|error| DataError::write(path, error))
}

/// Temporary files are private by default; an output should be what the user's umask says.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// Fails if `output` is one of the `inputs`, by whatever name.
pub fn check_not_an_input(output: &Path, inputs: &[impl AsRef<Path>]) -> Result<()> {
    let Ok(real) = fs::canonicalize(output) else { return Ok(()) };
    for input in inputs {
        if fs::canonicalize(input).is_ok_and(|input| input == real) {
            return Err(DataError::request(
                format!(
                    "the output {} is also an input\n  name another output: graphfill never changes the files that it reads",
                    output.display()
                ),
                "",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appears_only_when_committed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.csv");
        let mut file = AtomicFile::create(&path).expect("created");
        file.write_all(b"half").expect("written");
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
        let mut file = AtomicFile::create(&path).expect("created");
        file.write_all(b"whole").expect("written");
        file.commit().expect("renamed");
        assert_eq!(fs::read(&path).expect("read"), b"whole");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn an_input_by_another_name_is_still_an_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nodes.csv");
        fs::write(&path, "id\n").expect("written");
        let other = folder.path().join(".").join("nodes.csv");
        assert!(check_not_an_input(&other, &[&path]).is_err());
        assert!(check_not_an_input(&folder.path().join("new.csv"), &[&path]).is_ok());
    }
}
