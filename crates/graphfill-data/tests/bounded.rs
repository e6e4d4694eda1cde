//! Hostile files are refused before they take memory: each is read in a process of its own, whose
//! peak is measured.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "the child reports to the parent, figures to the reader")]

#[path = "samples/mod.rs"]
mod samples;

use std::io::{Cursor, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Float32Array, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema};
use graphfill_data::NoProgress;
use graphfill_data::formats::{Input, ReadOptions};
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use samples::{Array, own_arrays, replaced};
use zip::write::{SimpleFileOptions, ZipWriter};

/// The most memory that refusing a file may take, in KiB.
const MAX_PEAK: u64 = 300 << 10;

/// Reads the file that the environment names and prints what came of it.
#[test]
fn child() {
    let Ok(path) = std::env::var("BOUNDED_PATH") else { return };
    let limit = std::env::var("BOUNDED_LIMIT").ok().and_then(|limit| limit.parse().ok());
    let memory_limit = limit.unwrap_or(1 << 30);
    let options = ReadOptions { memory_limit, ..ReadOptions::default() };
    let read =
        Input::detect(Path::new(&path), None).and_then(|input| input.read(&options, &NoProgress));
    let message = read.err().map_or("was read".to_owned(), |error| error.to_string());
    let status = std::fs::read_to_string("/proc/self/status").expect("the status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let peak = peak.trim().trim_end_matches(" kB");
    println!("\nPEAK {peak} {}", message.replace('\n', " "));
}

/// Checks that the file is refused with these words, below [`MAX_PEAK`].
fn assert_bounded(name: &str, bytes: &[u8], limit: u64, parts: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a written file");
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "child", "--nocapture"])
        .env("BOUNDED_PATH", &path)
        .env("BOUNDED_LIMIT", limit.to_string())
        .output()
        .expect("a child");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("PEAK "));
    let line = line.unwrap_or_else(|| panic!("{parts:?}: the child died: {output:?}"));
    let (peak, message) = line.split_once(' ').expect("a peak and a message");
    for part in parts {
        assert!(message.contains(part), "lacks '{part}': {message}");
    }
    let peak: u64 = peak.parse().expect("a number");
    assert!(peak < MAX_PEAK, "{peak} KiB for: {message}");
    println!("{} bytes, peak {peak} KiB: {message}", bytes.len());
}

/// The samples with one more array of `count` zero bytes, deflated.
fn deflated(name: &str, descr: &str, count: usize, size: usize) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(1));
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}");
    header.push('\n');
    zip.start_file(format!("{name}.npy"), options).expect("an entry");
    zip.write_all(b"\x93NUMPY\x01\x00").expect("written");
    zip.write_all(&(header.len() as u16).to_le_bytes()).expect("written");
    zip.write_all(header.as_bytes()).expect("written");
    let zeros = vec![0; 1 << 20];
    let mut left = count * size;
    while left > 0 {
        let part = left.min(zeros.len());
        zip.write_all(&zeros[..part]).expect("written");
        left -= part;
    }
    for array in own_arrays().iter().filter(|array| array.name != name) {
        zip.start_file(format!("{}.npy", array.name), options).expect("an entry");
        let length = (array.header.len() as u16 + 1).to_le_bytes();
        let parts = [b"\x93NUMPY\x01\x00", &length[..], array.header.as_bytes(), b"\n"];
        zip.write_all(&[&parts.concat()[..], &array.data].concat()).expect("written");
    }
    zip.finish().expect("an archive").into_inner()
}

#[test]
fn archives_that_claim_more_than_there_is() {
    for shape in [[20, (1 << 31) - 1], [3, 4_000_000_000]] {
        let bytes = replaced(own_arrays(), Array::integers("x_shape", &shape));
        assert!(bytes.len() < 4096);
        assert_bounded("wide.npz", &bytes, 8 << 30, &["columns would need", "of memory"]);
    }
}

#[test]
fn archives_that_inflate() {
    let bomb = deflated("ids", "<U16", 10_000_000, 64);
    assert!(bomb.len() < 8 << 20, "{}", bomb.len());
    assert_bounded("bomb.npz", &bomb, 256 << 20, &["arrays, uncompressed,", "of memory"]);
    // Small enough as it is, too large as what it becomes.
    let edges = deflated("edge_src", "|u1", 1 << 28, 1);
    assert_bounded("edges.npz", &edges, 1 << 30, &["268435456 edges", "of memory"]);
    let texts = deflated("ids", "|S1", 1 << 28, 1);
    assert_bounded("texts.npz", &texts, 1 << 30, &["268435456 entries", "of memory"]);
}

/// A Parquet file of the same batch `times` over, whose Arrow schema claims `schema` if given.
fn parquet_file(batch: &RecordBatch, times: usize, schema: Option<&Schema>) -> Vec<u8> {
    let claimed = schema.map(encode_arrow_schema);
    let claimed = claimed.map(|text| vec![KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), text)]);
    let properties = WriterProperties::builder()
        .set_key_value_metadata(claimed)
        .set_dictionary_page_size_limit(64 << 20)
        .set_max_row_group_row_count(None)
        .build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options).expect("a writer");
    for _ in 0..times {
        writer.write(batch).expect("a written batch");
    }
    writer.close().expect("a written file");
    bytes
}

#[test]
fn parquet_of_few_bytes_and_many_rows() {
    let constant: ArrayRef = Arc::new(Int64Array::from(vec![7; 1 << 20]));
    let batch = RecordBatch::try_from_iter([("x", constant)]).expect("a batch");
    let bytes = parquet_file(&batch, 16, None);
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    assert_bounded("rows.parquet", &bytes, 512 << 20, &["16777216 rows", "of memory"]);
    let columns = (0..40).map(|at| (format!("x{at}"), batch.column(0).clone()));
    let wide = RecordBatch::try_from_iter(columns).expect("a batch");
    let bytes = parquet_file(&wide, 2, None);
    assert_bounded("cells.parquet", &bytes, 256 << 20, &["2097152 rows and the columns", "memory"]);
}

#[test]
fn parquet_of_one_long_text_in_many_rows() {
    let levels: ArrayRef = Arc::new(StringArray::from(vec!["long ".repeat(1 << 18)]));
    let keys = Int32Array::from(vec![0; 4096]);
    let texts = DictionaryArray::<Int32Type>::try_new(keys, levels).expect("in bounds");
    let texts: ArrayRef = Arc::new(texts);
    let batch = RecordBatch::try_from_iter([("note", texts)]).expect("a batch");
    let bytes = parquet_file(&batch, 1, None);
    assert_bounded("texts.parquet", &bytes, 256 << 20, &["the table up to here", "of memory"]);
}

#[test]
fn parquet_of_long_lists() {
    let items: ArrayRef = Arc::new(Float32Array::from(vec![0.5; 20 << 20]));
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    let lists: ArrayRef = Arc::new(ListArray::new(item, offsets, items, None));
    let batch = RecordBatch::try_from_iter([("x", lists)]).expect("a batch");
    let bytes = parquet_file(&batch, 1, None);
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    assert_bounded("lists.parquet", &bytes, 64 << 20, &["column 'x'", "of memory"]);
}

#[test]
fn parquet_of_null_lists_of_fixed_length() {
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let none = NullBuffer::new_null(100_000);
    let offsets = OffsetBuffer::from_lengths(vec![0; none.len()]);
    let items: ArrayRef = Arc::new(Float32Array::from(Vec::<f32>::new()));
    let lists: ArrayRef = Arc::new(ListArray::new(item.clone(), offsets, items, Some(none)));
    assert_eq!(lists.null_count(), 100_000);
    let batch = RecordBatch::try_from_iter([("x", lists)]).expect("a batch");
    let fixed = DataType::FixedSizeList(item, 1_000_000);
    let bytes = parquet_file(&batch, 1, Some(&Schema::new(vec![Field::new("x", fixed, true)])));
    assert_bounded("fixed.parquet", &bytes, 1 << 30, &["column 'x'", "400000000000 bytes"]);
}
