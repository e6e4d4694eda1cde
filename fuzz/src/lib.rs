//! What the targets share: bytes into files, files through the readers.
//!
//! A target that needs several files takes them from one input, parted by [`MARKER`]. Archives are
//! put together here, since a fuzzer doesn't guess checksums.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use graphfill_data::formats::{ReadOptions, UnknownNodes, splits_file};
use graphfill_data::{NoProgress, TypesFile};
use graphfill_datasets::Source;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// What stands between two files of one input.
pub const MARKER: &[u8] = b"\n--====--\n";

/// The memory that a reader may take.
const MEMORY_LIMIT: u64 = 64 << 20;

/// The nodes of a split or of an edge list.
const NODES: &[u8] = b"id,x\na,0.5\nb,1.5\n#c,2\n d ,3\n7,4\n";

/// A folder that lasts as long as the process, so that each input costs a write and no more.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path()
}

fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("a written file");
    path
}

/// Reads in each way that a caller may ask for; only that it comes back matters.
fn read(nodes: &Path, edges: Option<&Path>) {
    let strict = ReadOptions { memory_limit: MEMORY_LIMIT, ..ReadOptions::default() };
    let add = ReadOptions { unknown_nodes: UnknownNodes::Add, ..strict.clone() };
    for options in [strict, add] {
        let Ok(source) = Source::detect(nodes, edges) else { return };
        if let Ok(dataset) = source.read(&options, &NoProgress) {
            dataset.graph.undirected();
            dataset.table.missing();
        }
    }
}

/// Reads one file by itself.
pub fn read_file(name: &str, bytes: &[u8]) {
    let path = write(name, bytes);
    read(&path, None);
    // Lest the next input finds it beside its own file.
    let _ = std::fs::remove_file(path);
}

/// Reads a file of edges between the nodes of a small table.
pub fn read_edges(name: &str, bytes: &[u8]) {
    let nodes = write("few.csv", NODES);
    let edges = write(name, bytes);
    read(&nodes, Some(&edges));
    let _ = std::fs::remove_file(edges);
}

/// Reads a file of splits over eight nodes.
pub fn read_splits(bytes: &[u8]) {
    let path = write("splits.npz", bytes);
    for seed in splits_file::seeds(&path).unwrap_or_default() {
        let _ = splits_file::read(&path, seed, 8);
    }
}

/// Reads a types file, by itself and beside a table.
pub fn read_types(bytes: &[u8]) {
    let nodes = write("typed.csv", b"id,x,a b,p,q\na,1,2,3,4\nb,2,5,6,7\n");
    let _ = TypesFile::read(&write("typed.types.toml", bytes));
    read(&nodes, None);
}

/// Reads a folder of these files, the input's parts in their order.
pub fn read_folder(names: &[impl AsRef<str>], bytes: &[u8]) {
    let inner = folder().join("set");
    std::fs::create_dir_all(&inner).expect("a folder");
    let mut parts = parts(bytes);
    for name in names {
        let name = Path::new("set").join(name.as_ref());
        write(&name.to_string_lossy(), parts.next().unwrap_or_default());
    }
    read(&inner, None);
}

/// An archive of the input's parts: of each the first line is a name, the rest a numpy array. A
/// name behind a `~` is deflated, another stored.
pub fn archive(bytes: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for part in parts(bytes) {
        let line = part.iter().position(|&byte| byte == b'\n').unwrap_or(part.len());
        let (name, array) = part.split_at(line);
        let (method, name) = match name.strip_prefix(b"~") {
            Some(name) => (CompressionMethod::Deflated, name),
            None => (CompressionMethod::Stored, name),
        };
        let options = SimpleFileOptions::default().compression_method(method);
        let name = format!("{}.npy", String::from_utf8_lossy(name));
        // A name that stands twice is left out, as is one that is too long.
        if zip.start_file(name, options).is_ok() {
            zip.write_all(array.get(1..).unwrap_or_default()).expect("memory is written");
        }
    }
    zip.finish().expect("an archive").into_inner()
}

fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let current = rest?;
        let at = current.windows(MARKER.len()).position(|window| window == MARKER);
        rest = at.map(|at| &current[at + MARKER.len()..]);
        Some(at.map_or(current, |at| &current[..at]))
    })
}

/// The Parquet reader takes a failed assertion of its decoder for a damaged file. The fuzzer would
/// stop at the assertion; this lets it pass, and still stops at a panic that nobody takes.
pub fn pass_guarded_panics() {
    static HOOK: OnceLock<()> = OnceLock::new();
    HOOK.get_or_init(|| std::panic::set_hook(Box::new(|_| {})));
}
