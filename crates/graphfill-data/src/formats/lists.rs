//! List columns of typed files as blocks, and back.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, LargeListArray};
use arrow_schema::{DataType, Field};

use crate::block::{Block, BlockBuilder, BlockLayout, BlockValues};
use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::infer::InvalidCell;
use crate::kind::{Kind, Unused};

/// A block where all lists are numbers and of one length; a null list is a missing row, a null or
/// NaN item a missing cell.
pub(crate) fn block_column(name: &str, cells: &ArrayRef) -> Result<Column, InvalidCell> {
    let unsupported = || {
        let reason = Unused::UnsupportedType(cells.data_type().to_string());
        Ok(Column::new(name, Kind::Unused(reason), cells.clone()))
    };
    let Some(lists) = as_number_lists(cells) else { return unsupported() };
    let known = || (0..lists.len()).filter(|&row| lists.is_valid(row));
    let length = |row: usize| (lists.value_length(row)) as usize;
    let Some(width) = known().map(length).next() else {
        return Ok(Column::new(name, Kind::Unused(Unused::AllMissing), cells.clone()));
    };
    if width == 0 || known().any(|row| length(row) != width) {
        return Ok(Column::new(name, Kind::Unused(Unused::RaggedLists), cells.clone()));
    }
    let items = lists.values().as_primitive::<Float64Type>();
    let start = |row: usize| lists.value_offsets()[row] as usize;
    let mut builder = BlockBuilder::new(width, BlockLayout::TypedList(cells.data_type().clone()));
    let mut row_cells = Vec::new();
    for row in 0..lists.len() {
        row_cells.clear();
        if lists.is_valid(row) {
            for column in 0..width {
                let item = start(row) + column;
                let value = items.value(item);
                if items.is_null(item) || value.is_nan() || value == 0.0 {
                    continue;
                }
                if value.is_infinite() {
                    return Err(InvalidCell {
                        row,
                        found: format!("item {column} of the list is infinite"),
                        hint: "use null for an unknown value, or a finite number".into(),
                    });
                }
                row_cells.push((column as u32, value));
            }
        }
        builder.push_row(&mut row_cells);
    }
    let missing = CellMask::build(lists.len(), width, |row, cells| {
        if lists.is_valid(row) {
            let is_missing = |column: &u32| {
                let item = start(row) + *column as usize;
                items.is_null(item) || items.value(item).is_nan()
            };
            cells.extend((0..width as u32).filter(is_missing));
        }
    });
    let missing = missing.with_rows((0..lists.len()).filter(|&row| lists.is_null(row)));
    Ok(Column::block(name, builder.finish(missing)))
}

fn as_number_lists(cells: &ArrayRef) -> Option<LargeListArray> {
    let numbers = match cells.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            item.data_type().is_numeric() || *item.data_type() == DataType::Boolean
        }
        _ => false,
    };
    if !numbers {
        return None;
    }
    let item = Arc::new(Field::new("item", DataType::Float64, true));
    let lists = arrow_cast::cast(cells, &DataType::LargeList(item)).ok()?;
    Some(lists.as_list::<i64>().clone())
}

/// The block as a list column, of the type that it was read with.
pub(crate) fn list_array(block: &Block) -> ArrayRef {
    let mut lists = ListBuilder::new(Float64Builder::new());
    let mut values = Vec::new();
    for row in 0..block.rows() {
        if block.missing().is_whole(row) {
            lists.append_null();
            continue;
        }
        values.clear();
        values.resize(block.width(), Some(0.0));
        for (column, value) in block.cells(row) {
            values[column as usize] = Some(value);
        }
        for &column in block.missing().cells(row) {
            values[column as usize] = None;
        }
        lists.append_value(values.iter().copied());
    }
    let lists: ArrayRef = Arc::new(lists.finish());
    match block.layout() {
        // Float64 lists cast to every numeric list type that they came from.
        BlockLayout::TypedList(wanted) => arrow_cast::cast(&lists, wanted).unwrap_or(lists),
        _ => lists,
    }
}

/// One column of the block, in the type that a typed file should have for it.
pub(crate) fn column_array(block: &Block, column: usize) -> ArrayRef {
    let mut cells = PrimitiveBuilder::<Float64Type>::with_capacity(block.rows());
    for row in 0..block.rows() {
        if block.missing().contains(row, column) {
            cells.append_null();
        } else {
            let value = block.cells_between(row, column..column + 1).next();
            cells.append_value(value.map_or(0.0, |(_, value)| value));
        }
    }
    let cells: ArrayRef = Arc::new(cells.finish());
    let wanted = match (block.layout(), block.values()) {
        (BlockLayout::TypedColumns(fields), _) => fields[column].data_type().clone(),
        (_, BlockValues::Ones) => DataType::UInt8,
        (_, BlockValues::F32(_)) => DataType::Float32,
        (_, BlockValues::F64(_)) => DataType::Float64,
    };
    // Numbers cast to every numeric or boolean type that they came from.
    arrow_cast::cast(&cells, &wanted).unwrap_or(cells)
}
