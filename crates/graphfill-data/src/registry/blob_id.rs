//! The git blob id of a file: SHA-1 over `blob SIZE\0` and the content, in hexadecimal.
//!
//! Most publishers keep their files in git and give no other checksum, so this id is what
//! pins their bytes. It equals what `git hash-object FILE` prints.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use sha1::{Digest, Sha1};

use crate::error::{DataError, Result};

/// The bytes read at a time.
const BUFFER: usize = 1 << 16;

/// The git blob id of a file.
///
/// # Errors
/// [`DataError::Read`] where the file cannot be read.
pub fn git_blob_id(path: &Path) -> Result<String> {
    File::open(path)
        .and_then(|mut file| of_file(&mut file))
        .map_err(|error| DataError::read(path, error))
}

/// The git blob id of an open file, read from its start.
pub(super) fn of_file(file: &mut File) -> io::Result<String> {
    let size = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {size}\0"));
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_what_git_prints() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("hello");
        std::fs::write(&path, "hello\n").expect("the folder is writable");
        let id = git_blob_id(&path).expect("the file was just written");
        assert_eq!(id, "ce013625030ba8dba906f756967f9e9ca394464a");
        std::fs::write(&path, "").expect("the folder is writable");
        let empty = git_blob_id(&path).expect("the file was just written");
        assert_eq!(empty, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    }

    #[test]
    fn names_the_file_that_is_not_there() {
        let error = git_blob_id(Path::new("no/such/file")).expect_err("there is no such file");
        assert!(error.to_string().contains("no/such/file"), "{error}");
    }
}
