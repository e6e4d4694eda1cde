//! Writing tables and graphs: the format follows from the name of the output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::Int32Array;

use crate::column::{Column, ColumnData};
use crate::dataset::Dataset;
use crate::error::{DataError, Result};
use crate::formats::csv::{Delimiter, Dialect};
use crate::formats::opened::{Content, OpenedFile, STANDARD_STREAM};
use crate::formats::output_file::OutputFile;
use crate::formats::{csv, npz, parquet};
use crate::graph::Direction;
use crate::hint::{Hint, Setting};
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::table::NodeTable;
use crate::types_file::{DeclaredBlock, TypesFile};

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// Text in the dialect of the input, separated by commas where the input is no text.
    Csv,
    /// Text separated by tabs.
    Tsv,
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
        let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        if plain.ends_with(".csv") || path == Path::new(STANDARD_STREAM) {
            Ok(OutputFormat::Csv)
        } else if plain.ends_with(".tsv") {
            Ok(OutputFormat::Tsv)
        } else if name.ends_with(".parquet") || name.ends_with(".pq") {
            Ok(OutputFormat::Parquet)
        } else if name.ends_with(".npz") {
            Ok(OutputFormat::Npz)
        } else {
            Err(DataError::request(
                format!("cannot tell the format of the output {}", path.display()),
                "end its name in .csv, .tsv (both also with .gz or .zst), .parquet or .npz, or give - for standard output",
            ))
        }
    }
}

/// The dialect of a text output: that of the input; `.tsv` is separated by tabs, and `.csv` is not.
fn dialect_of(table: &NodeTable, path: &Path, format: OutputFormat) -> Dialect {
    let input = table.dialect.unwrap_or_default();
    let delimiter = match (format, input.delimiter) {
        (OutputFormat::Tsv, _) => Delimiter::Byte(b'\t'),
        (_, kept) if path == Path::new(STANDARD_STREAM) => kept,
        (_, Delimiter::Byte(b'\t') | Delimiter::Whitespace) => Delimiter::Byte(b','),
        (_, kept) => kept,
    };
    Dialect { delimiter, ..input }
}

/// Writes a node table alone; `.npz` takes the graph along, and `-` is text to standard output.
pub fn write_nodes(dataset: &Dataset, path: &Path) -> Result<()> {
    match OutputFormat::of(path)? {
        OutputFormat::Parquet => parquet::write_nodes(&dataset.table, path)?.commit(),
        OutputFormat::Npz => npz::write(&dataset.table, &dataset.graph, path),
        text => {
            let dialect = dialect_of(&dataset.table, path, text);
            csv::write_nodes(&dataset.table, path, &dialect)?.commit()
        }
    }
}

/// Writes several completions of a node table to one file, below one another; the column `draw` counts them
/// from 1. Text and Parquet can hold them.
///
/// `draw` gives the table of each number. Its error is returned, and no file is written.
pub fn write_draws<E: From<DataError>>(
    count: u32,
    path: &Path,
    draw: &mut dyn FnMut(u32) -> std::result::Result<NodeTable, E>,
) -> std::result::Result<(), E> {
    let format = OutputFormat::of(path)?;
    if format == OutputFormat::Npz {
        return Err(E::from(DataError::request(
            format!("{} cannot hold several tables", path.display()),
            "end the name of the output in .csv, .tsv or .parquet",
        )));
    }
    let first = numbered(&draw(1)?, 1)?;
    let (mut number, mut failed) = (1, None);
    let mut next = || {
        number += 1;
        if number > count || failed.is_some() {
            return None;
        }
        let table = draw(number).and_then(|table| Ok(numbered(&table, number)?));
        table.map_err(|error| failed = Some(error)).ok()
    };
    let file = match format {
        OutputFormat::Parquet => OutputFile::File(parquet::write_tables(&first, path, &mut next)?),
        text => {
            let dialect = dialect_of(&first, path, text);
            csv::write_tables(&first, path, &dialect, &mut next)?
        }
    };
    match failed {
        None => Ok(file.commit()?),
        Some(error) => Err(error),
    }
}

/// The column that counts the draws.
pub const DRAW_COLUMN: &str = "draw";

/// The table with a first column that holds one number.
fn numbered(table: &NodeTable, number: u32) -> Result<NodeTable> {
    if table.column(DRAW_COLUMN).is_some() || table.id_column.name == DRAW_COLUMN {
        return Err(DataError::request(
            format!("the table has a column '{DRAW_COLUMN}', which the draws would be counted in"),
            "rename it",
        ));
    }
    let numbers = Int32Array::from(vec![number as i32; table.rows()]);
    let mut columns =
        vec![Column::new(DRAW_COLUMN, Kind::Unused(Unused::Declared), Arc::new(numbers))];
    columns.extend_from_slice(table.columns());
    let mut table = table.with_columns(columns)?;
    table.id_column.position = table.id_column.position.map(|position| position + 1);
    Ok(table)
}

/// Whether files beside the named output may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Only files that an earlier conversion to the same output wrote.
    OwnFiles,
    /// Any file.
    AnyFile,
}

/// Writes a graph and its table: one file as `.npz`, otherwise `X.csv` (nodes), `X.edges.csv`
/// and, for text, `X.types.toml` with the column types. Returns what was written.
///
/// Files beside the named one are replaced only where they are of an earlier conversion.
pub fn write(dataset: &Dataset, path: &Path) -> Result<Vec<PathBuf>> {
    write_replacing(dataset, path, Replace::OwnFiles)
}

/// [`write()`], where the caller says which files beside the named one may be replaced.
pub fn write_replacing(dataset: &Dataset, path: &Path, replace: Replace) -> Result<Vec<PathBuf>> {
    let mut written = vec![path.to_path_buf()];
    let edges = edges_path(path);
    let has_edges = dataset.graph.arcs() > 0;
    let format = OutputFormat::of(path)?;
    let is_text = matches!(format, OutputFormat::Csv | OutputFormat::Tsv);
    let types = types_of(&dataset.table, dataset.graph.direction());
    let types_path = TypesFile::path_beside(path);
    if format != OutputFormat::Npz {
        check_beside(path, &edges, has_edges, replace)?;
    }
    if is_text {
        check_beside(path, &types_path, !types.is_empty(), replace)?;
    }
    // Everything is written before anything takes its place: all files appear, or none.
    let mut files: Vec<OutputFile> = Vec::new();
    match format {
        OutputFormat::Npz => npz::write(&dataset.table, &dataset.graph, path)?,
        OutputFormat::Parquet => {
            files.push(OutputFile::File(parquet::write_nodes(&dataset.table, path)?));
            if has_edges {
                let ids = dataset.table.ids();
                let file = parquet::write_edges(&dataset.graph, ids, &edges)?;
                files.push(OutputFile::File(file));
                written.push(edges);
            }
        }
        OutputFormat::Csv | OutputFormat::Tsv => {
            let dialect = dialect_of(&dataset.table, path, format);
            files.push(csv::write_nodes(&dataset.table, path, &dialect)?);
            if has_edges {
                let ids = dataset.table.ids();
                files.push(csv::write_edges(&dataset.graph, ids, &edges, &dialect)?);
                written.push(edges);
            }
            if !types.is_empty() {
                let mut file = OutputFile::create(&types_path)?;
                file.write_all(types.to_toml().as_bytes())
                    .map_err(|error| DataError::write(&types_path, error))?;
                files.push(file);
                written.push(types_path);
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

/// Fails where a file beside the output is there already and is not known to be ours. One that would
/// not be written again would be taken for a part of the output.
fn check_beside(output: &Path, beside: &Path, is_written: bool, replace: Replace) -> Result<()> {
    if !beside.exists() {
        return Ok(());
    }
    if !is_written {
        return Err(DataError::request(
            format!(
                "{} is there already and would be taken as part of the output, which has none",
                beside.display()
            ),
            "remove it, or name another output",
        ));
    }
    if replace == Replace::AnyFile || is_own(output, beside) {
        return Ok(());
    }
    Err(DataError::request(
        format!(
            "{} is there already and was not written by an earlier conversion",
            beside.display()
        ),
        Hint::new("name another output, or allow files to be replaced").with(Setting::Overwrite),
    ))
}

/// Whether an earlier conversion to the same output wrote the file: a types file says so itself, an
/// edge file is one of ours where its table is there, too, and it begins as we begin it.
fn is_own(output: &Path, beside: &Path) -> bool {
    let Ok(file) = OpenedFile::open(beside) else { return false };
    if beside == TypesFile::path_beside(output) {
        return file.peek().starts_with(TypesFile::FIRST_LINE);
    }
    let names = match file.content() {
        Content::Parquet => parquet::column_names(&file).unwrap_or_default(),
        _ => csv::first_record(&file.peek()),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    output.exists() && matches!(names[..], ["source", "target"] | ["source", "target", "weight"])
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
