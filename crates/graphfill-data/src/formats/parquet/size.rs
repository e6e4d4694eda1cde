//! The memory that a Parquet file takes when it is decoded: bounds from its metadata before it is
//! read, and the size of what was read.
//!
//! A few kilobytes can stand for billions of values: runs of equal values, one long text that every
//! row refers to, lists of fixed length that are null. Text is therefore decoded as views, which
//! refer to one copy of it, and copied out only once its length is known.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::column::page::PageReader;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::error::{DataError, Place, Result};

/// The number of rows that the row groups claim.
pub(super) fn rows(metadata: &ParquetMetaData) -> u64 {
    let rows = metadata.row_groups().iter().map(|group| group.num_rows().max(0) as u64);
    rows.fold(0, u64::saturating_add)
}

/// Checks the columns against the memory limit before any of them is decoded.
pub(super) fn check_columns<R: ChunkReader + 'static>(
    path: &Path,
    file: &Arc<R>,
    metadata: &ParquetMetaData,
    schema: &Schema,
    limit: u64,
) -> Result<()> {
    let damaged = |error| DataError::damaged(path, error);
    let descriptor = metadata.file_metadata().schema_descr();
    let roots: Vec<usize> =
        (0..descriptor.num_columns()).map(|leaf| descriptor.get_column_root_idx(leaf)).collect();
    let rows = rows(metadata);
    let mut total = 0u64;
    for (position, field) in schema.fields().iter().enumerate() {
        let (mut stored, mut values) = (0u64, rows);
        for leaf in (0..roots.len()).filter(|&leaf| roots[leaf] == position) {
            let mut entries = 0u64;
            for group in metadata.row_groups() {
                let chunk = group.column(leaf);
                stored = stored.saturating_add(chunk.uncompressed_size().max(0) as u64);
                let mut found = chunk.num_values().max(0) as u64;
                // One row of a list may hold any number of values: ask the pages themselves.
                if chunk.column_descr().max_rep_level() > 0 {
                    let pages = SerializedPageReader::new(file.clone(), chunk, 0, None);
                    found = found.max(pages.and_then(count_values).map_err(damaged)?);
                }
                entries = entries.saturating_add(found);
            }
            values = values.max(entries);
        }
        let decoded = decoded_size(field.data_type(), rows, values);
        total = total.saturating_add(stored.max(decoded));
        let place = Place::file(path).column(field.name());
        let what = format!("its {rows} rows and the columns before");
        DataError::check_memory(place, &what, total, limit)?;
    }
    Ok(())
}

/// The values (nulls counted) that the headers of the pages claim.
fn count_values<R: ChunkReader>(mut pages: SerializedPageReader<R>) -> ParquetResult<u64> {
    let mut values = 0u64;
    while let Some(page) = pages.peek_next_page()? {
        values = values.saturating_add(page.num_levels.unwrap_or(0) as u64);
        pages.skip_next_page()?;
    }
    Ok(values)
}

/// The bytes of `count` cells of a type; lists among them hold at most `values` items. A null
/// list of fixed length takes as much as any other.
fn decoded_size(data_type: &DataType, count: u64, values: u64) -> u64 {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            decoded_size(item.data_type(), values, values).saturating_add(count.saturating_mul(4))
        }
        DataType::FixedSizeList(item, length) => {
            let items = count.saturating_mul((*length).max(0) as u64);
            decoded_size(item.data_type(), items, values.max(items))
        }
        DataType::Struct(fields) => {
            let sizes = fields.iter().map(|field| decoded_size(field.data_type(), count, values));
            sizes.fold(0, u64::saturating_add)
        }
        DataType::Dictionary(key, _) => decoded_size(key, count, values),
        DataType::FixedSizeBinary(length) => count.saturating_mul((*length).max(0) as u64),
        DataType::Boolean => count,
        other => count.saturating_mul(other.primitive_width().unwrap_or(16) as u64),
    }
}

/// The same type with texts as views.
pub(super) fn with_views(data_type: &DataType) -> DataType {
    let inner = |field: &FieldRef| -> FieldRef {
        let view = with_views(field.data_type());
        Arc::new(Field::clone(field).with_data_type(view))
    };
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(inner(item), *length),
        DataType::Map(entries, sorted) => DataType::Map(inner(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        other => other.clone(),
    }
}

/// The bytes that decoded cells take once their texts are copied out of the views. The values of
/// dictionaries don't count: batches share them, and the file holds each of them.
pub(super) fn size_of(cells: &ArrayRef) -> u64 {
    let lengths = |lengths: &mut dyn Iterator<Item = u32>| lengths.map(|l| u64::from(l) + 8).sum();
    match cells.data_type() {
        DataType::Utf8View => lengths(&mut cells.as_string_view().lengths()),
        DataType::BinaryView => lengths(&mut cells.as_binary_view().lengths()),
        DataType::List(_) => size_of(cells.as_list::<i32>().values()) + cells.len() as u64 * 4,
        DataType::LargeList(_) => size_of(cells.as_list::<i64>().values()) + cells.len() as u64 * 8,
        DataType::FixedSizeList(_, _) => size_of(cells.as_fixed_size_list().values()),
        DataType::Struct(_) => cells.as_struct().columns().iter().map(size_of).sum(),
        DataType::Map(_, _) => cells.as_map().entries().columns().iter().map(size_of).sum(),
        DataType::Dictionary(_, _) => cells.len() as u64 * 8,
        _ => cells.get_buffer_memory_size() as u64,
    }
}
