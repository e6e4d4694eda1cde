//! A safetensors file: the length of the header (eight bytes), the header (JSON with the name, type,
//! shape and place of every tensor, and texts), the numbers, all little-endian.
//!
//! Tensors are written and read one at a time. What a header claims is believed only as far as the
//! file is long. The last tensor is a checksum (SHA-256) of all bytes before it: a file whose bytes have
//! changed is refused when it is opened. A checkpoint without one is refused, too.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use sha2::{Digest, Sha256};

use crate::Shape;
use crate::error::{EngineError, Result};

/// The longest header that readers of the format accept.
const LONGEST_HEADER: u64 = 100_000_000;

/// Where the header has its texts; no tensor can have this name.
pub(crate) const METADATA: &str = "__metadata__";

/// The tensor with the checksum, and its length in bytes.
pub(crate) const CHECKSUM: &str = "graphfill.sha256";
const CHECKSUM_BYTES: u64 = 32;

/// Writes a file that appears whole or not at all: beside its place under another name, flushed to
/// disk, then renamed. `read` gives the numbers of the tensor of that index.
pub(crate) fn write<'n>(
    path: &Path,
    texts: &BTreeMap<String, String>,
    tensors: &[(Cow<'_, str>, Shape)],
    read: impl Fn(usize) -> io::Result<Cow<'n, [f32]>>,
) -> Result<()> {
    let write = || -> io::Result<()> {
        let header = header(texts, tensors)?;
        let path = place_of(path)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".graphfill-");
        if let Some(permissions) = usual_permissions() {
            builder.permissions(permissions);
        }
        // The name of the temporary file would only confuse.
        let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        let mut checksum = Sha256::new();
        let mut put = |writer: &mut BufWriter<_>, bytes: &[u8]| {
            checksum.update(bytes);
            writer.write_all(bytes)
        };
        put(&mut writer, &(header.len() as u64).to_le_bytes())?;
        put(&mut writer, &header)?;
        for tensor in 0..tensors.len() {
            let mut numbers = read(tensor)?;
            if cfg!(target_endian = "big") {
                numbers.to_mut().iter_mut().for_each(swap_bytes);
            }
            put(&mut writer, bytemuck::cast_slice(&numbers))?;
        }
        writer.write_all(&checksum.finalize())?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        // The rename itself; a file system that cannot do this has the file all the same.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    };
    write().map_err(|cause| EngineError::File { path: path.to_owned(), cause })
}

/// The same for the same session, hence sorted and by hand.
fn header(
    texts: &BTreeMap<String, String>,
    tensors: &[(Cow<'_, str>, Shape)],
) -> io::Result<Vec<u8>> {
    let mut entries = BTreeMap::from([(METADATA, serde_json::to_value(texts)?)]);
    let mut end = 0;
    let checksum = (Cow::Borrowed(CHECKSUM), Shape::new(1, CHECKSUM_BYTES as usize / 4));
    for &(ref name, shape) in tensors.iter().chain([&checksum]) {
        let data_offsets = (end, end + shape.len() * 4);
        let shape = vec![shape.rows, shape.columns];
        let info = TensorInfo { dtype: Dtype::F32, shape, data_offsets };
        entries.insert(name.as_ref(), serde_json::to_value(info)?);
        end = data_offsets.1;
    }
    let mut header = serde_json::to_vec(&entries)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    if header.len() as u64 > LONGEST_HEADER {
        let (found, most) = (header.len(), LONGEST_HEADER);
        return Err(io::Error::other(format!(
            "its texts and names would take {found} bytes, and nobody reads more than {most}; \
             keep long texts in files of their own"
        )));
    }
    Ok(header)
}

/// Where the file really goes: behind a link, and never over a folder or a device.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(about) if !about.is_file() => {
            Err(io::Error::other("it is there already and is not a plain file"))
        }
        Ok(_) => fs::canonicalize(path),
        Err(_) => Ok(path.to_owned()),
    }
}

/// Temporary files are private by default; an output should be what the user's umask says.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// A file whose header has been read and found to fit its length.
#[derive(Debug)]
pub(crate) struct TensorFile {
    path: PathBuf,
    file: File,
    header: Metadata,
    /// Where the numbers begin.
    begin: u64,
}

impl TensorFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let cause = |cause| EngineError::File { path: path.to_owned(), cause };
        let about = fs::metadata(path).map_err(cause)?;
        if about.is_dir() {
            return Err(cause(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let mut file = File::open(path).map_err(cause)?;
        let refuse = |problem| EngineError::Checkpoint { path: path.to_owned(), problem };
        let bytes = about.len();
        let Some(after) = bytes.checked_sub(8) else {
            return Err(refuse(format!("not a safetensors file: it has {bytes} bytes")));
        };
        let mut len = [0; 8];
        file.read_exact(&mut len).map_err(cause)?;
        let len = u64::from_le_bytes(len);
        if len > after.min(LONGEST_HEADER) {
            return Err(refuse(format!(
                "not a safetensors file, or cut short: its header should take {len} bytes, \
                 and {after} follow"
            )));
        }
        let mut header = vec![0; len as usize];
        file.read_exact(&mut header).map_err(cause)?;
        let header = std::str::from_utf8(&header)
            .map_err(|error| refuse(format!("not a safetensors file: its header: {error}")))?;
        let header: Metadata = serde_json::from_str(header)
            .map_err(|error| refuse(format!("not a safetensors file: its header: {error}")))?;
        let (expected, found) = (header.data_len(), after - len);
        if expected as u64 != found {
            return Err(refuse(format!(
                "cut short or damaged: its tensors should take {expected} bytes, and {found} \
                 follow; take another copy"
            )));
        }
        let mut file = TensorFile { path: path.to_owned(), file, header, begin: 8 + len };
        file.check_bytes(bytes)?;
        Ok(file)
    }

    /// Refuses a file whose bytes are not those that its checksum was made of. A safetensors file
    /// without one, of another program, is taken as it is.
    fn check_bytes(&mut self, bytes: u64) -> Result<()> {
        if self.header.info(CHECKSUM).is_none() {
            return Ok(());
        }
        let cause = |cause| EngineError::File { path: self.path.clone(), cause };
        let mut checksum = Sha256::new();
        let mut expected = [0u8; CHECKSUM_BYTES as usize];
        self.file.rewind().map_err(cause)?;
        let mut covered = (&mut self.file).take(bytes.saturating_sub(CHECKSUM_BYTES));
        let mut buffer = vec![0u8; 1 << 20];
        loop {
            match covered.read(&mut buffer).map_err(cause)? {
                0 => break,
                read => checksum.update(&buffer[..read]),
            }
        }
        self.file.read_exact(&mut expected).map_err(cause)?;
        if checksum.finalize()[..] == expected {
            return Ok(());
        }
        Err(self
            .refuse("damaged: its bytes do not match its checksum; take another copy".to_owned()))
    }

    /// Whether its bytes were compared with a checksum.
    pub(crate) fn has_checksum(&self) -> bool {
        self.header.info(CHECKSUM).is_some()
    }

    /// A text of the header.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.header.metadata().as_ref()?.get(name).map(String::as_str)
    }

    /// All texts of the header with their names.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.header.metadata().iter().flatten();
        texts.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The names of all tensors but the checksum, in the order of their numbers.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.header.offset_keys().into_iter();
        names.filter(|name| name != CHECKSUM).collect()
    }

    /// An error about this file.
    pub(crate) fn refuse(&self, problem: String) -> EngineError {
        EngineError::Checkpoint { path: self.path.clone(), problem }
    }

    /// Whether there is a tensor of that name, of that shape and of numbers as the engine has them.
    pub(crate) fn check(&self, name: &str, shape: Shape) -> Result<&TensorInfo> {
        let Some(info) = self.header.info(name) else {
            let problem = format!("it has no tensor `{name}`, which is expected to be {shape}");
            return Err(self.refuse(problem));
        };
        self.check_type(name, info)?;
        if info.shape != [shape.rows, shape.columns] {
            let found = in_words(&info.shape);
            return Err(self.refuse(format!("`{name}` is {found}, and {shape} is expected")));
        }
        Ok(info)
    }

    /// The shape of a tensor, which must be a matrix of numbers as the engine has them.
    pub(crate) fn shape(&self, name: &str) -> Result<Shape> {
        let Some(info) = self.header.info(name) else {
            return Err(self.refuse(format!("it has no tensor `{name}`")));
        };
        self.check_type(name, info)?;
        let [rows, columns] = info.shape[..] else {
            let found = in_words(&info.shape);
            let problem = format!("`{name}` is {found}, and a matrix, rows × columns, is expected");
            return Err(self.refuse(problem));
        };
        Ok(Shape::new(rows, columns))
    }

    fn check_type(&self, name: &str, info: &TensorInfo) -> Result<()> {
        match info.dtype {
            Dtype::F32 => Ok(()),
            found => Err(self.refuse(format!("`{name}` is of type {found}, and F32 is expected"))),
        }
    }

    /// The numbers of a tensor.
    pub(crate) fn read(&mut self, name: &str, shape: Shape) -> Result<Vec<f32>> {
        let begin = self.begin + self.check(name, shape)?.data_offsets.0 as u64;
        let mut numbers = vec![0.0f32; shape.len()];
        let read = self.file.seek(SeekFrom::Start(begin)).and_then(|_| {
            self.file.read_exact(bytemuck::cast_slice_mut(&mut numbers))?;
            Ok(())
        });
        read.map_err(|cause| EngineError::File { path: self.path.clone(), cause })?;
        if cfg!(target_endian = "big") {
            numbers.iter_mut().for_each(swap_bytes);
        }
        Ok(numbers)
    }
}

fn swap_bytes(number: &mut f32) {
    *number = f32::from_bits(number.to_bits().swap_bytes());
}

/// A shape of any rank.
fn in_words(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    match lengths.len() {
        0 => "a number".to_owned(),
        1 => format!("a list of {}", lengths[0]),
        _ => lengths.join(" × "),
    }
}
