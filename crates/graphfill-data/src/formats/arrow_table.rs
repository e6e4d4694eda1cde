//! Typed tables: record batches of Arrow as node tables, and back. Parquet files and data frames come
//! this way.
//!
//! Column kinds that were declared travel in the field metadata, so that a written table reads back as
//! the same. What other programs put there, and whether a column may be null, is kept.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::Int64Builder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, FieldRef, Schema, TimeUnit};

use crate::block::BlockLayout;
use crate::column::{CellStyle, Column, ColumnData};
use crate::completion::EXACT;
use crate::date_style::DAY;
use crate::dictionary;
use crate::error::{DataError, Place, Result};
use crate::formats::lists;
use crate::formats::raw_table::{RawCells, RawColumn, RawTable, check_distinct};
use crate::ids::NodeIds;
use crate::kind::{DeclaredKind, Kind};
use crate::progress::Progress;
use crate::spelling;
use crate::table::NodeTable;

/// The key of the field metadata that holds a column's kind.
const KIND: &str = "graphfill.kind";
/// The key of the field metadata that names the block to which a column belongs.
const BLOCK: &str = "graphfill.block";
/// Up to here every whole number is one of double precision: 2⁵³.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The columns of record batches of one schema; errors name `path`.
pub(crate) fn raw_table(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<Vec<ArrayRef>>>,
    progress: &dyn Progress,
) -> Result<RawTable> {
    let mut chunks: Vec<Vec<ArrayRef>> = vec![Vec::new(); schema.fields().len()];
    let mut rows = 0;
    progress.begin("reading nodes", None);
    for batch in batches {
        let batch = batch?;
        let own = batch.first().map_or(0, Array::len);
        rows += own;
        for (chunks, cells) in chunks.iter_mut().zip(batch) {
            chunks.push(cells);
        }
        progress.advance(own as u64);
        progress.check()?;
    }
    progress.end();
    if rows == 0 {
        return Err(DataError::malformed(
            Place::file(path),
            "the table has no row",
            "a node table has one row per node",
        ));
    }
    let mut columns = Vec::new();
    for (field, chunks) in schema.fields().iter().zip(chunks) {
        let cells = dictionary::concat(&chunks).map_err(|error| DataError::damaged(path, error))?;
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
}

/// What a text column of numbers, booleans or dates becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextCells {
    /// A typed column, as a typed file should have it.
    Typed,
    /// What it is.
    Kept,
}

/// The table as one record batch; errors name `path`. Columns of a typed file keep their fields.
pub(crate) fn record_batch(table: &NodeTable, path: &Path, text: TextCells) -> Result<RecordBatch> {
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    let is_typed = text == TextCells::Typed;
    for column in table.columns() {
        let block = match column.data() {
            ColumnData::Array(_) => {
                let cells = match text {
                    TextCells::Typed => typed_array(column),
                    TextCells::Kept => column.array(),
                };
                let mut field = field_for(column.name(), column.field(), &cells);
                if let Some(kind) = DeclaredKind::of(column.kind()).filter(|_| is_typed) {
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
            if is_typed {
                field.metadata_mut().insert(BLOCK.to_owned(), column.name().to_owned());
            }
            columns.push((field, cells));
        }
    }
    let id = &table.id_column;
    let ids = id_array(table);
    let field = field_for(&id.name, id.field.as_ref(), &ids);
    // Every node has an id, whatever a file says about its column.
    let nullable = id.field.as_ref().is_some_and(|field| field.is_nullable());
    if let Some(position) = id.position {
        columns.insert(position.min(columns.len()), (field.with_nullable(nullable), ids));
    }
    let names: Vec<String> = columns.iter().map(|(field, _)| field.name().clone()).collect();
    check_distinct(path, &names)?;
    let (fields, arrays): (Vec<Field>, _) = columns.into_iter().unzip();
    new_batch(path, Schema::new(fields).with_metadata(table.file_metadata.clone()), arrays)
}

/// The field of a column: that of the file it came from, as far as it suits the cells.
fn field_for(name: &str, source: Option<&FieldRef>, cells: &ArrayRef) -> Field {
    let Some(source) = source else {
        return Field::new(name, cells.data_type().clone(), true);
    };
    let nullable = source.is_nullable() || cells.logical_null_count() > 0;
    let mut field = Field::clone(source).with_name(name).with_nullable(nullable);
    // What an earlier run said about the column is said anew.
    field.metadata_mut().retain(|key, _| ![KIND, BLOCK, EXACT].contains(&key.as_str()));
    if field.data_type() == cells.data_type() {
        field
    } else {
        field.with_data_type(cells.data_type().clone())
    }
}

/// A record batch of these columns; errors name `path`.
pub(crate) fn new_batch(path: &Path, schema: Schema, arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::new(schema), arrays)
        .map_err(|error| DataError::write(path, std::io::Error::other(error)))
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
        Kind::Count if *column.style() == CellStyle::Plain => {
            whole_numbers(cells).unwrap_or_else(|| cells.clone())
        }
        Kind::Count => {
            let whole = |value: f64| value.abs() <= MAX_EXACT;
            match numbers().flatten().all(whole) {
                true => Arc::new(Int64Array::from_iter(numbers().map(|n| n.map(|n| n as i64)))),
                false => cells.clone(),
            }
        }
        Kind::Boolean => {
            Arc::new(BooleanArray::from_iter(numbers().map(|value| value.map(|v| v == 1.0))))
        }
        Kind::Date => {
            let days = column.numbers();
            let whole = days.iter().all(|days| days.is_nan() || days.fract() == 0.0);
            let type_ = match whole {
                true => DataType::Date32,
                false => DataType::Timestamp(TimeUnit::Millisecond, None),
            };
            let unit = if whole { 1.0 } else { DAY * 1e3 };
            let count = |value: f64| (!value.is_nan()).then(|| (value * unit).round() as i64);
            let counts: ArrayRef = Arc::new(Int64Array::from_iter(days.into_iter().map(count)));
            let counts = match whole {
                true => arrow_cast::cast(&counts, &DataType::Int32),
                false => Ok(counts),
            };
            // Days and milliseconds are what these types store.
            let dates = counts.and_then(|counts| arrow_cast::cast(&counts, &type_));
            dates.unwrap_or_else(|_| cells.clone())
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
