//! An input file, opened once: its format, compression and character encoding are told by its first
//! bytes, which are kept and read again, so that a pipe works as well as a file on disk.
//!
//! [`OpenedFile::open`] reads the first bytes. [`OpenedFile::into_file`] gives a file that can seek
//! (Parquet, `.npz`), [`OpenedFile::into_text`] unpacked text in UTF-8.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::bufread::MultiGzDecoder;

use super::encoding::Encoding;
use crate::error::{DataError, Place, Result};
use crate::hint::{Hint, Setting};

/// The first bytes of a file, from which its format is told.
const HEAD: usize = 1 << 16;
/// The bytes read at a time: large enough that the system call doesn't count.
const BUFFER: usize = 1 << 18;
/// The first two bytes of every gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The first four bytes of every Zstandard frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The name that stands for standard input and standard output.
pub const STANDARD_STREAM: &str = "-";

/// What the first bytes of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Parquet,
    Zip,
    /// Anything else, compressed or not.
    Text,
}

/// How a text file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

/// A file (or standard input) whose first bytes have been read.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    path: PathBuf,
    head: Vec<u8>,
    rest: Rest,
}

#[derive(Debug)]
enum Rest {
    /// A plain file, which can be rewound.
    File(File),
    /// A named pipe or a device.
    Pipe(File),
    Stdin,
}

/// Text in UTF-8, unpacked, with what was found out about it.
pub(crate) struct Text {
    pub(crate) path: PathBuf,
    /// The first bytes of the text; [`Text::into_reader`] gives them again.
    pub(crate) head: Vec<u8>,
    /// The encoding of the file.
    pub(crate) encoding: Encoding,
    /// Whether the file starts with a byte order mark.
    pub(crate) byte_order_mark: bool,
    /// Whether the encoding was guessed because the file is not UTF-8.
    pub(crate) guessed: bool,
    rest: Box<dyn Read>,
}

impl OpenedFile {
    /// Opens a file, or standard input where the path is `-`.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = |error| DataError::read(path, error);
        let mut rest = if path == Path::new(STANDARD_STREAM) {
            Rest::Stdin
        } else {
            let file = open_file(path)?;
            let about = file.metadata().map_err(failed)?;
            if about.is_file() { Rest::File(file) } else { Rest::Pipe(file) }
        };
        let mut head = Vec::new();
        match &mut rest {
            Rest::File(file) | Rest::Pipe(file) => file.take(HEAD as u64).read_to_end(&mut head),
            Rest::Stdin => io::stdin().lock().take(HEAD as u64).read_to_end(&mut head),
        }
        .map_err(failed)?;
        Ok(OpenedFile { path: path.to_path_buf(), head, rest })
    }

    /// The path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The format that the first bytes show.
    pub(crate) fn content(&self) -> Content {
        match self.head.get(..4) {
            Some(b"PAR1") => Content::Parquet,
            Some(b"PK\x03\x04" | b"PK\x05\x06") => Content::Zip,
            _ => Content::Text,
        }
    }

    /// The compression that the first bytes show.
    pub(crate) fn compression(&self) -> Compression {
        if self.head.starts_with(&GZIP_MAGIC) {
            Compression::Gzip
        } else if self.head.starts_with(&ZSTD_MAGIC) {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    /// The first bytes of the text, unpacked and decoded as far as they go; the file stays at its start.
    pub(crate) fn peek(&self) -> String {
        let mut unpacked = Vec::new();
        let limit = HEAD as u64;
        // The first bytes end within a block: what was unpacked before the error counts.
        let _ = match self.compression() {
            Compression::None => self.head.as_slice().read_to_end(&mut unpacked),
            Compression::Gzip => {
                MultiGzDecoder::new(self.head.as_slice()).take(limit).read_to_end(&mut unpacked)
            }
            Compression::Zstd => zstd::stream::read::Decoder::with_buffer(self.head.as_slice())
                .and_then(|decoder| decoder.take(limit).read_to_end(&mut unpacked)),
        };
        let mark = Encoding::of_mark(&unpacked);
        let encoding = mark.unwrap_or_else(|| Encoding::guess(&unpacked).0);
        let text = &unpacked[mark.map_or(0, |mark| mark.mark().len())..];
        match encoding.decoder() {
            None => String::from_utf8_lossy(text).into_owned(),
            Some(decoder) => decoder.decode_without_bom_handling(text).0.into_owned(),
        }
    }

    /// Whether the file has no byte.
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The file at its start, for formats that seek. A pipe is copied to a temporary file first.
    pub(crate) fn into_file(self) -> Result<File> {
        let failed = |error| DataError::read(&self.path, error);
        if let Rest::File(mut file) = self.rest {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            return Ok(file);
        }
        let mut copy = tempfile::tempfile().map_err(failed)?;
        io::copy(&mut Cursor::new(self.head).chain(self.rest), &mut copy).map_err(failed)?;
        copy.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(copy)
    }

    /// The file at its start, while this one stays open; only for plain files.
    pub(crate) fn duplicate(&self) -> Result<File> {
        let Rest::File(file) = &self.rest else {
            let found = "this can be read only once";
            return Err(DataError::malformed(
                Place::file(&self.path),
                found,
                "name the edge file, too",
            ));
        };
        let mut file = file.try_clone().map_err(|error| DataError::read(&self.path, error))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| DataError::read(&self.path, error))?;
        Ok(file)
    }

    /// The unpacked text, decoded to UTF-8 from `encoding` or else from what the first bytes show.
    pub(crate) fn into_text(self, encoding: Option<Encoding>) -> Result<Text> {
        let compression = self.compression();
        let path = self.path;
        let failed = |error| stream_error(&path, error);
        let raw = Cursor::new(self.head).chain(self.rest);
        let raw = BufReader::with_capacity(BUFFER, raw);
        let mut unpacked: Box<dyn Read> = match compression {
            Compression::None => Box::new(raw),
            Compression::Gzip => Box::new(MultiGzDecoder::new(raw)),
            Compression::Zstd => {
                Box::new(zstd::stream::read::Decoder::with_buffer(raw).map_err(failed)?)
            }
        };
        let start = read_start(&mut *unpacked).map_err(failed)?;
        let mark = Encoding::of_mark(&start);
        let (found, guessed) = match (encoding, mark) {
            (Some(given), _) => (given, false),
            (None, Some(marked)) => (marked, false),
            (None, None) => Encoding::guess(&start),
        };
        let byte_order_mark = mark == Some(found);
        let skipped = if byte_order_mark { found.mark().len() } else { 0 };
        let bytes = Cursor::new(start[skipped..].to_vec()).chain(unpacked);
        let (head, rest): (Vec<u8>, Box<dyn Read>) = match found.decoder() {
            None => (start[skipped..].to_vec(), Box::new(bytes)),
            Some(decoder) => {
                let mut builder = DecodeReaderBytesBuilder::new();
                builder.encoding(Some(decoder)).bom_override(false).bom_sniffing(false);
                let mut decoded: Box<dyn Read> = Box::new(builder.build(bytes));
                let head = read_start(&mut *decoded).map_err(failed)?;
                (head.clone(), Box::new(Cursor::new(head).chain(decoded)))
            }
        };
        if head.contains(&0) {
            return Err(DataError::malformed(
                Place::file(&path),
                "this is neither text nor Parquet nor .npz",
                Hint::new("check that it is a CSV or TSV file, or state its encoding")
                    .with(Setting::Encoding),
            ));
        }
        Ok(Text { path, head, encoding: found, byte_order_mark, guessed, rest })
    }
}

impl Text {
    /// The whole text from its start.
    pub(crate) fn into_reader(self) -> Box<dyn Read> {
        self.rest
    }
}

/// The first bytes of a stream, fewer only where it ends.
fn read_start(stream: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    stream.take(HEAD as u64).read_to_end(&mut start)?;
    Ok(start)
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Rest::File(file) | Rest::Pipe(file) => file.read(buffer),
            Rest::Stdin => io::stdin().lock().read(buffer),
        }
    }
}

/// Opens a file, folders refused.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| DataError::read(path, error))?;
    let about = file.metadata().map_err(|error| DataError::read(path, error))?;
    if about.is_dir() {
        return Err(DataError::read(path, io::Error::from(io::ErrorKind::IsADirectory)));
    }
    Ok(file)
}

/// The error that a failed read of a stream means: broken compression, or the system's.
pub(crate) fn stream_error(path: &Path, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            DataError::damaged(path, error)
        }
        _ => DataError::read(path, error),
    }
}
