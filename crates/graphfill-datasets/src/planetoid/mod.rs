//! Planetoid's citation graphs: `ind.NAME.allx`, `.tx`, `.ally`, `.ty`, `.graph`, `.test.index`.
//!
//! The nodes are the rows of `allx`, then the rows of `tx` at the positions that `test.index`
//! lists. A position that it leaves out (Citeseer has some) is a node with zero features and no
//! label. Features are pickled CSR matrices, labels one-hot rows, the graph a dict of neighbours.

mod parts;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use graphfill_data::block::BlockLayout;
use graphfill_data::{
    Block, Column, DataError, Dataset, Direction, IdColumn, NodeIds, NodeTable, Place, Progress,
    Result,
};

use crate::feature_rows::FeatureRows;
use crate::memory;
use crate::pickle::{self, CsrMatrix};
use parts::{Positions, Row};

/// The ends of the names of all files of a set; `x` and `y` repeat rows of `allx` and `ally`.
const PARTS: [&str; 8] = ["allx", "ally", "graph", "test.index", "tx", "ty", "x", "y"];

/// The advice where two files contradict each other.
const ONE_SOURCE: &str = "take all files from the same source; they belong together";

/// Reads the files whose names begin with `prefix`, such as `data/ind.cora`.
pub(crate) fn read(prefix: &Path, limit: u64, progress: &dyn Progress) -> Result<Dataset> {
    let part = |end: &str| part(prefix, end);
    let name = name_of(prefix);
    progress.begin(&format!("reading {name}"), Some(3));
    let step = || {
        progress.advance(1);
        progress.check()
    };
    let first = read_matrix(&part("allx"), limit)?;
    step()?;
    let test = read_matrix(&part("tx"), limit)?;
    check_same("columns", (&part("allx"), first.columns), (&part("tx"), test.columns))?;
    step()?;
    let graph_path = part("graph");
    let bytes = pickle::read_bytes(&graph_path, limit)?;
    let in_graph = |problem: pickle::Problem| problem.in_file(&graph_path);
    let graph = pickle::parse(&bytes, limit).map_err(in_graph)?;
    let neighbours = graph.heap.pairs(graph.root).map_err(in_graph)?;
    step()?;
    progress.end();

    let (rows, index) = ([first.rows(), test.rows()], part("test.index"));
    let positions = Positions::read(&index, rows, neighbours.len(), progress)?;
    let nodes = positions.nodes();
    let labels = parts::labels(prefix, [&first, &test], &positions, limit)?;
    let block = features(prefix, &first, &test, &positions, limit)?;
    progress.check()?;
    let arcs = parts::arcs(&graph_path, &graph.heap, neighbours, nodes, bytes.len())?;
    progress.check()?;

    let columns = if block.width() == 0 { Vec::new() } else { vec![Column::block("x", block)] };
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(nodes), columns, labels)?;
    let graph = arcs.into_graph(nodes, Direction::Undirected)?;
    let mut dataset = Dataset::new(&name, "planetoid", table, graph)?;
    dataset.notes.extend(positions.note().map(Into::into));
    Ok(dataset)
}

/// The prefixes of the Planetoid sets in a folder, sorted.
pub(crate) fn find(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut prefixes = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| DataError::read(folder, error))? {
        let path = entry.map_err(|error| DataError::read(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("ind.") && name.ends_with(".graph") {
            prefixes.push(path.with_extension(""));
        }
    }
    prefixes.sort_unstable();
    Ok(prefixes)
}

/// `FOLDER/ind.NAME` for that path itself and for any file whose name begins with it.
pub(crate) fn prefix_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.strip_prefix("ind.")?.split('.').next()?;
    let prefix = path.with_file_name(format!("ind.{name}"));
    part(&prefix, "allx").is_file().then_some(prefix)
}

/// The existing files of the set with this prefix.
pub(crate) fn files(prefix: &Path) -> Vec<PathBuf> {
    PARTS.iter().map(|end| part(prefix, end)).filter(|path| path.is_file()).collect()
}

/// The path `PREFIX.END`.
fn part(prefix: &Path, end: &str) -> PathBuf {
    let mut path = OsString::from(prefix);
    path.push(".");
    path.push(end);
    PathBuf::from(path)
}

/// NAME of `ind.NAME`.
fn name_of(prefix: &Path) -> String {
    let name = prefix.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("ind.").unwrap_or(&name).to_owned()
}

fn read_matrix(path: &Path, limit: u64) -> Result<CsrMatrix> {
    let bytes = pickle::read_bytes(path, limit)?;
    pickle::parse(&bytes, limit)
        .and_then(|pickle| CsrMatrix::new(&pickle.heap, pickle.root, limit))
        .map_err(|problem| problem.in_file(path))
}

/// Fails if two files contradict each other about the number of `what`.
fn check_same(what: &str, one: (&Path, usize), other: (&Path, usize)) -> Result<()> {
    if one.1 == other.1 {
        return Ok(());
    }
    let found = format!("it has {} {what}, but {} has {}", other.1, one.0.display(), one.1);
    Err(DataError::malformed(Place::file(other.0), found, ONE_SOURCE))
}

fn features(
    prefix: &Path,
    first: &CsrMatrix,
    test: &CsrMatrix,
    positions: &Positions,
    limit: u64,
) -> Result<Block> {
    let cells = (first.stored() + test.stored()) as u64;
    let needed = 24 * positions.nodes() as u64 + 20 * cells;
    memory::check(&part(prefix, "allx"), "the features", needed, limit)?;
    let mut rows = FeatureRows::new(first.columns, BlockLayout::List);
    let mut cells = Vec::new();
    for node in 0..positions.nodes() {
        let (matrix, row, end) = match positions.row(node) {
            Row::First(row) => (first, row, "allx"),
            Row::Test(row) => (test, row, "tx"),
            Row::Absent => {
                rows.push(&mut cells);
                continue;
            }
        };
        matrix.append_row(row, &mut cells);
        if let Some(&(column, value)) = cells.iter().find(|cell| cell.1.is_infinite()) {
            return Err(DataError::malformed(
                Place::file(part(prefix, end)).column(column.to_string()),
                format!("row {row} holds {value}"),
                "replace it by a number, or by NaN where it is unknown",
            ));
        }
        rows.push(&mut cells);
    }
    Ok(rows.finish())
}
