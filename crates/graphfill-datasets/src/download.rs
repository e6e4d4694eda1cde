//! Downloads the files of a data set: resumes partial downloads, checks the content, and puts each
//! file in place with an atomic rename.
//!
//! A download grows in `FILE.part` beside its destination, so a file under its own name is always
//! complete. Only HTTPS is used, with the system's certificates, unless the caller names an HTTP
//! [`Mirror`].

#[cfg(test)]
mod server;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use graphfill_data::atomic_file::AtomicFile;
use graphfill_data::{DataError, Hint, Place, Progress, Result, Setting};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use ureq::http::{Response, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};
use zip::ZipArchive;

use crate::registry::{DatasetInfo, RemoteFile};

/// The bytes copied or hashed at a time.
const CHUNK: usize = 1 << 16;

/// Time and size limits of a download.
#[derive(Clone, Copy)]
struct Limits {
    /// For the connection.
    connect: Duration,
    /// Without a byte from the server.
    stall: Duration,
    /// The bytes of one file, downloaded or extracted.
    max_bytes: u64,
}

const DEFAULT_LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    stall: Duration::from_secs(15),
    // Ten times the largest data set.
    max_bytes: 2 << 30,
};

/// Another server that has the same files under the same paths: `https://publisher/PATH` becomes
/// `BASE/PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    base: String,
}

impl Mirror {
    /// A mirror at this base URL, which may have a path of its own.
    ///
    /// # Errors
    /// [`DataError::Request`] if it is not an `http` or `https` URL of a folder.
    pub fn new(base: &str) -> Result<Self> {
        let trimmed = base.trim().trim_end_matches('/');
        let host = trimmed.strip_prefix("http://").or_else(|| trimmed.strip_prefix("https://"));
        let is_usable = |host: &str| {
            let is_wrong = |letter: char| letter.is_whitespace() || "?#".contains(letter);
            !host.is_empty() && !host.starts_with('/') && !host.contains(is_wrong)
        };
        if !host.is_some_and(is_usable) {
            return Err(DataError::request(
                format!("'{base}' is not the URL of a mirror"),
                "give a base URL such as https://mirror.example.org/data; the path of each file is appended to it",
            ));
        }
        Ok(Mirror { base: trimmed.to_owned() })
    }

    /// The URL at which the mirror has what the publisher offers at `url`.
    pub fn url(&self, url: &str) -> String {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        format!("{}/{path}", self.base)
    }
}

impl FromStr for Mirror {
    type Err = DataError;

    fn from_str(base: &str) -> Result<Self> {
        Mirror::new(base)
    }
}

impl fmt::Display for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

/// What [`download`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DownloadReport {
    /// The folder that has the files now.
    pub folder: PathBuf,
    /// Every file, in the order of [`DatasetInfo::files`].
    pub files: Vec<FileReport>,
}

/// What [`download`] did for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReport {
    /// The file, as its publisher names it.
    pub name: &'static str,
    /// Its bytes in the folder; for an archive, those of the extracted files.
    pub bytes: u64,
    /// Whether it had to be downloaded.
    pub status: FileStatus,
}

/// Whether a file had to be downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileStatus {
    /// Downloaded now, and checked if the file [is verified](RemoteFile::is_verified).
    Downloaded {
        /// The bytes received; fewer than the file has after an earlier partial download.
        received: u64,
    },
    /// In the folder already, with the right content as far as that is known.
    AlreadyPresent,
}

/// Downloads the files of a data set that are not in `folder` yet.
///
/// Existing files with the right content are kept without a request. A failed or cancelled download
/// leaves `FILE.part`, from which the next one continues.
///
/// # Errors
/// [`DataError::Download`] with the reason and how to get the file by hand;
/// [`DataError::Cancelled`] if `progress` is cancelled; otherwise an error of the file system.
pub fn download(
    info: &DatasetInfo,
    folder: &Path,
    mirror: Option<&Mirror>,
    progress: &dyn Progress,
) -> Result<DownloadReport> {
    download_within(info, folder, mirror, DEFAULT_LIMITS, progress)
}

fn download_within(
    info: &DatasetInfo,
    folder: &Path,
    mirror: Option<&Mirror>,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<DownloadReport> {
    let mut files = Vec::with_capacity(info.files.len());
    for file in info.files {
        progress.check()?;
        let url = mirror.map_or_else(|| file.url(), |mirror| mirror.url(&file.url()));
        let destination = folder.join(file.name);
        let job = FileDownload { info, file, url, destination, limits, progress };
        files.push(if file.members.is_empty() { job.get()? } else { job.get_archive(folder)? });
    }
    Ok(DownloadReport { folder: folder.to_path_buf(), files })
}

/// One file to download.
struct FileDownload<'a> {
    info: &'a DatasetInfo,
    file: &'a RemoteFile,
    /// The URL to ask: the publisher's or the mirror's.
    url: String,
    destination: PathBuf,
    limits: Limits,
    progress: &'a dyn Progress,
}

impl FileDownload<'_> {
    /// Gets a file that is kept as it is.
    fn get(&self) -> Result<FileReport> {
        let status = self.get_destination()?;
        Ok(FileReport { name: self.file.name, bytes: size(&self.destination)?, status })
    }

    /// Gets an archive and extracts its members. A downloaded archive is then removed; one that the
    /// user put there stays.
    fn get_archive(&self, folder: &Path) -> Result<FileReport> {
        let name = self.file.name;
        let kept: Vec<_> = self.file.members.iter().map(|member| folder.join(member)).collect();
        let total = || kept.iter().map(|path| size(path)).sum::<Result<u64>>();
        if kept.iter().all(|path| path.is_file()) {
            return Ok(FileReport { name, bytes: total()?, status: FileStatus::AlreadyPresent });
        }
        let status = self.get_destination()?;
        let extracted = self.extract(folder);
        // A damaged archive would fail every time. One that could not be extracted for another
        // reason, such as a full disk, is kept.
        if matches!(status, FileStatus::Downloaded { .. })
            && matches!(extracted, Ok(()) | Err(DataError::Malformed { .. }))
        {
            fs::remove_file(&self.destination)
                .map_err(|e| DataError::write(&self.destination, e))?;
        }
        extracted?;
        Ok(FileReport { name, bytes: total()?, status })
    }

    /// Downloads the file to its destination, unless it is there with the right content.
    fn get_destination(&self) -> Result<FileStatus> {
        if self.destination.is_file() {
            let content =
                File::open(&self.destination).and_then(|mut file| self.mismatch(&mut file));
            if content.map_err(|error| DataError::read(&self.destination, error))?.is_none() {
                return Ok(FileStatus::AlreadyPresent);
            }
        }
        self.transfer().map(|received| FileStatus::Downloaded { received })
    }

    /// Receives the file into its part, checks it and renames it. Returns the received bytes.
    fn transfer(&self) -> Result<u64> {
        let mut path = OsString::from(&self.destination);
        path.push(".part");
        let path = PathBuf::from(path);
        let on_disk = |error| DataError::write(&path, error);
        let mut part = open_part(&path)?;
        let mut start = part.seek(SeekFrom::End(0)).map_err(on_disk)?;
        // The last step of an earlier download may have failed.
        let whole = start > 0
            && self.file.is_verified()
            && self.mismatch(&mut part).map_err(on_disk)?.is_none();
        let mut received = 0;
        if !whole {
            let response = self.ask(&mut start).inspect_err(|_| {
                if start == 0 {
                    // An empty part is of no use; the error of the request is the one to report.
                    let _ = fs::remove_file(&path);
                }
            })?;
            part.set_len(start)
                .and_then(|()| part.seek(SeekFrom::Start(start)))
                .map_err(on_disk)?;
            received = self.receive(response, start, &mut part, &path)?;
            if let Some(mismatch) = self.mismatch(&mut part).map_err(on_disk)? {
                fs::remove_file(&path).map_err(on_disk)?;
                let advice = "it was removed; try again. If it happens twice, the server or a proxy sends something else";
                return Err(self.failed(mismatch, advice));
            }
        }
        part.sync_all().map_err(on_disk)?;
        drop(part);
        fs::rename(&path, &self.destination).map_err(|e| DataError::write(&self.destination, e))?;
        Ok(received)
    }

    /// Asks for the bytes from `start` on; sets `start` to 0 if the server sends the whole file.
    fn ask(&self, start: &mut u64) -> Result<Response<Body>> {
        let mut response = self.request(*start)?;
        let continues = |response: &Response<Body>| {
            let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
            range.trim().strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
        };
        match response.status().as_u16() {
            206 if *start > 0 && continues(&response) == Some(*start) => return Ok(response),
            // Another range, or none: only the whole file is of use.
            206 | 416 if *start > 0 => response = self.request(0)?,
            _ => {}
        }
        match response.status().as_u16() {
            200 => {
                *start = 0;
                Ok(response)
            }
            status => {
                let advice = match status {
                    404 | 410 => "the file may have moved, or the mirror may not have it",
                    401 | 403 => "the server, or a proxy, does not allow it",
                    429 => "wait a while and try again",
                    500.. => "try again later",
                    _ => "a proxy or a login page may be in the way",
                };
                Err(self.failed(format!("{} answered with status {status}", self.host()), advice))
            }
        }
    }

    fn request(&self, start: u64) -> Result<Response<Body>> {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            // Redirects of an HTTPS server may not leave HTTPS.
            .https_only(self.url.starts_with("https://"))
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .user_agent(concat!("graphfill/", env!("CARGO_PKG_VERSION")))
            // Ranges and lengths count the bytes of the file, not of a compressed answer.
            .accept_encoding("identity")
            .timeout_resolve(Some(self.limits.connect))
            .timeout_connect(Some(self.limits.connect))
            .timeout_recv_response(Some(self.limits.stall))
            .timeout_per_read(Some(self.limits.stall))
            .build()
            .new_agent();
        let mut request = agent.get(&self.url);
        if start > 0 {
            request = request.header(header::RANGE, format!("bytes={start}-"));
        }
        request.call().map_err(|error| {
            let advice = "check the network, and the variable HTTPS_PROXY if a proxy is needed";
            self.failed(format!("no answer from {} ({error})", self.host()), advice)
        })
    }

    /// Appends the body of the response to the part.
    fn receive(
        &self,
        response: Response<Body>,
        start: u64,
        part: &mut File,
        path: &Path,
    ) -> Result<u64> {
        let body = response.into_body();
        let total = body.content_length().map(|length| start + length);
        let too_large = || {
            let max = self.limits.max_bytes;
            // The error to report is that of the download.
            let _ = fs::remove_file(path);
            let found = format!("it has more than {max} bytes, the most that a data set may have");
            self.failed(found, "the server or a proxy sends something else")
        };
        if total.is_some_and(|total| total > self.limits.max_bytes) {
            return Err(too_large());
        }
        self.progress.begin(&format!("downloading {}", self.file.name), total);
        self.progress.advance(start);
        let mut reader = body.into_reader();
        let mut buffer = vec![0; CHUNK];
        let mut length = start;
        loop {
            self.progress.check()?;
            let count = reader.read(&mut buffer).map_err(|error| {
                let of_total = total.map(|total| format!(" of {total}")).unwrap_or_default();
                let found = format!("it broke off after {length}{of_total} bytes ({error})");
                self.failed(found, &format!("try again: it continues from {}", path.display()))
            })?;
            if count == 0 {
                break;
            }
            length += count as u64;
            if length > self.limits.max_bytes {
                return Err(too_large());
            }
            part.write_all(&buffer[..count]).map_err(|error| DataError::write(path, error))?;
            self.progress.advance(count as u64);
        }
        self.progress.end();
        Ok(length - start)
    }

    /// How the content of a file differs from the published one; none if it does not, or if nothing
    /// is known about it.
    fn mismatch(&self, file: &mut File) -> io::Result<Option<String>> {
        if !self.file.is_verified() {
            return Ok(None);
        }
        let (git_blob_id, sha256) = checksums(file)?;
        let differs = |name: &str, found: &str, expected: Option<&str>| {
            let expected = expected.filter(|expected| *expected != found)?;
            let what = "its content is not the published one";
            Some(format!("{what}: the {name} is {found}, expected {expected}"))
        };
        Ok(differs("SHA-256", &sha256, self.file.sha256)
            .or_else(|| differs("git blob id", &git_blob_id, self.file.git_blob_id)))
    }

    /// Extracts the members to `folder/MEMBER`, whatever path the archive gives them.
    fn extract(&self, folder: &Path) -> Result<()> {
        let archive = &self.destination;
        let damaged = |error: &dyn fmt::Display| DataError::damaged(archive, error);
        let file = File::open(archive).map_err(|error| DataError::read(archive, error))?;
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
        for member in self.file.members {
            let is_member = |name: &str| {
                let before = name.strip_suffix(member);
                before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
            };
            let index = zip.file_names().position(|name| name.is_ok_and(|name| is_member(&name)));
            let index = index.ok_or_else(|| {
                let found = format!("there is no {member} in the archive");
                let advice = "fetch the archive again; it is not the published one";
                DataError::malformed(Place::file(archive), found, advice)
            })?;
            let mut entry = zip.by_index(index).map_err(|error| damaged(&error))?;
            let target = folder.join(member);
            create_parent(&target)?;
            let mut output = AtomicFile::create(&target)?;
            self.progress.begin(&format!("extracting {member}"), Some(entry.size()));
            let mut buffer = vec![0; CHUNK];
            let mut left = self.limits.max_bytes;
            loop {
                self.progress.check()?;
                let count = entry.read(&mut buffer).map_err(|error| damaged(&error))?;
                if count == 0 {
                    break;
                }
                // The size that the archive states may be wrong; the extracted bytes count.
                left = left.checked_sub(count as u64).ok_or_else(|| damaged(&"it is too large"))?;
                output.write_all(&buffer[..count]).map_err(|e| DataError::write(&target, e))?;
                self.progress.advance(count as u64);
            }
            self.progress.end();
            output.commit()?;
        }
        Ok(())
    }

    fn host(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }

    fn failed(&self, problem: String, advice: &str) -> DataError {
        let (url, name, set) = (self.file.url(), self.file.name, self.info.name);
        let destination = self.destination.display();
        let hint = Hint::new(format!(
            "{advice};\n  to get it by hand, save {url} as {destination};\n  or name a folder that has {set}/{name}"
        ));
        DataError::Download { url: self.url.clone(), problem, hint: hint.with(Setting::DataDir) }
    }
}

/// Opens the part of an earlier download, or a new one, and locks it against other downloads.
fn open_part(path: &Path) -> Result<File> {
    create_parent(path)?;
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|error| DataError::write(path, error))?;
    // Some network file systems have no locks; the check of the content then has to do.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        let found = format!("another download is writing {}", path.display());
        return Err(DataError::request(found, "wait until it is done and try again"));
    }
    Ok(file)
}

fn create_parent(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| DataError::write(folder, error))
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).map_err(|error| DataError::read(path, error))?.len())
}

/// The git blob id (SHA-1 over `blob SIZE\0` and the content) and the SHA-256 of an open file.
fn checksums(file: &mut File) -> io::Result<(String, String)> {
    let size = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let (mut blob, mut sha256) = (Sha1::new(), Sha256::new());
    blob.update(format!("blob {size}\0"));
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => {
                blob.update(&buffer[..count]);
                sha256.update(&buffer[..count]);
            }
        }
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((hex(&blob.finalize()), hex(&sha256.finalize())))
}
