//! The raw formats of published data sets, and everything else.

use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::error::{DataError, Place, Result};
use crate::formats::input::Input;
use crate::formats::options::ReadOptions;
use crate::formats::{gnn_benchmark, npz, ogb, planetoid, steam};
use crate::progress::Progress;

/// Where a graph is.
#[derive(Debug)]
pub enum Location {
    /// Tables or `.npz`.
    Data(Input),
    /// `.npz` of the gnn-benchmark collection.
    GnnBenchmark(PathBuf),
    /// `ind.NAME.*` files, by their common beginning.
    Planetoid(PathBuf),
    /// A folder of OGB's `.csv.gz` files.
    Ogb(PathBuf),
    /// A folder with Steam's two raw files.
    Steam(PathBuf),
}

impl Location {
    /// Finds out what `nodes` is, together with `edges` where the caller names them.
    pub fn find(nodes: &Path, edges: Option<&Path>) -> Result<Location> {
        if edges.is_none() {
            if nodes.is_dir() {
                if let Some(found) = in_folder(nodes)? {
                    return Ok(found);
                }
            } else if let Some(prefix) = planetoid_prefix(nodes) {
                return Ok(Location::Planetoid(prefix));
            } else if npz::is_gnn_benchmark(nodes) {
                return Ok(Location::GnnBenchmark(nodes.to_path_buf()));
            }
        }
        Input::detect(nodes, edges).map(Location::Data)
    }

    /// The files that will be read.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Location::GnnBenchmark(path)
            | Location::Planetoid(path)
            | Location::Ogb(path)
            | Location::Steam(path) => vec![path],
            Location::Data(input) => input.files().iter().map(PathBuf::as_path).collect(),
        }
    }

    /// Reads the graph.
    pub fn read(self, options: &ReadOptions, progress: &dyn Progress) -> Result<Dataset> {
        match self {
            Location::Data(input) => input.read(options, progress),
            Location::GnnBenchmark(path) => gnn_benchmark::read(&path, progress),
            Location::Planetoid(prefix) => planetoid::read(&prefix, progress),
            Location::Ogb(folder) => ogb::read(&folder, progress),
            Location::Steam(folder) => steam::read(&folder, progress),
        }
    }
}

/// `DIR/ind.NAME` for itself or for any file that starts with it.
fn planetoid_prefix(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let data_set = name.strip_prefix("ind.")?.split('.').next()?;
    let prefix = path.with_file_name(format!("ind.{data_set}"));
    prefix.with_file_name(format!("ind.{data_set}.allx")).is_file().then_some(prefix)
}

fn in_folder(folder: &Path) -> Result<Option<Location>> {
    let holds = |name: &str| folder.join(name).is_file();
    let prefixes = planetoid::find(folder)?;
    match prefixes.as_slice() {
        [] => {}
        [one] => return Ok(Some(Location::Planetoid(one.clone()))),
        several => {
            let names = several.iter().map(|path| path.display().to_string());
            return Err(DataError::malformed(
                Place::file(folder),
                "the folder holds several planetoid data sets",
                format!("name one of them: {}", names.collect::<Vec<_>>().join(", ")),
            ));
        }
    }
    if holds("user_product_date.csv") && holds("product_tags.csv") {
        return Ok(Some(Location::Steam(folder.to_path_buf())));
    }
    let ogb = ["edge.csv.gz", "edge.csv", "raw/edge.csv.gz", "raw/edge.csv"];
    Ok(ogb.iter().any(|name| holds(name)).then(|| Location::Ogb(folder.to_path_buf())))
}
