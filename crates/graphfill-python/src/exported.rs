//! Values for Python: memory with the buffer protocol, which NumPy reads without a copy.

use std::ffi::{CStr, CString, c_int};

use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer as ArrowBuffer;
use arrow_schema::DataType;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Numbers with the buffer protocol: `numpy.asarray(buffer)` copies nothing.
#[pyclass(frozen, module = "graphfill._native")]
pub(crate) struct Buffer {
    bytes: ArrowBuffer,
    format: &'static CStr,
    size: usize,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

impl Buffer {
    /// Items of a format of Python's `struct`, with the shape of an array.
    fn new(bytes: ArrowBuffer, format: &'static CStr, size: usize, shape: &[usize]) -> Self {
        let mut strides = vec![0; shape.len()];
        let mut step = size;
        for (stride, length) in strides.iter_mut().zip(shape).rev() {
            *stride = step as ffi::Py_ssize_t;
            step *= length;
        }
        let shape = shape.iter().map(|&length| length as ffi::Py_ssize_t).collect();
        Buffer { bytes, format, size, shape, strides }
    }

    /// Whole numbers.
    pub(crate) fn integers(values: Vec<i64>) -> Self {
        let shape = [values.len()];
        Buffer::new(ArrowBuffer::from_vec(values), c"q", 8, &shape)
    }

    /// A matrix in double precision.
    pub(crate) fn matrix(values: Vec<f64>, rows: usize, width: usize) -> Self {
        Buffer::new(ArrowBuffer::from_vec(values), c"d", 8, &[rows, width])
    }

    /// Booleans.
    pub(crate) fn booleans(values: impl Iterator<Item = bool>) -> Self {
        let bytes: Vec<u8> = values.map(u8::from).collect();
        let shape = [bytes.len()];
        Buffer::new(ArrowBuffer::from_vec(bytes), c"?", 1, &shape)
    }

    /// The values of a primitive array without nulls; none for other types.
    pub(crate) fn of_array(array: &ArrayRef) -> Option<Self> {
        let (format, size): (&CStr, usize) = match array.data_type() {
            DataType::Int8 => (c"b", 1),
            DataType::Int16 => (c"h", 2),
            DataType::Int32 => (c"i", 4),
            DataType::Int64 => (c"q", 8),
            DataType::UInt8 => (c"B", 1),
            DataType::UInt16 => (c"H", 2),
            DataType::UInt32 => (c"I", 4),
            DataType::UInt64 => (c"Q", 8),
            DataType::Float16 => (c"e", 2),
            DataType::Float32 => (c"f", 4),
            DataType::Float64 => (c"d", 8),
            _ => return None,
        };
        let data = array.to_data();
        let start = data.offset() * size;
        let bytes = data.buffers().first()?.slice_with_length(start, array.len() * size);
        Some(Buffer::new(bytes, format, size, &[array.len()]))
    }
}

#[pymethods]
impl Buffer {
    fn __len__(&self) -> usize {
        self.shape.first().map_or(0, |&length| length as usize)
    }

    /// Fills in the view that a reader asks for: read-only, row after row.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill in"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("estimates cannot be written to: copy them"));
        }
        let own = slf.get();
        let bytes = own.bytes.len();
        // SAFETY: Python gives a view to fill in; what it points to lives as long as `slf`, which the view
        // keeps alive. The shape and the strides are not written to by readers.
        unsafe {
            (*view).buf = own.bytes.as_ptr().cast_mut().cast();
            (*view).len = bytes as ffi::Py_ssize_t;
            (*view).readonly = 1;
            (*view).itemsize = own.size as ffi::Py_ssize_t;
            (*view).format = match flags & ffi::PyBUF_FORMAT == ffi::PyBUF_FORMAT {
                true => CString::from(own.format).into_raw(),
                false => std::ptr::null_mut(),
            };
            (*view).ndim = own.shape.len() as c_int;
            (*view).shape = own.shape.as_ptr().cast_mut();
            (*view).strides = own.strides.as_ptr().cast_mut();
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: the format was made by `__getbuffer__`.
        unsafe {
            if !(*view).format.is_null() {
                drop(CString::from_raw((*view).format));
            }
        }
    }
}
