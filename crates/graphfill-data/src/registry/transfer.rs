//! The transfer of one file: ask, receive into the part, check, put in place.
//!
//! It goes on from the part that an earlier transfer left, where the server can; a part whose
//! content turns out wrong is removed, any other is kept for the next time.

use super::exchange::{self, Content, Head};
use super::file_download::FileDownload;
use super::part_file::PartFile;
use crate::error::{DataError, Result};
use crate::progress::Progress;

/// Downloads the file to its destination, and returns the bytes that came over the network.
pub(super) fn download(file_download: &FileDownload<'_>, progress: &dyn Progress) -> Result<u64> {
    let mut part = PartFile::open(file_download.destination)?;
    // A part may be whole: the last step of an earlier download failed.
    if is_whole(file_download, &mut part)? {
        part.finish()?;
        return Ok(0);
    }
    let (head, content) = match ask(file_download, &mut part, progress) {
        Ok(answer) => answer,
        Err(error) => {
            // An empty part is no use to anybody.
            if part.length() == 0 {
                part.discard()?;
            }
            return Err(error);
        }
    };
    let start = part.length();
    let total = head.length.map(|length| start + length);
    progress.begin(&format!("downloading {}", file_download.file.name), total);
    progress.advance(start);
    let received = receive(file_download, &content, &mut part, total, progress);
    progress.end();
    match received {
        Ok(()) => {}
        Err(Failure::KeepPart(error)) => return Err(error),
        Err(Failure::DiscardPart(error)) => {
            part.discard()?;
            return Err(error);
        }
    }
    let received = part.length() - start;
    if let Some(expected) = file_download.file.git_blob_id {
        let found = part.blob_id()?;
        if found != expected {
            let bytes = part.length();
            part.discard()?;
            return Err(file_download.corrupt(&found, expected, bytes));
        }
    }
    part.finish()?;
    Ok(received)
}

fn is_whole(file_download: &FileDownload<'_>, part: &mut PartFile) -> Result<bool> {
    match file_download.file.git_blob_id {
        Some(expected) if part.length() > 0 => Ok(part.blob_id()? == expected),
        _ => Ok(false),
    }
}

/// Asks for what the part doesn't have; empties the part where the server starts anew.
fn ask(
    file_download: &FileDownload<'_>,
    part: &mut PartFile,
    progress: &dyn Progress,
) -> Result<(Head, Content)> {
    let request = |offset| {
        exchange::request(file_download.url, offset, file_download.limits, progress)
            .map_err(|trouble| file_download.unanswered(trouble))
    };
    let (mut head, mut content) = request(part.length())?;
    if part.length() > 0 {
        match head.status {
            206 if head.starts_at == Some(part.length()) => return Ok((head, content)),
            // The server knows no ranges and sends everything.
            200 => part.restart()?,
            // It sends another range, or has no such range: the part is of no use.
            206 | 416 => {
                part.restart()?;
                (head, content) = request(0)?;
            }
            _ => {}
        }
    }
    if head.status == 200 { Ok((head, content)) } else { Err(file_download.refused(head.status)) }
}

/// What becomes of the part when its download fails.
enum Failure {
    /// The next download goes on from it.
    KeepPart(DataError),
    /// It is of no use.
    DiscardPart(DataError),
}

fn receive(
    file_download: &FileDownload<'_>,
    content: &Content,
    part: &mut PartFile,
    total: Option<u64>,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    if let Some(total) = total.filter(|total| *total > file_download.limits.bytes) {
        return Err(Failure::DiscardPart(file_download.too_large(total)));
    }
    loop {
        let chunk = content.next(progress).map_err(|trouble| {
            Failure::KeepPart(file_download.broken_off(trouble, part.path(), part.length(), total))
        })?;
        let Some(chunk) = chunk else { return Ok(()) };
        let length = part.length() + chunk.len() as u64;
        if length > file_download.limits.bytes {
            return Err(Failure::DiscardPart(file_download.too_large(length)));
        }
        part.append(&chunk).map_err(Failure::KeepPart)?;
        progress.advance(chunk.len() as u64);
    }
}
