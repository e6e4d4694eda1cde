//! Where a graph is: one file, a folder of tables, or a node file and an edge file. Formats are known by
//! content first and by ending second, and a file that contradicts its ending is an error.
//!
//! [`Input::detect`] opens every file once; [`Input::read`] reads what was opened. A pipe, or `-` for
//! standard input, works as well as a file.

use std::fs;
use std::path::{Path, PathBuf};

use super::column_names::is_edge_table;
use super::opened::{Compression, Content, OpenedFile, STANDARD_STREAM};
use super::options::ReadOptions;
use super::{csv, npz, parquet, tables};
use crate::dataset::Dataset;
use crate::error::{DataError, Place, Result};
use crate::hint::{Hint, Setting};
use crate::progress::Progress;
use crate::types_file::TypesFile;

/// Endings of Parquet files.
const PARQUET_ENDINGS: [&str; 4] = [".parquet", ".parquet.gzip", ".parquet.gz", ".pq"];
/// Endings of text tables.
const TEXT_ENDINGS: [&str; 7] =
    [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst", ".edgelist"];

/// A graph whose files have been opened.
#[derive(Debug)]
pub struct Input {
    format: Format,
    files: Vec<PathBuf>,
}

#[derive(Debug)]
enum Format {
    /// `.npz` in the own layout.
    Npz(OpenedFile),
    /// Node and edge tables, text or Parquet; without a node file the edges name the nodes.
    Tables { nodes: Vec<OpenedFile>, edges: Vec<OpenedFile> },
}

/// The format of one table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Text,
    Parquet,
}

impl Input {
    /// Finds out what `nodes` is, together with `edges` where the caller names them.
    pub fn detect(nodes: &Path, edges: Option<&Path>) -> Result<Input> {
        if let Some(edges) = edges {
            let stream = Path::new(STANDARD_STREAM);
            if nodes == stream && edges == stream {
                let found = "nodes and edges cannot both be read from standard input";
                return Err(DataError::request(found, "give one of them as a file"));
            }
            return Input::tables(vec![open_table(nodes)?], vec![open_table(edges)?]);
        }
        if nodes.is_dir() {
            return tables_in_folder(nodes);
        }
        let file = OpenedFile::open(nodes)?;
        if file.content() == Content::Zip {
            return Input::archive(file);
        }
        if has_ending(nodes, &[".npz"]) {
            return Err(DataError::malformed(
                Place::file(nodes),
                "the name says .npz, the content doesn't",
                "fetch or write it again; rename it to .csv or .tsv if it is text",
            ));
        }
        // Measured columns may be called "u" and "v": a file of edges beside it settles it.
        match edges_beside(nodes) {
            Some(edges) => Input::tables(vec![file], vec![open_table(&edges)?]),
            None if is_edge_table(&column_names(&file)?) => Input::tables(Vec::new(), vec![file]),
            None => Input::tables(vec![file], Vec::new()),
        }
    }

    fn archive(file: OpenedFile) -> Result<Input> {
        let files = vec![file.path().to_path_buf()];
        match npz::layout(file.path())? {
            npz::Layout::Own => Ok(Input { format: Format::Npz(file), files }),
            npz::Layout::Splits => Err(DataError::malformed(
                Place::file(file.path()),
                "this file holds splits, not a graph",
                Hint::new("give it beside the graph that it belongs to").with(Setting::SplitsFile),
            )),
        }
    }

    fn tables(nodes: Vec<OpenedFile>, edges: Vec<OpenedFile>) -> Result<Input> {
        for file in nodes.iter().chain(&edges) {
            check_table(file)?;
        }
        let mut files: Vec<PathBuf> =
            nodes.iter().chain(&edges).map(|file| file.path().to_path_buf()).collect();
        let types = nodes.iter().map(|file| TypesFile::path_beside(file.path()));
        files.extend(types.filter(|path| path.is_file()));
        Ok(Input { format: Format::Tables { nodes, edges }, files })
    }

    /// Every file that is read, files of column types beside tables included.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Reads the graph and its node table.
    pub fn read(self, options: &ReadOptions, progress: &dyn Progress) -> Result<Dataset> {
        let dataset = match self.format {
            Format::Npz(file) => npz::read(file.path(), options, progress),
            Format::Tables { nodes, edges } => tables::read(nodes, edges, options, progress),
        }?;
        let place = Place::file(self.files.first().map_or(Path::new(""), PathBuf::as_path));
        let (listed, limit) = (dataset.table.missing_bytes(), options.memory_limit);
        DataError::check_memory(place, "the list of missing cells", listed, limit)?;
        Ok(dataset)
    }
}

fn open_table(path: &Path) -> Result<OpenedFile> {
    if path.is_dir() {
        return Err(DataError::malformed(
            Place::file(path),
            "this is a folder",
            "name a file; a folder of tables is read when it is given alone",
        ));
    }
    OpenedFile::open(path)
}

/// The format of a node or edge file, the ending checked against the content.
pub(crate) fn check_table(file: &OpenedFile) -> Result<TableFormat> {
    let path = file.path();
    let contradiction =
        |found: &str, advice: &str| Err(DataError::malformed(Place::file(path), found, advice));
    match file.content() {
        Content::Parquet => return Ok(TableFormat::Parquet),
        Content::Zip => {
            return contradiction(
                "this is a .npz or .zip archive, where a table is needed",
                "a .npz file holds nodes and edges together: give it alone, without an edge file",
            );
        }
        Content::Text => {}
    }
    if has_ending(path, &PARQUET_ENDINGS) {
        return contradiction(
            "the name says Parquet, the content doesn't",
            "the file may be cut short, or text: rename it to .csv or .tsv if it is",
        );
    }
    for (ending, word, compression) in
        [(".gz", "gzip", Compression::Gzip), (".zst", "Zstandard", Compression::Zstd)]
    {
        if has_ending(path, &[ending]) && file.compression() != compression && !file.is_empty() {
            let found = format!("the name says {word}, the content doesn't");
            return contradiction(&found, "rename it if it is plain text");
        }
    }
    Ok(TableFormat::Text)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    endings.iter().any(|ending| name.as_ref().is_some_and(|name| name.ends_with(ending)))
}

fn column_names(file: &OpenedFile) -> Result<Vec<String>> {
    match check_table(file)? {
        TableFormat::Parquet => parquet::column_names(file),
        TableFormat::Text => Ok(csv::first_record(&file.peek())),
    }
}

/// `X.edges.csv` beside `X.csv`, or `edges.csv` beside `nodes.csv`.
fn edges_beside(nodes: &Path) -> Option<PathBuf> {
    let name = nodes.file_name()?.to_str()?;
    let (stem, ending) = name.split_once('.')?;
    let beside = nodes.with_file_name(format!("{stem}.edges.{ending}"));
    if beside.is_file() {
        return Some(beside);
    }
    let sibling = nodes.with_file_name(name.replacen("nodes", "edges", 1));
    (sibling != nodes && sibling.is_file()).then_some(sibling)
}

/// Every table of a folder, told apart by their columns; or its one `.npz` graph.
fn tables_in_folder(folder: &Path) -> Result<Input> {
    let unreadable = |error| DataError::read(folder, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    let is_graph = |path: &Path| npz::layout(path).is_ok_and(|layout| layout == npz::Layout::Own);
    let archives: Vec<&PathBuf> =
        paths.iter().filter(|path| has_ending(path, &[".npz"]) && is_graph(path)).collect();
    match archives.as_slice() {
        [] => {}
        [archive] => return Input::detect(archive, None),
        several => {
            let names: Vec<String> =
                several.iter().map(|path| path.display().to_string()).collect();
            return Err(DataError::malformed(
                Place::file(folder),
                "the folder holds several .npz graphs",
                format!("name one of them: {}", names.join(", ")),
            ));
        }
    }
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for path in paths {
        let is_table = has_ending(&path, &PARQUET_ENDINGS) || has_ending(&path, &TEXT_ENDINGS);
        if !path.is_file() || !is_table {
            continue;
        }
        let file = OpenedFile::open(&path)?;
        if is_edge_table(&column_names(&file)?) { edges.push(file) } else { nodes.push(file) }
    }
    if nodes.is_empty() && edges.is_empty() {
        return Err(DataError::malformed(
            Place::file(folder),
            "the folder holds no graph that can be read",
            "CSV, TSV, Parquet and .npz files, and the raw files of published data sets, are read",
        ));
    }
    Input::tables(nodes, edges)
}
