//! Downloads that succeed at once, and files that need none.

use std::fs;
use std::io::{Cursor, Write};
use std::sync::atomic::Ordering;

use zip::CompressionMethod::{Deflated, Stored};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::server::{Manner, Request, Server};
use super::{NAME, SERVED, SHORT, Toy, Watcher, content, names_in, received};
use crate::registry::{Fetched, FileOutcome, RemoteFile};

#[test]
fn a_fresh_download_arrives_whole() {
    let server = Server::start(content(), Manner::Ranges);
    let toy = Toy::new(&server, &content());
    let watcher = Watcher::default();
    let outcome = toy.get_with(SHORT, &watcher).expect("the server has the file");
    assert_eq!(received(&outcome), 400_000);
    assert_eq!(outcome.files[0].bytes, 400_000);
    assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
    assert_eq!(toy.names(), [NAME], "nothing else is left in the folder");
    assert_eq!(server.requests(), [Request { path: SERVED.into(), from: None }]);
    assert_eq!(watcher.total.load(Ordering::Relaxed), 400_000);
    assert_eq!(watcher.done.load(Ordering::Relaxed), 400_000);
}

#[test]
fn an_empty_file_arrives_too() {
    let server = Server::start(Vec::new(), Manner::Ranges);
    let toy = Toy::new(&server, b"");
    toy.get().expect("the server has the file");
    assert_eq!(fs::read(toy.destination()).ok(), Some(Vec::new()));
}

#[test]
fn a_redirect_is_followed() {
    let server = Server::start(content(), Manner::RedirectTo("/elsewhere"));
    let toy = Toy::new(&server, &content());
    fs::write(toy.part(), &content()[..1000]).expect("the folder is writable");
    let outcome = toy.get().expect("the server has the file");
    assert_eq!(received(&outcome), 399_000, "the range is asked for again after the redirect");
    assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_file_that_is_there_needs_no_request() {
    let server = Server::start(content(), Manner::Status(500));
    let toy = Toy::new(&server, &content());
    fs::write(toy.destination(), content()).expect("the folder is writable");
    let outcome = toy.get().expect("nothing is to be fetched");
    let expected = FileOutcome { name: NAME, bytes: 400_000, fetched: Fetched::AlreadyThere };
    assert_eq!(outcome.files, [expected]);
    assert_eq!(server.requests(), []);
}

#[test]
fn a_file_with_other_content_is_replaced() {
    let server = Server::start(content(), Manner::Ranges);
    let toy = Toy::new(&server, &content());
    fs::write(toy.destination(), "something else").expect("the folder is writable");
    toy.get().expect("the server has the file");
    assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
}

/// An archive as the publisher makes it, with entries that try to leave the folder.
fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [
        ("toy/raw/edge.csv.gz.old", "not this"),
        ("toy/draw/edge.csv.gz", "nor this"),
        ("../../raw/edge.csv.gz", "edges"),
        ("../escaped", "never"),
        ("toy/raw/node-label.csv.gz", "labels"),
    ] {
        let method = if content == "labels" { Stored } else { Deflated };
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(name, options).expect("the archive is in memory");
        zip.write_all(content.as_bytes()).expect("the archive is in memory");
    }
    zip.finish().expect("the archive is in memory").into_inner()
}

fn archived(server: &Server, members: &'static [&'static str]) -> Toy {
    let folder_url = "http://publisher.example.org/owner/toy";
    let file = RemoteFile { name: NAME, folder_url, git_blob_id: None, members };
    Toy::of(&server.address(), file)
}

const MEMBERS: &[&str] = &["raw/edge.csv.gz", "raw/node-label.csv.gz"];

#[test]
fn an_archive_leaves_only_its_members_in_the_folder() {
    let server = Server::start(archive(), Manner::Ranges);
    let toy = archived(&server, MEMBERS);
    let outcome = toy.get().expect("the server has the archive");
    assert_eq!(outcome.files[0].bytes, 11, "the bytes of both members");
    assert_eq!(toy.names(), ["raw"]);
    let raw = toy.folder.path().join("raw");
    assert_eq!(fs::read(raw.join("edge.csv.gz")).ok().as_deref(), Some(&b"edges"[..]));
    assert_eq!(fs::read(raw.join("node-label.csv.gz")).ok().as_deref(), Some(&b"labels"[..]));
    assert_eq!(names_in(&raw).len(), 2);

    let again = toy.get().expect("everything is there");
    assert_eq!(again.files[0].fetched, Fetched::AlreadyThere);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_archive_that_was_put_there_by_hand_is_unpacked_and_stays() {
    let server = Server::start(archive(), Manner::Status(500));
    let toy = archived(&server, MEMBERS);
    fs::write(toy.destination(), archive()).expect("the folder is writable");
    let outcome = toy.get().expect("the archive is there");
    assert_eq!(outcome.files[0].fetched, Fetched::AlreadyThere);
    assert!(toy.destination().is_file());
    assert_eq!(server.requests(), []);
}

#[test]
fn an_archive_without_a_member_is_named_and_removed() {
    let server = Server::start(archive(), Manner::Ranges);
    let toy = archived(&server, &["raw/node-feat.csv.gz"]);
    let message = toy.failure();
    assert!(message.contains("there is no raw/node-feat.csv.gz"), "{message}");
    assert!(!toy.destination().exists());
}

#[test]
fn a_damaged_archive_is_removed() {
    let mut damaged = archive();
    let position = damaged.windows(6).position(|bytes| bytes == b"labels");
    // A resumed download of a file that changed meanwhile looks like this.
    damaged[position.expect("this member is stored as it is")] = b'L';
    let server = Server::start(damaged, Manner::Ranges);
    let toy = archived(&server, MEMBERS);
    let message = toy.failure();
    assert!(message.contains("damaged"), "{message}");
    assert!(!toy.destination().exists());
    assert!(!toy.folder.path().join("raw/node-label.csv.gz").exists());
}
