//! From arguments to a data set.

use std::path::{Path, PathBuf};

use graphfill::data::formats::{ReadOptions, TextOptions, WeightColumn};
use graphfill::data::{
    Dataset, Direction, DuplicateEdges, Graph, MissingWords, Note, Progress, TypesFile,
    UndirectedGraph,
};
use graphfill::datasets::{self, Cache, Source};

use crate::arguments::{Reading, UsageError};
use crate::output::messages::Messages;
use crate::output::numbers::count;

/// What the caller says about the files. `memory_limit` is the most memory that reading may take.
pub(crate) fn read_options(
    reading: &Reading,
    memory_limit: Option<u64>,
) -> anyhow::Result<ReadOptions> {
    let usual = ReadOptions::default();
    let words = &reading.missing_values;
    let mut options = ReadOptions {
        id: reading.id.clone(),
        source: reading.source.clone(),
        target: reading.target.clone(),
        weight: match reading.weight.as_deref() {
            None => WeightColumn::IfNamedWeight,
            Some("none") => WeightColumn::Ignored,
            Some(name) => WeightColumn::Named(name.to_owned()),
        },
        label: reading.label.clone(),
        missing_words: match words.as_slice() {
            [] => MissingWords::Usual,
            words if words.iter().any(|word| word == "none") => {
                let others = words.iter().filter(|word| *word != "none");
                MissingWords::Only(others.cloned().collect())
            }
            words => MissingWords::With(words.to_vec()),
        },
        nodes: TextOptions {
            delimiter: reading.delimiter,
            header: reading.header,
            encoding: reading.encoding,
        },
        edges: TextOptions {
            delimiter: reading.edges_delimiter,
            header: reading.edges_header,
            encoding: reading.edges_encoding,
        },
        decimal: reading.decimal,
        date_order: reading.dates,
        duplicate_edges: reading.duplicate_edges,
        unknown_nodes: reading.unknown_nodes,
        memory_limit: memory_limit.unwrap_or(usual.memory_limit),
        ..usual
    };
    if let Some(path) = &reading.types_file {
        let file = TypesFile::read(path)?;
        options.direction = file.direction();
        options.types = file.types;
        options.blocks = file.blocks;
    }
    for (column, kind) in &reading.type_ {
        options.types.declare(column, *kind);
    }
    if reading.directed {
        options.direction = Some(Direction::Directed);
    }
    if reading.undirected {
        options.direction = Some(Direction::Undirected);
    }
    Ok(options)
}

/// Reads what the caller names, and prints what the reader found, guessed and noticed.
pub(crate) fn read(
    source: Source,
    options: &ReadOptions,
    messages: &Messages,
    progress: &dyn Progress,
) -> anyhow::Result<Dataset> {
    tracing::info!(files = ?source.files(), "reading");
    let dataset = source.read(options, progress)?;
    tracing::info!(
        format = dataset.format,
        nodes = dataset.table.rows(),
        arcs = dataset.graph.arcs(),
        columns = dataset.table.columns().len(),
        "read"
    );
    for column in dataset.table.columns() {
        tracing::debug!(
            column = column.name(),
            kind = column.kind().as_str(),
            missing = column.missing_count(),
            "column"
        );
    }
    if let Some(found) = &dataset.found {
        messages.say(&found.to_string());
    }
    say_notes(&dataset.notes, messages);
    Ok(dataset)
}

/// Prints notes with the flags that would change what was done.
pub(crate) fn say_notes(notes: &[Note], messages: &Messages) {
    notes.iter().for_each(|note| messages.tell(note));
}

/// Says that edges stand several times with different weights, and what was made of them.
pub(crate) fn note_conflicting_weights(
    graph: &UndirectedGraph,
    policy: DuplicateEdges,
    messages: &Messages,
) {
    let edges = graph.conflicting_weights();
    if edges > 0 {
        messages.note(&format!(
            "{} edges stand several times with different weights: their {} counts (--duplicate-edges max|sum|mean)",
            count(edges),
            policy.as_str()
        ));
    }
}

/// Says of a directed graph how its directions are used.
pub(crate) fn note_direction(graph: &Graph, view: &UndirectedGraph, messages: &Messages) {
    // Where there are no edges, a warning says so.
    if graph.direction() == Direction::Directed && !view.all_neighbours().is_empty() {
        let found = about_direction(view);
        messages.note(&match view.is_directed() {
            true => format!(
                "the graph is directed, {found}: propagation and svga-p tell out-neighbours from in-neighbours (--undirected: no method does)"
            ),
            false => format!("the graph is directed, but {found}: it is used as undirected"),
        });
    }
}

/// How asymmetric a directed graph is, in words.
pub(crate) fn about_direction(view: &UndirectedGraph) -> String {
    match (view.is_directed(), view.one_way_edges()) {
        _ if view.all_neighbours().is_empty() => "there are no arcs".to_owned(),
        (false, 0) => "every arc has a reverse of the same weight".to_owned(),
        // The weight of such an arc is 0.
        (false, _) => "arcs without a reverse have no weight".to_owned(),
        (true, 0) => "every arc has a reverse, some of another weight".to_owned(),
        (true, _) => format!("{:.1}% of arcs without a reverse", 100.0 * view.one_way_share()),
    }
}

/// A prepared data set and the splits that belong to it.
pub(crate) struct Prepared {
    pub(crate) source: Source,
    pub(crate) splits: Option<PathBuf>,
}

/// Finds `DATA_DIR/NAME`: `NAME.npz`, or the raw files that `datasets get` brings.
pub(crate) fn prepared(name: &str, data_dir: Option<&Path>) -> anyhow::Result<Prepared> {
    let root = Cache::new(data_dir)?.root().to_path_buf();
    let folder = root.join(name);
    let own = folder.join(format!("{name}.npz"));
    let splits = folder.join("splits.npz");
    let splits = splits.is_file().then_some(splits);
    if own.is_file() {
        return Ok(Prepared { source: Source::detect(&own, None)?, splits });
    }
    if folder.is_dir() {
        return Ok(Prepared { source: Source::detect(&folder, None)?, splits });
    }
    let remedy = match datasets::find(name) {
        Ok(info) => format!(
            "get it with: graphfill datasets get {}, or name the folder that has it with --data-dir",
            info.name
        ),
        Err(_) => {
            format!(
                "a prepared data set is a folder {name} with {name}.npz in it; name the folder around it with --data-dir"
            )
        }
    };
    Err(UsageError(format!("there is no data set '{name}' under {}\n  {remedy}", root.display()))
        .into())
}
