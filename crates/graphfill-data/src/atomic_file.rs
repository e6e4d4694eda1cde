//! Files that appear whole or not at all: written beside their place under another name, flushed
//! to disk, then renamed.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{DataError, Result};

/// The most characters of the output's name that the name of its temporary file repeats.
const MAX_NAME: usize = 40;
const SUFFIX: &str = ".tmp";

/// A file on its way; dropped before [`AtomicFile::commit`], it leaves nothing behind.
///
/// Until then it is called `.NAME.graphfill-XXXXXX.tmp` and locked, so that the next run for the
/// same output can tell the remains of a killed run, which it removes, from the file of a run that
/// is still at work.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Starts writing what will become `path`. A file that is there keeps its permissions and,
    /// where the system allows it, its owner.
    pub fn create(path: &Path) -> Result<Self> {
        let path = &resolve_target(path)?;
        // The name of the temporary file would only confuse.
        let failed = |error: io::Error| DataError::write(path, io::Error::from(error.kind()));
        let folder = folder_of(path);
        let prefix = prefix_for(path);
        remove_stale(folder, &prefix);
        let replaced = fs::metadata(path).ok();
        let file = loop {
            let file = new_file(folder, &prefix, replaced.as_ref()).map_err(failed)?;
            // Another run may have taken the file for a stale one before it was locked.
            if file.path().exists() {
                break file;
            }
        };
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
        sync_folder(folder_of(&path));
        tracing::debug!(?path, "file written");
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The start of the names of the temporary files for `path`.
fn prefix_for(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.graphfill-", name.chars().take(MAX_NAME).collect::<String>())
}

/// Removes the temporary files of runs that are no more. Whoever writes one holds its lock. What
/// cannot be opened, locked or removed is left alone: it stands in nobody's way.
fn remove_stale(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_temporary = |name: &OsStr| {
            let name = name.as_encoded_bytes();
            name.starts_with(prefix.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
        };
        if is_temporary(&entry.file_name())
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A temporary file, locked, with the permissions of the file that it will replace.
fn new_file(folder: &Path, prefix: &str, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(SUFFIX);
    // Temporary files are private by default; a new output should be what the user's umask says.
    #[cfg(unix)]
    if replaced.is_none() {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    // Not every file system has locks; without them nothing is taken for stale either.
    let _ = file.as_file().lock();
    if let Some(replaced) = replaced {
        keep_owner(file.as_file(), replaced);
        file.as_file().set_permissions(replaced.permissions())?;
    }
    Ok(file)
}

/// Gives the file to the owner and the group of the one that it replaces, as far as the user may.
#[cfg(unix)]
fn keep_owner(file: &File, replaced: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if fchown(file, Some(replaced.uid()), Some(replaced.gid())).is_err() {
        let _ = fchown(file, None, Some(replaced.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// Makes the renaming outlast a power failure. Some file systems cannot; the file is whole anyway.
#[cfg(unix)]
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) {}

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

/// Fails if `output` is one of the `inputs`, by whatever name.
pub fn check_not_an_input(output: &Path, inputs: &[impl AsRef<Path>]) -> Result<()> {
    let Ok(real) = fs::canonicalize(output) else { return Ok(()) };
    for input in inputs {
        if fs::canonicalize(input).is_ok_and(|input| input == real) {
            return Err(DataError::request(
                format!("the output {} is also an input", output.display()),
                "name another output: graphfill never changes the files that it reads",
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

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("listed").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn remains_of_killed_runs_go_and_those_at_work_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.csv");
        // What a killed run leaves: a file that nobody holds. Others are not ours to remove.
        for name in [".out.csv.graphfill-a1B2c3.tmp", ".other.csv.graphfill-a1B2c3.tmp"] {
            fs::write(folder.path().join(name), "half").expect("written");
        }
        let mut first = AtomicFile::create(&path).expect("created");
        first.write_all(b"first").expect("written");
        let mut second = AtomicFile::create(&path).expect("created beside the first");
        second.write_all(b"second").expect("written");
        let found = names(folder.path());
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1..].iter().all(|name| name.starts_with(".out.csv.graphfill-")), "{found:?}");
        assert!(found[1..].iter().all(|name| name.ends_with(".tmp")), "{found:?}");
        assert!(!found.iter().any(|name| name == ".out.csv.graphfill-a1B2c3.tmp"));
        first.commit().expect("renamed");
        assert_eq!(fs::read(&path).expect("read"), b"first");
        second.commit().expect("renamed");
        assert_eq!(fs::read(&path).expect("read"), b"second");
        assert_eq!(names(folder.path()), [".other.csv.graphfill-a1B2c3.tmp", "out.csv"]);
    }

    #[test]
    fn names_of_any_length_have_a_temporary_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(format!("{}.csv", "ü".repeat(120)));
        write(&path, b"x").expect("a name of 244 bytes");
        assert_eq!(fs::read(&path).expect("read"), b"x");
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_stays_private() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.csv");
        let mode = || fs::metadata(&path).expect("there").mode() & 0o7777;
        for wanted in [0o600, 0o640, 0o666, 0o444] {
            write(&path, b"before").expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).expect("set");
            let mut file = AtomicFile::create(&path).expect("created");
            let on_its_way = file.writer.get_ref().as_file().metadata().expect("there").mode();
            assert_eq!(on_its_way & 0o7777, wanted, "never wider, not even on the way");
            file.write_all(b"after").expect("written");
            file.commit().expect("renamed");
            assert_eq!((mode(), fs::read(&path).expect("read")), (wanted, b"after".to_vec()));
        }
        // Only the superuser may give files away.
        if fs::metadata(folder.path()).expect("there").uid() == 0 {
            std::os::unix::fs::chown(&path, Some(12), Some(34)).expect("given away");
            write(&path, b"again").expect("written");
            let about = fs::metadata(&path).expect("there");
            assert_eq!((about.uid(), about.gid(), mode()), (12, 34, 0o444));
        }
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
