//! Fetches the files of a data set that are not there yet.
//!
//! A file that stands under its own name is whole: a download grows in a part beside it and
//! takes its place once its content is checked.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive;
use super::blob_id::git_blob_id;
use super::exchange::Limits;
use super::file_download::FileDownload;
use super::transfer::download;
use super::{DatasetInfo, Mirror, RemoteFile};
use crate::error::{DataError, Result};
use crate::progress::Progress;

/// What [`get`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetOutcome {
    /// The folder that has the files now.
    pub folder: PathBuf,
    /// Every file, in the order of the data set.
    pub files: Vec<FileOutcome>,
}

/// What [`get`] did for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOutcome {
    /// The file, as its publisher names it.
    pub name: &'static str,
    /// Its bytes in the folder; for an archive, those of what was taken out of it.
    pub bytes: u64,
    /// Whether it had to be downloaded.
    pub fetched: Fetched,
}

/// Whether a file had to be downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetched {
    /// It was, and so many bytes came over the network.
    Downloaded {
        /// Fewer than the file has, where an earlier download had left a part.
        received: u64,
    },
    /// It was in the folder already, and its content is right.
    AlreadyThere,
}

/// Fetches what is missing of a data set into its folder.
///
/// What stands in the folder with the right content stays as it is, without a request. A failed
/// or stopped download leaves `FILE.part`, from which the next one goes on.
///
/// # Errors
/// [`DataError::Download`] with the reason and the way to fetch the file by hand;
/// [`DataError::Cancelled`] once `progress` says so; otherwise what reading or writing the
/// folder failed with.
pub fn get(
    info: &DatasetInfo,
    folder: &Path,
    mirror: Option<&Mirror>,
    progress: &dyn Progress,
) -> Result<GetOutcome> {
    get_within(info, folder, mirror, Limits::STANDARD, progress)
}

/// [`get`] with other limits.
pub(super) fn get_within(
    info: &DatasetInfo,
    folder: &Path,
    mirror: Option<&Mirror>,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<GetOutcome> {
    let mut files = Vec::with_capacity(info.files.len());
    for file in info.files {
        progress.check()?;
        let url = mirror.map_or_else(|| file.url(), |mirror| mirror.address(&file.url()));
        let destination = folder.join(file.name);
        let file_download =
            FileDownload { info, file, url: &url, destination: &destination, limits };
        let outcome = if file.members.is_empty() {
            get_plain(&file_download, progress)?
        } else {
            get_archive(&file_download, folder, progress)?
        };
        files.push(outcome);
    }
    Ok(GetOutcome { folder: folder.to_path_buf(), files })
}

fn get_plain(file_download: &FileDownload<'_>, progress: &dyn Progress) -> Result<FileOutcome> {
    let fetched = if is_right(file_download.destination, file_download.file)? {
        Fetched::AlreadyThere
    } else {
        Fetched::Downloaded { received: download(file_download, progress)? }
    };
    Ok(FileOutcome {
        name: file_download.file.name,
        bytes: size(file_download.destination)?,
        fetched,
    })
}

fn get_archive(
    file_download: &FileDownload<'_>,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<FileOutcome> {
    let RemoteFile { name, members, .. } = *file_download.file;
    let archive = file_download.destination;
    let kept: Vec<_> = members.iter().map(|member| folder.join(member)).collect();
    if kept.iter().all(|path| path.is_file()) {
        let bytes = kept.iter().map(|path| size(path)).sum::<Result<u64>>()?;
        return Ok(FileOutcome { name, bytes, fetched: Fetched::AlreadyThere });
    }
    let unpack = || archive::unpack(archive, members, folder, file_download.limits.bytes, progress);
    // Somebody may have put the archive there by hand: it stays theirs.
    if is_right(archive, file_download.file)? {
        return Ok(FileOutcome { name, bytes: unpack()?, fetched: Fetched::AlreadyThere });
    }
    let received = download(file_download, progress)?;
    let unpacked = unpack();
    // A damaged archive would fail again and again, so it goes too; one that merely could not
    // be unpacked this time is kept.
    if matches!(unpacked, Ok(_) | Err(DataError::Malformed { .. })) {
        fs::remove_file(archive).map_err(|error| DataError::write(archive, error))?;
    }
    Ok(FileOutcome { name, bytes: unpacked?, fetched: Fetched::Downloaded { received } })
}

/// Whether the file is there and has the published content, as far as that is known.
fn is_right(path: &Path, file: &RemoteFile) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    match file.git_blob_id {
        Some(expected) => Ok(git_blob_id(path)? == expected),
        None => Ok(true),
    }
}

fn size(path: &Path) -> Result<u64> {
    let about = fs::metadata(path).map_err(|error| DataError::read(path, error))?;
    Ok(about.len())
}
