//! One HTTP request and its answer, on a thread of its own.
//!
//! The thread may wait for the network; whoever asked waits on a channel instead, and so hears
//! at once that somebody wants to stop. A thread that nobody listens to ends by its time limits.

use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use ureq::http::{HeaderMap, header};
use ureq::{Agent, Body};

use crate::error::DataError;
use crate::progress::Progress;

/// The bytes that are handed over at a time.
const CHUNK: usize = 1 << 16;
/// The chunks that may wait to be written: they bound the memory.
const WAITING_CHUNKS: usize = 8;
/// How often a waiting caller asks whether it should stop.
const POLL: Duration = Duration::from_millis(100);

/// How long to wait, and how much to take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// For the connection to stand.
    pub(super) connect: Duration,
    /// Without a single byte.
    pub(super) stall: Duration,
    /// The bytes of one file.
    pub(super) bytes: u64,
}

impl Limits {
    /// The largest data set is a tenth of this size; more is not what was asked for.
    pub(super) const STANDARD: Limits =
        Limits { connect: Duration::from_secs(15), stall: Duration::from_secs(30), bytes: 2 << 30 };
}

/// Why an exchange ended early.
pub(super) enum RequestError {
    /// Somebody asked to stop.
    Stopped(DataError),
    /// The network, the server, or what it said.
    Network(ureq::Error),
}

/// What the server says before the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// The HTTP status.
    pub(super) status: u16,
    /// The bytes that follow, where it says so.
    pub(super) length: Option<u64>,
    /// The offset of the first byte that follows, where it says so.
    pub(super) starts_at: Option<u64>,
}

/// The content, as it comes.
pub(super) struct Content {
    chunks: Receiver<io::Result<Vec<u8>>>,
}

/// Asks for `url` from the byte at `offset` on, and waits for the head of the answer.
pub(super) fn request(
    url: &str,
    offset: u64,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<(Head, Content), RequestError> {
    let (send_head, head) = mpsc::sync_channel(1);
    let (send_chunk, chunks) = mpsc::sync_channel(WAITING_CHUNKS);
    let url = url.to_owned();
    thread::Builder::new()
        .name("download".into())
        .spawn(move || match call(&url, offset, limits) {
            Ok((head, body)) => {
                // A closed channel means that nobody waits any more.
                if send_head.send(Ok(head)).is_ok() {
                    drain_shrinking(body, &send_chunk);
                }
            }
            Err(error) => drop(send_head.send(Err(error))),
        })
        .map_err(|error| RequestError::Network(ureq::Error::Io(error)))?;
    let head = receive(&head, progress)?.map_err(RequestError::Network)?;
    Ok((head, Content { chunks }))
}

impl Content {
    /// The next bytes; none at the end.
    pub(super) fn next(&self, progress: &dyn Progress) -> Result<Option<Vec<u8>>, RequestError> {
        let chunk = receive(&self.chunks, progress)?;
        let chunk = chunk.map_err(|error| RequestError::Network(error.into()))?;
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}

fn receive<T>(receiver: &Receiver<T>, progress: &dyn Progress) -> Result<T, RequestError> {
    loop {
        progress.check().map_err(RequestError::Stopped)?;
        match receiver.recv_timeout(POLL) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => {}
            // The thread sends an end or an error first, whatever happens, unless it panics.
            Err(RecvTimeoutError::Disconnected) => {
                return Err(RequestError::Network(ureq::Error::ConnectionFailed));
            }
        }
    }
}

fn call(url: &str, offset: u64, limits: Limits) -> Result<(Head, Body), ureq::Error> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("graphfill/", env!("CARGO_PKG_VERSION")))
        // Ranges and lengths are to count the bytes of the file, not of a compressed answer.
        .accept_encoding("identity")
        .timeout_resolve(Some(limits.connect))
        .timeout_connect(Some(limits.connect))
        .timeout_recv_response(Some(limits.stall))
        .timeout_per_read(Some(limits.stall))
        .build()
        .new_agent();
    let mut request = agent.get(url);
    if offset > 0 {
        request = request.header(header::RANGE, format!("bytes={offset}-"));
    }
    let (parts, body) = request.call()?.into_parts();
    let head = Head {
        status: parts.status.as_u16(),
        length: body.content_length(),
        starts_at: range_start(&parts.headers),
    };
    Ok((head, body))
}

/// The first number of `Content-Range: bytes 5-99/100`.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.trim().strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
}

/// Sends the content in chunks, an empty one at the end, as `Read` does.
fn drain_shrinking(body: Body, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    let mut reader = body.into_reader();
    loop {
        let mut chunk = vec![0; CHUNK];
        let answer = reader.read(&mut chunk).map(|count| {
            chunk.truncate(count);
            chunk
        });
        let last = answer.as_ref().map_or(true, Vec::is_empty);
        if chunks.send(answer).is_err() || last {
            return;
        }
    }
}
