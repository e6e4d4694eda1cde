//! `.npz` archives with faults.

use graphfill_data::DataError;
use graphfill_data::formats::{ReadOptions, splits_file};

use crate::samples::{Array, archive, claiming, own_arrays, replaced, split_arrays, typed_arrays};
use crate::{assert_helpful, folder, read};

fn assert_refused(case: &str, bytes: &[u8], parts: &[&str]) {
    let (_folder, path) = folder(&[("graph.npz", bytes)]);
    assert_helpful(case, read(&path, None, &ReadOptions::default()), "graph.npz", parts);
}

fn fortran(name: &'static str, values: &[f64]) -> Array {
    let mut array = Array::floats(name, values);
    array.header = array.header.replace("False", "True");
    array
}

#[test]
fn the_samples_are_good() {
    for arrays in [own_arrays(), typed_arrays()] {
        let (_folder, path) = folder(&[("graph.npz", &archive(&arrays))]);
        let dataset = read(&path, None, &ReadOptions::default()).expect("a good archive");
        assert_eq!(dataset.table.rows(), 3);
    }
}

#[test]
fn arrays_that_are_not_read_are_named() {
    let four = vec![0; 4 * 8];
    let big = Array::new("x_indptr", ">i8", "(4,)", four.clone());
    assert_refused("big-endian", &replaced(own_arrays(), big), &["'x_indptr'", ">i8", "astype"]);
    let objects = Array::new("x_indptr", "|O", "(4,)", four.clone());
    assert_refused("objects", &replaced(own_arrays(), objects), &["'x_indptr'", "|O", "never"]);
    let by_columns = fortran("x_data", &[1.0, 2.0, 3.0]);
    let parts = ["'x_data'", "Fortran", "ascontiguousarray"];
    assert_refused("Fortran", &replaced(own_arrays(), by_columns), &parts);
    let floats = Array::floats("edge_src", &[0.5, 1.0]);
    assert_refused("fractions", &replaced(own_arrays(), floats), &["'edge_src'", "whole numbers"]);
    let words = Array::texts("x_data", &["a", "b", "c"]);
    assert_refused("words", &replaced(own_arrays(), words), &["'x_data'", "Unicode"]);
    let none = Array { name: "x_data", header: "{}".into(), data: four };
    assert_refused("no header", &replaced(own_arrays(), none), &["'x_data'", "header"]);
}

#[test]
fn sizes_that_are_only_claimed_cost_nothing() {
    let claims = |shape: &str| Array::new("edge_src", "<i8", shape, vec![0; 16]);
    for shape in ["(4294967296,)", "(18446744073709551615,)", "(4294967296, 4294967296)", "(1,)"] {
        let bytes = replaced(own_arrays(), claims(shape));
        assert_refused(shape, &bytes, &["'edge_src'", "claims the shape", "16 bytes follow"]);
    }
    let nothing = Array::new("ids", "<U0", "(1152921504606846976,)", Vec::new());
    assert_refused("empty texts", &replaced(own_arrays(), nothing), &["'ids'", "claims the shape"]);

    let shape = Array::integers("x_shape", &[40_000_000, 2]);
    assert_refused("rows", &replaced(own_arrays(), shape), &["'x_indptr'", "4 entries"]);
    let mut arrays = own_arrays();
    arrays.retain(|array| !["x_shape", "x_indptr"].contains(&array.name));
    arrays.push(Array::integers("x_shape", &[40_000_000, 2]));
    let length = 40_000_001u32;
    let mut offsets = Array::new("x_indptr", "<i8", &format!("({length},)"), vec![0; 32]);
    let whole = 10 + offsets.header.len() as u32 + 1 + length * 8;
    offsets.data.truncate(32);
    arrays.push(offsets);
    let bytes = claiming(archive(&arrays), "x_indptr", whole);
    assert_refused("a lying directory", &bytes, &["'x_indptr'", "claims 320000"]);
    let negative = Array::integers("x_shape", &[3, -2]);
    assert_refused("negative", &replaced(own_arrays(), negative), &["'x_shape'", "[3, -2]"]);
}

#[test]
fn wide_rows_that_are_missing_as_a_whole_cost_nothing() {
    let mut arrays = own_arrays();
    arrays.retain(|array| array.name != "x_shape");
    arrays.push(Array::integers("x_shape", &[3, 60_000_000]));
    let bytes = archive(&arrays);
    let (_folder, path) = folder(&[("graph.npz", &bytes)]);
    let dataset = read(&path, None, &limited(4 << 30)).expect("a wide block");
    let missing = dataset.table.missing();
    assert_eq!((dataset.table.features(), missing.count()), (60_000_000, 60_000_001));
    // Beside a column that is observed there, the cells of a row would have to be listed.
    let rows: Vec<i64> = (0..100).collect();
    let arrays = [
        Array::integers("edge_src", &[0]),
        Array::integers("edge_dst", &[1]),
        Array::integers("x_shape", &[100, 1_000_000]),
        Array::integers("x_indptr", &[0; 101]),
        Array::integers("x_indices", &[]),
        Array::floats("x_data", &[]),
        Array::integers("missing_rows", &rows),
        Array::floats("aux", &rows.iter().map(|&row| row as f64).collect::<Vec<_>>()),
        Array::texts("aux_names", &["more"]),
    ];
    let (_folder, path) = folder(&[("graph.npz", &archive(&arrays))]);
    let parts = ["the list of missing cells", "400000000 bytes", "limit"];
    assert_helpful("a wide hole", read(&path, None, &limited(100_000_000)), "graph.npz", &parts);
}

fn limited(memory_limit: u64) -> ReadOptions {
    ReadOptions { memory_limit, ..ReadOptions::default() }
}

#[test]
fn sizes_beyond_the_memory_limit_are_refused() {
    let assert_limited = |case: &str, bytes: &[u8], limit: u64, parts: &[&str]| {
        let (_folder, path) = folder(&[("graph.npz", bytes)]);
        assert_helpful(case, read(&path, None, &limited(limit)), "graph.npz", parts);
        let read = read(&path, None, &limited(limit));
        assert!(matches!(read, Err(DataError::MemoryLimit { .. })), "{case}: {read:?}");
    };
    for shape in [[3, 4_000_000_000], [20, (1 << 31) - 1]] {
        let bytes = replaced(own_arrays(), Array::integers("x_shape", &shape));
        let columns = format!("{} columns", shape[1]);
        assert_limited("columns", &bytes, 4 << 30, &["'x_shape'", &columns, "memory"]);
    }
    let rows = replaced(own_arrays(), Array::integers("x_shape", &[4_294_967_294, 2]));
    assert_limited("rows", &rows, 4 << 30, &["'x_shape'", "4294967294 rows"]);
    let zeros =
        |name, count: usize| Array::new(name, "|u1", &format!("({count},)"), vec![0; count]);

    let mut arrays = own_arrays();
    arrays.push(zeros("other", 2 << 20));
    assert_limited("all arrays", &archive(&arrays), 1 << 20, &["13 arrays", "uncompressed"]);
    let edges = 1 << 20;
    let mut arrays = own_arrays();
    arrays.retain(|array| !array.name.starts_with("edge_"));
    arrays.extend([zeros("edge_src", edges), zeros("edge_dst", edges)]);
    assert_limited("edges", &archive(&arrays), 8 << 20, &["'edge_src'", "1048576 edges"]);
    let cells = 1 << 20;
    let mut arrays = own_arrays();
    arrays.retain(|array| !array.name.starts_with("x_"));
    arrays.extend([
        Array::integers("x_shape", &[3, 2]),
        Array::integers("x_indptr", &[0, cells as i64, cells as i64, cells as i64]),
        zeros("x_indices", cells),
        zeros("x_data", cells),
    ]);
    assert_limited("cells", &archive(&arrays), 8 << 20, &["'x_indices'", "1048576 stored cells"]);

    // Rows and columns are each in the file, their product is not.
    let (rows, columns) = (1 << 16, 1 << 12);
    let mut arrays = own_arrays();
    arrays.retain(|array| !["x_shape", "x_indptr", "y", "ids"].contains(&array.name));
    arrays.retain(|array| !array.name.starts_with("missing"));
    let types = vec!["count"; columns];
    arrays.extend([
        Array::integers("x_shape", &[rows as i64, columns as i64]),
        Array::integers("x_indptr", &[vec![0], vec![3; rows]].concat()),
        Array::texts("col_types", &types),
    ]);
    let parts = ["268435456 cells of single columns"];
    assert_limited("dense columns", &archive(&arrays), 1 << 30, &parts);
    let texts = vec!["a"; 1 << 16];
    let bytes = replaced(own_arrays(), Array::texts("col_names", &texts));
    assert_limited("texts", &bytes, 2 << 20, &["'col_names'", "65536 entries"]);
}

#[test]
fn entries_outside_the_table_are_named() {
    let cases: [(&[i64], &'static str, &[&str]); 12] = [
        (&[0, 3], "edge_src", &["edge 1 joins 3 and 2", "3 nodes", "from 0"]),
        (&[-1, 1], "edge_src", &["edge 0 joins -1 and 1"]),
        (&[1], "edge_dst", &["differ in length"]),
        (&[0, 2, 1, 3], "x_indptr", &["'x_indptr'", "row 1", "falls"]),
        (&[0, 1, 3, 4], "x_indptr", &["'x_indptr'", "row 2", "past the end"]),
        (&[1, 1, 3, 3], "x_indptr", &["'x_indptr'", "start at 0"]),
        (&[0, 1, 2, 2], "x_indptr", &["'x_indptr'", "end at 2 of 3"]),
        (&[0, 2, 1], "x_indices", &["'x_indices'", "outside 0..2"]),
        (&[0, -1, 1], "x_indices", &["'x_indices'", "outside 0..2"]),
        (&[3], "missing_rows", &["'missing_rows'", "outside the table"]),
        (&[2], "missing_indices", &["'missing_indices'", "outside the table"]),
        (&[0, 1], "y", &["'y'", "2 entries", "3"]),
    ];
    for (values, name, parts) in cases {
        let bytes = replaced(own_arrays(), Array::integers(name, values));
        assert_refused(&format!("{name} {values:?}"), &bytes, parts);
    }
    let infinite = Array::floats("x_data", &[1.0, f64::INFINITY, 2.0]);
    let parts = ["'x_data'", "row 1, column 0", "infinite"];
    assert_refused("infinite", &replaced(own_arrays(), infinite), &parts);
    for weight in [-1.0, f64::NAN, 1e300] {
        let weights = Array::floats("edge_weight", &[1.0, weight]);
        assert_refused("weight", &replaced(own_arrays(), weights), &["edge 1 has the weight"]);
    }
    let twice = Array::texts("ids", &["a", "b", "a"]);
    assert_refused("ids", &replaced(own_arrays(), twice), &["'ids'", "'a'", "second time"]);
    let level = Array::floats("x_data", &[1.0, 7.0, 2.0, 0.5, 1.0, 3.0]);
    assert_refused("level", &replaced(typed_arrays(), level), &["'colour'", "7 is no position"]);
    let block = Array::integers("block_last", &[4]);
    assert_refused("block", &replaced(typed_arrays(), block), &["block 'b'", "outside"]);
    let kind = Array::texts("col_types", &["continuous", "categorical", "continuous", "colour"]);
    let mut arrays = typed_arrays();
    arrays.retain(|array| !array.name.starts_with("block"));
    assert_refused("type", &replaced(arrays, kind), &["'b1'", "'colour'", "not known", "declare"]);
}

#[test]
fn nan_in_a_block_is_a_missing_cell() {
    let holes = Array::floats("x_data", &[1.0, 1.0, 2.0, f64::NAN, 1.0, 3.0]);
    let bytes = replaced(typed_arrays(), holes);
    let (_folder, path) = folder(&[("graph.npz", &bytes)]);
    let dataset = read(&path, None, &ReadOptions::default()).expect("a graph");
    assert_eq!(dataset.table.column("b").expect("a block").missing_count(), 1);
}

#[test]
fn every_cut_of_an_archive_is_an_error() {
    let whole = archive(&own_arrays());
    for end in (4..whole.len()).step_by(37) {
        let parts = ["graph.npz"];
        assert_refused(&format!("cut at {end} of {}", whole.len()), &whole[..end], &parts);
    }
}

#[test]
fn archives_that_are_no_graph_say_what_they_are() {
    assert_refused("splits", &archive(&split_arrays()), &["holds splits", "SplitsFile"]);
    let other = archive(&[Array::integers("weights", &[1])]);
    assert_refused("other", &other, &["no known layout", "weights", "edge_src"]);
}

#[test]
fn splits_of_another_graph_are_refused() {
    let cases: [(&'static str, &[i64], &str); 3] = [
        ("test_0", &[4], "names row 4, but the table has 4 rows"),
        ("test_0", &[-1], "column 'test_0': a row number is negative"),
        ("val_0", &[0], "row 0 is in the train part and in the validation part"),
    ];
    for (name, rows, found) in cases {
        let bytes = replaced(split_arrays(), Array::integers(name, rows));
        let (_folder, path) = folder(&[("splits.npz", &bytes)]);
        let error = splits_file::read(&path, 0, 4).expect_err("no split").to_string();
        assert!(error.contains(found), "{name} {rows:?}: {error}");
    }
    let (_folder, path) = folder(&[("splits.npz", &archive(&split_arrays()))]);
    let error = splits_file::read(&path, 3, 4).expect_err("no split").to_string();
    assert!(error.contains("seed 3") && error.contains("splits.npz"), "{error}");
}

/// `nodes × splits` booleans.
fn mask(name: &'static str, shape: &str, cells: &[u8]) -> Array {
    Array::new(name, "|b1", shape, cells.to_vec())
}

#[test]
fn masks_are_splits() {
    let arrays = |shape: &str, cells: [&[u8]; 3]| {
        let [train, validation, test] = cells;
        [
            mask("train_mask", shape, train),
            mask("val_mask", shape, validation),
            mask("test_mask", shape, test),
        ]
    };
    let one = arrays("(4,)", [&[1, 0, 0, 1], &[0, 1, 0, 0], &[0, 0, 1, 0]]);
    // The graph itself can hold the masks.
    for arrays in [one.to_vec(), [own_arrays(), one.to_vec()].concat()] {
        let (_folder, path) = folder(&[("masks.npz", &archive(&arrays))]);
        assert_eq!(splits_file::seeds(&path).expect("seeds"), [0]);
        assert_eq!(splits_file::sizes(&path, 0).expect("sizes"), [2, 1, 1]);
        let split = splits_file::read(&path, 0, 4).expect("a split");
        assert_eq!((split.train, split.test), (vec![0, 3], vec![2]));
        for (seed, nodes, told) in [(1, 4, "seed 1"), (0, 5, "4 nodes")] {
            let error = splits_file::read(&path, seed, nodes).expect_err(told).to_string();
            assert!(error.contains(told) && error.contains("masks.npz"), "{error}");
        }
    }
    let two = [&[1, 0, 0, 1, 0, 0][..], &[0, 1, 0, 0, 1, 0], &[0, 0, 1, 0, 0, 1]];
    let (_folder, path) = folder(&[("masks.npz", &archive(&arrays("(3, 2)", two)))]);
    assert_eq!(splits_file::seeds(&path).expect("seeds"), [0, 1]);
    let split = splits_file::read(&path, 1, 3).expect("a split");
    assert_eq!((split.train, split.validation, split.test), (vec![1], vec![0], vec![2]));

    let overlapping = arrays("(3,)", [&[1, 0, 1], &[0, 1, 0], &[0, 0, 1]]);
    let empty = arrays("(3,)", [&[1, 0, 0], &[0, 0, 0], &[0, 0, 1]]);
    let nobody = arrays("(0, 1000000000)", [&[]; 3]);
    let numbers = [
        Array::integers("train_mask", &[0, 2]),
        Array::integers("val_mask", &[1, 0]),
        Array::integers("test_mask", &[0, 1]),
    ];
    let mut lengths = one.clone();
    lengths[1] = mask("val_mask", "(3,)", &[0, 1, 0]);
    for (arrays, told) in [
        (&overlapping[..], "row 2 is in 'train_mask' and in 'test_mask'"),
        (&empty, "'val_mask' has no node"),
        (&nobody, "holds no splits"),
        (&numbers, "found 2 in a mask"),
        (&lengths, "'train_mask' has 4 × 1 values"),
        (&one[..2], "test_mask"),
    ] {
        let (_folder, path) = folder(&[("masks.npz", &archive(arrays))]);
        let error = splits_file::read(&path, 0, 3).expect_err(told).to_string();
        assert!(error.contains(told), "{error}");
    }
}
