//! `datasets`: listing, paths, and getting from a server on this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use crate::support::Place;

#[test]
fn lists_the_papers_data_sets() {
    let place = Place::new();
    let done = place.run("datasets list --data-dir here");
    assert_eq!(done.code, 0, "{}", done.err);
    for name in ["cora", "citeseer", "computers", "photo", "steam", "pubmed", "coauthor", "arxiv"] {
        assert!(done.out.contains(name), "{name}: {}", done.out);
    }
    let unverified: Vec<&str> =
        done.out.lines().filter(|line| line.contains("(unverified)")).collect();
    assert!(unverified.len() == 1 && unverified[0].contains("arxiv"), "{}", done.out);
    let path = place.run("datasets path cora --data-dir here");
    assert_eq!(path.out.trim(), "here/cora");
    let path = place.run_with(("GRAPHFILL_CACHE_DIR", "there"), "datasets path cora");
    assert_eq!(path.out.trim(), "there/datasets/cora");
}

/// A server that answers every request with the same small body.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().take(50).flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let body = "not the real thing";
            let _ = write!(
                &stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    format!("http://{address}")
}

#[test]
fn a_wrong_file_is_refused_and_not_kept() {
    let place = Place::new();
    let done = place.run(&format!("datasets get photo --data-dir here --mirror {}", server()));
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("amazon_electronics_photo.npz"), "{}", done.err);
    assert!(!place.path("here/photo/amazon_electronics_photo.npz").exists());
}

#[test]
fn offline_it_says_what_to_do() {
    let place = Place::new();
    let done = place.run("datasets get cora --data-dir here --mirror http://127.0.0.1:9");
    assert_eq!(done.code, 1);
    assert!(done.err.contains("--data-dir"), "{}", done.err);
    let unknown = place.run("datasets get corra --data-dir here");
    assert!(unknown.code == 2 && unknown.err.contains("cora"), "{}", unknown.err);
}
