//! An HTTP server of one file on the loopback interface, for tests.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How the server answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Behaviour {
    /// Sends the content, or the requested range.
    Normal,
    /// Sends the whole content, whatever is requested.
    IgnoreRanges,
    /// Answers 416 to every range.
    RefuseRanges,
    /// Sends another range than the requested one.
    WrongRange,
    /// Closes the connection after so many bytes.
    CutAfter(usize),
    /// Sends nothing more after so many bytes.
    StallAfter(usize),
    /// Answers with this status and no content.
    Status(u16),
    /// Redirects every other path to `/elsewhere`.
    Redirect,
}

/// A running server; it stops when dropped.
pub(super) struct Server {
    address: SocketAddr,
    /// The first byte of the range of each request.
    requests: Arc<Mutex<Vec<Option<usize>>>>,
    stopping: Arc<AtomicBool>,
}

impl Server {
    pub(super) fn start(content: Vec<u8>, behaviour: Behaviour) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound listener");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stopping = Arc::new(AtomicBool::new(false));
        let (log, stop) = (Arc::clone(&requests), Arc::clone(&stopping));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                // The client may close the connection at any time.
                let _ = answer(&stream, &content, behaviour, &log, &stop);
            }
        });
        Server { address, requests, stopping }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Option<usize>> {
        self.requests.lock().expect("an unpoisoned log").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, which then stops.
        drop(TcpStream::connect(self.address));
    }
}

fn answer(
    mut stream: &TcpStream,
    content: &[u8],
    behaviour: Behaviour,
    log: &Mutex<Vec<Option<usize>>>,
    stopping: &AtomicBool,
) -> std::io::Result<()> {
    let (path, start) = read_request(stream)?;
    log.lock().expect("an unpoisoned log").push(start);
    let total = content.len();
    let start = start.filter(|_| behaviour != Behaviour::IgnoreRanges);
    let (status, headers, body) = match (behaviour, start) {
        (Behaviour::Status(status), _) => (status, String::new(), &[][..]),
        (Behaviour::Redirect, _) if path != "/elsewhere" => {
            (302, "Location: /elsewhere\r\n".to_owned(), &[][..])
        }
        (Behaviour::RefuseRanges, Some(_)) => (416, String::new(), &[][..]),
        (Behaviour::WrongRange, Some(_)) => {
            (206, format!("Content-Range: bytes 1-2/{total}\r\n"), &content[1..3])
        }
        (_, Some(start)) => {
            let range = format!("Content-Range: bytes {start}-{}/{total}\r\n", total - 1);
            (206, range, &content[start..])
        }
        (_, None) => (200, String::new(), content),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Reason\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    match behaviour {
        Behaviour::CutAfter(count) => stream.write_all(&body[..count.min(length)])?,
        Behaviour::StallAfter(count) => {
            stream.write_all(&body[..count.min(length)])?;
            while !stopping.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(20));
            }
        }
        _ => stream.write_all(body)?,
    }
    stream.shutdown(Shutdown::Both)
}

/// The path of a request, and the first byte of its range.
fn read_request(stream: &TcpStream) -> std::io::Result<(String, Option<usize>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut start = None;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok((path, start));
        }
        if let Some(range) = line.to_lowercase().strip_prefix("range: bytes=") {
            start = range.trim().trim_end_matches('-').parse().ok();
        }
    }
}
