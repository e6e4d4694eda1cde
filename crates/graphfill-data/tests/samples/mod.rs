//! Small good files of every format, for tests that break them.
#![allow(dead_code, reason = "each test uses some of them")]

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

/// An array of an archive: name, dtype, shape as numpy spells it, bytes.
#[derive(Clone)]
pub(crate) struct Array {
    pub(crate) name: &'static str,
    pub(crate) header: String,
    pub(crate) data: Vec<u8>,
}

impl Array {
    pub(crate) fn new(name: &'static str, descr: &str, shape: &str, data: Vec<u8>) -> Self {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        Array { name, header, data }
    }

    pub(crate) fn integers(name: &'static str, values: &[i64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Array::new(name, "<i8", &format!("({},)", values.len()), data)
    }

    pub(crate) fn floats(name: &'static str, values: &[f64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Array::new(name, "<f8", &format!("({},)", values.len()), data)
    }

    pub(crate) fn texts(name: &'static str, values: &[&str]) -> Self {
        let longest = values.iter().map(|value| value.chars().count()).max().unwrap_or(0).max(1);
        let mut data = Vec::new();
        for value in values {
            let padded = value.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
            data.extend(padded.flat_map(u32::to_le_bytes));
        }
        Array::new(name, &format!("<U{longest}"), &format!("({},)", values.len()), data)
    }
}

/// The bytes of an archive.
pub(crate) fn archive(arrays: &[Array]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for array in arrays {
        let name = format!("{}.npy", array.name);
        zip.start_file(name, SimpleFileOptions::default()).expect("an entry");
        let length = u16::try_from(array.header.len() + 1).expect("a short header");
        let parts = [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], array.header.as_bytes()];
        zip.write_all(&[&parts.concat()[..], b"\n", &array.data].concat()).expect("the array");
    }
    zip.finish().expect("an archive").into_inner()
}

/// Three nodes, two columns, a missing cell, one edge, in the own layout.
pub(crate) fn own_arrays() -> Vec<Array> {
    vec![
        Array::integers("edge_src", &[0, 1]),
        Array::integers("edge_dst", &[1, 2]),
        Array::floats("edge_weight", &[0.5, 2.0]),
        Array::integers("x_shape", &[3, 2]),
        Array::integers("x_indptr", &[0, 1, 3, 3]),
        Array::integers("x_indices", &[0, 0, 1]),
        Array::floats("x_data", &[1.5, -2.0, 3.0]),
        Array::integers("missing_rows", &[2]),
        Array::integers("missing_indptr", &[0, 1, 1, 1]),
        Array::integers("missing_indices", &[1]),
        Array::integers("y", &[0, 1, -1]),
        Array::texts("ids", &["a", "b", "c"]),
    ]
}

/// The same with typed columns, a block and carried text.
pub(crate) fn typed_arrays() -> Vec<Array> {
    let mut arrays = own_arrays();
    arrays.retain(|array| !array.name.starts_with("x_") && !array.name.starts_with("missing"));
    arrays.extend([
        Array::integers("x_shape", &[3, 4]),
        Array::integers("x_indptr", &[0, 2, 5, 6]),
        Array::integers("x_indices", &[0, 1, 1, 2, 3, 0]),
        Array::floats("x_data", &[1.0, 1.0, 2.0, 0.5, 1.0, 3.0]),
        Array::texts("col_names", &["size", "colour", "b0", "b1"]),
        Array::texts("col_types", &["continuous", "categorical", "continuous", "continuous"]),
        Array::texts("levels_1", &["red", "green", "blue"]),
        Array::texts("block_names", &["b"]),
        Array::integers("block_first", &[2]),
        Array::integers("block_last", &[3]),
        Array::integers("block_lists", &[0]),
        Array::texts("text_names", &["note"]),
        Array::texts("text_0", &["x", "", "z"]),
        Array::integers("text_0_missing", &[0, 1, 0]),
        Array::floats("aux", &[0.5, 1.5, f64::NAN]),
        Array::texts("aux_names", &["more"]),
        Array::texts("node_type", &["p", "p", "q"]),
        Array::texts("y_names", &["first", "second"]),
    ]);
    arrays
}

/// Splits of four nodes.
pub(crate) fn split_arrays() -> Vec<Array> {
    vec![
        Array::integers("train_0", &[0, 1]),
        Array::integers("val_0", &[2]),
        Array::integers("test_0", &[3]),
    ]
}

/// The archive with `array` in the place of the one of its name.
pub(crate) fn replaced(mut arrays: Vec<Array>, array: Array) -> Vec<u8> {
    arrays.retain(|other| other.name != array.name);
    arrays.push(array);
    archive(&arrays)
}

/// The archive whose directory claims `size` bytes for an array.
pub(crate) fn claiming(mut bytes: Vec<u8>, array: &str, size: u32) -> Vec<u8> {
    let name = format!("{array}.npy");
    let is_entry = |&at: &usize| {
        bytes[at..].starts_with(b"PK\x01\x02") && bytes[at + 46..].starts_with(name.as_bytes())
    };
    let at = (0..bytes.len() - 46).find(is_entry).expect("an entry of that name");
    bytes[at + 24..at + 28].copy_from_slice(&size.to_le_bytes());
    bytes
}
