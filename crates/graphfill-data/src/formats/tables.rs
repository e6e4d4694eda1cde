//! A graph from node and edge files: any mix of text and Parquet, one or several of each.
//!
//! The nodes are read first, uninterpreted; a sample of the edges then tells which columns are ids and
//! ends ([`super::resolve`]); then the node table is assembled and the edges are read.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use crate::block::Block;
use crate::column::Column;
use crate::dataset::Dataset;
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::{CollectedEdges, EdgeCollector};
use crate::formats::edge_columns::EdgeColumns;
use crate::formats::encoding::Encoding;
use crate::formats::input::{TableFormat, check_table};
use crate::formats::opened::{OpenedFile, Text};
use crate::formats::options::{ReadOptions, TextOptions};
use crate::formats::raw_table::RawTable;
use crate::formats::resolve::{self, EdgeSample, IdSource};
use crate::formats::{arrow_edges, arrow_table, assemble, csv, headers, parquet};
use crate::found_columns::{FoundColumns, FoundEdgeColumns, grouped};
use crate::graph::{Direction, Graph};
use crate::hint::Setting;
use crate::ids::NodeIds;
use crate::note::Note;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};
use crate::types_file::TypesFile;

/// What errors name in place of a node file.
const NODES: &str = "nodes";
/// What errors name in place of an edge file.
const EDGES: &str = "edges";

/// A node table in memory.
#[derive(Debug, Clone, Default)]
pub struct NodeFrame {
    /// The rows of a data frame, in batches of one schema; none where there are only blocks.
    pub batches: Vec<RecordBatch>,
    /// Matrices beside the data frame, by name.
    pub blocks: Vec<(String, Block)>,
}

/// Edges in memory.
#[derive(Debug, Clone)]
pub enum EdgeFrame {
    /// A data frame with two columns of ids.
    Batches(Vec<RecordBatch>),
    /// Arcs between the row numbers of the nodes.
    Rows {
        /// The row at which each arc starts.
        sources: Vec<u32>,
        /// The row at which each arc ends.
        targets: Vec<u32>,
        /// The weight of each arc, where arcs have weights.
        weights: Option<Vec<f32>>,
    },
}

impl Dataset {
    /// A data set from memory, its ids, edge columns and types found as in files.
    ///
    /// Where edges are given by row numbers, or not at all, nodes have no ids unless
    /// [`ReadOptions::id`] names their column.
    pub fn from_frames(
        nodes: NodeFrame,
        edges: Option<EdgeFrame>,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Dataset> {
        let NodeFrame { batches, blocks } = nodes;
        let raw = match batches.first().map(RecordBatch::schema) {
            None => None,
            Some(schema) => {
                let rows = batches.iter().map(|batch| Ok(batch.columns().to_vec()));
                Some(arrow_table::raw_table(Path::new(NODES), &schema, rows, progress)?)
            }
        };
        let mut dataset = match (raw, edges) {
            (Some(raw), Some(EdgeFrame::Batches(edges))) => {
                let edges = vec![EdgeFile::Frame(edges)];
                resolved(vec![raw], edges, options, Vec::new(), progress)?
            }
            (raw, edges) => by_row(raw, blocks.first(), edges, options)?,
        };
        let columns = blocks.into_iter().map(|(name, block)| Column::block(name, block));
        let columns: Vec<Column> = dataset.table.columns().iter().cloned().chain(columns).collect();
        dataset.table = dataset.table.with_columns(columns)?;
        (dataset.name, dataset.format) = ("nodes".to_owned(), "tables in memory".to_owned());
        Ok(dataset)
    }
}

/// Nodes whose edges, if there are any, name their row numbers.
fn by_row(
    raw: Option<RawTable>,
    block: Option<&(String, Block)>,
    edges: Option<EdgeFrame>,
    options: &ReadOptions,
) -> Result<Dataset> {
    let mut notes = Vec::new();
    let table = match raw {
        Some(raw) => {
            let id = match options.id {
                Some(_) => resolve::resolve(&raw, None, options)?.0,
                None => IdSource::RowNumbers,
            };
            let (table, found) = assemble::assemble(raw, id, options)?;
            notes = found;
            table
        }
        None => {
            let Some((_, block)) = block else {
                return Err(DataError::request("there are no nodes", "give a table of nodes"));
            };
            let id = IdColumn { position: None, ..IdColumn::default() };
            NodeTable::new(id, NodeIds::numbered(block.rows()), Vec::new(), None)?
        }
    };
    let rows = table.rows();
    let graph = match edges {
        None => Graph::without_arcs(rows),
        Some(EdgeFrame::Rows { sources, targets, weights }) => {
            let weights = weights.as_deref();
            let direction = options.direction.unwrap_or(Direction::Undirected);
            Graph::from_edge_index(&sources, &targets, weights, rows, direction)?
        }
        Some(EdgeFrame::Batches(_)) => {
            let found = "edges that name ids need a table of nodes with an id column";
            return Err(DataError::request(found, "give edges as pairs of row numbers"));
        }
    };
    let graph = graph.with_duplicate_edges(options.duplicate_edges);
    let mut dataset = Dataset::new("", "", table, graph)?;
    dataset.notes = notes;
    Ok(dataset)
}

/// Reads nodes, then edges between them.
pub(crate) fn read(
    nodes: Vec<OpenedFile>,
    edges: Vec<OpenedFile>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Dataset> {
    let first = nodes.first().or(edges.first()).map(|file| file.path().to_path_buf());
    let first = first.unwrap_or_default();
    let (single, no_nodes) = (nodes.len() == 1, nodes.is_empty());
    let mut options = options.clone();
    let mut notes = Vec::new();
    let mut parts = Vec::new();
    let mut format = "Parquet tables";
    for file in nodes {
        parts.push(match check_table(&file)? {
            TableFormat::Parquet => parquet::read_nodes(file, &options, progress)?,
            TableFormat::Text => {
                format = "text tables";
                if single {
                    take_types_beside(file.path(), &mut options, &mut notes)?;
                }
                let text = open_text(file, &options.nodes, &mut notes)?;
                csv::read_nodes(text, &options, progress)?
            }
        });
    }
    let mut files = Vec::new();
    for file in edges {
        files.push(match check_table(&file)? {
            TableFormat::Parquet => EdgeFile::Parquet(parquet::ParquetEdges::open(file)?),
            TableFormat::Text => {
                if no_nodes {
                    format = "text tables";
                }
                let text = open_text(file, &options.edges, &mut notes)?;
                EdgeFile::Text(csv::TextEdges::open(text, &options)?)
            }
        });
    }
    let name = first.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let name = name.split('.').next().unwrap_or("");
    let mut dataset = resolved(parts, files, &options, notes, progress)?;
    (dataset.name, dataset.format) = (name.to_owned(), format.to_owned());
    Ok(dataset)
}

/// The graph of nodes and edges that were read uninterpreted, and notes on every guess.
fn resolved(
    parts: Vec<RawTable>,
    files: Vec<EdgeFile>,
    options: &ReadOptions,
    mut notes: Vec<Note>,
    progress: &dyn Progress,
) -> Result<Dataset> {
    let samples = files.iter().map(EdgeFile::sample).collect::<Result<Vec<_>>>()?;
    let (table, columns) = match join(parts, samples.first(), options, &mut notes)? {
        None => {
            let alone = samples.iter().map(|sample| resolve::ends_alone(sample, options));
            (None, alone.collect::<Result<Vec<_>>>()?)
        }
        Some(raw) => {
            let columns = resolve_columns(&raw, &samples, options)?;
            let (table, found) = assemble::assemble(raw, columns.0, options)?;
            notes.extend(found);
            (Some(table), columns.1)
        }
    };
    let (collected, direction) =
        read_edges(files, &columns, table.as_ref(), options, &mut notes, progress)?;
    let found = found_columns(table.as_ref(), columns.first(), &collected);
    let table = with_added(table, &collected, &mut notes)?;
    let graph = collected.list.into_graph(table.rows(), direction)?;
    let graph = graph.with_duplicate_edges(options.duplicate_edges);
    let mut dataset = Dataset::new("", "", table, graph)?;
    dataset.notes = notes;
    dataset.found = found;
    Ok(dataset)
}

/// An edge file of which a sample can be seen before it is read.
enum EdgeFile {
    Text(csv::TextEdges),
    Parquet(parquet::ParquetEdges),
    Frame(Vec<RecordBatch>),
}

impl EdgeFile {
    fn sample(&self) -> Result<EdgeSample> {
        match self {
            EdgeFile::Text(edges) => Ok(edges.sample()),
            EdgeFile::Parquet(edges) => edges.sample(),
            EdgeFile::Frame(batches) => {
                let first = batches.first();
                let schema = first.map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
                Ok(arrow_edges::sample(Path::new(EDGES), &schema, first))
            }
        }
    }
}

/// The text of a file; a guessed encoding is said.
fn open_text(file: OpenedFile, options: &TextOptions, notes: &mut Vec<Note>) -> Result<Text> {
    let text = file.into_text(options.encoding)?;
    let name = text.path.display();
    if text.guessed {
        let found = match text.encoding {
            Encoding::Latin1 => format!("{name} is not UTF-8: read as Latin-1 (Windows-1252)"),
            other => format!("{name} has no byte order mark: read as {}", other.as_str()),
        };
        notes.push(Note::new(found).with(Setting::Encoding));
    } else if text.encoding != Encoding::Utf8 {
        notes.push(Note::new(format!("{name} was read as {}", text.encoding.as_str())));
    }
    Ok(text)
}

/// A types file beside a text table declares its columns, unless the caller does. A typed file of the
/// same name needs none.
fn take_types_beside(nodes: &Path, options: &mut ReadOptions, notes: &mut Vec<Note>) -> Result<()> {
    let beside = TypesFile::path_beside(nodes);
    if !beside.is_file() {
        return Ok(());
    }
    let file = TypesFile::read(&beside)?;
    notes.push(Note::new(format!("column types were taken from {}", beside.display())));
    options.direction = options.direction.or(file.direction());
    options.types = file.types.overridden_by(&options.types);
    if options.blocks.is_empty() {
        options.blocks = file.blocks;
    }
    Ok(())
}

/// The rows of all node files, with their headers told apart from rows.
fn join(
    parts: Vec<RawTable>,
    sample: Option<&EdgeSample>,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
) -> Result<Option<RawTable>> {
    let mut whole: Option<RawTable> = None;
    for mut part in parts {
        if headers::nodes_have_header(&part, sample, options)? {
            part.take_header();
        } else {
            part.take_first_row();
            let found = format!(
                "{} has no line of column names: its columns are called column_1, column_2, …",
                part.path().display()
            );
            notes.push(Note::new(found).with(Setting::Header));
        }
        if part.rows() == 0 {
            return Err(DataError::malformed(
                Place::file(part.path()),
                "the file has a line of column names and no row",
                "a node table has one row per node",
            ));
        }
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.append(part)?,
        }
    }
    if let Some(raw) = &whole
        && raw.rows() >= u32::MAX as usize
    {
        let found = "a table of 2³² rows or more is not read";
        return Err(DataError::malformed(Place::file(raw.path()), found, ""));
    }
    Ok(whole)
}

/// The ids, and the columns of every edge file: each must agree on where the ids are.
fn resolve_columns(
    raw: &RawTable,
    samples: &[EdgeSample],
    options: &ReadOptions,
) -> Result<(IdSource, Vec<EdgeColumns>)> {
    let (ids, first) = resolve::resolve(raw, samples.first(), options)?;
    let mut columns: Vec<EdgeColumns> = first.into_iter().collect();
    for sample in samples.iter().skip(1) {
        let named = match ids {
            IdSource::Column(column) => Some(raw.columns[column].name.clone()),
            IdSource::RowNumbers => None,
        };
        let options = ReadOptions { id: named, ..options.clone() };
        columns.extend(resolve::resolve(raw, Some(sample), &options)?.1);
    }
    Ok((ids, columns))
}

fn read_edges(
    files: Vec<EdgeFile>,
    columns: &[EdgeColumns],
    table: Option<&NodeTable>,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
    progress: &dyn Progress,
) -> Result<(CollectedEdges, Direction)> {
    // The reader of the nodes has refused repeated ids.
    let index = table.and_then(|table| table.ids().index().ok());
    let known = table.map_or(0, NodeTable::rows);
    let mut collector = EdgeCollector::new(index, known, options.unknown_nodes);
    let mut direction = options.direction;
    for (file, columns) in files.into_iter().zip(columns) {
        let unused: Vec<String> = columns.unused().map(|name| format!("'{name}'")).collect();
        if !unused.is_empty() {
            let found = format!("columns of the edges that are not used: {}", unused.join(", "));
            notes.push(Note::new(found));
        }
        match file {
            EdgeFile::Text(edges) => {
                if !columns.has_header {
                    let found = "the edge file has no line of column names: its columns are called column_1, column_2, …";
                    notes.push(Note::new(found).with(Setting::Header));
                }
                edges.read_into(columns, &mut collector, progress)?;
            }
            EdgeFile::Parquet(edges) => {
                let said = edges.read_into(columns, options, &mut collector, progress)?;
                direction = direction.or(said);
            }
            EdgeFile::Frame(batches) => {
                let Some(first) = batches.first() else { continue };
                let (path, schema) = (Path::new(EDGES), first.schema());
                let used = arrow_edges::used_columns(columns);
                let batches = batches.iter().map(|batch| {
                    batch.project(&used).map_err(|error| DataError::damaged(path, error))
                });
                arrow_edges::collect(path, &schema, batches, columns, &mut collector, progress)?;
            }
        }
    }
    let collected = collector.finish();
    if collected.rounded_weights {
        let found =
            "weights of edges are kept in single precision: some have more digits than that";
        notes.push(Note::new(found));
    }
    if collected.skipped > 0 {
        let skipped = grouped(collected.skipped);
        notes.push(Note::new(format!("{skipped} edges to unknown nodes were left out")));
    }
    Ok((collected, direction.unwrap_or(Direction::Undirected)))
}

/// What is said of the columns.
fn found_columns(
    table: Option<&NodeTable>,
    columns: Option<&EdgeColumns>,
    collected: &CollectedEdges,
) -> Option<FoundColumns> {
    let table = table?;
    let edges = columns.map(|columns| FoundEdgeColumns {
        source: columns.names[columns.source].clone(),
        target: columns.names[columns.target].clone(),
        weight: columns.weight.map(|weight| columns.names[weight].clone()),
        ends: collected.ends,
        matched: collected.matched,
    });
    let id = table.id_column.position.map(|_| table.id_column.name.clone());
    Some(FoundColumns { id, edges })
}

/// The table with the nodes that only edges name.
fn with_added(
    table: Option<NodeTable>,
    collected: &CollectedEdges,
    notes: &mut Vec<Note>,
) -> Result<NodeTable> {
    let added = &collected.added;
    match table {
        None => NodeTable::new(IdColumn::default(), added.clone(), Vec::new(), None),
        Some(table) if added.is_empty() => Ok(table),
        Some(table) => {
            let count = grouped(added.len() as u64);
            notes.push(Note::new(format!("{count} nodes that only edges name were added")));
            let added: Vec<String> = (0..added.len()).map(|row| added.text(row)).collect();
            Ok(table.with_new_nodes(&added))
        }
    }
}
