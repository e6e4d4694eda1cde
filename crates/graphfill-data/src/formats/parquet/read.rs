//! Reads node tables and edges.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use super::{DIRECTED, size};
use crate::column::Column;
use crate::error::{DataError, Place, Result};
use crate::formats::arrow_table::raw_table;
use crate::formats::edge_collector::{EdgeCollector, Weight};
use crate::formats::edge_columns::EdgeColumns;
use crate::formats::new_nodes::EdgeEnd;
use crate::formats::opened::OpenedFile;
use crate::formats::options::ReadOptions;
use crate::formats::raw_table::RawTable;
use crate::formats::resolve::EdgeSample;
use crate::graph::Direction;
use crate::hint::{Hint, Setting};
use crate::kind::Kind;
use crate::memory::{BYTES_PER_EDGE, BYTES_PER_ROW};
use crate::progress::Progress;

/// How many edges tell what the columns are.
const SAMPLE: usize = 2000;
/// Rows decoded at a time.
const BATCH: usize = 1 << 14;
/// Rows decoded at a time where texts cannot be decoded as views.
const SMALL_BATCH: usize = 1 << 6;

/// The names of the columns; the file stays open.
pub(crate) fn column_names(file: &OpenedFile) -> Result<Vec<String>> {
    let path = file.path();
    guarded(path, || Ok(names(&OpenFile::new(path.to_path_buf(), file.duplicate()?)?.schema)))
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Reads the rows of a node file.
pub(crate) fn read_nodes(
    file: OpenedFile,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<RawTable> {
    let path = &file.path().to_path_buf();
    guarded(path, || {
        let file = OpenFile::new(path.clone(), file.into_file()?)?;
        let limit = options.memory_limit;
        file.check_rows(BYTES_PER_ROW, limit)?;
        let (metadata, schema) = (file.metadata.metadata(), file.schema.clone());
        size::check_columns(path, &file.file, metadata, &schema, limit)?;
        let mut bytes = 0;
        let batches = file.batches(None).map(|batch| {
            let batch = batch?;
            let fields = schema.fields().iter().zip(batch.columns());
            fields
                .map(|(field, cells)| {
                    bytes += size::size_of(cells);
                    let place = Place::file(path).column(field.name());
                    DataError::check_memory(place, "the table up to here", bytes, limit)?;
                    let cells = arrow_cast::cast(cells, field.data_type());
                    cells.map_err(|error| DataError::damaged(path, error))
                })
                .collect()
        });
        raw_table(path, &schema, batches, progress)
    })
}

/// A file of edges of which a sample can be seen before it is read.
pub(crate) struct ParquetEdges {
    file: OpenFile,
}

impl ParquetEdges {
    /// Reads the metadata of the file.
    pub(crate) fn open(file: OpenedFile) -> Result<Self> {
        let path = file.path().to_path_buf();
        let opened = guarded(&path.clone(), || OpenFile::new(path, file.into_file()?))?;
        Ok(ParquetEdges { file: opened })
    }

    /// The first edges as text, from which the columns are told.
    pub(crate) fn sample(&self) -> Result<EdgeSample> {
        let path = &self.file.path;
        guarded(path, || {
            let first = names(&self.file.schema);
            let mut rows = Vec::new();
            if let Some(batch) = self.file.batches(None).next() {
                let batch = batch?;
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
            Ok(EdgeSample { path: path.clone(), first, first_line: None, rows })
        })
    }

    /// Gives every edge to the collector; says which way they point where the file does.
    pub(crate) fn read_into(
        self,
        columns: &EdgeColumns,
        options: &ReadOptions,
        edges: &mut EdgeCollector<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Direction>> {
        read_edges(&self.file, columns, options, edges, progress)
    }
}

fn read_edges(
    file: &OpenFile,
    columns: &EdgeColumns,
    options: &ReadOptions,
    edges: &mut EdgeCollector<'_>,
    progress: &dyn Progress,
) -> Result<Option<Direction>> {
    let path = file.path.as_path();
    guarded(path, || {
        file.check_rows(BYTES_PER_EDGE, options.memory_limit)?;
        let schema = file.schema.clone();
        let names = &columns.names;
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
                let weight = weights.as_ref().map(|weights| Weight {
                    value: if weights.is_null(at) { f64::NAN } else { weights.value(at) },
                    may_round: true,
                });
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
struct OpenFile {
    path: PathBuf,
    file: Arc<File>,
    metadata: ArrowReaderMetadata,
    /// The columns as the file has them.
    schema: SchemaRef,
}

impl OpenFile {
    fn new(path: PathBuf, file: File) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .map_err(|error| DataError::damaged(&path, error))?;
        let schema = metadata.schema().clone();
        Ok(OpenFile { path, file: Arc::new(file), metadata, schema })
    }

    fn check_rows(&self, bytes_per_row: u64, limit: u64) -> Result<()> {
        let rows = size::rows(self.metadata.metadata());
        let needed = rows.saturating_mul(bytes_per_row);
        DataError::check_memory(Place::file(&self.path), &format!("{rows} rows"), needed, limit)
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
        let path = self.path.as_path();
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
                Err(error) => (None, Some(Err(DataError::damaged(path, error)))),
            };
            let batches = reader.into_iter().flatten();
            let batches =
                batches.map(move |batch| batch.map_err(|error| DataError::damaged(path, error)));
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
