//! One array of an `.npz` archive, read as a stream: the header is checked against the bytes that
//! really follow, so that no claim in a header ever becomes an allocation.

use std::fs::File;
use std::io::{BufReader, Read};
use std::iter;
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;

use crate::error::{DataError, Place, Result};

/// The most bytes that the text of a header may have.
const MAX_HEADER: usize = 1 << 16;

/// The most characters that one text may have; each text of an array takes as many.
pub(super) const MAX_CHARACTERS: usize = 1 << 20;

/// What a text takes in memory beside its characters.
const BYTES_PER_TEXT: u64 = 48;

/// Deflate packs at most 1,032 bytes into one.
const MAX_EXPANSION: u64 = 1032;

/// The element type of an array, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementType {
    Boolean,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    /// Text of so many UTF-32 characters.
    Unicode(usize),
    /// Text of so many bytes.
    Bytes(usize),
}

impl ElementType {
    fn size(self) -> usize {
        match self {
            ElementType::Boolean => 1,
            ElementType::Signed(size)
            | ElementType::Unsigned(size)
            | ElementType::Float(size)
            | ElementType::Bytes(size) => size,
            ElementType::Unicode(characters) => characters * 4,
        }
    }

    fn parse(descr: &str) -> Option<ElementType> {
        let (order, rest) = descr.split_at_checked(1)?;
        let (kind, size) = rest.split_at_checked(1)?;
        let size: usize = size.parse().ok().filter(|&size| size <= MAX_CHARACTERS)?;
        if order == ">" && size > 1 {
            return None;
        }
        match (kind, size) {
            ("b", 1) => Some(ElementType::Boolean),
            ("i", 1 | 2 | 4 | 8) => Some(ElementType::Signed(size)),
            ("u", 1 | 2 | 4 | 8) => Some(ElementType::Unsigned(size)),
            ("f", 4 | 8) => Some(ElementType::Float(size)),
            ("U", _) => Some(ElementType::Unicode(size)),
            ("S", _) => Some(ElementType::Bytes(size)),
            _ => None,
        }
    }
}

/// A stream of the elements of one array, in row-major order.
pub(crate) struct ArrayStream<'a> {
    place: Place,
    element: ElementType,
    shape: Vec<usize>,
    left: usize,
    reader: BufReader<ZipFile<'a, BufReader<File>>>,
    buffer: Vec<u8>,
}

/// An open `.npz` archive.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    length: u64,
    memory_limit: u64,
    zip: ZipArchive<BufReader<File>>,
}

/// The size of an array, known before its content is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArraySize {
    /// The product of its shape.
    pub elements: u64,
    /// The uncompressed bytes of all elements.
    pub bytes: u64,
}

impl Archive {
    /// Opens an archive whose arrays may take the default amount of memory.
    ///
    /// # Errors
    /// If the file cannot be read or is no whole zip archive.
    pub fn open(path: &Path) -> Result<Self> {
        Archive::open_within(path, crate::memory::default_limit())
    }

    /// Opens an archive; each array that is read into memory may take `memory_limit` bytes.
    ///
    /// # Errors
    /// If the file cannot be read or is no whole zip archive.
    pub fn open_within(path: &Path, memory_limit: u64) -> Result<Self> {
        let file = crate::formats::opened::open_file(path)?;
        let length = file.metadata().map_err(|error| DataError::read(path, error))?.len();
        let zip = ZipArchive::new(BufReader::new(file)).map_err(|error| {
            DataError::malformed(
                Place::file(path),
                format!("this is no whole .npz archive: {error}"),
                "fetch or write it again; a partial download looks like this",
            )
        })?;
        Ok(Archive { path: path.to_path_buf(), length, memory_limit, zip })
    }

    /// The same archive with a position of its own in the file.
    pub(crate) fn reopen(&self) -> Result<Self> {
        Archive::open_within(&self.path, self.memory_limit)
    }

    /// Checks that `count` things of `bytes_each` bytes fit into the memory limit.
    pub(crate) fn check_memory(
        &self,
        array: &str,
        what: &str,
        count: usize,
        bytes_each: u64,
    ) -> Result<()> {
        let needed = (count as u64).saturating_mul(bytes_each);
        let place = Place::file(&self.path).column(array);
        DataError::check_memory(place, &format!("{count} {what}"), needed, self.memory_limit)
    }

    /// Checks that all arrays together, uncompressed, fit into the memory limit.
    pub(crate) fn check_total(&mut self) -> Result<()> {
        let mut total = 0u64;
        for index in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(index);
            total = total.saturating_add(entry.map_or(0, |entry| entry.size()));
        }
        let what = format!("the {} arrays, uncompressed,", self.zip.len());
        DataError::check_memory(Place::file(&self.path), &what, total, self.memory_limit)
    }

    /// The path of the archive.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is an array of that name.
    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// The names of the arrays.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.zip.file_names().filter_map(std::result::Result::ok);
        names.map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_owned()).collect()
    }

    /// The size of one array, from its header; its content is not read.
    ///
    /// # Errors
    /// If there is no such array, or its header and its bytes do not fit.
    pub fn size(&mut self, name: &str) -> Result<ArraySize> {
        let stream = self.stream(name)?;
        let elements = stream.left as u64;
        Ok(ArraySize { elements, bytes: elements * stream.element.size() as u64 })
    }

    /// The stream of one array.
    pub(crate) fn stream(&mut self, name: &str) -> Result<ArrayStream<'_>> {
        let place = Place::file(&self.path).column(name);
        let file = self.zip.by_name(&format!("{name}.npy")).map_err(|error| {
            DataError::malformed(
                place.clone(),
                format!("the array cannot be read: {error}"),
                "the archive lacks an array that its layout needs, or is damaged",
            )
        })?;
        // What doesn't fit into the archive however well it is packed is not there.
        if file.size() / MAX_EXPANSION > self.length {
            let found = format!("it claims {} bytes in an archive of {}", file.size(), self.length);
            return Err(DataError::malformed(place, found, "fetch or write the archive again"));
        }
        ArrayStream::new(place, file)
    }

    /// All elements of an array of integers (booleans count as 0 and 1).
    ///
    /// # Errors
    /// If the array cannot be read or has elements of another type.
    pub fn integers(&mut self, name: &str) -> Result<Vec<i64>> {
        let mut stream = self.stream_to_memory(name)?;
        iter::from_fn(|| stream.next_integer().transpose()).collect()
    }

    /// All of an array of numbers.
    pub(crate) fn floats(&mut self, name: &str) -> Result<Vec<f64>> {
        let mut stream = self.stream_to_memory(name)?;
        iter::from_fn(|| stream.next_float().transpose()).collect()
    }

    /// All elements of an array of strings.
    ///
    /// # Errors
    /// If the array cannot be read or has elements of another type.
    pub fn strings(&mut self, name: &str) -> Result<Vec<String>> {
        let mut stream = self.stream_to_memory(name)?;
        iter::from_fn(|| stream.next_string().transpose()).collect()
    }

    /// The stream of an array all of whose elements fit into the memory limit.
    fn stream_to_memory(&mut self, name: &str) -> Result<ArrayStream<'_>> {
        let limit = self.memory_limit;
        let stream = self.stream(name)?;
        let size = match stream.element {
            // Texts are allocated one by one.
            ElementType::Unicode(size) | ElementType::Bytes(size) => BYTES_PER_TEXT + size as u64,
            _ => 8,
        };
        let needed = (stream.len() as u64).saturating_mul(size);
        let what = format!("{} entries", stream.len());
        DataError::check_memory(stream.place.clone(), &what, needed, limit)?;
        Ok(stream)
    }
}

impl<'a> ArrayStream<'a> {
    fn new(place: Place, file: ZipFile<'a, BufReader<File>>) -> Result<Self> {
        let claimed = file.size();
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let wrong_with =
            |found: &str, remedy: &str| DataError::malformed(place.clone(), found, remedy);
        let wrong = |found: &str| wrong_with(found, "write the array again with numpy.savez");
        let mut start = [0u8; 8];
        reader.read_exact(&mut start).map_err(|_| wrong("this is no numpy array"))?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(wrong("this is no numpy array"));
        }
        let length_bytes = if start[6] == 1 { 2 } else { 4 };
        let mut length = [0u8; 4];
        reader.read_exact(&mut length[..length_bytes]).map_err(|_| wrong("the header is cut"))?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER {
            return Err(wrong("the header is longer than any real one"));
        }
        let mut text = vec![0u8; length];
        reader.read_exact(&mut text).map_err(|_| wrong("the header is cut"))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let header = Header::parse(&text).ok_or_else(|| wrong("the header is not numpy's"))?;
        if header.fortran {
            return Err(wrong_with(
                "the array is stored column by column (Fortran order), which is not read",
                "pass it through numpy.ascontiguousarray before numpy.savez",
            ));
        }
        let element = ElementType::parse(&header.descr).ok_or_else(|| {
            wrong_with(
                &format!("the element type {} is not read", header.descr),
                "save it as '<i8', '<f8', 'bool' or text with array.astype; Python objects are \
                 never read, since reading them can run a program",
            )
        })?;
        let count = header.shape.iter().try_fold(1usize, |count, &side| count.checked_mul(side));
        // Texts of no character take no byte, so their number is not to be believed.
        let count = count.filter(|&count| count == 0 || element.size() > 0);
        let bytes = count.and_then(|count| count.checked_mul(element.size()));
        let before = 8 + length_bytes + length;
        if bytes.is_none_or(|bytes| bytes as u64 + before as u64 != claimed) {
            return Err(wrong(&format!(
                "the header claims the shape {:?}, but {} bytes follow it",
                header.shape,
                claimed.saturating_sub(before as u64)
            )));
        }
        let buffer = vec![0; element.size()];
        let left = count.unwrap_or(0);
        let shape = header.shape;
        Ok(ArrayStream { place, element, shape, left, reader, buffer })
    }

    /// The number of elements that are left.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub(crate) fn len(&self) -> usize {
        self.left
    }

    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    fn next_bytes(&mut self) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        match self.reader.read_exact(&mut self.buffer) {
            Ok(()) => Ok(true),
            Err(error) => Err(DataError::damaged(&self.place.path, error)),
        }
    }

    fn wrong_type(&self, wanted: &str) -> DataError {
        DataError::malformed(
            self.place.clone(),
            format!("the array holds {:?}, where {wanted} are needed", self.element),
            "write the array again with the right type",
        )
    }

    /// The next element, of an array of whole numbers (booleans count as 0 and 1).
    pub(crate) fn next_integer(&mut self) -> Result<Option<i64>> {
        if !self.next_bytes()? {
            return Ok(None);
        }
        match self.element {
            ElementType::Boolean => Ok(Some(i64::from(self.buffer[0] != 0))),
            ElementType::Unsigned(_) | ElementType::Signed(_) => Ok(Some(self.integer()?)),
            ElementType::Float(_) => {
                let value = self.float();
                if value.fract() == 0.0 && value.abs() < 9e15 {
                    Ok(Some(value as i64))
                } else {
                    Err(self.wrong_type("whole numbers"))
                }
            }
            ElementType::Unicode(_) | ElementType::Bytes(_) => {
                Err(self.wrong_type("whole numbers"))
            }
        }
    }

    fn integer(&self) -> Result<i64> {
        let mut wide = [0u8; 8];
        wide[..self.buffer.len()].copy_from_slice(&self.buffer);
        let value = u64::from_le_bytes(wide);
        if let ElementType::Signed(size) = self.element {
            let unused = 64 - 8 * size as u32;
            return Ok(((value << unused) as i64) >> unused);
        }
        i64::try_from(value).map_err(|_| self.wrong_type("whole numbers below 2⁶³"))
    }

    fn float(&self) -> f64 {
        match *self.buffer.as_slice() {
            [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => f64::NAN,
        }
    }

    /// The next element, of an array of numbers.
    pub(crate) fn next_float(&mut self) -> Result<Option<f64>> {
        if !matches!(self.element, ElementType::Float(_)) {
            return Ok(self.next_integer()?.map(|value| value as f64));
        }
        if !self.next_bytes()? {
            return Ok(None);
        }
        Ok(Some(self.float()))
    }

    /// The next element, of an array of text.
    pub(crate) fn next_string(&mut self) -> Result<Option<String>> {
        if !self.next_bytes()? {
            return Ok(None);
        }
        let text = match self.element {
            ElementType::Unicode(_) => self
                .buffer
                .chunks_exact(4)
                .map(|c| char::from_u32(u32::from_le_bytes([c[0], c[1], c[2], c[3]])))
                .collect::<Option<String>>(),
            ElementType::Bytes(_) => std::str::from_utf8(&self.buffer).ok().map(str::to_owned),
            _ => return Err(self.wrong_type("texts")),
        };
        // Shorter texts are padded with zeros at the end, there alone.
        let mut text = text.ok_or_else(|| self.wrong_type("texts"))?;
        text.truncate(text.trim_end_matches('\0').len());
        Ok(Some(text))
    }
}

/// What the header of an array says.
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads `{'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Option<Header> {
        let value = |key: &str| {
            let at = text.find(&format!("'{key}'"))?;
            let rest = text[at..].split_once(':')?.1;
            Some(rest.trim_start())
        };
        let descr = value("descr")?.strip_prefix('\'')?.split_once('\'')?.0.to_owned();
        let fortran = value("fortran_order")?.starts_with("True");
        let sides = value("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let sides = sides.split(',').map(str::trim).filter(|side| !side.is_empty());
        let shape = sides.map(|side| side.parse().ok()).collect::<Option<Vec<usize>>>()?;
        Some(Header { descr, fortran, shape })
    }
}
