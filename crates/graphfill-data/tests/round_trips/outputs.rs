//! What lies beside an output: files of an earlier one, files of another format.

use std::fs;
use std::sync::Arc;

use arrow_array::{Float64Array, Int64Array};
use graphfill_data::formats::{self, Input, ReadOptions};
use graphfill_data::generator::{GeneratorConfig, generate};
use graphfill_data::{Column, Dataset, Graph, IdColumn, Kind, NoProgress, NodeIds, NodeTable};

use crate::{ENDINGS, assert_same, through};

#[test]
fn outputs_of_all_formats_stand_side_by_side() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let town = generate(&GeneratorConfig { nodes: 100, ..GeneratorConfig::default() })
        .expect("a good config");
    let path = |ending: &str| folder.path().join(format!("town.{ending}"));
    for ending in ENDINGS {
        formats::write(&town.dataset, &path(ending)).expect("a written graph");
    }
    for ending in ENDINGS {
        let input = Input::detect(&path(ending), None).expect("a graph");
        let label = (ending != "npz").then(|| "community".to_owned());
        let options = ReadOptions { label, ..ReadOptions::default() };
        let again = input.read(&options, &NoProgress).expect("a readable graph");
        assert_same(&town.dataset, &again, ending);
    }
}

#[test]
fn edges_that_are_there_already_do_not_join_a_graph_without_edges() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let town = generate(&GeneratorConfig { nodes: 50, ..GeneratorConfig::default() })
        .expect("a good config")
        .dataset;
    let bare = Dataset { graph: Graph::without_arcs(50), ..town.clone() };
    for ending in ENDINGS {
        let path = folder.path().join(format!("{}.{ending}", ending.replace('.', "_")));
        through(&town, &path);
        if ending == "npz" {
            assert_eq!(through(&bare, &path).graph.arcs(), 0);
            continue;
        }
        let refused = formats::write(&bare, &path).expect_err("edges of another graph");
        assert!(refused.to_string().contains(".edges."), "{ending}: {refused}");
    }
}

#[test]
fn a_node_table_with_columns_called_like_ends_stays_a_node_table() {
    let numbers = |start: f64| Float64Array::from_iter_values((0..8).map(|row| start + row as f64));
    let columns = vec![
        Column::new("u", Kind::Number, Arc::new(numbers(-0.5))),
        Column::new("v", Kind::Number, Arc::new(numbers(0.25))),
    ];
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(8), columns, None);
    let table = table.expect("columns of one length");
    let mut list = graphfill_data::EdgeList::unweighted();
    list.push(0, 7, 1.0);
    let graph = list.into_graph(8, graphfill_data::Direction::Undirected).expect("valid arcs");
    let dataset = Dataset::new("wind", "by hand", table, graph).expect("a row per node");
    crate::assert_survives(&dataset, "wind");
}

#[test]
fn names_in_capitals_are_the_same_formats() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let town = generate(&GeneratorConfig { nodes: 50, ..GeneratorConfig::default() })
        .expect("a good config");
    for name in ["A.CSV", "B.CSV.GZ", "C.TSV", "D.PARQUET", "E.NPZ"] {
        let again = through(&town.dataset, &folder.path().join(name));
        assert_same(&town.dataset, &again, name);
    }
}

#[test]
fn two_columns_of_one_name_are_not_written() {
    let count = |_| Column::new("id", Kind::Count, Arc::new(Int64Array::from(vec![1, 2, 3])));
    let columns = (0..1).map(count).collect();
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(3), columns, None);
    let table = table.expect("columns of one length");
    let dataset = Dataset::new("twice", "by hand", table, Graph::without_arcs(3));
    let dataset = dataset.expect("a row per node");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for ending in ["csv", "parquet"] {
        let path = folder.path().join(format!("twice.{ending}"));
        let error = formats::write(&dataset, &path).expect_err("no output").to_string();
        assert!(error.contains("two columns are called 'id'"), "{ending}: {error}");
        assert!(!path.exists(), "{ending}");
    }
}

#[test]
fn nothing_but_the_outputs_is_left_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let town = generate(&GeneratorConfig { nodes: 50, ..GeneratorConfig::default() })
        .expect("a good config");
    let path = folder.path().join("town.csv");
    let mut written = formats::write(&town.dataset, &path).expect("a written graph");
    let entries = fs::read_dir(folder.path()).expect("the folder");
    let mut found: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    written.sort();
    found.sort();
    assert_eq!(written, found);
}

#[test]
fn what_a_typed_file_says_about_itself_is_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut town = generate(&GeneratorConfig { nodes: 50, ..GeneratorConfig::default() })
        .expect("a good config")
        .dataset;
    town.table.file_metadata.insert("owner".to_owned(), "the town".to_owned());
    let again = through(&town, &folder.path().join("town.parquet"));
    assert_eq!(again.table.file_metadata.get("owner").map(String::as_str), Some("the town"));
}

#[test]
fn times_of_any_zone_are_written_as_text() {
    let times = |zone: &str| {
        let cells =
            arrow_array::TimestampMicrosecondArray::from(vec![Some(1_700_000_000_000_000), None]);
        let unsupported = graphfill_data::Unused::UnsupportedType("timestamp".to_owned());
        Column::new(zone, Kind::Unused(unsupported), Arc::new(cells.with_timezone(zone)))
    };
    for zone in ["UTC", "Europe/Berlin", "+02:00"] {
        let text = times(zone).text();
        assert!(text.value(0).starts_with("2023-11-1"), "{zone}: {:?}", text);
        assert!(arrow_array::Array::is_null(&text, 1));
    }
}
