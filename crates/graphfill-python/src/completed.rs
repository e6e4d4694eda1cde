//! Completed tables: the estimates of each column, in the type of the column.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float64Array, UInt32Array};
use arrow_schema::{DataType, TimeUnit};
use graphfill::data::{Block, BlockLayout, Column, ColumnData, NodeTable};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{data_error, raise};
use crate::exported::Buffer;
use crate::table::Table;

/// A completed table beside the one before it was filled.
#[pyclass(frozen, module = "graphfill._native")]
pub(crate) struct Completed {
    before: NodeTable,
    after: NodeTable,
    added: Vec<Column>,
    /// Where columns of blocks are: the column of the table, and the column within.
    places: OnceLock<HashMap<String, (usize, usize)>>,
}

#[pymethods]
impl Completed {
    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.after.rows()
    }

    /// The columns with estimated cells.
    pub(crate) fn estimated_columns(&self) -> Vec<String> {
        let columns = self.before.columns().iter().zip(self.after.columns());
        let mut names = Vec::new();
        for (before, after) in columns {
            if before.missing_count() == after.missing_count() && before.rows() == after.rows() {
                continue;
            }
            match single_columns(after) {
                None => names.push(after.name().to_owned()),
                Some(block) => names.extend((0..block.width()).filter_map(|at| {
                    let is_estimated = !estimated_rows(before, after.rows(), at).is_empty();
                    is_estimated.then(|| block.column_name(after.name(), at))
                })),
            }
        }
        names
    }

    /// The estimates of a column.
    pub(crate) fn estimates(&self, py: Python<'_>, column: &str) -> PyResult<Estimates> {
        let (Some(before), Some(after)) = (self.before.column(column), self.after.column(column))
        else {
            return self.estimates_within_block(py, column);
        };
        match (before.data(), after.data()) {
            (ColumnData::Block(before), ColumnData::Block(after)) => {
                Estimates::of_block(py, before, after)
            }
            (ColumnData::Array(_), ColumnData::Array(cells)) => {
                let (was, is) = (before.missing(), after.missing());
                let rows = (0..cells.len() as u32).filter(|&row| {
                    let row = row as usize;
                    was.get(row).copied().unwrap_or(true) && !is[row]
                });
                Estimates::of_cells(py, cells, rows.collect())
            }
            _ => Err(data_error(&format!("column '{column}' changed its form"))),
        }
    }

    /// The whole table, with columns of intervals where there are any. `typed` turns text columns of
    /// numbers, booleans and dates into typed ones.
    #[pyo3(signature = (typed=false))]
    pub(crate) fn table(&self, typed: bool) -> PyResult<Table> {
        let columns = self.after.columns().iter().chain(&self.added).cloned().collect();
        let table = self.after.with_columns(columns).map_err(|error| raise(&error.into()))?;
        if !typed {
            return frame(&table);
        }
        let batch = table.to_record_batch().map_err(|error| raise(&error.into()))?;
        Ok(Table::of_batch(batch))
    }

    /// The columns of intervals alone.
    pub(crate) fn added_columns(&self) -> PyResult<Table> {
        if self.added.is_empty() {
            return Ok(Table::default());
        }
        let table = self.after.with_columns(self.added.clone());
        let mut table = table.map_err(|error| raise(&error.into()))?;
        table.id_column.position = None;
        frame(&table)
    }
}

impl Completed {
    /// A table after and before it was filled, with columns of intervals.
    pub(crate) fn new(before: NodeTable, after: NodeTable, added: Vec<Column>) -> Self {
        Completed { before, after, added, places: OnceLock::new() }
    }

    /// The estimates of a column that became part of a block.
    fn estimates_within_block(&self, py: Python<'_>, column: &str) -> PyResult<Estimates> {
        let places = self.places.get_or_init(|| {
            let mut places = HashMap::new();
            for (position, after) in self.after.columns().iter().enumerate() {
                let Some(block) = single_columns(after) else { continue };
                let names = (0..block.width()).map(|at| block.column_name(after.name(), at));
                places.extend(names.enumerate().map(|(at, name)| (name, (position, at))));
            }
            places
        });
        let Some(&(position, at)) = places.get(column) else {
            return Err(data_error(&format!("there is no column '{column}'")));
        };
        let (before, after) = (&self.before.columns()[position], &self.after.columns()[position]);
        let Some(block) = single_columns(after) else {
            return Err(data_error(&format!("column '{column}' changed its form")));
        };
        let cell = |row: usize| block.cells_between(row, at..at + 1).next();
        let cells = (0..block.rows()).map(|row| cell(row).map_or(0.0, |(_, value)| value));
        let mut cells: ArrayRef = Arc::new(Float64Array::from_iter_values(cells));
        if let BlockLayout::TypedColumns(fields) = block.layout() {
            let cast = arrow_cast::cast(&cells, fields[at].data_type());
            cells = cast.map_err(|error| data_error(&error.to_string()))?;
        }
        Estimates::of_cells(py, &cells, estimated_rows(before, after.rows(), at))
    }
}

/// The block of a column, where each of its columns is one of the table.
fn single_columns(column: &Column) -> Option<&Block> {
    match column.data() {
        ColumnData::Block(block) => {
            let layout = block.layout();
            matches!(layout, BlockLayout::Columns(_) | BlockLayout::TypedColumns(_))
                .then_some(block)
        }
        ColumnData::Array(_) => None,
    }
}

/// The rows in which a column of a block was missing; `rows` counts those that were added.
fn estimated_rows(before: &Column, rows: usize, at: usize) -> Vec<u32> {
    let ColumnData::Block(block) = before.data() else { return Vec::new() };
    let is_missing =
        |&row: &u32| row as usize >= block.rows() || block.missing().contains(row as usize, at);
    (0..rows as u32).filter(is_missing).collect()
}

fn frame(table: &NodeTable) -> PyResult<Table> {
    let batch = table.to_frame().map_err(|error| raise(&error.into()))?;
    Ok(Table::of_batch(batch))
}

/// The estimated cells of a column.
#[pyclass(frozen, get_all, module = "graphfill._native")]
pub(crate) struct Estimates {
    /// Their rows, as a buffer of int64.
    rows: Py<Buffer>,
    /// One value per row: a buffer in the type of the column, a list of texts, or the rows of a block.
    values: Py<PyAny>,
}

impl Estimates {
    fn of_cells(py: Python<'_>, cells: &ArrayRef, rows: Vec<u32>) -> PyResult<Self> {
        let wrong = |error: arrow_schema::ArrowError| data_error(&error.to_string());
        let numbers = rows.iter().map(|&row| i64::from(row)).collect();
        let taken =
            arrow_select::take::take(cells, &UInt32Array::from(rows), None).map_err(wrong)?;
        let whole = match taken.data_type() {
            DataType::Date32 => arrow_cast::cast(&taken, &DataType::Int32)
                .and_then(|days| arrow_cast::cast(&days, &DataType::Int64)),
            DataType::Date64 | DataType::Timestamp(_, _) => {
                arrow_cast::cast(&taken, &DataType::Int64)
            }
            DataType::Time32(TimeUnit::Second | TimeUnit::Millisecond) => {
                arrow_cast::cast(&taken, &DataType::Int32)
            }
            _ => Ok(taken.clone()),
        };
        let whole = whole.map_err(wrong)?;
        let values = match whole.data_type() {
            DataType::Boolean => {
                let values = Buffer::booleans(whole.as_boolean().values().iter());
                Bound::new(py, values)?.into_any()
            }
            _ => match Buffer::of_array(&whole) {
                Some(values) => Bound::new(py, values)?.into_any(),
                None => {
                    let text = arrow_cast::cast(&whole, &DataType::Utf8).map_err(wrong)?;
                    PyList::new(py, text.as_string::<i32>().iter())?.into_any()
                }
            },
        };
        Ok(Estimates { rows: Py::new(py, Buffer::integers(numbers))?, values: values.unbind() })
    }

    fn of_block(py: Python<'_>, before: &Block, after: &Block) -> PyResult<Self> {
        let width = after.width();
        let missing = before.missing();
        let is_estimated = |row: usize| {
            row >= before.rows() || missing.is_whole(row) || !missing.cells(row).is_empty()
        };
        let rows: Vec<usize> = (0..after.rows()).filter(|&row| is_estimated(row)).collect();
        let mut values = vec![0.0; rows.len() * width];
        for (at, &row) in rows.iter().enumerate() {
            for (column, value) in after.cells(row) {
                values[at * width + column as usize] = value;
            }
        }
        let count = rows.len();
        let rows = Buffer::integers(rows.into_iter().map(|row| row as i64).collect());
        let values = Py::new(py, Buffer::matrix(values, count, width))?.into_any();
        Ok(Estimates { rows: Py::new(py, rows)?, values })
    }
}
