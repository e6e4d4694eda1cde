//! `.npz` in graphfill's own layout: a graph and its table in one file that numpy reads.
//!
//! | array | what it holds |
//! |---|---|
//! | `edge_src`, `edge_dst` | every undirected edge once, no self-loops |
//! | `dir_src`, `dir_dst` | the arcs of a directed graph |
//! | `edge_weight`, `dir_weight` | weights beside them |
//! | `x_indptr`, `x_indices`, `x_data`, `x_shape` | the features as compressed rows |
//! | `col_names`, `col_types` | of the feature columns: `continuous`, `count`, `ordinal`, `categorical`, `binary`; without types all features are one block |
//! | `levels_K` | the level names of categorical column K, whose cells are positions in it |
//! | `block_names`, `block_first`, `block_last`, `block_lists` | runs of feature columns that are one block, and whether it is a list column |
//! | `missing_rows`, `missing_indptr`, `missing_indices` | missing cells: whole rows, and columns by row |
//! | `aux`, `aux_names` | further dense columns |
//! | `node_type` | the type of each node |
//! | `y`, `y_names`, `y_name` | class numbers (−1: none), their names, the name of the labels |
//! | `ids`, `id_name`, `id_position` | the ids; row numbers without them |
//! | `text_names`, `text_K`, `text_K_missing` | columns that are carried along |

mod array;
mod columns;
mod read;
mod write;
mod write_array;

pub use array::{Archive, ArraySize};
pub(crate) use read::read;
pub(crate) use write::write;

use std::path::Path;

use crate::edge_list::EdgeList;
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::is_weight;
use crate::memory::{BYTES_PER_COLUMN, BYTES_PER_EDGE, BYTES_PER_ROW};
use crate::progress::Progress;

/// What an archive holds, seen by the names of its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Own,
    Splits,
}

pub(crate) fn layout(path: &Path) -> Result<Layout> {
    let archive = Archive::open(path)?;
    if archive.has("edge_src") {
        Ok(Layout::Own)
    } else if archive.names().iter().any(|name| name.starts_with("train_")) {
        Ok(Layout::Splits)
    } else {
        let mut names = archive.names();
        names.truncate(12);
        Err(DataError::malformed(
            Place::file(path),
            format!("the archive is of no known layout; it holds {}", names.join(", ")),
            "graphfill reads its own layout (edge_src, edge_dst, x_indptr, …) and gnn-benchmark's (adj_data, attr_data, …)",
        ))
    }
}

/// The memory that a stored cell takes at most: its column and its value.
const BYTES_PER_CELL: u64 = 16;

/// Reads two arrays of ends (and one of weights) side by side into an edge list.
pub(crate) fn read_arcs(
    archive: &Archive,
    (source, target): (&str, &str),
    weight: Option<&str>,
    nodes: usize,
    progress: &dyn Progress,
) -> Result<EdgeList> {
    let path = archive.path();
    // Streams hold a position in the file, so that each needs an archive of its own.
    let mut archives = (archive.reopen()?, archive.reopen()?, archive.reopen()?);
    let mut sources = archives.0.stream(source)?;
    let mut targets = archives.1.stream(target)?;
    let mut weights = match weight {
        Some(name) => Some(archives.2.stream(name)?),
        None => None,
    };
    archive.check_memory(source, "edges", sources.len(), BYTES_PER_EDGE)?;
    let mut list = if weight.is_some() { EdgeList::weighted() } else { EdgeList::unweighted() };
    progress.begin("reading edges", Some(sources.len() as u64));
    loop {
        let ends = (sources.next_integer()?, targets.next_integer()?);
        let weight = match &mut weights {
            Some(weights) => weights.next_float()?,
            None => ends.0.map(|_| 1.0),
        };
        let place = || Place::file(path).column(source);
        match (ends, weight) {
            ((None, None), None) => break,
            ((Some(from), Some(to)), Some(weight)) => {
                let inside = |end: i64| usize::try_from(end).is_ok_and(|end| end < nodes);
                if !inside(from) || !inside(to) {
                    return Err(DataError::malformed(
                        place(),
                        format!(
                            "edge {} joins {from} and {to}, but there are {nodes} nodes",
                            list.len()
                        ),
                        "nodes are numbered from 0 in this layout",
                    ));
                }
                if !is_weight(weight) {
                    return Err(DataError::malformed(
                        place(),
                        format!("edge {} has the weight {weight}", list.len()),
                        "weights are numbers from 0 to 3e38",
                    ));
                }
                list.push(from as u32, to as u32, weight as f32);
                if list.len() % (1 << 18) == 0 {
                    progress.advance(1 << 18);
                    progress.check()?;
                }
            }
            _ => {
                return Err(DataError::malformed(
                    place(),
                    format!("the arrays '{source}' and '{target}' (and weights) differ in length"),
                    "each edge needs one entry in each of them",
                ));
            }
        }
    }
    progress.end();
    Ok(list)
}

/// Reads a CSR matrix row by row from the arrays `PREFIXindptr`, `PREFIXindices`, `PREFIXdata` and
/// `PREFIXshape`, and calls `take(row, cells)` with each row's cells `(column, value)`. Returns the
/// shape `(rows, columns)`.
///
/// # Errors
/// If the arrays do not fit one another, a value is infinite, or `take` fails.
pub fn read_rows(
    archive: &Archive,
    prefix: &str,
    progress: &dyn Progress,
    mut take: impl FnMut(usize, &mut Vec<(u32, f64)>) -> Result<()>,
) -> Result<(usize, usize)> {
    let path = archive.path();
    let mut archives = (archive.reopen()?, archive.reopen()?, archive.reopen()?);
    let name = |part: &str| format!("{prefix}{part}");
    let place = |part: &str| Place::file(path).column(name(part));
    let wrong = |part: &str, found: String| {
        DataError::malformed(place(part), found, "write the compressed rows again")
    };
    let (rows, columns) = shape(&mut archives.0, &name("shape"))?;
    let mut offsets = archives.0.stream(&name("indptr"))?;
    let mut indices = archives.1.stream(&name("indices"))?;
    let mut values = archives.2.stream(&name("data"))?;
    let stored = indices.len();
    archive.check_memory(&name("indices"), "stored cells", stored, BYTES_PER_CELL)?;
    if offsets.next_integer()? != Some(0) {
        return Err(wrong("indptr", "row offsets start at 0".to_owned()));
    }
    progress.begin("reading features", Some(rows as u64));
    let mut before = 0usize;
    let mut cells = Vec::new();
    for row in 0..rows {
        let end = offsets.next_integer()?.and_then(|end| usize::try_from(end).ok());
        let end = end.filter(|end| (before..=stored).contains(end)).ok_or_else(|| {
            wrong(
                "indptr",
                format!("the offset of row {row} is missing, falls or runs past the end"),
            )
        })?;
        cells.clear();
        for _ in before..end {
            let column = indices.next_integer()?.and_then(|column| usize::try_from(column).ok());
            let column = column.filter(|&column| column < columns).ok_or_else(|| {
                wrong("indices", format!("row {row} has a column outside 0..{columns}"))
            })?;
            let value = values
                .next_float()?
                .ok_or_else(|| wrong("data", "there are fewer values than columns".to_owned()))?;
            if value.is_infinite() {
                return Err(wrong("data", format!("row {row}, column {column} is infinite")));
            }
            cells.push((column as u32, value));
        }
        before = end;
        take(row, &mut cells)?;
        if row % (1 << 12) == 0 {
            progress.advance(1 << 12);
            progress.check()?;
        }
    }
    if before != stored || offsets.next_integer()?.is_some() {
        return Err(wrong("indptr", format!("the rows end at {before} of {stored} cells")));
    }
    progress.end();
    Ok((rows, columns))
}

/// Reads the array `name` as the shape `(rows, columns)` of a matrix, both below 2³² − 1 and within the
/// memory limit.
///
/// # Errors
/// If the array is not there or does not have two such entries.
pub fn shape(archive: &mut Archive, name: &str) -> Result<(usize, usize)> {
    let sides = archive.integers(name)?;
    let side = |at: usize| {
        let side = sides.get(at).and_then(|&side| usize::try_from(side).ok());
        side.filter(|&side| side < u32::MAX as usize)
    };
    let (2, Some(rows), Some(columns)) = (sides.len(), side(0), side(1)) else {
        return Err(DataError::malformed(
            Place::file(archive.path()).column(name),
            format!("found {sides:?} where a shape of two sides below 2³² is needed"),
            "write the array again",
        ));
    };
    archive.check_memory(name, "rows", rows, BYTES_PER_ROW)?;
    archive.check_memory(name, "columns", columns, BYTES_PER_COLUMN)?;
    Ok((rows, columns))
}
