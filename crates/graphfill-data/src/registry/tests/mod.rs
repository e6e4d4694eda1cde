//! Downloads against a small server on this machine: what arrives, what is kept, what is said.

mod arrivals;
mod entries;
mod failures;
mod resumption;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;

use self::server::Server;
use super::download::get_within;
use super::exchange::Limits;
use super::{DatasetInfo, Fetched, GetOutcome, Mirror, RemoteFile, git_blob_id};
use crate::error::Result;
use crate::progress::Progress;

/// The path of the only file, there and in its folder.
const SERVED: &str = "/owner/toy/file";
const NAME: &str = "file";

/// Content of several chunks that repeats nowhere near the places where tests cut it.
fn content() -> Vec<u8> {
    (0..400_000_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// A data set of one file, a folder for it, and the server that has it.
struct Toy {
    info: DatasetInfo,
    folder: TempDir,
    mirror: Mirror,
}

impl Toy {
    /// The content's true id is published, whatever the server sends.
    fn new(server: &Server, content: &[u8]) -> Toy {
        Toy::at(&server.address(), content)
    }

    fn at(address: &str, content: &[u8]) -> Toy {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let sample = folder.path().join("sample");
        fs::write(&sample, content).expect("the folder is writable");
        let id = git_blob_id(&sample).expect("the sample was just written");
        Toy::of(
            address,
            RemoteFile {
                name: NAME,
                folder_url: "https://publisher.example.org/owner/toy",
                git_blob_id: Some(id.leak()),
                members: &[],
            },
        )
    }

    fn of(address: &str, file: RemoteFile) -> Toy {
        let info = DatasetInfo {
            name: "toy",
            files: vec![file].leak(),
            ..*super::find("cora").expect("cora is a data set")
        };
        Toy {
            info,
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
            mirror: Mirror::new(address).expect("the server has an address"),
        }
    }

    fn get(&self) -> Result<GetOutcome> {
        self.get_with(SHORT, &Watcher::default())
    }

    fn get_with(&self, limits: Limits, watcher: &Watcher) -> Result<GetOutcome> {
        get_within(&self.info, self.folder.path(), Some(&self.mirror), limits, watcher)
    }

    /// The message of a download that must fail.
    fn failure(&self) -> String {
        self.get().expect_err("the download cannot succeed").to_string()
    }

    fn id(&self) -> &'static str {
        self.info.files[0].git_blob_id.expect("the toy's file is pinned")
    }

    fn destination(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    fn part(&self) -> PathBuf {
        self.folder.path().join("file.part")
    }

    fn names(&self) -> Vec<String> {
        names_in(self.folder.path())
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    entries
        .map(|entry| entry.expect("the folder can be read").file_name().into_string())
        .map(|name| name.expect("the tests use plain names"))
        .collect()
}

/// Limits that let a test of waiting end soon.
const SHORT: Limits = Limits {
    connect: Duration::from_secs(5),
    stall: Duration::from_millis(500),
    ..Limits::STANDARD
};

/// The bytes that an outcome of one file says came over the network.
fn received(outcome: &GetOutcome) -> u64 {
    match outcome.files[..] {
        [file] => match file.fetched {
            Fetched::Downloaded { received } => received,
            Fetched::AlreadyThere => panic!("the file was there already"),
        },
        _ => panic!("the toy has one file: {outcome:?}"),
    }
}

/// Counts what is reported, and asks to stop after so many bytes.
struct Watcher {
    total: AtomicU64,
    done: AtomicU64,
    stop_after: u64,
}

impl Default for Watcher {
    fn default() -> Self {
        Watcher::stopping_after(u64::MAX)
    }
}

impl Watcher {
    fn stopping_after(stop_after: u64) -> Self {
        Watcher { total: AtomicU64::new(0), done: AtomicU64::new(0), stop_after }
    }
}

impl Progress for Watcher {
    fn begin(&self, _stage: &str, total: Option<u64>) {
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.stop_after
    }
}
