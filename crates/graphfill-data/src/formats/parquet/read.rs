//! Reads node tables and edges.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use super::{BLOCK, DIRECTED, KIND, size};
use crate::dictionary;
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::EdgeCollector;
use crate::formats::edge_columns::EdgeColumns;
use crate::formats::new_nodes::EdgeEnd;
use crate::formats::open::open_file;
use crate::formats::options::ReadOptions;
use crate::formats::raw_table::{RawCells, RawColumn, RawTable};
use crate::graph::Direction;
use crate::hint::{Hint, Setting};
use crate::memory::{BYTES_PER_EDGE, BYTES_PER_ROW};
use crate::progress::Progress;

/// Rows decoded at a time.
const BATCH: usize = 1 << 14;
/// Rows decoded at a time where texts cannot be decoded as views.
const SMALL_BATCH: usize = 1 << 6;

/// The names of the columns.
pub(crate) fn column_names(path: &Path) -> Result<Vec<String>> {
    guarded(path, || Ok(names(&OpenFile::new(path)?.schema)))
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Reads the rows of a node file.
pub(crate) fn read_nodes(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<RawTable> {
    guarded(path, || {
        let file = OpenFile::new(path)?;
        let limit = options.memory_limit;
        file.check_rows(BYTES_PER_ROW, limit)?;
        let (metadata, schema) = (file.metadata.metadata(), file.schema.clone());
        size::check_columns(path, &file.file, metadata, &schema, limit)?;
        let mut chunks: Vec<Vec<ArrayRef>> = vec![Vec::new(); schema.fields().len()];
        let (mut rows, mut bytes) = (0, 0);
        progress.begin("reading nodes", None);
        for batch in file.batches(None) {
            let batch = batch?;
            rows += batch.num_rows();
            let fields = schema.fields().iter().zip(&mut chunks);
            for ((field, chunks), cells) in fields.zip(batch.columns()) {
                bytes += size::size_of(cells);
                let place = Place::file(path).column(field.name());
                DataError::check_memory(place, "the table up to here", bytes, limit)?;
                let cells = arrow_cast::cast(cells, field.data_type());
                chunks.push(cells.map_err(|error| DataError::damaged(path, error))?);
            }
            progress.advance(batch.num_rows() as u64);
            progress.check()?;
        }
        progress.end();
        if rows == 0 {
            return Err(DataError::malformed(
                Place::file(path),
                "the file has no row",
                "a node table has one row per node",
            ));
        }
        let mut columns = Vec::new();
        for (field, chunks) in schema.fields().iter().zip(chunks) {
            let cells =
                dictionary::concat(&chunks).map_err(|error| DataError::damaged(path, error))?;
            columns.push(RawColumn {
                name: field.name().clone(),
                cells: RawCells::Array(cells),
                declared: field.metadata().get(KIND).and_then(|word| word.parse().ok()),
                block: field.metadata().get(BLOCK).cloned(),
                field: Some(field.clone()),
            });
        }
        let mut raw = RawTable::from_typed(path, rows, columns);
        raw.metadata = schema.metadata().clone().into();
        Ok(raw)
    })
}

/// Reads the edges of a file into `edges`; says which way they point where the file does.
pub(crate) fn read_edges(
    path: &Path,
    options: &ReadOptions,
    edges: &mut EdgeCollector<'_>,
    progress: &dyn Progress,
) -> Result<Option<Direction>> {
    guarded(path, || {
        let file = OpenFile::new(path)?;
        file.check_rows(BYTES_PER_EDGE, options.memory_limit)?;
        let schema = file.schema.clone();
        let names = names(&schema);
        let columns = EdgeColumns::named(path, &names, options)?;
        edges.begin_file(path, columns.weight.is_some())?;
        let (ends, weight) = ([columns.source, columns.target], columns.weight);
        let data_type = |column: usize| schema.field(column).data_type();
        let whole = ends.iter().all(|&end| data_type(end).is_integer());
        for column in ends.iter().chain(&weight) {
            if data_type(*column).is_nested() {
                return Err(wrong_type(
                    path,
                    &names[*column],
                    data_type(*column),
                    "ids or weights",
                ));
            }
        }
        // The columns of a batch stand in the order of the file.
        let mut read: Vec<usize> = ends.iter().chain(&weight).copied().collect();
        read.sort_unstable();
        read.dedup();
        let position = |column: usize| read.partition_point(|&other| other < column);
        progress.begin("reading edges", None);
        let mut row = 0u64;
        for batch in file.batches(Some(&read)) {
            let batch = batch?;
            let cells = |column: usize| batch.column(position(column));
            let weights = match weight {
                None => None,
                Some(column) => Some(numbers(path, &names[column], cells(column))?),
            };
            let ends = ends.map(|end| end_column(path, &names[end], cells(end), whole));
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
                let weight = weights
                    .as_ref()
                    .map(|weights| if weights.is_null(at) { f64::NAN } else { weights.value(at) });
                let ends =
                    [&source, &target].map(|end| match end.as_primitive_opt::<Int64Type>() {
                        Some(numbers) => EdgeEnd::Integer(numbers.value(at)),
                        None => EdgeEnd::Text(end.as_string::<i32>().value(at)),
                    });
                edges.push(path, row, ends.into(), weight)?;
            }
            progress.advance(batch.num_rows() as u64);
            progress.check()?;
        }
        progress.end();
        let directed = schema.metadata().get(DIRECTED).map(String::as_str);
        Ok((directed == Some("true")).then_some(Direction::Directed))
    })
}

fn end_column(path: &Path, name: &str, cells: &ArrayRef, whole: bool) -> Result<ArrayRef> {
    let wanted = if whole { DataType::Int64 } else { DataType::Utf8 };
    arrow_cast::cast(cells, &wanted)
        .map_err(|_| wrong_type(path, name, cells.data_type(), "ids, which are text or integers"))
}

fn numbers(path: &Path, name: &str, cells: &ArrayRef) -> Result<Float64Array> {
    let cast = arrow_cast::cast(cells, &DataType::Float64);
    cast.map(|numbers| numbers.as_primitive::<Float64Type>().clone())
        .map_err(|_| wrong_type(path, name, cells.data_type(), "weights, which are numbers"))
}

fn wrong_type(path: &Path, name: &str, found: &DataType, wanted: &str) -> DataError {
    let hint = Hint::new("name the columns of the source, the target and the weight")
        .with(Setting::EdgeColumns { source: "SOURCE".to_owned(), target: "TARGET".to_owned() })
        .with(Setting::Weight(None));
    let found = format!("its type is {found}, which cannot hold {wanted}");
    DataError::malformed(Place::file(path).column(name), found, hint)
}

/// A file whose metadata has been read.
struct OpenFile<'a> {
    path: &'a Path,
    file: Arc<File>,
    metadata: ArrowReaderMetadata,
    /// The columns as the file has them.
    schema: SchemaRef,
}

impl<'a> OpenFile<'a> {
    fn new(path: &'a Path) -> Result<Self> {
        let file = open_file(path)?;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .map_err(|error| DataError::damaged(path, error))?;
        let schema = metadata.schema().clone();
        Ok(OpenFile { path, file: Arc::new(file), metadata, schema })
    }

    fn check_rows(&self, bytes_per_row: u64, limit: u64) -> Result<()> {
        let rows = size::rows(self.metadata.metadata());
        let needed = rows.saturating_mul(bytes_per_row);
        DataError::check_memory(Place::file(self.path), &format!("{rows} rows"), needed, limit)
    }

    /// The rows, of these columns if they are given, with texts as views. Row groups are read one
    /// by one, since a batch of two would have the levels of neither.
    fn batches<'b>(
        &'b self,
        columns: Option<&'b [usize]>,
    ) -> impl Iterator<Item = Result<RecordBatch>> {
        let fields = self.schema.fields().iter();
        let fields = fields
            .map(|field| Field::clone(field).with_data_type(size::with_views(field.data_type())));
        let views = Schema::new(fields.collect::<Vec<_>>());
        let views = Arc::new(views.with_metadata(self.schema.metadata().clone()));
        let options = ArrowReaderOptions::new().with_schema(views);
        let viewed = ArrowReaderMetadata::try_new(self.metadata.metadata().clone(), options);
        let (metadata, batch) = match viewed {
            Ok(viewed) => (viewed, BATCH),
            Err(_) => (self.metadata.clone(), SMALL_BATCH),
        };
        let groups = metadata.metadata().num_row_groups();
        (0..groups).flat_map(move |group| {
            let reader = self.file.try_clone().map_err(ParquetError::from).and_then(|file| {
                let builder =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
                let mask = columns.map_or_else(ProjectionMask::all, |columns| {
                    ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied())
                });
                let builder = builder.with_row_groups(vec![group]).with_projection(mask);
                builder.with_batch_size(batch).build()
            });
            let (reader, failure) = match reader {
                Ok(reader) => (Some(reader), None),
                Err(error) => (None, Some(Err(DataError::damaged(self.path, error)))),
            };
            let batches = reader.into_iter().flatten();
            let batches =
                batches.map(|batch| batch.map_err(|error| DataError::damaged(self.path, error)));
            failure.into_iter().chain(batches)
        })
    }
}

/// A damaged file can drive the decoder into a failed assertion; to the reader of a file that is
/// one more way of being damaged.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(DataError::damaged(path, "its pages contradict one another")))
}
