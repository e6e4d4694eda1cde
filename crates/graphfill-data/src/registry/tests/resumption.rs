//! Downloads that stopped halfway, and how the next one goes on.

use std::fs;
use std::time::{Duration, Instant};

use super::server::{Manner, Server};
use super::{SHORT, Toy, Watcher, content, received};
use crate::error::DataError;
use crate::registry::Mirror;
use crate::registry::exchange::Limits;

/// A toy whose folder has the part that an earlier download left.
fn with_part(server: &Server, part: &[u8]) -> Toy {
    let toy = Toy::new(server, &content());
    fs::write(toy.part(), part).expect("the folder is writable");
    toy
}

#[test]
fn goes_on_after_the_connection_was_cut() {
    let cutting = Server::start(content(), Manner::CutAfter(150_000));
    let mut toy = Toy::new(&cutting, &content());
    let message = toy.failure();
    assert!(message.contains("150000 of 400000 bytes"), "{message}");
    assert!(message.contains("run the same command again"), "{message}");
    assert!(!toy.destination().exists());
    assert_eq!(fs::read(toy.part()).ok().as_deref(), Some(&content()[..150_000]));

    let server = Server::start(content(), Manner::Ranges);
    toy.mirror = Mirror::new(&server.address()).expect("the server has an address");
    let outcome = toy.get().expect("the server has the rest");
    assert_eq!(received(&outcome), 250_000);
    assert_eq!(server.requests()[0].from, Some(150_000));
    assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
    assert!(!toy.part().exists());
}

#[test]
fn starts_again_where_the_server_has_no_use_for_the_part() {
    for (manner, requests) in
        [(Manner::IgnoresRanges, 1), (Manner::RefusesRanges, 2), (Manner::WrongRange, 2)]
    {
        let server = Server::start(content(), manner);
        let toy = with_part(&server, &content()[..150_000]);
        let outcome = toy.get().expect("the server has the file");
        assert_eq!(received(&outcome), 400_000);
        assert_eq!(server.requests().len(), requests);
        assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
    }
}

#[test]
fn a_part_that_is_whole_needs_no_request() {
    let server = Server::start(content(), Manner::Status(500));
    let toy = with_part(&server, &content());
    assert_eq!(received(&toy.get().expect("nothing is to be fetched")), 0);
    assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
    assert_eq!(server.requests(), []);
}

#[test]
fn a_part_of_something_else_is_removed_and_the_next_download_succeeds() {
    let server = Server::start(content(), Manner::Ranges);
    let toy = with_part(&server, &[7; 1000]);
    assert!(toy.failure().contains("not the published ones"));
    assert!(!toy.part().exists());
    toy.get().expect("the server has the file");
    assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
}

#[test]
fn stopping_keeps_the_part() {
    let server = Server::start(content(), Manner::Ranges);
    let toy = Toy::new(&server, &content());
    let error = toy.get_with(SHORT, &Watcher::stopping_after(1)).expect_err("it is stopped");
    assert!(matches!(error, DataError::Cancelled), "{error}");
    assert!(!toy.destination().exists());
    let part = fs::read(toy.part()).expect("the part is kept");
    assert!(!part.is_empty() && content().starts_with(&part));

    let outcome = toy.get().expect("the server has the rest");
    assert_eq!(received(&outcome), 400_000 - part.len() as u64);
    assert_eq!(fs::read(toy.destination()).ok(), Some(content()));
}

#[test]
fn stopping_does_not_wait_for_a_silent_server() {
    let server = Server::start(content(), Manner::StallAfter(1000));
    let toy = Toy::new(&server, &content());
    let begun = Instant::now();
    let error =
        toy.get_with(Limits::STANDARD, &Watcher::stopping_after(1000)).expect_err("it is stopped");
    assert!(matches!(error, DataError::Cancelled), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(fs::read(toy.part()).ok().as_deref(), Some(&content()[..1000]));
}

#[test]
fn a_silent_server_is_given_up_and_the_part_kept() {
    let server = Server::start(content(), Manner::StallAfter(1000));
    let toy = Toy::new(&server, &content());
    let message = toy.failure();
    assert!(message.contains("nothing came for 0.5 seconds"), "{message}");
    assert_eq!(fs::read(toy.part()).ok().as_deref(), Some(&content()[..1000]));
}
