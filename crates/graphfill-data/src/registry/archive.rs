//! Takes the needed files out of a downloaded zip archive.
//!
//! A file is written under the name that the registry gives it, never under one that the
//! archive gives: an archive cannot place anything outside the folder.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use super::part_file::PartFile;
use crate::error::{DataError, Place, Result};
use crate::progress::Progress;

/// The bytes copied at a time.
const CHUNK: usize = 1 << 16;

/// Writes each of `members` to `folder/MEMBER`, `most` bytes at most, and returns their bytes.
pub(super) fn unpack(
    archive: &Path,
    members: &[&str],
    folder: &Path,
    most: u64,
    progress: &dyn Progress,
) -> Result<u64> {
    let file = File::open(archive).map_err(|error| DataError::read(archive, error))?;
    let mut zip = ZipArchive::new(BufReader::new(file))
        .map_err(|error| DataError::damaged(archive, error))?;
    let mut bytes = 0;
    for member in members {
        let index = position(&zip, member).ok_or_else(|| {
            DataError::malformed(
                Place::file(archive),
                format!("there is no {member} in the archive"),
                "fetch the archive again; it is not the published one",
            )
        })?;
        let mut entry = zip.by_index(index).map_err(|error| DataError::damaged(archive, error))?;
        progress.begin(&format!("unpacking {member}"), Some(entry.size()));
        let mut part = PartFile::open(&folder.join(member))?;
        part.restart()?;
        let copied = copy(&mut entry, &mut part, archive, most, progress);
        progress.end();
        match copied {
            Ok(()) => bytes += part.length(),
            Err(error) => {
                part.discard()?;
                return Err(error);
            }
        }
        part.finish()?;
    }
    Ok(bytes)
}

/// The entry whose path ends with exactly these names.
fn position<R: Read + std::io::Seek>(zip: &ZipArchive<R>, member: &str) -> Option<usize> {
    zip.file_names().position(|name| {
        name.is_ok_and(|name| {
            name.strip_suffix(member)
                .is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    })
}

fn copy(
    entry: &mut impl Read,
    part: &mut PartFile,
    archive: &Path,
    most: u64,
    progress: &dyn Progress,
) -> Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        progress.check()?;
        let count = entry.read(&mut buffer).map_err(|error| DataError::damaged(archive, error))?;
        if count == 0 {
            return Ok(());
        }
        // The size that the archive states may be a lie; what comes out counts.
        if part.length() + count as u64 > most {
            return Err(DataError::damaged(
                archive,
                format!("a file in it has more than {most} bytes"),
            ));
        }
        part.append(&buffer[..count])?;
        progress.advance(count as u64);
    }
}
