//! Writes node tables and edges.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::Int64Builder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::Compression;
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::{BLOCK, DIRECTED, KIND, levels};
use crate::atomic_file::AtomicFile;
use crate::block::BlockLayout;
use crate::column::{Column, ColumnData};
use crate::error::{DataError, Result};
use crate::formats::lists;
use crate::formats::raw_table::check_distinct;
use crate::graph::{Direction, Graph};
use crate::ids::NodeIds;
use crate::kind::{DeclaredKind, Kind};
use crate::spelling;
use crate::table::NodeTable;

/// Up to here every whole number is one of double precision: 2⁵³.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
/// Rows per row group.
const GROUP: usize = 1 << 20;

/// Writes a node table. Text columns of numbers or booleans become typed ones; columns of a typed
/// file keep their fields.
pub(crate) fn write_nodes(table: &NodeTable, path: &Path) -> Result<AtomicFile> {
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    for column in table.columns() {
        let block = match column.data() {
            ColumnData::Array(_) => {
                let cells = typed_array(column);
                let mut field = field_for(column.name(), column.field(), &cells);
                if let Some(kind) = DeclaredKind::of(column.kind()) {
                    field.metadata_mut().insert(KIND.to_owned(), kind.as_str().to_owned());
                }
                columns.push((field, cells));
                continue;
            }
            ColumnData::Block(block) => block,
        };
        if matches!(block.layout(), BlockLayout::List | BlockLayout::TypedList(_)) {
            let lists = lists::list_array(block);
            columns.push((field_for(column.name(), column.field(), &lists), lists));
            continue;
        }
        for at in 0..block.width() {
            let cells = lists::column_array(block, at);
            let source = match block.layout() {
                BlockLayout::TypedColumns(fields) => Some(&fields[at]),
                _ => None,
            };
            let mut field = field_for(&block.column_name(column.name(), at), source, &cells);
            field.metadata_mut().insert(BLOCK.to_owned(), column.name().to_owned());
            columns.push((field, cells));
        }
    }
    let id = &table.id_column;
    let ids = id_array(table);
    let field = field_for(&id.name, id.field.as_ref(), &ids);
    // Every node has an id, whatever a file says about its column.
    let nullable = id.field.as_ref().is_some_and(|field| field.is_nullable());
    columns.insert(id.position.min(columns.len()), (field.with_nullable(nullable), ids));
    let names: Vec<String> = columns.iter().map(|(field, _)| field.name().clone()).collect();
    check_distinct(path, &names)?;
    let (fields, arrays): (Vec<Field>, _) = columns.into_iter().unzip();
    write(path, Schema::new(fields).with_metadata(table.file_metadata.clone()), arrays)
}

/// The field of a column: that of the file it came from, as far as it suits the cells.
fn field_for(name: &str, source: Option<&FieldRef>, cells: &ArrayRef) -> Field {
    let Some(source) = source else {
        return Field::new(name, cells.data_type().clone(), true);
    };
    let nullable = source.is_nullable() || cells.logical_null_count() > 0;
    let mut field = Field::clone(source).with_name(name).with_nullable(nullable);
    // What an earlier run said about the column is said anew.
    field.metadata_mut().retain(|key, _| key != KIND && key != BLOCK);
    if field.data_type() == cells.data_type() {
        field
    } else {
        field.with_data_type(cells.data_type().clone())
    }
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
    write(path, Schema::new(fields).with_metadata(metadata), arrays)
}

fn id_array(table: &NodeTable) -> ArrayRef {
    let ids: ArrayRef = match table.ids() {
        NodeIds::Integers(ids) => Arc::new(Int64Array::from(ids.clone())),
        NodeIds::Strings(ids) => Arc::new(ids.clone()),
    };
    let Some(wanted) = &table.id_column.field else { return ids };
    // Ids of nodes that only edges name may not be of the type that the file had.
    let cast = arrow_cast::cast(&ids, wanted.data_type()).ok();
    cast.filter(|cast| cast.logical_null_count() == 0).unwrap_or(ids)
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
        Kind::Category | Kind::Block(_) | Kind::Unused(_) => cells.clone(),
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

fn write(path: &Path, schema: Schema, arrays: Vec<ArrayRef>) -> Result<AtomicFile> {
    let batch = RecordBatch::try_new(Arc::new(schema), arrays)
        .map_err(|error| DataError::write(path, std::io::Error::other(error)))?;
    let mut file = AtomicFile::create(path)?;
    write_batch(&batch, &mut file)
        .map_err(|error| DataError::write(path, std::io::Error::other(error)))?;
    Ok(file)
}

/// What `ArrowWriter` does, but for dictionaries, of which it keeps neither the unused levels nor
/// the order.
fn write_batch(batch: &RecordBatch, file: &mut AtomicFile) -> ParquetResult<()> {
    let schema = batch.schema();
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
    let parquet_schema = ArrowSchemaConverter::new().convert(&schema)?;
    let root = parquet_schema.root_schema_ptr();
    let mut writer = SerializedFileWriter::new(file, root, Arc::new(properties))?;
    let factory = ArrowRowGroupWriterFactory::new(&writer, schema.clone());
    for (group, start) in (0..batch.num_rows().max(1)).step_by(GROUP).enumerate() {
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
    }
    writer.close()?;
    Ok(())
}
