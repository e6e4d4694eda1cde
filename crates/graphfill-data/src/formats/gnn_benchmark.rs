//! The `.npz` files of the gnn-benchmark collection: adjacency and attributes as compressed rows.
//!
//! `adj_*` are arcs as given, `attr_*` the features, `labels` the classes; `node_names` become
//! ids where they are there and distinct.

use std::path::Path;

use arrow_array::StringArray;

use crate::block::{BlockBuilder, BlockLayout};
use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::dataset::Dataset;
use crate::edge_list::EdgeList;
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::is_weight;
use crate::formats::npz::{Archive, read_rows, shape};
use crate::graph::Direction;
use crate::ids::NodeIds;
use crate::labels::Labels;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};

/// Reads a graph and its table.
pub(crate) fn read(path: &Path, progress: &dyn Progress) -> Result<Dataset> {
    let mut archive = Archive::open(path)?;
    // Some files of the collection spell `adj_data`, others `adj_matrix.data`.
    let prefix = |short: &str, long: &str| {
        if archive.has(&format!("{short}indptr")) { short.to_owned() } else { long.to_owned() }
    };
    let (adjacency, attributes) = (prefix("adj_", "adj_matrix."), prefix("attr_", "attr_matrix."));
    let (nodes, others) = shape(&mut archive, &format!("{adjacency}shape"))?;
    let wrong = |array: &str, found: String| {
        DataError::malformed(Place::file(path).column(array), found, "fetch the file again")
    };
    if nodes != others {
        return Err(wrong("adj_shape", format!("the adjacency is {nodes} × {others}, not square")));
    }
    let mut list = EdgeList::weighted();
    let mut weighted = false;
    read_rows(&archive, &adjacency, progress, |source, arcs| {
        for &(target, weight) in arcs.iter() {
            if !is_weight(weight) {
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
    read_rows(&archive, &attributes, progress, |row, cells| {
        if let Some((column, _)) = cells.iter().find(|(_, value)| value.is_nan()) {
            return Err(wrong("attr_data", format!("row {row}, column {column} is not a number")));
        }
        builder.push_row(cells);
        Ok(())
    })?;
    let block = builder.finish(CellMask::none(rows, width));

    let mut notes = Vec::new();
    let ids = ids(&mut archive, nodes, &mut notes);
    let labels = labels(&mut archive, nodes)?;
    let columns = if width == 0 { Vec::new() } else { vec![Column::block("x", block)] };
    let table = NodeTable::new(IdColumn::default(), ids, columns, labels);
    let graph = list.into_graph(nodes, Direction::Directed);
    let graph = if weighted { graph } else { graph.without_weights() };
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let mut dataset = Dataset::new(&name, "gnn-benchmark .npz", table, graph);
    dataset.notes = notes;
    Ok(dataset)
}

/// The node names, where they can serve as ids: some files hold them as pickled objects, which
/// are never read.
fn ids(archive: &mut Archive, nodes: usize, notes: &mut Vec<String>) -> NodeIds {
    if !archive.has("node_names") {
        return NodeIds::numbered(nodes);
    }
    match archive.strings("node_names") {
        Ok(names) if names.len() == nodes => {
            let ids = NodeIds::from_text(StringArray::from(names));
            if ids.index().is_ok() {
                return ids;
            }
            notes.push("node names repeat, so nodes are numbered from 0".to_owned());
        }
        _ => notes.push("node names cannot be read, so nodes are numbered from 0".to_owned()),
    }
    NodeIds::numbered(nodes)
}

fn labels(archive: &mut Archive, nodes: usize) -> Result<Option<Labels>> {
    if !archive.has("labels") {
        return Ok(None);
    }
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
        && let Ok(names) = archive.strings("class_names")
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
