//! Writing: the format follows from the name of the output.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::atomic_file::AtomicFile;
use crate::column::ColumnData;
use crate::dataset::Dataset;
use crate::error::{DataError, Result};
use crate::formats::{csv, npz, parquet};
use crate::graph::Direction;
use crate::kind::DeclaredKind;
use crate::table::NodeTable;
use crate::types_file::{DeclaredBlock, TypesFile};

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Text with a separator.
    Text {
        /// The separator.
        delimiter: u8,
    },
    /// Parquet.
    Parquet,
    /// The own `.npz` layout.
    Npz,
}

impl OutputFormat {
    /// The format that the name of an output asks for.
    pub fn of(path: &Path) -> Result<OutputFormat> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let name = name.unwrap_or_default();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        if plain.ends_with(".csv") {
            Ok(OutputFormat::Text { delimiter: b',' })
        } else if plain.ends_with(".tsv") {
            Ok(OutputFormat::Text { delimiter: b'\t' })
        } else if name.ends_with(".parquet") || name.ends_with(".pq") {
            Ok(OutputFormat::Parquet)
        } else if name.ends_with(".npz") {
            Ok(OutputFormat::Npz)
        } else {
            Err(DataError::request(
                format!(
                    "cannot tell the format of the output {}\n  end its name in .csv, .csv.gz, .tsv, .parquet or .npz",
                    path.display()
                ),
                "",
            ))
        }
    }
}

/// Writes a node table alone; `.npz` takes the graph along.
pub fn write_nodes(dataset: &Dataset, path: &Path) -> Result<()> {
    match OutputFormat::of(path)? {
        OutputFormat::Text { delimiter } => {
            csv::write_nodes(&dataset.table, path, delimiter)?.commit()
        }
        OutputFormat::Parquet => parquet::write_nodes(&dataset.table, path)?.commit(),
        OutputFormat::Npz => npz::write(&dataset.table, &dataset.graph, path),
    }
}

/// Writes a graph and its table: one file as `.npz`, otherwise `X.csv` (nodes), `X.edges.csv`
/// and, for text, `X.types.toml` with the column types. Returns what was written.
pub fn write(dataset: &Dataset, path: &Path) -> Result<Vec<PathBuf>> {
    let mut written = vec![path.to_path_buf()];
    let edges = edges_path(path);
    let has_edges = dataset.graph.arcs() > 0;
    let format = OutputFormat::of(path)?;
    let types = types_of(&dataset.table, dataset.graph.direction());
    if format != OutputFormat::Npz && !has_edges {
        refuse_earlier(&edges)?;
    }
    if matches!(format, OutputFormat::Text { .. }) && types.is_empty() {
        refuse_earlier(&TypesFile::path_beside(path))?;
    }
    // Everything is written before anything takes its place: all files appear, or none.
    let mut files = Vec::new();
    match format {
        OutputFormat::Npz => npz::write(&dataset.table, &dataset.graph, path)?,
        OutputFormat::Parquet => {
            files.push(parquet::write_nodes(&dataset.table, path)?);
            if has_edges {
                let ids = dataset.table.ids();
                files.push(parquet::write_edges(&dataset.graph, ids, &edges)?);
                written.push(edges);
            }
        }
        OutputFormat::Text { delimiter } => {
            files.push(csv::write_nodes(&dataset.table, path, delimiter)?);
            if has_edges {
                let ids = dataset.table.ids();
                files.push(csv::write_edges(&dataset.graph, ids, &edges, delimiter)?);
                written.push(edges);
            }
            if !types.is_empty() {
                let beside = TypesFile::path_beside(path);
                let mut file = AtomicFile::create(&beside)?;
                file.write_all(types.to_toml().as_bytes())
                    .map_err(|error| DataError::write(&beside, error))?;
                files.push(file);
                written.push(beside);
            }
        }
    }
    for file in &mut files {
        file.sync()?;
    }
    for file in files {
        file.commit()?;
    }
    Ok(written)
}

/// Edges or types that are there already would be taken for this output's.
fn refuse_earlier(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    Err(DataError::request(
        format!(
            "{} is there already and would be taken as part of the output, which has none\n  remove it, or name another output",
            path.display()
        ),
        "",
    ))
}

/// Every file that [`write()`] may write for this output.
pub fn outputs(path: &Path) -> Vec<PathBuf> {
    vec![path.to_path_buf(), edges_path(path), TypesFile::path_beside(path)]
}

/// `X.csv` → `X.edges.csv`.
fn edges_path(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    path.with_file_name(format!("{stem}.edges.{ending}"))
}

/// What text alone would not say: the kinds of columns, blocks, the direction.
fn types_of(table: &NodeTable, direction: Direction) -> TypesFile {
    let mut types = TypesFile::default();
    for column in table.columns() {
        match column.data() {
            ColumnData::Array(_) => {
                if let Some(kind) = DeclaredKind::of(column.kind()) {
                    types.types.declare(column.name(), kind);
                }
            }
            ColumnData::Block(block) if block.width() == 0 => {}
            ColumnData::Block(block) => {
                let first = block.column_name(column.name(), 0);
                let last = block.column_name(column.name(), block.width() - 1);
                types.blocks.push(DeclaredBlock { name: column.name().to_owned(), first, last });
            }
        }
    }
    if direction == Direction::Directed {
        types.directed = Some(true);
    }
    types
}
