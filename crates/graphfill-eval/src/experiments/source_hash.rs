//! A hash of source files, by which results of other builds are told apart. `build.rs` uses it, too.

use std::io;
use std::path::{Path, PathBuf};

/// A hash of the relative paths and contents of all files under some folders, in hexadecimal.
///
/// # Errors
/// Those of reading; among them, that a folder is not there.
pub(crate) fn source_hash(folders: &[PathBuf]) -> io::Result<String> {
    let mut hash = Fnv1a::new();
    for folder in folders {
        let mut files = Vec::new();
        list(folder, &mut files)?;
        files.sort();
        for file in files {
            let name =
                file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            let content = std::fs::read(&file)?;
            hash.add(name.as_bytes());
            hash.add(&(content.len() as u64).to_le_bytes());
            hash.add(&content);
        }
        hash.add(&[0]);
    }
    Ok(format!("{:016x}", hash.0))
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a with 64 bits.
struct Fnv1a(u64);

impl Fnv1a {
    fn new() -> Self {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_with_names_and_contents_and_with_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let hash = || source_hash(&[folder.path().to_path_buf()]).expect("readable files");
        std::fs::create_dir(path("ops")).expect("a folder");
        std::fs::write(path("ops/gru.rs"), "fn gru() {}").expect("a file");
        let first = hash();
        assert_eq!(first, hash());
        std::fs::write(path("ops/gru.rs"), "fn gru() { }").expect("a file");
        let changed = hash();
        assert_ne!(first, changed);
        std::fs::rename(path("ops/gru.rs"), path("ops/lstm.rs")).expect("renamed");
        assert_ne!(changed, hash());
        assert!(source_hash(&[path("nowhere")]).is_err());
    }
}
