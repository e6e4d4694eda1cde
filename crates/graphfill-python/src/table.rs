//! Tables on their way between Python and Rust: columns of data frames, arrays and matrices.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use graphfill::data::formats::{EdgeFrame, NodeFrame};
use graphfill::data::{Block, BlockBuilder, BlockLayout, CellMask, EXACT};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use crate::buffers::{Numbers, booleans};
use crate::capsules;
use crate::errors::data_error;
use crate::exported::Buffer;

/// Columns in memory. A table is made from a data frame, or column by column.
#[pyclass(frozen, module = "graphfill._native")]
#[derive(Default)]
pub(crate) struct Table(Mutex<Columns>);

#[derive(Default, Clone)]
struct Columns {
    /// A data frame, where the table was made from one.
    frame: Option<(SchemaRef, Vec<RecordBatch>)>,
    single: Vec<(Field, ArrayRef)>,
    blocks: Vec<(String, Block)>,
}

impl Columns {
    fn rows(&self) -> usize {
        let frame = self.frame.as_ref();
        let frame = frame.map(|(_, batches)| batches.iter().map(RecordBatch::num_rows).sum());
        let single = || self.single.first().map(|(_, cells)| cells.len());
        let block = || self.blocks.first().map(|(_, block)| block.rows());
        frame.or_else(single).or_else(block).unwrap_or(0)
    }

    fn is_empty(&self) -> bool {
        self.frame.is_none() && self.single.is_empty() && self.blocks.is_empty()
    }

    /// The single columns as record batches.
    fn batches(&self) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
        if let Some(frame) = &self.frame {
            return Ok(frame.clone());
        }
        let (fields, cells): (Vec<_>, Vec<_>) = self.single.iter().cloned().unzip();
        let schema = Arc::new(Schema::new(fields));
        if cells.is_empty() {
            return Ok((schema, Vec::new()));
        }
        let batch = RecordBatch::try_new(Arc::clone(&schema), cells);
        let batch = batch.map_err(|error| data_error(&error.to_string()))?;
        Ok((schema, vec![batch]))
    }
}

impl Table {
    /// A table of record batches.
    pub(crate) fn of_batch(batch: RecordBatch) -> Self {
        let frame = Some((batch.schema(), vec![batch]));
        Table(Mutex::new(Columns { frame, ..Columns::default() }))
    }

    fn columns(&self) -> Columns {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn check_rows(columns: &Columns, name: &str, rows: usize) -> PyResult<()> {
        if columns.frame.is_some() {
            return Err(data_error("columns are not added to a table that was made from a frame"));
        }
        if columns.is_empty() || columns.rows() == rows {
            return Ok(());
        }
        let expected = columns.rows();
        let found = format!("column '{name}' has {rows} rows, the others have {expected}");
        Err(data_error(&found))
    }

    fn add(&self, field: Field, cells: ArrayRef) -> PyResult<()> {
        let mut columns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Table::check_rows(&columns, field.name(), cells.len())?;
        columns.single.push((field, cells));
        Ok(())
    }

    fn add_matrix(&self, name: &str, block: Block) -> PyResult<()> {
        let mut columns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Table::check_rows(&columns, name, block.rows())?;
        columns.blocks.push((name.to_owned(), block));
        Ok(())
    }

    /// The table as nodes.
    pub(crate) fn node_frame(&self) -> PyResult<NodeFrame> {
        let columns = self.columns();
        let (schema, mut batches) = columns.batches()?;
        // A frame of no rows still has columns.
        if batches.is_empty() && !schema.fields().is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        Ok(NodeFrame { batches, blocks: columns.blocks })
    }

    /// The table as edges.
    pub(crate) fn edge_frame(&self) -> PyResult<EdgeFrame> {
        let (schema, mut batches) = self.columns().batches()?;
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        Ok(EdgeFrame::Batches(batches))
    }

    /// A single column with its chunks joined.
    fn cells(&self, name: &str) -> PyResult<ArrayRef> {
        let (schema, batches) = self.columns().batches()?;
        let unknown = || data_error(&format!("the table has no column '{name}'"));
        let at = schema.fields().iter().position(|field| field.name() == name);
        let at = at.ok_or_else(unknown)?;
        let chunks: Vec<&dyn Array> =
            batches.iter().map(|batch| batch.column(at).as_ref()).collect();
        if chunks.is_empty() {
            return Ok(arrow_array::new_empty_array(schema.field(at).data_type()));
        }
        arrow_select::concat::concat(&chunks).map_err(|error| data_error(&error.to_string()))
    }
}

#[pymethods]
impl Table {
    #[new]
    fn new() -> Self {
        Table::default()
    }

    /// A table from anything with `__arrow_c_stream__`; no value is copied.
    #[staticmethod]
    fn from_stream(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let frame = Some(capsules::read_stream(frame)?);
        Ok(Table(Mutex::new(Columns { frame, ..Columns::default() })))
    }

    /// Adds a column from an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    fn add_stream(&self, name: &str, column: &Bound<'_, PyAny>) -> PyResult<()> {
        let (field, cells) = capsules::read_column(column)?;
        self.add(field.with_name(name), cells)
    }

    /// Adds a column of numbers or booleans from a buffer. `missing` marks cells without a value; NaN is
    /// missing, too. `share` uses the buffer's memory, to which nobody may write then. `exact` keeps all
    /// digits of estimates, which otherwise have about as many decimals as the column.
    #[pyo3(signature = (name, values, missing=None, share=false, exact=false))]
    fn add_numbers(
        &self,
        name: &str,
        values: &Bound<'_, PyAny>,
        missing: Option<&Bound<'_, PyAny>>,
        share: bool,
        exact: bool,
    ) -> PyResult<()> {
        let missing = missing.map(booleans).transpose()?;
        let cells = Numbers::of(values)?.array(missing, share)?;
        let mut field = Field::new(name, cells.data_type().clone(), true);
        if exact {
            field.metadata_mut().insert(EXACT.to_owned(), "yes".to_owned());
        }
        self.add(field, cells)
    }

    /// Adds a column of moments: a buffer of int64 since 1970, in "s", "ms", "us" or "ns"; the smallest
    /// int64 is missing (NumPy's NaT).
    #[pyo3(signature = (name, values, unit, timezone=None, missing=None, share=false))]
    fn add_datetimes(
        &self,
        name: &str,
        values: &Bound<'_, PyAny>,
        unit: &str,
        timezone: Option<&str>,
        missing: Option<&Bound<'_, PyAny>>,
        share: bool,
    ) -> PyResult<()> {
        let unit = match unit {
            "s" => TimeUnit::Second,
            "ms" => TimeUnit::Millisecond,
            "us" => TimeUnit::Microsecond,
            "ns" => TimeUnit::Nanosecond,
            other => return Err(data_error(&format!("'{other}' is no unit of time"))),
        };
        let missing = missing.map(booleans).transpose()?;
        let cells = Numbers::of(values)?.array(missing, share)?;
        let Some(moments) = cells.as_primitive_opt::<Int64Type>() else {
            return Err(data_error("moments are whole numbers of 64 bits"));
        };
        let is_there = |row: usize| moments.is_valid(row) && moments.value(row) != i64::MIN;
        let nulls = (0..moments.len()).map(is_there).collect();
        let data = ArrayData::builder(DataType::Timestamp(unit, timezone.map(Into::into)))
            .len(moments.len())
            .add_buffer(moments.values().inner().clone())
            .nulls(Some(nulls))
            .build()
            .map_err(|error| data_error(&error.to_string()))?;
        let cells = arrow_array::make_array(data);
        self.add(Field::new(name, cells.data_type().clone(), true), cells)
    }

    /// Adds a column of texts; None is missing.
    fn add_texts(&self, name: &str, values: Vec<Option<String>>) -> PyResult<()> {
        let cells: ArrayRef = Arc::new(StringArray::from_iter(values));
        self.add(Field::new(name, DataType::Utf8, true), cells)
    }

    /// Adds a column of categories: a buffer of positions in `levels`; -1 is missing.
    fn add_categories(
        &self,
        name: &str,
        codes: &Bound<'_, PyAny>,
        levels: Vec<String>,
    ) -> PyResult<()> {
        let codes = Numbers::of(codes)?.integers()?;
        let code = |code: i64| i32::try_from(code).ok().filter(|code| *code >= 0);
        let keys: Int32Array = codes.into_iter().map(code).collect();
        let levels: ArrayRef = Arc::new(StringArray::from_iter_values(levels));
        let cells = DictionaryArray::try_new(keys, levels);
        let cells: ArrayRef = Arc::new(cells.map_err(|error| data_error(&error.to_string()))?);
        self.add(Field::new(name, cells.data_type().clone(), true), cells)
    }

    /// Adds a block of columns from a matrix; NaN is missing. `missing` marks rows or single cells.
    #[pyo3(signature = (name, values, missing=None))]
    fn add_block(
        &self,
        name: &str,
        values: &Bound<'_, PyAny>,
        missing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let numbers = Numbers::of(values)?;
        let (rows, width) = (numbers.rows(), numbers.width()?);
        let mut values = numbers.doubles()?;
        if let Some(missing) = missing {
            let marks = booleans(missing)?;
            let single = marks.len() == rows * width && (rows != marks.len() || width == 1);
            if !single && marks.len() != rows {
                let found = marks.len();
                return Err(data_error(&format!(
                    "{found} marks of missing cells for a matrix of {rows} × {width}"
                )));
            }
            for (at, value) in values.iter_mut().enumerate() {
                if marks[if single { at } else { at / width }] {
                    *value = f64::NAN;
                }
            }
        }
        let block = dense_block(&values, rows, width)?;
        self.add_matrix(name, block)
    }

    /// Adds a block of columns from compressed sparse rows; a stored NaN is missing. `missing` marks rows.
    #[pyo3(signature = (name, indptr, indices, values, width, missing=None))]
    #[allow(clippy::too_many_arguments, reason = "the arrays of a sparse matrix")]
    fn add_sparse_block(
        &self,
        name: &str,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        width: usize,
        missing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let indptr = positions::<usize>(Numbers::of(indptr)?.integers()?)?;
        let indices = positions::<u32>(Numbers::of(indices)?.integers()?)?;
        let values = Numbers::of(values)?.doubles()?;
        let mut block = Block::from_csr(&indptr, &indices, &values, width)
            .map_err(|error| data_error(&error.to_string()))?;
        if let Some(missing) = missing {
            let marks = booleans(missing)?;
            if marks.len() != block.rows() {
                let (found, rows) = (marks.len(), block.rows());
                return Err(data_error(&format!("{found} marks of missing rows for {rows} rows")));
            }
            let rows = (0..marks.len()).filter(|&row| marks[row]);
            block = block.with_hidden(&CellMask::of_rows(marks.len(), width, rows));
        }
        self.add_matrix(name, block)
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.columns().rows()
    }

    /// The names of the columns; blocks stand last.
    #[getter]
    fn names(&self) -> PyResult<Vec<String>> {
        let columns = self.columns();
        let (schema, _) = columns.batches()?;
        let single = schema.fields().iter().map(|field| field.name().clone());
        Ok(single.chain(columns.blocks.into_iter().map(|(name, _)| name)).collect())
    }

    /// What each single column holds: "float", "int", "bool", "datetime[s]" with its unit and, behind a
    /// comma, its time zone, "text" or "other".
    #[getter]
    fn kinds(&self) -> PyResult<std::collections::BTreeMap<String, String>> {
        let (schema, _) = self.columns().batches()?;
        let kind = |data_type: &DataType| match data_type {
            DataType::Boolean => "bool".to_owned(),
            DataType::Date32 => "datetime[s]".to_owned(),
            DataType::Date64 => "datetime[ms]".to_owned(),
            DataType::Timestamp(unit, zone) => {
                let unit = match unit {
                    TimeUnit::Second => "s",
                    TimeUnit::Millisecond => "ms",
                    TimeUnit::Microsecond => "us",
                    TimeUnit::Nanosecond => "ns",
                };
                let zone = zone.as_ref().map_or_else(String::new, |zone| format!(", {zone}"));
                format!("datetime[{unit}{zone}]")
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_owned(),
            DataType::Dictionary(_, values) if values.is_string() => "text".to_owned(),
            whole if whole.is_integer() => "int".to_owned(),
            number if number.is_numeric() => "float".to_owned(),
            _ => "other".to_owned(),
        };
        let fields = schema.fields().iter();
        Ok(fields.map(|field| (field.name().clone(), kind(field.data_type()))).collect())
    }

    /// The values of a single column: a buffer, or a list with None for missing cells. Numbers with missing
    /// cells are doubles with NaN; moments are counted since 1970 in the unit of [`Table::kinds`], the
    /// smallest int64 where one is missing.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let cells = self.cells(name)?;
        values_of(py, &cells)
    }

    /// The single columns as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A reader that wants other types converts by itself, as the interface allows.
        drop(requested_schema);
        let (schema, batches) = self.columns().batches()?;
        capsules::write_stream(py, schema, batches)
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("Table({} rows: {})", self.rows(), self.names()?.join(", ")))
    }
}

/// Cells for Python, as [`Table::column`] gives them.
pub(crate) fn values_of<'py>(py: Python<'py>, cells: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let wrong = |error: arrow_schema::ArrowError| data_error(&error.to_string());
    let nulls = cells.logical_null_count();
    let data_type = cells.data_type();
    let buffer = match data_type {
        DataType::Boolean if nulls == 0 => {
            Some(Buffer::booleans(cells.as_boolean().values().iter()))
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) => {
            let moments = match data_type {
                DataType::Date32 => {
                    let seconds = DataType::Timestamp(TimeUnit::Second, None);
                    arrow_cast::cast(cells, &seconds).map_err(wrong)?
                }
                _ => cells.clone(),
            };
            let numbers = arrow_cast::cast(&moments, &DataType::Int64).map_err(wrong)?;
            let numbers = numbers.as_primitive::<Int64Type>();
            Some(Buffer::integers(numbers.iter().map(|at| at.unwrap_or(i64::MIN)).collect()))
        }
        _ if data_type.is_primitive() && data_type.is_numeric() && nulls == 0 => {
            Buffer::of_array(cells)
        }
        _ if data_type.is_numeric() => {
            let numbers = arrow_cast::cast(cells, &DataType::Float64).map_err(wrong)?;
            let numbers = numbers.as_primitive::<Float64Type>();
            let numbers: Vec<f64> = numbers.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect();
            let length = numbers.len();
            let array: ArrayRef = Arc::new(arrow_array::Float64Array::from(numbers));
            debug_assert_eq!(array.len(), length);
            Buffer::of_array(&array)
        }
        _ => None,
    };
    if let Some(buffer) = buffer {
        return Ok(Bound::new(py, buffer)?.into_any());
    }
    if *data_type == DataType::Boolean {
        return Ok(PyList::new(py, cells.as_boolean().iter())?.into_any());
    }
    let text = arrow_cast::cast(cells, &DataType::Utf8).map_err(wrong)?;
    Ok(PyList::new(py, text.as_string::<i32>().iter())?.into_any())
}

/// Dense rows as a block; NaN is missing.
fn dense_block(values: &[f64], rows: usize, width: usize) -> PyResult<Block> {
    if let Some(at) = values.iter().position(|value| value.is_infinite()) {
        let (row, column) = (at / width, at % width);
        return Err(data_error(&format!("row {row}, column {column} is infinite")));
    }
    let mut builder = BlockBuilder::new(width, BlockLayout::List);
    let mut cells = Vec::new();
    let row_of = |row: usize| values[row * width..(row + 1) * width].iter().enumerate();
    for row in 0..rows {
        cells.clear();
        let stored = row_of(row).filter(|(_, value)| !value.is_nan() && **value != 0.0);
        cells.extend(stored.map(|(column, &value)| (column as u32, value)));
        builder.push_row(&mut cells);
    }
    let is_whole = |row: usize| width > 0 && row_of(row).all(|(_, value)| value.is_nan());
    let missing = CellMask::build(rows, width, |row, cells| {
        if !is_whole(row) {
            let gone = row_of(row).filter(|(_, value)| value.is_nan());
            cells.extend(gone.map(|(column, _)| column as u32));
        }
    });
    Ok(builder.finish(missing.with_rows((0..rows).filter(|&row| is_whole(row)))))
}

/// Numbers that count or name rows; none is negative.
pub(crate) fn positions<T: TryFrom<i64>>(numbers: Vec<i64>) -> PyResult<Vec<T>> {
    let position = |number: i64| {
        T::try_from(number).map_err(|_| {
            data_error(&format!("{number} is no row or column\n  they are numbered from 0"))
        })
    };
    numbers.into_iter().map(position).collect()
}
