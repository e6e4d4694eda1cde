//! Planetoid's citation graphs: `ind.NAME.allx`, `.tx`, `.ally`, `.ty`, `.graph`, `.test.index`.
//!
//! The nodes are the rows of `allx`, then the rows of `tx` at the positions that `test.index`
//! names. A position that it leaves out (Citeseer has some) is a node with zero features and no
//! label. Features are pickled CSR matrices, labels one-hot rows, the graph a dict of neighbours.

mod arcs;
mod labels;
mod positions;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::block::{Block, BlockLayout};
use crate::column::Column;
use crate::dataset::Dataset;
use crate::error::{DataError, Place, Result};
use crate::formats::feature_rows::FeatureRows;
use crate::formats::open;
use crate::formats::pickle::{self, CsrMatrix, Pickle, Problem};
use crate::formats::row_counter::RowCounter;
use crate::graph::Direction;
use crate::ids::NodeIds;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};

use positions::{Positions, Row};

/// `allx`, `tx` and `graph`, which take the time.
const LARGE_FILES: u64 = 3;

/// Reads the files that begin with `prefix`, such as `data/ind.cora`.
pub fn read(prefix: &Path, progress: &dyn Progress) -> Result<Dataset> {
    let files = Files { prefix };
    progress.begin(&format!("reading {}", files.name()), Some(LARGE_FILES));
    let one_file_read = || {
        progress.advance(1);
        progress.check()
    };
    let first = read_matrix(&files.part("allx"))?;
    one_file_read()?;
    let test = read_matrix(&files.part("tx"))?;
    check_same("columns", (&files.part("allx"), first.columns), (&files.part("tx"), test.columns))?;
    one_file_read()?;
    let graph_path = files.part("graph");
    let bytes = read_bytes(&graph_path)?;
    let graph = parse(&graph_path, &bytes)?;
    one_file_read()?;
    progress.end();

    let neighbours = graph.heap.pairs(graph.root).map_err(|p| p.in_file(&graph_path))?;
    let positions = Positions::read(
        &files.part("test.index"),
        first.rows(),
        test.rows(),
        neighbours.len(),
        progress,
    )?;

    let labels = labels::read(&files, &first, &test, &positions)?;
    let block = features(&files, &first, &test, &positions, progress)?;
    let arcs = arcs::collect(
        &graph_path,
        &graph.heap,
        neighbours,
        positions.nodes(),
        bytes.len(),
        progress,
    )?;

    let ids = NodeIds::numbered(positions.nodes());
    let columns = if block.width() == 0 { Vec::new() } else { vec![Column::block("x", block)] };
    let table = NodeTable::new(IdColumn::default(), ids, columns, labels)?;
    let graph = arcs.into_graph(positions.nodes(), Direction::Undirected)?;
    let mut dataset = Dataset::new(&files.name(), "planetoid", table, graph)?;
    dataset.notes.extend(positions.note());
    Ok(dataset)
}

/// The prefixes of the planetoid sets in a folder, sorted.
pub fn find(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut prefixes = Vec::new();
    for entry in fs::read_dir(dir).map_err(|error| DataError::read(dir, error))? {
        let path = entry.map_err(|error| DataError::read(dir, error))?.path();
        let begins =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ind."));
        if begins && path.extension().is_some_and(|end| end == "graph") {
            prefixes.push(path.with_extension(""));
        }
    }
    prefixes.sort_unstable();
    Ok(prefixes)
}

/// The files of one set.
struct Files<'a> {
    prefix: &'a Path,
}

impl Files<'_> {
    fn part(&self, end: &str) -> PathBuf {
        let mut path = OsString::from(self.prefix);
        path.push(".");
        path.push(end);
        PathBuf::from(path)
    }

    /// What stands behind `ind.`.
    fn name(&self) -> String {
        let name = self.prefix.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix("ind.").unwrap_or(&name).to_owned()
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    open::open(path)?.read_all(pickle::MAX_BYTES)
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<Pickle<'a>> {
    pickle::parse(bytes).map_err(|problem| problem.in_file(path))
}

fn read_matrix(path: &Path) -> Result<CsrMatrix> {
    let bytes = read_bytes(path)?;
    let pickle = parse(path, &bytes)?;
    CsrMatrix::of(&pickle.heap, pickle.root).map_err(|problem: Problem| problem.in_file(path))
}

/// Two files must agree on a number.
fn check_same(what: &str, one: (&Path, usize), other: (&Path, usize)) -> Result<()> {
    if one.1 == other.1 {
        return Ok(());
    }
    Err(DataError::malformed(
        Place::file(other.0),
        format!("it has {} {what}, but {} has {}", other.1, one.0.display(), one.1),
        "take all files from the same source; they belong together",
    ))
}

fn features(
    files: &Files<'_>,
    first: &CsrMatrix,
    test: &CsrMatrix,
    positions: &Positions,
    progress: &dyn Progress,
) -> Result<Block> {
    let total = positions.nodes() as u64;
    let mut counter = RowCounter::begin(progress, "placing the features", Some(total));
    let mut rows = FeatureRows::new(first.columns, BlockLayout::List);
    let mut cells = Vec::new();
    for node in 0..positions.nodes() {
        counter.row()?;
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
                Place::file(files.part(end)).column(column.to_string()),
                format!("row {row} holds {value}"),
                "replace it by a number, or by NaN where it is unknown",
            ));
        }
        rows.push(&mut cells);
    }
    counter.end()?;
    Ok(rows.finish())
}
