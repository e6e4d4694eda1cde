//! A file that grows beside its destination as `NAME.part` and takes its place when whole.
//!
//! A part that is left behind is what the next download goes on from. It is locked while in
//! use, so that two downloads never write into each other.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::blob_id;
use crate::error::{DataError, Result};

/// An unfinished file.
pub(super) struct PartFile {
    destination: PathBuf,
    path: PathBuf,
    file: File,
    length: u64,
}

impl PartFile {
    /// Opens what an earlier download left, or an empty part.
    pub(super) fn open(destination: &Path) -> Result<Self> {
        if let Some(folder) = destination.parent() {
            fs::create_dir_all(folder).map_err(|error| DataError::write(folder, error))?;
        }
        let path = path_of(destination);
        let failed = |error| DataError::write(&path, error);
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        // Some network file systems know no locks: then the check of the content must do.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(DataError::request(
                format!(
                    "another download is writing {}\n  wait until it is done and run the command again",
                    path.display()
                ),
                "",
            ));
        }
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(PartFile { destination: destination.to_path_buf(), path, file, length })
    }

    /// The bytes that it has.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Empties it.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.file
            .set_len(0)
            .and_then(|()| self.file.rewind())
            .map_err(|error| DataError::write(&self.path, error))?;
        self.length = 0;
        Ok(())
    }

    /// Adds bytes at its end.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| DataError::write(&self.path, error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The git blob id of what it has; the next byte still goes to its end.
    pub(super) fn blob_id(&mut self) -> Result<String> {
        blob_id::of_file(&mut self.file).map_err(|error| DataError::read(&self.path, error))
    }

    /// Removes it.
    pub(super) fn discard(self) -> Result<()> {
        drop(self.file);
        fs::remove_file(&self.path).map_err(|error| DataError::write(&self.path, error))
    }

    /// Puts it in the place of its destination, safe against a crash in between.
    pub(super) fn finish(self) -> Result<()> {
        let PartFile { destination, path, file, .. } = self;
        file.sync_all().map_err(|error| DataError::write(&path, error))?;
        // Windows renames no file that is open here.
        drop(file);
        fs::rename(&path, &destination).map_err(|error| DataError::write(&destination, error))
    }
}

/// The part beside this destination.
pub(super) fn path_of(destination: &Path) -> PathBuf {
    let mut path = OsString::from(destination);
    path.push(".part");
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_where_it_was_left_and_takes_its_place() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let destination = folder.path().join("inner/file");
        let mut part = PartFile::open(&destination).expect("the folder is writable");
        part.append(b"hel").expect("the part is open");
        assert!(PartFile::open(&destination).is_err(), "the part is in use");
        drop(part);

        let mut part = PartFile::open(&destination).expect("the part is free");
        assert_eq!(part.length(), 3);
        part.blob_id().expect("the part can be read");
        part.append(b"lo\n").expect("the part is open");
        part.finish().expect("the folder is writable");
        assert_eq!(fs::read(&destination).ok().as_deref(), Some(&b"hello\n"[..]));
        assert!(!path_of(&destination).exists());
    }
}
