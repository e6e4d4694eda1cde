//! Downloads from a server on the loopback interface: what arrives, what is kept, what is reported.

use std::fs;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::server::{Behaviour, Server};
use super::*;
use crate::registry::find;

/// Content of several chunks without repetitions near the places where tests cut it.
fn content() -> Vec<u8> {
    (0..400_000_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

const SHORT: Limits = Limits {
    connect: Duration::from_secs(5),
    stall: Duration::from_millis(500),
    max_bytes: 2 << 30,
};

/// A data set `toy` of one file `file`, a folder for it, and a server that has it.
struct Toy {
    info: DatasetInfo,
    folder: TempDir,
    server: Server,
}

impl Toy {
    /// A toy with the checksums of [`content`], whatever the server sends.
    fn new(sent: Vec<u8>, behaviour: Behaviour) -> Toy {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sample = folder.path().join("file");
        fs::write(&sample, content()).expect("a written file");
        let sums = checksums(&mut File::open(&sample).expect("a file")).expect("a readable file");
        let file = RemoteFile {
            name: "file",
            folder_url: "https://publisher.example.org/owner/toy",
            git_blob_id: Some(sums.0.leak()),
            sha256: Some(sums.1.leak()),
            members: &[],
        };
        Toy::with_file(file, sent, behaviour)
    }

    fn with_file(file: RemoteFile, sent: Vec<u8>, behaviour: Behaviour) -> Toy {
        let cora = *find("cora").expect("a data set");
        let info = DatasetInfo { name: "toy", files: vec![file].leak(), ..cora };
        let folder = tempfile::tempdir().expect("a temporary folder");
        Toy { info, folder, server: Server::start(sent, behaviour) }
    }

    /// A toy with the part of an earlier download.
    fn with_part(part: &[u8], behaviour: Behaviour) -> Toy {
        let toy = Toy::new(content(), behaviour);
        fs::write(toy.path("file.part"), part).expect("a written part");
        toy
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn get_within(&self, limits: Limits, progress: &Counter) -> Result<FileReport> {
        let mirror = Mirror::new(&self.server.url()).expect("a URL");
        download_within(&self.info, self.folder.path(), Some(&mirror), limits, progress)
            .map(|report| report.files[0])
    }

    fn get(&self) -> Result<FileReport> {
        self.get_within(SHORT, &Counter::default())
    }

    fn failure(&self) -> String {
        self.get().expect_err("a download that fails").to_string()
    }

    /// Checks that only the complete file is in the folder.
    fn assert_complete(&self) {
        assert_eq!(fs::read(self.path("file")).ok(), Some(content()));
        assert_eq!(fs::read_dir(self.folder.path()).expect("a folder").count(), 1);
    }

    fn assert_empty(&self) {
        assert_eq!(fs::read_dir(self.folder.path()).expect("a folder").count(), 0);
    }
}

fn received(report: FileReport) -> u64 {
    match report.status {
        FileStatus::Downloaded { received } => received,
        FileStatus::AlreadyPresent => panic!("the file was there already"),
    }
}

/// Counts progress, and cancels after `cancel_after` bytes (0: never).
#[derive(Default)]
struct Counter {
    done: AtomicU64,
    cancel_after: u64,
}

impl Progress for Counter {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel_after > 0 && self.done.load(Ordering::Relaxed) >= self.cancel_after
    }
}

#[test]
fn a_file_is_downloaded_checked_and_not_downloaded_again() {
    let toy = Toy::new(content(), Behaviour::Normal);
    let progress = Counter::default();
    let report = toy.get_within(SHORT, &progress).expect("a download");
    assert_eq!((received(report), report.bytes), (400_000, 400_000));
    assert_eq!(progress.done.load(Ordering::Relaxed), 400_000);
    toy.assert_complete();
    let again = toy.get().expect("nothing to download");
    assert_eq!(again.status, FileStatus::AlreadyPresent);
    fs::write(toy.path("file"), "something else").expect("a written file");
    toy.get().expect("a second download");
    toy.assert_complete();
    assert_eq!(toy.server.requests(), [None, None]);
}

#[test]
fn a_cut_download_is_continued() {
    let toy = Toy::new(content(), Behaviour::CutAfter(150_000));
    let message = toy.failure();
    assert!(message.contains("150000 of 400000 bytes"), "{message}");
    assert!(message.contains("it continues from"), "{message}");
    assert!(!toy.path("file").exists());
    let part = fs::read(toy.path("file.part")).expect("a part");
    assert_eq!(part, content()[..150_000]);
    // The redirect keeps the range.
    let toy = Toy::with_part(&part, Behaviour::Redirect);
    assert_eq!(received(toy.get().expect("the rest")), 250_000);
    assert_eq!(toy.server.requests(), [Some(150_000), Some(150_000)]);
    toy.assert_complete();
}

#[test]
fn a_part_that_the_server_cannot_continue_is_replaced() {
    let cases =
        [(Behaviour::IgnoreRanges, 1), (Behaviour::RefuseRanges, 2), (Behaviour::WrongRange, 2)];
    for (behaviour, requests) in cases {
        let toy = Toy::with_part(&content()[..150_000], behaviour);
        assert_eq!(received(toy.get().expect("the whole file")), 400_000);
        assert_eq!(toy.server.requests().len(), requests);
        toy.assert_complete();
    }
}

#[test]
fn a_complete_part_needs_no_request() {
    let toy = Toy::with_part(&content(), Behaviour::Status(500));
    assert_eq!(received(toy.get().expect("nothing to download")), 0);
    assert_eq!(toy.server.requests(), []);
    toy.assert_complete();
}

#[test]
fn a_part_of_another_file_is_removed() {
    let toy = Toy::with_part(&[7; 1000], Behaviour::Normal);
    assert!(toy.failure().contains("its content is not the published one"));
    toy.assert_empty();
    toy.get().expect("a download from the start");
    toy.assert_complete();
}

#[test]
fn wrong_content_is_refused_with_both_checksums() {
    let mut toy = Toy::new(b"hello\n".to_vec(), Behaviour::Normal);
    let message = toy.failure();
    let found = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    let expected = toy.info.files[0].sha256.expect("a checksum");
    assert!(message.contains(&format!("SHA-256 is {found}, expected {expected}")), "{message}");
    toy.assert_empty();
    toy.info.files = vec![RemoteFile { sha256: None, ..toy.info.files[0] }].leak();
    let message = toy.failure();
    let found = "ce013625030ba8dba906f756967f9e9ca394464a";
    assert!(message.contains(&format!("git blob id is {found}")), "{message}");
}

#[test]
fn a_refusal_of_the_server_is_reported_and_keeps_the_part() {
    let toy = Toy::new(content(), Behaviour::Status(404));
    let message = toy.failure();
    assert!(message.contains("status 404"), "{message}");
    assert!(message.contains("save https://publisher.example.org/owner/toy/file as"), "{message}");
    assert!(message.contains("a folder that has toy/file"), "{message}");
    toy.assert_empty();
    let toy = Toy::with_part(b"begun", Behaviour::Status(503));
    assert!(toy.failure().contains("status 503"));
    assert!(toy.path("file.part").exists());
}

#[test]
fn a_silent_server_is_given_up_and_the_part_kept() {
    let toy = Toy::new(content(), Behaviour::StallAfter(1000));
    let message = toy.failure();
    assert!(message.contains("1000 of 400000 bytes") && message.contains("timeout"), "{message}");
    assert_eq!(fs::read(toy.path("file.part")).ok().as_deref(), Some(&content()[..1000]));
}

#[test]
fn cancelling_keeps_the_part() {
    let toy = Toy::new(content(), Behaviour::Normal);
    let progress = Counter { cancel_after: 1, ..Counter::default() };
    let error = toy.get_within(SHORT, &progress).expect_err("a cancelled download");
    assert!(matches!(error, DataError::Cancelled), "{error}");
    let part = fs::read(toy.path("file.part")).expect("a part");
    assert!(!part.is_empty() && content().starts_with(&part));
    assert_eq!(received(toy.get().expect("the rest")), 400_000 - part.len() as u64);
}

#[test]
fn two_downloads_do_not_write_the_same_part() {
    let toy = Toy::with_part(b"begun", Behaviour::Normal);
    let _locked = open_part(&toy.path("file.part")).expect("an unlocked part");
    assert!(toy.failure().contains("another download is writing"));
}

#[test]
fn too_many_bytes_are_refused() {
    let toy = Toy::new(content(), Behaviour::Normal);
    let limits = Limits { max_bytes: 1000, ..SHORT };
    let error = toy.get_within(limits, &Counter::default()).expect_err("too large a file");
    assert!(error.to_string().contains("more than 1000 bytes"), "{error}");
    toy.assert_empty();
}

#[test]
fn without_a_mirror_only_https_is_used() {
    let mut toy = Toy::new(content(), Behaviour::Redirect);
    let url: &'static str = toy.server.url().replace("http:", "https:").leak();
    toy.info.files = vec![RemoteFile { folder_url: url, ..toy.info.files[0] }].leak();
    let progress = Counter::default();
    let result = download_within(&toy.info, toy.folder.path(), None, SHORT, &progress);
    let message = result.expect_err("a server without TLS").to_string();
    assert!(message.contains("no answer from 127.0.0.1"), "{message}");
    assert!(message.contains("check the network"), "{message}");
    toy.assert_empty();
}

#[test]
fn mirrors_replace_scheme_and_host_only() {
    let url = "https://publisher.example.org/owner/file";
    let mirrored = |base: &str| Mirror::new(base).map(|mirror| mirror.url(url)).ok();
    assert_eq!(mirrored("http://127.0.0.1:80/").as_deref(), Some("http://127.0.0.1:80/owner/file"));
    assert_eq!(mirrored("https://m.org/x").as_deref(), Some("https://m.org/x/owner/file"));
    for base in ["", "mirror.example.org", "ftp://host", "http://", "http:///x", "http://h?x"] {
        assert_eq!(mirrored(base), None, "{base}");
    }
}

/// An archive with entries that try to leave the folder.
fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [
        ("toy/raw/edge.csv.gz.old", "not this"),
        ("toy/draw/edge.csv.gz", "nor this"),
        ("../../raw/edge.csv.gz", "edges"),
        ("../escaped", "never"),
        ("toy/raw/node-label.csv.gz", "labels"),
    ] {
        let stored =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(name, stored).expect("an entry");
        zip.write_all(content.as_bytes()).expect("an entry");
    }
    zip.finish().expect("an archive").into_inner()
}

fn archive_toy(sent: Vec<u8>, members: &'static [&'static str], behaviour: Behaviour) -> Toy {
    let folder_url = "https://publisher.example.org/owner/toy";
    let file = RemoteFile { name: "a.zip", folder_url, git_blob_id: None, sha256: None, members };
    Toy::with_file(file, sent, behaviour)
}

const MEMBERS: &[&str] = &["raw/edge.csv.gz", "raw/node-label.csv.gz"];

#[test]
fn only_the_members_of_an_archive_are_kept() {
    let toy = archive_toy(archive(), MEMBERS, Behaviour::Normal);
    assert_eq!(toy.get().expect("a download").bytes, 11);
    assert_eq!(fs::read(toy.path("raw/edge.csv.gz")).ok().as_deref(), Some(&b"edges"[..]));
    assert_eq!(fs::read(toy.path("raw/node-label.csv.gz")).ok().as_deref(), Some(&b"labels"[..]));
    assert_eq!(fs::read_dir(toy.path("raw")).expect("a folder").count(), 2);
    assert_eq!(fs::read_dir(toy.folder.path()).expect("a folder").count(), 1);
    assert_eq!(toy.get().expect("nothing to do").status, FileStatus::AlreadyPresent);
    assert_eq!(toy.server.requests().len(), 1);
}

#[test]
fn an_archive_that_was_there_is_extracted_and_stays() {
    let toy = archive_toy(Vec::new(), MEMBERS, Behaviour::Status(500));
    fs::write(toy.path("a.zip"), archive()).expect("a written archive");
    assert_eq!(toy.get().expect("an extraction").status, FileStatus::AlreadyPresent);
    assert!(toy.path("a.zip").is_file() && toy.path("raw/edge.csv.gz").is_file());
}

#[test]
fn a_damaged_or_incomplete_archive_is_removed() {
    let mut damaged = archive();
    let position = damaged.windows(6).position(|bytes| bytes == b"labels");
    damaged[position.expect("an entry without compression")] = b'L';
    let cases: [(Vec<u8>, &[&str], &str); 2] = [
        (damaged, MEMBERS, "damaged"),
        (archive(), &["raw/node-feat.csv.gz"], "there is no raw/node-feat.csv.gz"),
    ];
    for (sent, members, found) in cases {
        let toy = archive_toy(sent, members.to_vec().leak(), Behaviour::Normal);
        assert!(toy.failure().contains(found), "{}", toy.failure());
        assert!(!toy.path("a.zip").exists() && !toy.path("raw/node-label.csv.gz").exists());
    }
}

// The copies of npz files may have been packed anew, so only Planetoid's are checked.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn checksums_are_those_of_the_published_files() {
    let Some(data) = std::env::var_os("GRAPHFILL_DATA") else {
        eprintln!("skipped: GRAPHFILL_DATA names no folder of real graphs");
        return;
    };
    for name in ["cora", "pubmed"] {
        for file in find(name).expect("a data set").files {
            let path = Path::new(&data).join("raw/planetoid").join(file.name);
            let found = checksums(&mut File::open(path).expect("a file")).expect("a readable file");
            assert_eq!((Some(&*found.0), Some(&*found.1)), (file.git_blob_id, file.sha256));
        }
    }
}
