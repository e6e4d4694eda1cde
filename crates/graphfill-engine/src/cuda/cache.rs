//! Compiled kernels on disk, with a checksum, so that a damaged file is compiled again.
//!
//! A file has the length of what the compiler made (eight bytes, little-endian), its SHA-256, and what the
//! compiler made. The driver does not check what it loads.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The length and the checksum.
const HEADER: usize = 8 + 32;

/// What the compiler made, if there is such a file and it is as it was written.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let mut file = fs::read(path).ok()?;
    unsealed(&file)?;
    file.drain(..HEADER);
    Some(file)
}

/// Writes a file that appears whole or not at all.
pub(crate) fn write(path: &Path, compiled: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&(compiled.len() as u64).to_le_bytes())?;
    file.write_all(&Sha256::digest(compiled))?;
    file.write_all(compiled)?;
    file.persist(path)?;
    Ok(())
}

/// What is behind the header of a file, if that is right.
fn unsealed(file: &[u8]) -> Option<&[u8]> {
    let (header, compiled) = file.split_at_checked(HEADER)?;
    let (len, checksum) = header.split_at(8);
    let is_whole = *len == (compiled.len() as u64).to_le_bytes();
    let is_right = is_whole && !compiled.is_empty() && Sha256::digest(compiled)[..] == *checksum;
    is_right.then_some(compiled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new").join("kernels.cubin");
        assert_eq!(read(&path), None);
        write(&path, b"compiled").expect("a file");
        assert_eq!(read(&path).as_deref(), Some(&b"compiled"[..]));
        write(&path, b"compiled anew").expect("a file");
        assert_eq!(read(&path).as_deref(), Some(&b"compiled anew"[..]));
        let files = fs::read_dir(path.parent().expect("a folder")).expect("its files");
        assert_eq!(files.count(), 1);
    }

    #[test]
    fn a_damaged_file_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kernels.cubin");
        write(&path, b"compiled").expect("a file");
        let whole = fs::read(&path).expect("the file");
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("a file");
            assert_eq!(read(&path), None, "{bytes:?}");
        };
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            refused(&bytes);
            refused(&whole[..at]);
        }
        refused(&[&whole[..], b"!"].concat());
        // As files were before they had a checksum.
        refused(b"compiled");
        write(&path, b"").expect("a file");
        assert_eq!(read(&path), None, "nothing at all");
    }
}
