//! Parquet: node tables (list columns become blocks) and edges.
//!
//! Column kinds that were declared travel in the field metadata, so that a written file reads
//! back as the same table.

use std::collections::HashMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::Int64Builder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::atomic_file::AtomicFile;
use crate::block::BlockLayout;
use crate::column::{Column, ColumnData};
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::{EdgeCollector, Weight};
use crate::formats::edge_columns::EdgeColumns;
use crate::formats::lists;
use crate::formats::new_nodes::EdgeEnd;
use crate::formats::open::open_file;
use crate::formats::raw_table::{RawCells, RawColumn, RawTable, check_distinct};
use crate::formats::resolve::EdgeSample;
use crate::graph::{Direction, Graph};
use crate::hint::{Hint, Setting};
use crate::ids::NodeIds;
use crate::kind::{DeclaredKind, Kind};
use crate::progress::Progress;
use crate::spelling;
use crate::table::NodeTable;

/// The key of the field metadata that holds a column's kind.
const KIND: &str = "graphfill.kind";
/// The key of the field metadata that names the block to which a column belongs.
const BLOCK: &str = "graphfill.block";
/// The key of the schema metadata that says that arcs point one way.
const DIRECTED: &str = "graphfill.directed";
/// Up to here every whole number is one of double precision: 2⁵³.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
/// How many edges tell what the columns are.
const SAMPLE: usize = 2000;
/// Rows decoded at a time.
const BATCH: usize = 1 << 14;

/// The names of the columns.
pub(crate) fn column_names(path: &Path) -> Result<Vec<String>> {
    guarded(path, || {
        let (schema, _) = reader(path)?;
        Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
    })
}

/// Reads the rows of a node file.
pub(crate) fn read_nodes(path: &Path, progress: &dyn Progress) -> Result<RawTable> {
    guarded(path, || {
        let (schema, batches) = reader(path)?;
        let batches = batches.map(|batch| batch.map_err(|error| DataError::damaged(path, error)));
        raw_table(path, &schema, batches, progress)
    })
}

/// The columns of record batches of one schema; errors name `path`.
pub(crate) fn raw_table(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    progress: &dyn Progress,
) -> Result<RawTable> {
    let mut chunks: Vec<Vec<ArrayRef>> = vec![Vec::new(); schema.fields().len()];
    let mut rows = 0;
    progress.begin("reading nodes", None);
    for batch in batches {
        let batch = batch?;
        rows += batch.num_rows();
        for (chunk, column) in chunks.iter_mut().zip(batch.columns()) {
            chunk.push(column.clone());
        }
        progress.advance(batch.num_rows() as u64);
        progress.check()?;
    }
    progress.end();
    if rows == 0 {
        return Err(DataError::malformed(
            Place::file(path),
            "the file has no row",
            "a node table has one row a node",
        ));
    }
    let mut columns = Vec::new();
    for (field, chunks) in schema.fields().iter().zip(chunks) {
        let parts: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
        let cells = arrow_select::concat::concat(&parts)
            .map_err(|error| DataError::damaged(path, error))?;
        let declared = field.metadata().get(KIND).and_then(|word| word.parse().ok());
        columns.push(RawColumn {
            name: field.name().clone(),
            cells: RawCells::Array(cells),
            declared,
            block: field.metadata().get(BLOCK).cloned(),
        });
    }
    let mut raw = RawTable::from_typed(path, rows, columns);
    let metadata = schema.metadata().iter();
    raw.metadata = metadata.map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Ok(raw)
}

/// Reads the edges of a file into `edges`; says which way they point where the file does.
pub(crate) fn read_edges(
    path: &Path,
    columns: &EdgeColumns,
    edges: &mut EdgeCollector<'_>,
    progress: &dyn Progress,
) -> Result<Option<Direction>> {
    guarded(path, || {
        let (schema, batches) = reader(path)?;
        let names = &columns.names;
        edges.begin_file(path, columns.weight.is_some())?;
        progress.begin("reading edges", None);
        let mut row = 0u64;
        for batch in batches {
            let batch = batch.map_err(|error| DataError::damaged(path, error))?;
            let weights = match columns.weight {
                None => None,
                Some(column) => Some(numbers(path, &names[column], batch.column(column))?),
            };
            let ends = [columns.source, columns.target];
            let whole = ends.iter().all(|&end| batch.column(end).data_type().is_integer());
            let ends = ends.map(|end| end_column(path, &names[end], batch.column(end), whole));
            let [source, target] = ends;
            let (source, target) = (source?, target?);
            for at in 0..batch.num_rows() {
                row += 1;
                if source.is_null(at) || target.is_null(at) {
                    return Err(DataError::malformed(
                        Place::line(path, row),
                        "the edge lacks its source or its target",
                        "remove the row, or name both ends",
                    ));
                }
                let weight = weights.as_ref().map(|weights| Weight {
                    value: if weights.is_null(at) { f64::NAN } else { weights.value(at) },
                    may_round: true,
                });
                if whole {
                    let numbers = |end: &ArrayRef| end.as_primitive::<Int64Type>().value(at);
                    let ends = [&source, &target].map(|end| EdgeEnd::Integer(numbers(end)));
                    edges.push(path, row, ends.into(), weight)?;
                } else {
                    let (source, target) = (source.as_string::<i32>(), target.as_string::<i32>());
                    let ends = [source, target].map(|end| EdgeEnd::Text(end.value(at)));
                    edges.push(path, row, ends.into(), weight)?;
                }
            }
            progress.advance(batch.num_rows() as u64);
            progress.check()?;
        }
        progress.end();
        let directed = schema.metadata().get(DIRECTED).map(String::as_str);
        Ok((directed == Some("true")).then_some(Direction::Directed))
    })
}

/// The first edges as text, from which the columns are told.
pub(crate) fn sample_edges(path: &Path) -> Result<EdgeSample> {
    guarded(path, || {
        let (schema, mut batches) = reader(path)?;
        let first: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut rows = Vec::new();
        if let Some(batch) = batches.next() {
            let batch = batch.map_err(|error| DataError::damaged(path, error))?;
            let batch = batch.slice(0, batch.num_rows().min(SAMPLE));
            let text = |cells: &ArrayRef| Column::new("", Kind::Category, cells.clone()).text();
            let columns: Vec<StringArray> = batch.columns().iter().map(text).collect();
            let cell = |column: &StringArray, row| match column.is_null(row) {
                true => String::new(),
                false => column.value(row).to_owned(),
            };
            rows = (0..batch.num_rows())
                .map(|row| columns.iter().map(|column| cell(column, row)).collect())
                .collect();
        }
        Ok(EdgeSample { path: path.to_path_buf(), first, first_line: None, rows })
    })
}

fn end_column(path: &Path, name: &str, cells: &ArrayRef, whole: bool) -> Result<ArrayRef> {
    let wanted = if whole { DataType::Int64 } else { DataType::Utf8 };
    arrow_cast::cast(cells, &wanted).map_err(|_| {
        DataError::malformed(
            Place::file(path).column(name),
            format!("its type is {}, while ids are text or whole numbers", cells.data_type()),
            "name other columns as source and target",
        )
    })
}

fn numbers(path: &Path, name: &str, cells: &ArrayRef) -> Result<Float64Array> {
    let cast = arrow_cast::cast(cells, &DataType::Float64);
    cast.map(|numbers| numbers.as_primitive::<Float64Type>().clone()).map_err(|_| {
        DataError::malformed(
            Place::file(path).column(name),
            format!("its type is {}, while weights are numbers", cells.data_type()),
            Hint::new("name another column, or read no weights").with(Setting::Weight(None)),
        )
    })
}

fn reader(path: &Path) -> Result<(SchemaRef, ParquetRecordBatchReader)> {
    let file: File = open_file(path)?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| DataError::damaged(path, error))?;
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(BATCH).build();
    Ok((schema, reader.map_err(|error| DataError::damaged(path, error))?))
}

/// A damaged file can drive the decoder into a failed assertion; to the reader of a file that is
/// one more way of being damaged.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(DataError::damaged(path, "its pages contradict one another")))
}

/// Writes a node table. Text columns of numbers or booleans become typed ones.
pub(crate) fn write_nodes(table: &NodeTable, path: &Path) -> Result<AtomicFile> {
    write(path, &record_batch(table, path)?)
}

/// The table as one record batch; errors name `path`.
pub(crate) fn record_batch(table: &NodeTable, path: &Path) -> Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for column in table.columns() {
        match column.data() {
            ColumnData::Array(_) => {
                let cells = typed_array(column);
                let mut field = Field::new(column.name(), cells.data_type().clone(), true);
                if let Some(kind) = DeclaredKind::of(column.kind()) {
                    let entry = (KIND.to_owned(), kind.as_str().to_owned());
                    field = field.with_metadata(HashMap::from([entry]));
                }
                fields.push(field);
                arrays.push(cells);
            }
            ColumnData::Block(block) => match block.layout() {
                BlockLayout::Columns(names) | BlockLayout::TypedColumns(names, _) => {
                    let entry = (BLOCK.to_owned(), column.name().to_owned());
                    for (at, name) in names.iter().enumerate() {
                        let cells = lists::column_array(block, at);
                        let field = Field::new(name, cells.data_type().clone(), true);
                        fields.push(field.with_metadata(HashMap::from([entry.clone()])));
                        arrays.push(cells);
                    }
                }
                BlockLayout::List | BlockLayout::TypedList(_) => {
                    let lists = lists::list_array(block);
                    fields.push(Field::new(column.name(), lists.data_type().clone(), true));
                    arrays.push(lists);
                }
            },
        }
    }
    let ids = id_array(table);
    if let Some(position) = table.id_column.position {
        let at = position.min(fields.len());
        fields.insert(at, Field::new(&table.id_column.name, ids.data_type().clone(), false));
        arrays.insert(at, ids);
    }
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    check_distinct(path, &names)?;
    let schema = Schema::new(fields).with_metadata(table.file_metadata.clone());
    new_batch(path, schema, arrays)
}

/// Writes every arc as it was given, by the ids of its ends.
pub(crate) fn write_edges(graph: &Graph, ids: &NodeIds, path: &Path) -> Result<AtomicFile> {
    let end = |pick: fn(&(u32, u32, f32)) -> u32| -> ArrayRef {
        let rows = graph.iter().map(|arc| pick(&arc) as usize);
        match ids {
            NodeIds::Integers(ids) => {
                Arc::new(Int64Array::from_iter_values(rows.map(|row| ids[row])))
            }
            NodeIds::Strings(ids) => {
                Arc::new(StringArray::from_iter_values(rows.map(|row| ids.value(row))))
            }
        }
    };
    let mut arrays = vec![end(|arc| arc.0), end(|arc| arc.1)];
    let mut names = vec!["source", "target"];
    if graph.is_weighted() {
        arrays.push(Arc::new(Float32Array::from_iter_values(graph.iter().map(|arc| arc.2))));
        names.push("weight");
    }
    let fields: Vec<Field> = names
        .iter()
        .zip(&arrays)
        .map(|(name, cells)| Field::new(*name, cells.data_type().clone(), false))
        .collect();
    let directed = (graph.direction() == Direction::Directed).to_string();
    let metadata = HashMap::from([(DIRECTED.to_owned(), directed)]);
    write(path, &new_batch(path, Schema::new(fields).with_metadata(metadata), arrays)?)
}

fn id_array(table: &NodeTable) -> ArrayRef {
    let ids: ArrayRef = match table.ids() {
        NodeIds::Integers(ids) => Arc::new(Int64Array::from(ids.clone())),
        NodeIds::Strings(ids) => Arc::new(ids.clone()),
    };
    let Some(wanted) = &table.id_column.data_type else { return ids };
    // Ids of nodes that only edges name may not be of the type that the file had.
    let cast = arrow_cast::cast(&ids, wanted).ok().filter(|cast| cast.logical_null_count() == 0);
    cast.unwrap_or(ids)
}

/// The cells in the type that a typed file should have for them.
fn typed_array(column: &Column) -> ArrayRef {
    let ColumnData::Array(cells) = column.data() else {
        return Arc::new(StringArray::new_null(column.rows()));
    };
    if *cells.data_type() != DataType::Utf8 {
        return cells.clone();
    }
    let known = |value: f64| (!value.is_nan()).then_some(value);
    let numbers = || column.numbers().into_iter().map(known);
    match column.kind() {
        Kind::Number => Arc::new(Float64Array::from_iter(numbers())),
        // Counts that an integer doesn't hold stay the text that they are.
        Kind::Count => whole_numbers(cells).unwrap_or_else(|| cells.clone()),
        Kind::Boolean => {
            Arc::new(BooleanArray::from_iter(numbers().map(|value| value.map(|v| v == 1.0))))
        }
        Kind::Category | Kind::Date | Kind::Block(_) | Kind::Unused(_) => cells.clone(),
    }
}

/// The whole numbers that text cells spell ("3", "3.0", "1e3"), where all of them are exact.
fn whole_numbers(cells: &ArrayRef) -> Option<ArrayRef> {
    let whole = |text: &str| {
        let exact = text.trim().parse::<i64>().ok();
        exact.or_else(|| {
            let number = spelling::number(text)?;
            (number.fract() == 0.0 && number.abs() <= MAX_EXACT).then_some(number as i64)
        })
    };
    let mut counts = Int64Builder::with_capacity(cells.len());
    for cell in cells.as_string::<i32>() {
        match cell {
            None => counts.append_null(),
            Some(text) => counts.append_value(whole(text)?),
        }
    }
    Some(Arc::new(counts.finish()))
}

fn new_batch(path: &Path, schema: Schema, arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::new(schema), arrays)
        .map_err(|error| DataError::write(path, std::io::Error::other(error)))
}

fn write(path: &Path, batch: &RecordBatch) -> Result<AtomicFile> {
    let failed =
        |error: parquet::errors::ParquetError| DataError::write(path, std::io::Error::other(error));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = AtomicFile::create(path)?;
    let mut writer =
        ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).map_err(failed)?;
    writer.write(batch).map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(file)
}
