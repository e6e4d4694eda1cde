//! Small gnn-benchmark archives for tests.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

/// An array of an archive: its name, the header of its `.npy` file, and its bytes.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) name: &'static str,
    pub(crate) header: String,
    pub(crate) data: Vec<u8>,
}

impl Array {
    pub(crate) fn new(name: &'static str, dtype: &str, length: usize, data: Vec<u8>) -> Self {
        let header =
            format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({length},), }}");
        Array { name, header, data }
    }

    pub(crate) fn integers(name: &'static str, values: &[i64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Array::new(name, "<i8", values.len(), data)
    }

    pub(crate) fn floats(name: &'static str, values: &[f64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Array::new(name, "<f8", values.len(), data)
    }

    /// Strings of one character each.
    pub(crate) fn letters(name: &'static str, values: &str) -> Self {
        let data = values.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
        Array::new(name, "<U1", values.chars().count(), data)
    }
}

/// The bytes of a compressed `.npz` archive.
pub(crate) fn archive(arrays: &[Array]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for array in arrays {
        zip.start_file(format!("{}.npy", array.name), SimpleFileOptions::default())
            .expect("an entry");
        let length = u16::try_from(array.header.len() + 1).expect("a short header");
        let start = [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], array.header.as_bytes()];
        zip.write_all(&[&start.concat()[..], b"\n", &array.data].concat()).expect("an array");
    }
    zip.finish().expect("an archive").into_inner()
}

/// Three nodes in a ring, two features.
pub(crate) fn benchmark_arrays() -> Vec<Array> {
    vec![
        Array::integers("adj_shape", &[3, 3]),
        Array::integers("adj_indptr", &[0, 1, 2, 3]),
        Array::integers("adj_indices", &[1, 2, 0]),
        Array::floats("adj_data", &[1.0, 1.0, 1.0]),
        Array::integers("attr_shape", &[3, 2]),
        Array::integers("attr_indptr", &[0, 1, 1, 2]),
        Array::integers("attr_indices", &[0, 1]),
        Array::floats("attr_data", &[1.0, 1.0]),
        Array::integers("labels", &[0, 0, 1]),
        Array::letters("node_names", "abc"),
        Array::letters("class_names", "pq"),
    ]
}

/// The archive with `array` in place of the one with its name.
pub(crate) fn replaced(array: Array) -> Vec<u8> {
    let mut arrays = benchmark_arrays();
    arrays.retain(|other| other.name != array.name);
    arrays.push(array);
    archive(&arrays)
}
