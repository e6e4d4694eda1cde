//! Real graphs, found through the environment variable `GRAPHFILL_DATA`, have the counts that are
//! known for them, and text tables agree with archives.
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use graphfill_data::formats::{Input, ReadOptions, splits_file};
use graphfill_data::{Block, ColumnData, Dataset, NoProgress};

/// Where the graphs are; says so and gives nothing where nobody said.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("GRAPHFILL_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: GRAPHFILL_DATA names no folder of real graphs");
    }
    folder
}

fn read(path: impl AsRef<Path>) -> Dataset {
    let input = Input::detect(path.as_ref(), None).unwrap_or_else(|error| panic!("{error}"));
    let dataset = input.read(&ReadOptions::default(), &NoProgress);
    dataset.unwrap_or_else(|error| panic!("{error}"))
}

/// Rows, edges, features and classes.
fn counts(dataset: &Dataset) -> [usize; 4] {
    let classes = dataset.table.labels().map_or(0, |labels| labels.classes.len());
    let edges = dataset.graph.undirected().edges();
    [dataset.table.rows(), edges, dataset.table.features(), classes]
}

fn block(dataset: &Dataset) -> &Block {
    match dataset.table.columns()[0].data() {
        ColumnData::Block(block) => block,
        ColumnData::Array(_) => panic!("the features are no block"),
    }
}

/// Name, then nodes, edges, features and classes. Twitch has four further columns.
const ARCHIVES: [(&str, [usize; 4]); 12] = [
    ("cora", [2708, 5278, 1433, 7]),
    ("photo", [7650, 119_081, 745, 8]),
    ("pubmed", [19_717, 44_324, 500, 3]),
    ("steam_core", [1201, 89_340, 352, 0]),
    ("actor", [7600, 26_659, 932, 5]),
    ("cora_ml", [2995, 8158, 2879, 7]),
    ("gds_imdb", [12_772, 18_644, 1256, 3]),
    ("twitch_ptbr", [1912, 31_299, 3170 + 4, 2]),
    ("house_lucas", [25_357, 37_437, 17, 0]),
    ("nba", [403, 10_621, 96, 2]),
    ("elect80", [3107, 9063, 4, 0]),
    ("london_ward", [608, 1750, 10, 0]),
];

#[test]
fn archives_and_their_splits_have_their_counts() {
    let Some(data) = data() else { return };
    for (name, expected) in ARCHIVES {
        let dataset = read(data.join(name).join(format!("{name}.npz")));
        assert_eq!(counts(&dataset), expected, "{name}");
        let splits = data.join(name).join("splits.npz");
        let seeds = splits_file::seeds(&splits).expect("seeds");
        assert_eq!(seeds, (0..10).collect::<Vec<u64>>(), "{name}");
        for seed in seeds {
            let split = splits_file::read(&splits, seed, expected[0]).expect("a split");
            let parts = [split.train.len(), split.validation.len(), split.test.len()];
            assert!(parts.iter().all(|&part| part > 0), "{name}: {parts:?}");
            assert!(parts.iter().sum::<usize>() <= expected[0], "{name}: {parts:?}");
        }
    }
}

#[test]
fn a_folder_is_read_as_its_archive() {
    let Some(data) = data() else { return };
    for name in ["cora", "elect80"] {
        assert_eq!(read(data.join(name)).format, "graphfill .npz", "{name}");
    }
}

#[test]
fn text_tables_agree_with_the_archives() {
    let Some(data) = data() else { return };
    for name in ["house_lucas", "nba", "elect80", "london_ward"] {
        let text = read(data.join(name).join("nodes.csv"));
        let archive = read(data.join(name).join(format!("{name}.npz")));
        assert_eq!(counts(&text)[..3], counts(&archive)[..3], "{name}");
        assert_eq!(
            text.graph.undirected().all_neighbours(),
            archive.graph.undirected().all_neighbours(),
            "{name}"
        );
        let mut compared = 0;
        for column in text.table.columns() {
            let other = archive.table.column(column.name()).expect("the same column");
            if column.kind().is_numeric() && other.kind().is_numeric() {
                let (ours, theirs) = (column.numbers(), other.numbers());
                // The archives hold single precision, the text seven digits.
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * a.abs().max(1e-6);
                assert!(ours.iter().zip(&theirs).all(close), "{name}, {}", column.name());
                compared += 1;
            }
        }
        assert!(compared >= 4, "{name}: {compared} columns compared");
    }
}

#[test]
fn parquet_files_have_their_counts() {
    let Some(data) = data() else { return };
    let raw = data.join("raw");
    let files = [
        ("parquet/imdb_acted_in.parquet.gzip", [10_502, 13_983, 0, 0]),
        ("parquet/imdb_directed_in.parquet.gzip", [6931, 4661, 0, 0]),
        ("parquet/imdb_actors.parquet.gzip", [5841, 0, 1256, 0]),
        ("parquet/imdb_directors.parquet.gzip", [2270, 0, 1256, 0]),
        // The genre counts as a feature as long as nobody calls it the label.
        ("parquet/imdb_movies_with_genre.parquet.gzip", [2939, 0, 1256 + 1, 0]),
        ("parquet/imdb_movies_without_genre.parquet.gzip", [1722, 0, 1256, 0]),
    ];
    for (name, expected) in files {
        assert_eq!(counts(&read(raw.join(name))), expected, "{name}");
    }
}

#[test]
fn a_folder_of_parquet_tables_is_one_graph() {
    let Some(data) = data() else { return };
    let folder = data.join("raw/parquet");
    let input = Input::detect(&folder, None).expect("tables");
    let options = ReadOptions { label: Some("genre".into()), ..ReadOptions::default() };
    let dataset = input.read(&options, &NoProgress).expect("one graph");
    assert_eq!(counts(&dataset)[..2], [12_772, 18_644]);
    let labels = dataset.table.labels().expect("genres");
    assert_eq!((labels.known(), labels.classes.len()), (2939, 3));
    let keywords = dataset.table.column("plot_keywords").expect("keywords");
    let archive = read(data.join("gds_imdb/gds_imdb.npz"));
    let ColumnData::Block(keywords) = keywords.data() else { panic!("keywords are a block") };
    assert_eq!(rows_of(keywords), rows_of(block(&archive)));
}

/// How often each row of features occurs.
fn rows_of(block: &Block) -> BTreeMap<Vec<u32>, usize> {
    let mut rows = BTreeMap::new();
    for row in 0..block.rows() {
        *rows.entry(block.columns(row).to_vec()).or_insert(0) += 1;
    }
    rows
}
