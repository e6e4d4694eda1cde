//! Values from Python's buffer protocol (NumPy arrays, memory views) as Arrow arrays: copied, or shared
//! where the caller promises that nobody writes to them.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, make_array};
use arrow_buffer::{Buffer, MutableBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;

use crate::errors::data_error;

/// A buffer whose items are booleans or numbers.
pub(crate) struct Numbers {
    buffer: PyUntypedBuffer,
    item: DataType,
}

impl Numbers {
    /// The buffer of an object.
    pub(crate) fn of(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(values)?;
        let format = buffer.format().to_str().unwrap_or("?");
        let item = item_type(format, buffer.item_size()).ok_or_else(|| {
            data_error(&format!(
                "values of the buffer format '{format}' are not read\n  give numbers or booleans of this machine's byte order, such as float64"
            ))
        })?;
        Ok(Numbers { buffer, item })
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.buffer.shape().first().copied().unwrap_or(0)
    }

    /// The number of columns of a matrix.
    pub(crate) fn width(&self) -> PyResult<usize> {
        match self.buffer.shape() {
            [_, width] => Ok(*width),
            shape => {
                Err(data_error(&format!("expected a matrix, found {} dimensions", shape.len())))
            }
        }
    }

    /// The values as an array. NaN stays NaN, which readers take as missing.
    pub(crate) fn array(self, missing: Option<Vec<bool>>, share: bool) -> PyResult<ArrayRef> {
        let [rows] = *self.buffer.shape() else {
            return Err(data_error(&format!(
                "expected one value per row, found {} dimensions",
                self.buffer.dimensions()
            )));
        };
        let nulls = match missing {
            Some(missing) if missing.len() != rows => {
                let found = missing.len();
                return Err(data_error(&format!("{found} marks of missing cells for {rows} rows")));
            }
            Some(missing) if missing.contains(&true) => {
                Some(NullBuffer::from_iter(missing.into_iter().map(|gone| !gone)))
            }
            _ => None,
        };
        if self.item == DataType::Boolean {
            let bytes = self.copied(&[rows]);
            let values = bytes.iter().map(|&byte| byte != 0).collect();
            return Ok(Arc::new(BooleanArray::new(values, nulls)));
        }
        let item = self.item.clone();
        let values = if share { self.shared(rows) } else { Err(self) };
        let values = values.unwrap_or_else(|own| own.copied(&[rows]));
        let data = ArrayData::builder(item).len(rows).add_buffer(values).nulls(nulls);
        let data = data.align_buffers(true).build();
        data.map(make_array).map_err(|error| data_error(&error.to_string()))
    }

    /// Whole numbers, in their order.
    pub(crate) fn integers(self) -> PyResult<Vec<i64>> {
        if !self.item.is_integer() {
            let found = &self.item;
            return Err(data_error(&format!("expected whole numbers, found {found}")));
        }
        let array = self.array(None, false)?;
        let numbers = arrow_cast::cast(&array, &DataType::Int64);
        let numbers = numbers.map_err(|error| data_error(&error.to_string()))?;
        Ok(numbers.to_data().buffer::<i64>(0).to_vec())
    }

    /// All numbers as double precision, row after row; of a matrix, too.
    pub(crate) fn doubles(self) -> PyResult<Vec<f64>> {
        let shape = self.buffer.shape().to_vec();
        let items = shape.iter().product();
        let item = self.item.clone();
        let bytes = self.copied(&shape);
        let array: ArrayRef = match item {
            DataType::Boolean => {
                Arc::new(bytes.iter().map(|&byte| Some(byte != 0)).collect::<BooleanArray>())
            }
            item => {
                let data = ArrayData::builder(item).len(items).add_buffer(bytes);
                let data = data.align_buffers(true).build();
                make_array(data.map_err(|error| data_error(&error.to_string()))?)
            }
        };
        let array = match array.data_type() {
            DataType::Boolean => arrow_cast::cast(&array, &DataType::UInt8),
            _ => Ok(array),
        };
        let numbers = array.and_then(|array| arrow_cast::cast(&array, &DataType::Float64));
        let numbers = numbers.map_err(|error| data_error(&error.to_string()))?;
        Ok(numbers.to_data().buffer::<f64>(0)[..items].to_vec())
    }

    /// The memory of the buffer itself, kept alive as long as the array; the buffer where its items do not
    /// stand side by side or not where their type may stand.
    fn shared(self, rows: usize) -> Result<Buffer, Self> {
        let size = self.buffer.item_size();
        let pointer = self.buffer.buf_ptr();
        let is_aligned = pointer.addr().is_multiple_of(size.max(1));
        let (Some(pointer), true, true) =
            (NonNull::new(pointer.cast::<u8>()), self.buffer.is_c_contiguous(), is_aligned)
        else {
            return Err(self);
        };
        // SAFETY: the memory is valid for `rows` items until the buffer is released, and the caller
        // promises that nobody writes to it.
        Ok(unsafe {
            Buffer::from_custom_allocation(pointer, rows * size, Arc::new(Kept(self.buffer)))
        })
    }

    /// The items, row after row.
    fn copied(&self, shape: &[usize]) -> Buffer {
        let size = self.buffer.item_size();
        let items: usize = shape.iter().product();
        if self.buffer.is_c_contiguous() {
            let start = self.buffer.buf_ptr().cast::<u8>().cast_const();
            if items == 0 {
                return MutableBuffer::new(0).into();
            }
            // SAFETY: a contiguous buffer has so many bytes from its start on.
            return Buffer::from(unsafe { std::slice::from_raw_parts(start, items * size) });
        }
        let mut bytes = MutableBuffer::new(items * size);
        let mut at = vec![0; shape.len()];
        for _ in 0..items {
            let item: *const c_void = self.buffer.get_ptr(&at);
            // SAFETY: the indices lie within the shape, and an item has so many bytes.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(item.cast::<u8>(), size) });
            for dimension in (0..shape.len()).rev() {
                at[dimension] += 1;
                if at[dimension] < shape[dimension] {
                    break;
                }
                at[dimension] = 0;
            }
        }
        bytes.into()
    }
}

/// Keeps a Python buffer for as long as an array uses its memory.
struct Kept(#[allow(dead_code, reason = "held for its memory")] PyUntypedBuffer);

// SAFETY: the buffer is only held; dropping it attaches to the interpreter by itself.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}
impl std::panic::RefUnwindSafe for Kept {}

/// Which rows a buffer of booleans marks.
pub(crate) fn booleans(values: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    Ok(Numbers::of(values)?.doubles()?.into_iter().map(|value| value != 0.0).collect())
}

/// The Arrow type of a buffer's items; none where it is not a number of this machine's byte order.
fn item_type(format: &str, size: usize) -> Option<DataType> {
    let code = match format.as_bytes() {
        [code] => *code,
        [b'@' | b'=' | b'|', code] => *code,
        [b'<', code] if cfg!(target_endian = "little") => *code,
        [b'>' | b'!', code] if cfg!(target_endian = "big") => *code,
        _ => return None,
    };
    Some(match (code, size) {
        (b'?', 1) => DataType::Boolean,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 1) => DataType::Int8,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 2) => DataType::Int16,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 4) => DataType::Int32,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 8) => DataType::Int64,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 1) => DataType::UInt8,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 2) => DataType::UInt16,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 4) => DataType::UInt32,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 8) => DataType::UInt64,
        (b'e', 2) => DataType::Float16,
        (b'f', 4) => DataType::Float32,
        (b'd', 8) => DataType::Float64,
        _ => return None,
    })
}
