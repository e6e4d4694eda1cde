//! Writes node tables and edges.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::Compression;
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::{DIRECTED, levels};
use crate::atomic_file::AtomicFile;
use crate::error::{DataError, Result};
use crate::formats::arrow_table::{TextCells, new_batch, record_batch};
use crate::graph::{Direction, Graph};
use crate::ids::NodeIds;
use crate::table::NodeTable;

/// Rows per row group.
const GROUP: usize = 1 << 20;

/// Writes a node table.
pub(crate) fn write_nodes(table: &NodeTable, path: &Path) -> Result<AtomicFile> {
    write(path, &record_batch(table, path, TextCells::Typed)?, &mut || Ok(None))
}

/// Writes a node table and others with the same columns below it, a row group or more for each.
pub(crate) fn write_tables(
    first: &NodeTable,
    path: &Path,
    next: &mut dyn FnMut() -> Option<NodeTable>,
) -> Result<AtomicFile> {
    let mut next = || next().map(|table| record_batch(&table, path, TextCells::Typed)).transpose();
    write(path, &record_batch(first, path, TextCells::Typed)?, &mut next)
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
    let batch = new_batch(path, Schema::new(fields).with_metadata(metadata), arrays)?;
    write(path, &batch, &mut || Ok(None))
}

/// Gives the next batch of a file.
type NextBatch<'a> = dyn FnMut() -> Result<Option<RecordBatch>> + 'a;

fn write(path: &Path, first: &RecordBatch, next: &mut NextBatch<'_>) -> Result<AtomicFile> {
    let mut file = AtomicFile::create(path)?;
    let mut failed = None;
    let mut next = || match next() {
        Ok(batch) => batch,
        Err(error) => {
            failed = Some(error);
            None
        }
    };
    write_batches(first, &mut next, &mut file)
        .map_err(|error| DataError::write(path, std::io::Error::other(error)))?;
    match failed {
        None => Ok(file),
        Some(error) => Err(error),
    }
}

/// What `ArrowWriter` does, but for dictionaries, of which it keeps neither the unused levels nor
/// the order.
fn write_batches(
    first: &RecordBatch,
    next: &mut dyn FnMut() -> Option<RecordBatch>,
    file: &mut AtomicFile,
) -> ParquetResult<()> {
    let schema = first.schema();
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
    let parquet_schema = ArrowSchemaConverter::new().convert(&schema)?;
    let root = parquet_schema.root_schema_ptr();
    let mut writer = SerializedFileWriter::new(file, root, Arc::new(properties))?;
    let factory = ArrowRowGroupWriterFactory::new(&writer, schema.clone());
    let mut group = 0;
    let mut following = Some(first.clone());
    while let Some(batch) = following {
        for start in (0..batch.num_rows().max(1)).step_by(GROUP) {
            let rows = batch.slice(start, GROUP.min(batch.num_rows() - start));
            let mut columns = factory.create_column_writers(group)?.into_iter();
            let mut row_group = writer.next_row_group()?;
            let mut leaf = 0;
            for (field, cells) in schema.fields().iter().zip(rows.columns()) {
                for leaves in compute_leaves(field, cells)? {
                    let Some(mut column) = columns.next() else { break };
                    if levels::are_kept(cells.data_type()) {
                        levels::append(&mut row_group, parquet_schema.column(leaf), cells)?;
                    } else {
                        column.write(&leaves)?;
                        column.close()?.append_to_row_group(&mut row_group)?;
                    }
                    leaf += 1;
                }
            }
            row_group.close()?;
            group += 1;
        }
        following = next();
    }
    writer.close()?;
    Ok(())
}
