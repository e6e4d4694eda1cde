//! Reads node tables and edges.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use super::{DIRECTED, size};
use crate::error::{DataError, Place, Result};
use crate::formats::arrow_edges;
use crate::formats::arrow_table::raw_table;
use crate::formats::edge_collector::EdgeCollector;
use crate::formats::edge_columns::EdgeColumns;
use crate::formats::opened::OpenedFile;
use crate::formats::options::ReadOptions;
use crate::formats::raw_table::RawTable;
use crate::formats::resolve::EdgeSample;
use crate::graph::Direction;
use crate::memory::{BYTES_PER_EDGE, BYTES_PER_ROW};
use crate::progress::Progress;

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
            let first = self.file.batches(None).next().transpose()?;
            Ok(arrow_edges::sample(path, &self.file.schema, first.as_ref()))
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
        let used = arrow_edges::used_columns(columns);
        let batches = file.batches(Some(&used));
        arrow_edges::collect(path, &file.schema, batches, columns, edges, progress)?;
        let directed = file.schema.metadata().get(DIRECTED).map(String::as_str);
        Ok((directed == Some("true")).then_some(Direction::Directed))
    })
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
