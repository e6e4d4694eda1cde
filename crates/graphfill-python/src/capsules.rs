//! Arrow's PyCapsule interface: record batches from any object with `__arrow_c_stream__`, and back.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, make_array,
};
use arrow_data::ArrayData;
use arrow_schema::{Field, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::data_error;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// The schema and the rows of an object with `__arrow_c_stream__`. No value is copied.
pub(crate) fn read_stream(frame: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    if !frame.hasattr("__arrow_c_stream__")? {
        let kind = frame.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!("{kind} has no __arrow_c_stream__")));
    }
    let capsule = frame.call_method0("__arrow_c_stream__")?;
    let reader = RecordBatchStreamReader::try_new(taken_stream(&capsule)?).map_err(|error| {
        data_error(&format!("the table cannot be read as an Arrow stream: {error}"))
    })?;
    let schema = reader.schema();
    let batches = frame.py().detach(|| reader.collect::<Result<Vec<_>, _>>());
    let batches =
        batches.map_err(|error| data_error(&format!("the Arrow stream ended: {error}")))?;
    Ok((schema, batches))
}

/// The stream of a capsule, which is empty afterwards.
fn taken_stream(capsule: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream; `from_raw` leaves a released one in its place.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) })
}

/// The field and the values of one column: an object with `__arrow_c_stream__` or `__arrow_c_array__`.
pub(crate) fn read_column(column: &Bound<'_, PyAny>) -> PyResult<(Field, ArrayRef)> {
    if column.hasattr("__arrow_c_stream__")? {
        return read_chunks(column);
    }
    let pair = column.call_method0("__arrow_c_array__")?;
    let pair = pair.cast::<PyTuple>()?;
    let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?;
    // SAFETY: capsules of these names hold a schema and an array, which are moved out.
    let (schema, array) = unsafe {
        (
            FFI_ArrowSchema::from_raw(schema.cast().as_ptr()),
            FFI_ArrowArray::from_raw(array.cast().as_ptr()),
        )
    };
    let wrong = |error| data_error(&format!("the column is no Arrow array: {error}"));
    let field = Field::try_from(&schema).map_err(wrong)?;
    // SAFETY: the two capsules come from one call, so the schema describes the array.
    let data = unsafe { from_ffi(array, &schema) }.map_err(wrong)?;
    Ok((field, make_array(aligned(data))))
}

/// The chunks of a stream whose items are columns rather than record batches.
fn read_chunks(column: &Bound<'_, PyAny>) -> PyResult<(Field, ArrayRef)> {
    let wrong =
        |error| data_error(&format!("the column cannot be read as an Arrow stream: {error}"));
    let capsule = column.call_method0("__arrow_c_stream__")?;
    let reader = ArrayStreamReader::try_new(taken_stream(&capsule)?).map_err(wrong)?;
    let field = Field::clone(reader.field());
    let chunks = reader.collect::<Result<Vec<ArrayRef>, _>>().map_err(wrong)?;
    let cells = match &chunks[..] {
        [] => arrow_array::new_empty_array(field.data_type()),
        [one] => one.clone(),
        chunks => {
            let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
            arrow_select::concat::concat(&chunks).map_err(wrong)?
        }
    };
    Ok((field, cells))
}

/// Buffers from elsewhere need not be aligned as their type.
fn aligned(mut data: ArrayData) -> ArrayData {
    data.align_buffers();
    data
}

/// A capsule from which any Arrow library reads these batches.
pub(crate) fn write_stream<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, STREAM)
}
