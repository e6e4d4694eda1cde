//! A server of one file that behaves, or misbehaves, as a test asks.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How the server answers.
#[derive(Clone)]
pub(super) enum Manner {
    /// With the content, or the range that is asked for.
    Ranges,
    /// With all of the content, whatever is asked for.
    IgnoresRanges,
    /// With 416 to every range, and with the content otherwise.
    RefusesRanges,
    /// With a range that starts elsewhere, and with the content otherwise.
    WrongRange,
    /// As `Ranges`, but the connection ends after so many bytes of content.
    CutAfter(usize),
    /// As `Ranges`, but after so many bytes nothing more comes.
    StallAfter(usize),
    /// With this status and nothing else.
    Status(u16),
    /// With a redirect of every other path to this one, which has the content.
    RedirectTo(&'static str),
}

/// A request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) path: String,
    /// The first byte of the range that was asked for.
    pub(super) from: Option<usize>,
}

/// A running server; it ends when dropped.
pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stopping: Arc<AtomicBool>,
}

impl Server {
    pub(super) fn start(content: Vec<u8>, manner: Manner) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port is there");
        let address = listener.local_addr().expect("the listener is bound");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stopping = Arc::new(AtomicBool::new(false));
        let (log, stop) = (Arc::clone(&requests), Arc::clone(&stopping));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (content, manner) = (content.clone(), manner.clone());
                let (log, stop) = (Arc::clone(&log), Arc::clone(&stop));
                // The client may hang up at any time; that is for the test to judge.
                thread::spawn(move || drop(answer(&stream, &content, &manner, &log, &stop)));
            }
        });
        Server { address, requests, stopping }
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no thread panics with the log").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it should stop.
        drop(TcpStream::connect(self.address));
    }
}

fn answer(
    mut stream: &TcpStream,
    content: &[u8],
    manner: &Manner,
    log: &Mutex<Vec<Request>>,
    stopping: &AtomicBool,
) -> std::io::Result<()> {
    let request = read_request(stream)?;
    log.lock().expect("no thread panics with the log").push(request.clone());
    let total = content.len();
    let from = match manner {
        Manner::IgnoresRanges => None,
        _ => request.from,
    };
    let head = match (manner, from) {
        (Manner::Status(status), _) => format!("{status} No\r\nContent-Length: 0"),
        (Manner::RedirectTo(path), _) if request.path != *path => {
            format!("302 Found\r\nLocation: {path}\r\nContent-Length: 0")
        }
        (Manner::RefusesRanges, Some(_)) => {
            format!("416 No\r\nContent-Range: bytes */{total}\r\nContent-Length: 0")
        }
        (Manner::WrongRange, Some(_)) => {
            format!("206 Part\r\nContent-Range: bytes 1-2/{total}\r\nContent-Length: 2")
        }
        (_, Some(from)) => {
            let (last, length) = (total - 1, total - from);
            format!(
                "206 Part\r\nContent-Range: bytes {from}-{last}/{total}\r\nContent-Length: {length}"
            )
        }
        (_, None) => format!("200 OK\r\nContent-Length: {total}"),
    };
    let body = match &head[..3] {
        "200" => content,
        "206" if matches!(manner, Manner::WrongRange) => &content[1..3],
        "206" => &content[from.unwrap_or(0)..],
        _ => &[],
    };
    stream.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes())?;
    match *manner {
        Manner::CutAfter(count) => stream.write_all(&body[..count.min(body.len())])?,
        Manner::StallAfter(count) => {
            stream.write_all(&body[..count.min(body.len())])?;
            while !stopping.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(20));
            }
        }
        _ => stream.write_all(body)?,
    }
    stream.shutdown(Shutdown::Both)
}

fn read_request(stream: &TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut from = None;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(Request { path, from });
        }
        if let Some(range) = line.to_lowercase().strip_prefix("range: bytes=") {
            from = range.trim().trim_end_matches('-').parse().ok();
        }
    }
}
