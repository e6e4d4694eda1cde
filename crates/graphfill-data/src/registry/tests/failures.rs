//! Downloads that cannot succeed: what is said, and that nothing wrong is left in place.

use std::net::TcpListener;

use super::server::{Manner, Server};
use super::{SHORT, Toy, Watcher, content};
use crate::registry::exchange::Limits;

#[test]
fn corrupt_content_is_refused_with_both_ids() {
    let server = Server::start(b"hello\n".to_vec(), Manner::Ranges);
    let toy = Toy::new(&server, b"hallo\n");
    let message = toy.failure();
    assert!(message.contains("ce013625030ba8dba906f756967f9e9ca394464a"), "{message}");
    assert!(message.contains(toy.id()), "{message}");
    assert!(toy.names().is_empty(), "nothing is left in the folder");
}

#[test]
fn a_missing_file_is_said_to_be_missing() {
    let server = Server::start(content(), Manner::Status(404));
    let toy = Toy::new(&server, &content());
    let message = toy.failure();
    assert!(message.contains("status 404 (not found)"), "{message}");
    assert!(message.contains("https://publisher.example.org/owner/toy/file"), "{message}");
    assert!(toy.names().is_empty(), "nothing is left in the folder");
}

#[test]
fn a_faulty_server_does_not_cost_the_part() {
    let server = Server::start(content(), Manner::Status(503));
    let toy = Toy::new(&server, &content());
    std::fs::write(toy.part(), "begun").expect("the folder is writable");
    let message = toy.failure();
    assert!(message.contains("status 503"), "{message}");
    assert!(toy.part().exists());
}

#[test]
fn without_a_network_the_message_says_how_to_fetch_by_hand() {
    let unused = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port is there");
        listener.local_addr().expect("the listener is bound")
    };
    let toy = Toy::at(&format!("http://{unused}"), &content());
    let message = toy.failure();
    let destination = toy.destination();
    for part in [
        &format!("cannot download http://{unused}/owner/toy/file"),
        &format!("no answer from {unused}"),
        "check the network",
        "save https://publisher.example.org/owner/toy/file as",
        &destination.display().to_string(),
        "a folder DIR has toy/file already, pass --data-dir DIR",
    ] {
        assert!(message.contains(part), "'{part}' is not in: {message}");
    }
    assert!(toy.names().is_empty(), "nothing is left in the folder");
}

#[test]
fn more_bytes_than_any_data_set_has_are_refused() {
    let server = Server::start(content(), Manner::Ranges);
    let toy = Toy::new(&server, &content());
    let limits = Limits { bytes: 1000, ..SHORT };
    let error = toy.get_with(limits, &Watcher::default()).expect_err("it is too large");
    assert!(error.to_string().contains("at most 1000"), "{error}");
    assert!(toy.names().is_empty(), "nothing is left in the folder");
}
