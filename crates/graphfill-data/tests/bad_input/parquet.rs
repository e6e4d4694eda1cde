//! Parquet tables with faults.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use graphfill_data::formats::{self, ReadOptions};
use graphfill_data::generator::{GeneratorConfig, generate};
use parquet::arrow::ArrowWriter;

use crate::{assert_helpful, folder, read};

fn table(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("a written batch");
    writer.close().expect("a written file");
    bytes
}

fn numbers(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn integers(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

#[test]
fn every_cut_of_a_table_is_an_error() {
    let town = generate(&GeneratorConfig { nodes: 60, ..GeneratorConfig::default() })
        .expect("a good config");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("whole.parquet");
    formats::write_nodes(&town.dataset, &path).expect("a written table");
    let whole = std::fs::read(&path).expect("the table");
    let cut = folder.path().join("cut.parquet");
    for end in (0..whole.len()).step_by(whole.len() / 150) {
        std::fs::write(&cut, &whole[..end]).expect("a cut file");
        let found = read(&cut, None, &ReadOptions::default());
        assert_helpful(&format!("cut at {end}"), found, "cut.parquet", &[]);
    }
}

#[test]
fn faults_are_named_by_row_and_column() {
    let infinite = table(vec![("id", integers(&[4, 5])), ("x", numbers(&[1.0, f64::INFINITY]))]);
    let twice = table(vec![("id", integers(&[4, 5, 4])), ("x", numbers(&[1.0, 2.0, 3.0]))]);
    let names = table(vec![("id", integers(&[4])), ("x", integers(&[1])), ("x", integers(&[2]))]);
    let fractions = table(vec![("id", numbers(&[0.5, 1.5])), ("x", integers(&[1, 2]))]);
    let no_id: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let no_id = table(vec![("id", no_id), ("x", integers(&[1, 2]))]);
    let empty = table(vec![("id", integers(&[])), ("x", integers(&[]))]);
    let cases: [(&[u8], &[&str]); 6] = [
        (&infinite, &["line 2", "column 'x'", "infinite"]),
        (&twice, &["line 3", "column 'id'", "'4'", "second time"]),
        (&names, &["two columns are called 'x'"]),
        (&fractions, &["column 'id'", "text or whole numbers", "--id"]),
        (&no_id, &["line 2", "column 'id'", "no id"]),
        (&empty, &["no row"]),
    ];
    for (bytes, parts) in cases {
        let (_folder, path) = folder(&[("nodes.parquet", bytes)]);
        assert_helpful(
            parts[0],
            read(&path, None, &ReadOptions::default()),
            "nodes.parquet",
            parts,
        );
    }
}

#[test]
fn faulty_edges_are_named_by_row() {
    let ends = |target: &[i64]| vec![("source", integers(&[0, 1])), ("target", integers(target))];
    let unknown = table(ends(&[1, 9]));
    let mut weighted = ends(&[1, 0]);
    weighted.push(("weight", numbers(&[1.0, f64::NAN])));
    let weighted = table(weighted);
    let cases: [(&[u8], &[&str]); 2] = [
        (&unknown, &["line 2", "'9'", "leave such edges out"]),
        (&weighted, &["line 2", "weight NaN", "--weight none"]),
    ];
    for (bytes, parts) in cases {
        let files: [(&str, &[u8]); 2] = [("n.csv", b"id,x\n0,1\n1,2\n"), ("e.parquet", bytes)];
        let (folder, nodes) = folder(&files);
        let found = read(&nodes, Some(&folder.path().join("e.parquet")), &ReadOptions::default());
        assert_helpful(parts[0], found, "e.parquet", parts);
    }
}
