//! The raw formats of published data sets and the formats of `graphfill-data`, found by content and
//! read through one type.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use graphfill_data::formats::npz::Archive;
use graphfill_data::formats::{Input, ReadOptions};
use graphfill_data::{DataError, Dataset, Direction, Note, Place, Progress, Result};

use crate::{gnn_benchmark, ogb, planetoid, steam};

/// A graph on disk, with its format.
#[derive(Debug)]
#[non_exhaustive]
pub enum Source {
    /// A format of `graphfill-data`: tables, Parquet, or its own `.npz`.
    Data(Input),
    /// An `.npz` archive of the gnn-benchmark collection.
    GnnBenchmark(PathBuf),
    /// Planetoid's files `PREFIX.*`; the prefix is `FOLDER/ind.NAME`.
    Planetoid(PathBuf),
    /// A folder of the Open Graph Benchmark with `edge.csv.gz`, or with `raw/edge.csv.gz`.
    Ogb(PathBuf),
    /// A folder with `user_product_date.csv` and `product_tags.csv`.
    Steam(PathBuf),
}

impl Source {
    /// Finds the format of `nodes`, a file or a folder. Raw formats are recognised by file names and
    /// by the names of arrays; everything else, and every call with `edges`, is left to
    /// [`Input::detect`].
    ///
    /// # Errors
    /// If nothing can be read there, or a folder holds several graphs.
    pub fn detect(nodes: &Path, edges: Option<&Path>) -> Result<Source> {
        let raw = match edges {
            Some(_) => None,
            None if nodes.is_dir() => detect_in_folder(nodes)?,
            None => detect_file(nodes),
        };
        raw.map_or_else(|| Input::detect(nodes, edges).map(Source::Data), Ok)
    }

    /// Every file that is read, for the check that no output is an input.
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Source::Data(input) => input.files().to_vec(),
            Source::GnnBenchmark(path) => vec![path.clone()],
            Source::Planetoid(prefix) => planetoid::files(prefix),
            Source::Ogb(folder) => ogb::files(folder),
            Source::Steam(folder) => steam::files(folder).to_vec(),
        }
    }

    /// Reads the graph and its node table. The raw formats use only the memory limit of the options.
    ///
    /// # Errors
    /// If a file cannot be read, is malformed, or needs more memory than the limit, and if `progress`
    /// is cancelled.
    pub fn read(self, options: &ReadOptions, progress: &dyn Progress) -> Result<Dataset> {
        let limit = options.memory_limit;
        let mut dataset = match self {
            Source::Data(input) => return input.read(options, progress),
            Source::GnnBenchmark(path) => gnn_benchmark::read(&path, limit, progress),
            Source::Planetoid(prefix) => planetoid::read(&prefix, limit, progress),
            Source::Ogb(folder) => ogb::read(&folder, limit, progress),
            Source::Steam(folder) => steam::read(&folder, limit, progress),
        }?;
        match (options.direction, dataset.graph.direction()) {
            (Some(Direction::Undirected), Direction::Directed) => {
                dataset.graph = dataset.graph.with_direction(Direction::Undirected);
            }
            (Some(Direction::Directed), Direction::Undirected) => {
                dataset.notes.push(Note::warning(format!(
                    "edges of the format {} have no direction: they count in both",
                    dataset.format
                )));
            }
            _ => {}
        }
        Ok(dataset)
    }
}

fn detect_file(path: &Path) -> Option<Source> {
    if let Some(prefix) = planetoid::prefix_of(path) {
        return Some(Source::Planetoid(prefix));
    }
    // A pipe can be read only once, so it is left alone.
    if !path.is_file() || !starts_as_zip(path) {
        return None;
    }
    let archive = Archive::open(path).ok()?;
    gnn_benchmark::is_layout_of(&archive).then(|| Source::GnnBenchmark(path.to_path_buf()))
}

fn starts_as_zip(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"PK\x03\x04"
}

fn detect_in_folder(folder: &Path) -> Result<Option<Source>> {
    let prefixes = planetoid::find(folder)?;
    match prefixes.as_slice() {
        [] => {}
        [one] => return Ok(Some(Source::Planetoid(one.clone()))),
        several => return Err(several_graphs(folder, "planetoid data sets", several)),
    }
    if steam::files(folder).iter().all(|path| path.is_file()) {
        return Ok(Some(Source::Steam(folder.to_path_buf())));
    }
    if !ogb::files(folder).is_empty() {
        return Ok(Some(Source::Ogb(folder.to_path_buf())));
    }
    let (raw, own) = archives(folder)?;
    match (raw.as_slice(), own.as_slice()) {
        ([], _) => Ok(None),
        ([one], []) => Ok(Some(Source::GnnBenchmark(one.clone()))),
        _ => Err(several_graphs(folder, ".npz graphs", &[raw, own].concat())),
    }
}

/// The gnn-benchmark archives of a folder, and those in graphfill's own layout, sorted.
fn archives(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let unreadable = |error| DataError::read(folder, error);
    let (mut raw, mut own) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|ending| ending != "npz") {
            continue;
        }
        let Ok(archive) = Archive::open(&path) else { continue };
        if gnn_benchmark::is_layout_of(&archive) {
            raw.push(path);
        } else if archive.has("edge_src") {
            own.push(path);
        }
    }
    raw.sort();
    own.sort();
    Ok((raw, own))
}

fn several_graphs(folder: &Path, what: &str, paths: &[PathBuf]) -> DataError {
    let names = paths.iter().map(|path| path.display().to_string());
    DataError::malformed(
        Place::file(folder),
        format!("the folder holds several {what}"),
        format!("name one of them: {}", names.collect::<Vec<_>>().join(", ")),
    )
}
