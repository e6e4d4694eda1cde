//! Published files, found through the environment variable `GRAPHFILL_DATA`, have their known
//! counts, and Cora is the same graph in three formats.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use graphfill_data::formats::ReadOptions;
use graphfill_data::{Block, ColumnData, Dataset, NoProgress};
use graphfill_datasets::Source;

/// The folder of real graphs, if there is one.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("GRAPHFILL_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: GRAPHFILL_DATA names no folder of real graphs");
    }
    folder
}

fn read(path: impl AsRef<Path>) -> Dataset {
    let source = Source::detect(path.as_ref(), None);
    let dataset = source.and_then(|source| source.read(&ReadOptions::default(), &NoProgress));
    dataset.unwrap_or_else(|error| panic!("{error}"))
}

fn block(dataset: &Dataset) -> &Block {
    match dataset.table.columns()[0].data() {
        ColumnData::Block(block) => block,
        ColumnData::Array(_) => panic!("the features are no block"),
    }
}

#[test]
fn raw_files_have_their_published_counts() {
    let Some(data) = data() else { return };
    let raw = data.join("raw");
    // Nodes, undirected edges, features, stored cells, classes.
    let (cora, pubmed) = ([2708, 5278, 1433, 49_216, 7], [19_717, 44_324, 500, 988_031, 3]);
    for (name, expected) in [
        ("planetoid/ind.cora", cora),
        ("planetoid/ind.cora.allx", cora),
        ("planetoid/ind.pubmed", pubmed),
        ("planetoid/ind.pubmed.test.index", pubmed),
        ("gnn-benchmark/cora.npz", cora),
    ] {
        let dataset = read(raw.join(name));
        let labels = dataset.table.labels().expect("labels");
        assert_eq!(labels.known(), dataset.table.rows(), "{name}");
        let (nodes, edges) = (dataset.table.rows(), dataset.graph.undirected().edges());
        let (features, stored) = (dataset.table.features(), block(&dataset).stored());
        assert_eq!([nodes, edges, features, stored, labels.classes.len()], expected, "{name}");
    }
    let photo = read(raw.join("gnn-benchmark/amazon_electronics_photo.npz"));
    assert_eq!((photo.table.rows(), photo.graph.undirected().edges()), (7650, 119_081));
    for folder in ["planetoid", "gnn-benchmark"] {
        let error = Source::detect(&raw.join(folder), None).expect_err("several graphs");
        assert!(error.to_string().contains("name one of them"), "{error}");
    }
}

/// How often each row of features occurs.
fn rows_of(block: &Block) -> BTreeMap<Vec<u32>, usize> {
    let mut rows = BTreeMap::new();
    for row in 0..block.rows() {
        *rows.entry(block.columns(row).to_vec()).or_insert(0) += 1;
    }
    rows
}

/// How often an edge joins each pair of rows of features.
fn edges_by_features(dataset: &Dataset) -> BTreeMap<[Vec<u32>; 2], usize> {
    let block = block(dataset);
    let mut edges = BTreeMap::new();
    for (a, b, _) in dataset.graph.undirected().iter() {
        let mut ends = [a, b].map(|end| block.columns(end as usize).to_vec());
        ends.sort();
        *edges.entry(ends).or_insert(0) += 1;
    }
    edges
}

/// The sorted numbers of nodes per class.
fn class_sizes(dataset: &Dataset) -> Vec<usize> {
    let labels = dataset.table.labels().expect("labels");
    let mut sizes = vec![0; labels.classes.len()];
    labels.codes.iter().flatten().for_each(|&class| sizes[class as usize] += 1);
    sizes.sort_unstable();
    sizes
}

#[test]
fn cora_is_the_same_graph_in_three_formats() {
    let Some(data) = data() else { return };
    let own = read(data.join("cora/cora.npz"));
    let planetoid = read(data.join("raw/planetoid/ind.cora"));
    let benchmark = read(data.join("raw/gnn-benchmark/cora.npz"));
    // Two of the files have the same order of rows.
    for row in 0..own.table.rows() {
        assert_eq!(block(&own).columns(row), block(&planetoid).columns(row), "row {row}");
    }
    let neighbours = |dataset: &Dataset| dataset.graph.undirected().all_neighbours().to_vec();
    assert_eq!(neighbours(&own), neighbours(&planetoid));
    assert_eq!(own.table.labels(), planetoid.table.labels());
    // The third has another order, and some rows are equal.
    for dataset in [&planetoid, &benchmark] {
        assert_eq!(rows_of(block(dataset)), rows_of(block(&own)), "{}", dataset.format);
        assert_eq!(edges_by_features(dataset), edges_by_features(&own), "{}", dataset.format);
        assert_eq!(class_sizes(dataset), class_sizes(&own), "{}", dataset.format);
    }
}
