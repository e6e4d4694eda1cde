//! A graph from node and edge files: any mix of text and Parquet, one or several of each.

use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::error::{DataError, Result};
use crate::formats::edge_collector::{CollectedEdges, EdgeCollector};
use crate::formats::location::{TableFormat, table_format};
use crate::formats::options::ReadOptions;
use crate::formats::{assemble, csv, parquet};
use crate::graph::Direction;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};
use crate::types_file::TypesFile;

/// Reads nodes, then edges between them.
pub(crate) fn read(
    nodes: &[PathBuf],
    edges: &[PathBuf],
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Dataset> {
    let mut options = options.clone();
    let mut notes = Vec::new();
    if let [single] = nodes
        && table_format(single)? == TableFormat::Text
    {
        take_types_beside(single, &mut options, &mut notes)?;
    }
    let table = read_nodes(nodes, &options, &mut notes, progress)?;
    let (collected, direction) = read_edges(edges, table.as_ref(), &options, progress)?;
    if collected.skipped > 0 {
        notes.push(format!("{} edges to unknown nodes were left out", collected.skipped));
    }
    let table = match table {
        None => NodeTable::new(IdColumn::default(), collected.added, Vec::new(), None),
        Some(table) if collected.added.is_empty() => table,
        Some(table) => {
            notes.push(format!("{} nodes that only edges name were added", collected.added.len()));
            let added = &collected.added;
            let added: Vec<String> = (0..added.len()).map(|row| added.text(row)).collect();
            table.with_new_nodes(&added)
        }
    };
    let graph = collected.list.into_graph(table.rows(), direction);
    let first: &Path = nodes.first().or(edges.first()).map_or(Path::new(""), PathBuf::as_path);
    let name = first.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let format = match table_format(first)? {
        TableFormat::Text => "text tables",
        TableFormat::Parquet => "Parquet tables",
    };
    let mut dataset = Dataset::new(name.split('.').next().unwrap_or(""), format, table, graph);
    dataset.notes = notes;
    Ok(dataset)
}

/// A types file beside a text table speaks for it, more softly than the caller. A typed file of
/// the same name speaks for itself.
fn take_types_beside(
    nodes: &Path,
    options: &mut ReadOptions,
    notes: &mut Vec<String>,
) -> Result<()> {
    let beside = TypesFile::path_beside(nodes);
    if !beside.is_file() {
        return Ok(());
    }
    let file = TypesFile::read(&beside)?;
    notes.push(format!("column types were taken from {}", beside.display()));
    options.types = file.types.overridden_by(&options.types);
    if options.blocks.is_empty() {
        options.blocks = file.blocks;
    }
    if file.directed == Some(true) {
        options.direction = Direction::Directed;
    }
    Ok(())
}

fn read_nodes(
    nodes: &[PathBuf],
    options: &ReadOptions,
    notes: &mut Vec<String>,
    progress: &dyn Progress,
) -> Result<Option<NodeTable>> {
    let mut whole = None;
    for path in nodes {
        let part = match table_format(path)? {
            TableFormat::Text => csv::read_nodes(path, options, progress)?,
            TableFormat::Parquet => parquet::read_nodes(path, options, progress)?,
        };
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.append(part)?,
        }
    }
    let Some(raw) = whole else { return Ok(None) };
    if raw.rows() >= u32::MAX as usize {
        return Err(DataError::request("a table of 2³² rows or more is not read".to_owned(), ""));
    }
    let (table, found) = assemble::assemble(raw, options)?;
    notes.extend(found);
    Ok(Some(table))
}

fn read_edges(
    edges: &[PathBuf],
    table: Option<&NodeTable>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(CollectedEdges, Direction)> {
    let index = match table {
        None => None,
        // The reader of the nodes has refused repeated ids.
        Some(table) => table.ids().index().ok(),
    };
    let known = table.map_or(0, NodeTable::rows);
    let mut collector = EdgeCollector::new(index, known, options.unknown_nodes);
    let mut direction = options.direction;
    for path in edges {
        match table_format(path)? {
            TableFormat::Text => csv::read_edges(path, options, &mut collector, progress)?,
            TableFormat::Parquet => {
                let said = parquet::read_edges(path, options, &mut collector, progress)?;
                direction = said.unwrap_or(direction);
            }
        }
    }
    Ok((collector.finish(), direction))
}
