//! From arguments to a data set.

use std::path::{Path, PathBuf};

use graphfill::data::formats::{self, Location, ReadOptions, WeightColumn};
use graphfill::data::registry::{self, Cache};
use graphfill::data::{Dataset, Direction, Progress, TypesFile};

use crate::arguments::{Reading, UsageError};
use crate::output::messages::Messages;

/// What the caller says about the files.
pub(crate) fn read_options(reading: &Reading) -> anyhow::Result<ReadOptions> {
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
        missing_values: reading.missing_values.clone(),
        delimiter: reading.delimiter,
        unknown_nodes: reading.unknown_nodes,
        ..ReadOptions::default()
    };
    if let Some(path) = &reading.types_file {
        let file = TypesFile::read(path)?;
        options.types = file.types;
        options.blocks = file.blocks;
        if file.directed == Some(true) {
            options.direction = Direction::Directed;
        }
    }
    for (column, kind) in &reading.type_ {
        options.types.declare(column, *kind);
    }
    if reading.directed {
        options.direction = Direction::Directed;
    }
    Ok(options)
}

/// Reads what the caller names, and passes on what the reader noticed.
pub(crate) fn read(
    location: &Location,
    reading: &Reading,
    messages: &Messages,
    progress: &dyn Progress,
) -> anyhow::Result<Dataset> {
    read_with(location, &read_options(reading)?, messages, progress)
}

/// Reads what needs no explanation.
pub(crate) fn read_with_defaults(
    location: &Location,
    messages: &Messages,
    progress: &dyn Progress,
) -> anyhow::Result<Dataset> {
    read_with(location, &ReadOptions::default(), messages, progress)
}

fn read_with(
    location: &Location,
    options: &ReadOptions,
    messages: &Messages,
    progress: &dyn Progress,
) -> anyhow::Result<Dataset> {
    tracing::info!(files = ?location.files(), "reading");
    let dataset = formats::read(location, options, progress)?;
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
    for note in &dataset.notes {
        messages.note(note);
    }
    Ok(dataset)
}

/// A prepared data set and the splits that belong to it.
pub(crate) struct Prepared {
    pub(crate) location: Location,
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
        return Ok(Prepared { location: Location::find(&own, None)?, splits });
    }
    if folder.is_dir() {
        return Ok(Prepared { location: Location::find(&folder, None)?, splits });
    }
    let remedy = match registry::find(name) {
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
