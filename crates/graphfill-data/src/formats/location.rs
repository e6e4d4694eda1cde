//! Where a graph is: one file, a folder, or a node file and an edge file. Formats are known by
//! content first and by ending second, and a file that contradicts its ending is an error.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{DataError, Place, Result};
use crate::formats::edge_columns::look_like_edges;
use crate::formats::open::{GZIP_MAGIC, open, open_file};
use crate::formats::{csv, npz, parquet};

/// What a reader needs to know to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// `.npz` in the own layout.
    Npz(PathBuf),
    /// Node and edge tables, text or Parquet; without a node file the edges name the nodes.
    Tables {
        /// Files of nodes.
        nodes: Vec<PathBuf>,
        /// Files of edges.
        edges: Vec<PathBuf>,
    },
}

/// The format of one table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Text,
    Parquet,
}

impl Location {
    /// Finds out what `nodes` is, together with `edges` where the caller names them.
    pub fn find(nodes: &Path, edges: Option<&Path>) -> Result<Location> {
        if let Some(edges) = edges {
            table_format(nodes)?;
            table_format(edges)?;
            return Ok(Location::Tables {
                nodes: vec![nodes.to_path_buf()],
                edges: vec![edges.to_path_buf()],
            });
        }
        if nodes.is_dir() {
            return tables_in_folder(nodes);
        }
        if kind_of_content(nodes)? == Content::Zip {
            return match npz::layout(nodes)? {
                npz::Layout::Own => Ok(Location::Npz(nodes.to_path_buf())),
                npz::Layout::Splits => Err(DataError::malformed(
                    Place::file(nodes),
                    "this file holds splits, not a graph",
                    "pass it with --splits beside the graph that it belongs to",
                )),
            };
        }
        if nodes.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz")) {
            return Err(DataError::malformed(
                Place::file(nodes),
                "the name says .npz, the content doesn't",
                "fetch or write it again; rename it to .csv or .tsv if it is text",
            ));
        }
        let names = column_names(nodes)?;
        // Measured columns may be called "u" and "v": a file of edges beside it settles it.
        let edges = edges_beside(nodes);
        if edges.is_none() && look_like_edges(&names) {
            let edges = vec![nodes.to_path_buf()];
            return Ok(Location::Tables { nodes: Vec::new(), edges });
        }
        let edges = edges.into_iter().collect();
        Ok(Location::Tables { nodes: vec![nodes.to_path_buf()], edges })
    }

    /// The files that will be read, for messages and for the check that no output is an input.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Location::Npz(path) => vec![path],
            Location::Tables { nodes, edges } => {
                nodes.iter().chain(edges).map(PathBuf::as_path).collect()
            }
        }
    }
}

/// What the first bytes of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Parquet,
    Zip,
    Text,
}

fn kind_of_content(path: &Path) -> Result<Content> {
    let mut start = [0u8; 4];
    let mut file = open_file(path)?;
    let length = file.read(&mut start).map_err(|error| DataError::read(path, error))?;
    Ok(match &start[..length] {
        b"PAR1" => Content::Parquet,
        b"PK\x03\x04" | b"PK\x05\x06" => Content::Zip,
        _ => Content::Text,
    })
}

/// The format of a node or edge file, the ending checked against the content.
pub(crate) fn table_format(path: &Path) -> Result<TableFormat> {
    if path.is_dir() {
        return Err(DataError::malformed(
            Place::file(path),
            "this is a folder",
            "name a file; a folder of tables is read when it is given alone",
        ));
    }
    let content = kind_of_content(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let says_parquet = [".parquet", ".parquet.gzip", ".parquet.gz", ".pq"];
    let says_parquet = says_parquet.iter().any(|ending| name.ends_with(ending));
    match (content, says_parquet) {
        (Content::Parquet, _) => Ok(TableFormat::Parquet),
        (Content::Zip, _) => Err(DataError::malformed(
            Place::file(path),
            "this is a .npz or .zip archive, where a table is needed",
            "a .npz file holds nodes and edges together: give it alone, without an edge file",
        )),
        (Content::Text, true) => Err(DataError::malformed(
            Place::file(path),
            "the name says Parquet, the content doesn't",
            "the file may be cut short, or text: rename it to .csv or .tsv if it is",
        )),
        (Content::Text, false) => check_text(path, &name),
    }
}

/// Refuses what is plainly no text, or no gzip where the name says so.
fn check_text(path: &Path, name: &str) -> Result<TableFormat> {
    let mut file = open_file(path)?;
    let mut start = [0u8; 2];
    let length = file.read(&mut start).map_err(|error| DataError::read(path, error))?;
    let gzipped = start[..length] == GZIP_MAGIC;
    if name.ends_with(".gz") && !gzipped && length > 0 {
        return Err(DataError::malformed(
            Place::file(path),
            "the name says gzip, the content doesn't",
            "rename it without .gz if it is plain text",
        ));
    }
    let mut sample = Vec::new();
    open(path)?
        .take(4096)
        .read_to_end(&mut sample)
        .map_err(|error| crate::formats::open::Source::error(path, error))?;
    if sample.contains(&0) {
        return Err(DataError::malformed(
            Place::file(path),
            "this is neither text nor Parquet nor .npz",
            "graphfill reads CSV, TSV, Parquet, .npz, planetoid, OGB and Steam files",
        ));
    }
    Ok(TableFormat::Text)
}

fn column_names(path: &Path) -> Result<Vec<String>> {
    match table_format(path)? {
        TableFormat::Parquet => parquet::column_names(path),
        TableFormat::Text => csv::column_names(path),
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

fn several_graphs(folder: &Path, what: &str, paths: &[impl AsRef<Path>]) -> DataError {
    let names = paths.iter().map(|path| path.as_ref().display().to_string());
    DataError::malformed(
        Place::file(folder),
        format!("the folder holds several {what}"),
        format!("name one of them: {}", names.collect::<Vec<_>>().join(", ")),
    )
}

/// Every table of a folder, told apart by their columns.
fn tables_in_folder(folder: &Path) -> Result<Location> {
    let unreadable = |error| DataError::read(folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        files.push(entry.map_err(unreadable)?.path());
    }
    files.sort();
    let archives: Vec<&PathBuf> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "npz"))
        .filter(|path| npz::layout(path).is_ok_and(|layout| layout != npz::Layout::Splits))
        .collect();
    match archives.as_slice() {
        [] => {}
        [archive] => return Location::find(archive, None),
        several => return Err(several_graphs(folder, ".npz graphs", several)),
    }
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for path in files {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let name = name.unwrap_or_default();
        let endings = [
            ".csv",
            ".tsv",
            ".csv.gz",
            ".tsv.gz",
            ".parquet",
            ".parquet.gzip",
            ".parquet.gz",
            ".pq",
        ];
        if !path.is_file() || !endings.iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let names = column_names(&path)?;
        if look_like_edges(&names) { edges.push(path) } else { nodes.push(path) }
    }
    if nodes.is_empty() && edges.is_empty() {
        return Err(DataError::malformed(
            Place::file(folder),
            "the folder holds no graph that can be read",
            "graphfill reads CSV, TSV, Parquet, .npz, planetoid, OGB and Steam files",
        ));
    }
    Ok(Location::Tables { nodes, edges })
}
