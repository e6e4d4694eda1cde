//! The `.npz` files of the gnn-benchmark collection: adjacency and attributes as CSR matrices.
//!
//! `adj_*` are the arcs, `attr_*` the features, `labels` the classes; `node_names` become ids where
//! they exist and are distinct.

use std::path::Path;

use arrow_array::StringArray;

use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::formats::npz::{Archive, read_rows, shape};
use graphfill_data::{
    CellMask, Column, DataError, Dataset, Direction, EdgeList, IdColumn, Labels, NodeIds,
    NodeTable, Place, Progress, Result,
};

use crate::memory;

/// Whether the archive has the arrays of this layout.
pub(crate) fn is_layout_of(archive: &Archive) -> bool {
    archive.has("adj_indptr") || archive.has("adj_matrix.indptr")
}

/// Reads a graph and its node table.
pub(crate) fn read(path: &Path, limit: u64, progress: &dyn Progress) -> Result<Dataset> {
    let mut archive = Archive::open_within(path, limit)?;
    // Some files of the collection have `adj_data`, others `adj_matrix.data`.
    let prefix = |short: &'static str, long: &'static str| {
        if archive.has(&format!("{short}indptr")) { short } else { long }
    };
    let (adjacency, attributes) = (prefix("adj_", "adj_matrix."), prefix("attr_", "attr_matrix."));
    check_matrix(&mut archive, adjacency, "the arcs", limit)?;
    check_matrix(&mut archive, attributes, "the features", limit)?;
    let (nodes, others) = shape(&mut archive, &format!("{adjacency}shape"))?;
    let wrong = |array: &str, found: String| {
        DataError::malformed(Place::file(path).column(array), found, "fetch the file again")
    };
    if nodes != others {
        return Err(wrong("adj_shape", format!("the adjacency is {nodes} × {others}, not square")));
    }
    let mut list = EdgeList::weighted();
    let mut weighted = false;
    read_rows(&archive, adjacency, progress, |source, arcs| {
        for &(target, weight) in arcs.iter() {
            if !(0.0..=f64::from(f32::MAX)).contains(&weight) {
                return Err(wrong("adj_data", format!("an arc has the weight {weight}")));
            }
            weighted |= weight != 1.0;
            list.push(source as u32, target, weight as f32);
        }
        Ok(())
    })?;

    let (rows, width) = shape(&mut archive, &format!("{attributes}shape"))?;
    if rows != nodes {
        return Err(wrong("attr_shape", format!("{rows} rows of attributes for {nodes} nodes")));
    }
    let mut builder = BlockBuilder::new(width, BlockLayout::List);
    read_rows(&archive, attributes, progress, |row, cells| {
        if let Some((column, _)) = cells.iter().find(|(_, value)| value.is_nan()) {
            return Err(wrong("attr_data", format!("row {row}, column {column} is not a number")));
        }
        builder.push_row(cells);
        Ok(())
    })?;
    let block = builder.finish(CellMask::none(rows, width));

    let mut notes = Vec::new();
    let ids = ids(&mut archive, nodes, limit, &mut notes)?;
    let labels = labels(&mut archive, nodes, limit)?;
    let columns = if width == 0 { Vec::new() } else { vec![Column::block("x", block)] };
    let table = NodeTable::new(IdColumn::default(), ids, columns, labels)?;
    let graph = list.into_graph(nodes, Direction::Directed)?;
    let graph = if weighted { graph } else { graph.without_weights() };
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let mut dataset = Dataset::new(&name, "gnn-benchmark .npz", table, graph)?;
    dataset.notes = notes.into_iter().map(Into::into).collect();
    Ok(dataset)
}

/// Checks the memory of a CSR matrix, by its entries, before it is read.
fn check_matrix(archive: &mut Archive, prefix: &str, what: &str, limit: u64) -> Result<()> {
    let rows = archive.size(&format!("{prefix}indptr"))?.elements;
    let cells = archive.size(&format!("{prefix}indices"))?.elements;
    // Per row its offset and those of two masks; per cell its column and value, while it is read
    // and when it is placed.
    memory::check(archive.path(), what, 24 * rows + 24 * cells, limit)
}

/// Reads an array of strings, unless it needs more than `limit` bytes; none if it cannot be read.
fn strings(archive: &mut Archive, name: &str, limit: u64) -> Result<Option<Vec<String>>> {
    // Some files have pickled objects here, which are never read.
    let Ok(size) = archive.size(name) else { return Ok(None) };
    memory::check(archive.path(), name, 2 * size.bytes + 48 * size.elements, limit)?;
    Ok(archive.strings(name).ok())
}

/// The node names, where they can serve as ids.
fn ids(
    archive: &mut Archive,
    nodes: usize,
    limit: u64,
    notes: &mut Vec<String>,
) -> Result<NodeIds> {
    if !archive.has("node_names") {
        return Ok(NodeIds::numbered(nodes));
    }
    match strings(archive, "node_names", limit)? {
        Some(names) if names.len() == nodes => {
            let ids = NodeIds::from_text(StringArray::from(names));
            if ids.index().is_ok() {
                return Ok(ids);
            }
            notes.push("node names repeat, so nodes are numbered from 0".to_owned());
        }
        _ => notes.push("node names cannot be read, so nodes are numbered from 0".to_owned()),
    }
    Ok(NodeIds::numbered(nodes))
}

fn labels(archive: &mut Archive, nodes: usize, limit: u64) -> Result<Option<Labels>> {
    if !archive.has("labels") {
        return Ok(None);
    }
    let size = archive.size("labels")?;
    memory::check(archive.path(), "labels", 8 * size.elements, limit)?;
    let numbers = archive.integers("labels")?;
    if numbers.len() != nodes {
        return Err(DataError::malformed(
            Place::file(archive.path()).column("labels"),
            format!("{} labels for {nodes} nodes", numbers.len()),
            "fetch the file again",
        ));
    }
    let mut labels = Labels::from_numbers("y", &numbers);
    if let Some(labels) = &mut labels
        && archive.has("class_names")
        && let Some(names) = strings(archive, "class_names", limit)?
    {
        // Class numbers are positions in the list of names.
        let named =
            labels.classes.iter().map(|class| names.get(class.parse::<usize>().ok()?).cloned());
        if let Some(named) = named.collect::<Option<Vec<String>>>() {
            labels.classes = named;
        }
    }
    Ok(labels)
}
