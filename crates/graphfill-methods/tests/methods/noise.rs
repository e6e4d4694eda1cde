//! How often `auto` finds structure in columns that have none: columns of noise, independent of the
//! graph and of one another. Everything but the column mean is a false positive there.

use std::sync::Arc;

use arrow_array::{BooleanArray, Float64Array, StringArray};
use graphfill_data::{Column, Graph, Kind, NodeTable};
use graphfill_engine::random::{Key, normals, uniforms};

use crate::support::{filled_after, small_models};
use crate::tables;

const NODES: usize = 200;
const EDGES: usize = 600;
const TABLES: u64 = 40;
const MISSING: f32 = 0.2;
const UPDATES: u64 = 50;

/// Independent uniform numbers of a table; each column has a stream of its own.
fn uniform(table: u64, stream: u32, count: usize) -> Vec<f32> {
    let mut numbers = vec![0.0; count];
    uniforms(Key::new(1000 + table, stream, 0), &mut numbers);
    numbers
}

fn normal(table: u64, stream: u32, count: usize) -> Vec<f32> {
    let mut numbers = vec![0.0; count];
    normals(Key::new(1000 + table, stream, 0), 0, &mut numbers);
    numbers
}

/// Edges between nodes drawn at random.
fn random_graph(table: u64) -> Graph {
    let ends = uniform(table, 1, 2 * EDGES);
    let node = |number: f32| ((number * NODES as f32) as u32).min(NODES as u32 - 1);
    let pairs = ends.chunks_exact(2).map(|pair| (node(pair[0]), node(pair[1])));
    tables::graph(NODES, pairs.filter(|(one, other)| one != other))
}

/// Which cells of a column are missing: those of whole rows in every other table, else single ones.
fn missing(table: u64, column: u32) -> Vec<bool> {
    let stream = if table % 2 == 0 { 100 } else { 100 + column };
    uniform(table, stream, NODES).into_iter().map(|number| number < MISSING).collect()
}

/// A column of numbers; `column` is its position.
fn numbers(table: u64, column: u32, kind: Kind, values: impl Fn(usize) -> f64) -> Column {
    let missing = missing(table, column);
    let cells: Float64Array = (0..NODES).map(|row| (!missing[row]).then(|| values(row))).collect();
    Column::new(format!("column {column}"), kind, Arc::new(cells))
}

/// Five columns of noise: normal, heavy-tailed, counts, truth values and a category.
fn noise(table: u64) -> NodeTable {
    let bell = normal(table, 2, NODES);
    let tails = normal(table, 3, NODES);
    let few = uniform(table, 4, NODES);
    let coin = uniform(table, 5, NODES);
    let die = uniform(table, 6, NODES);
    let lacks = [missing(table, 3), missing(table, 4)];
    let coins: BooleanArray = (0..NODES).map(|r| (!lacks[0][r]).then(|| coin[r] < 0.4)).collect();
    let levels = ["a", "b", "c"];
    let level = |row: usize| levels[((die[row] * 3.0) as usize).min(2)];
    let dice: StringArray = (0..NODES).map(|r| (!lacks[1][r]).then(|| level(r))).collect();
    tables::table(vec![
        numbers(table, 0, Kind::Number, |row| bell[row].into()),
        numbers(table, 1, Kind::Number, |row| f64::from(tails[row]).powi(3)),
        numbers(table, 2, Kind::Count, |row| (8.0 * few[row].powi(3)).floor().into()),
        Column::new("coin", Kind::Boolean, Arc::new(coins)),
        Column::new("die", Kind::Category, Arc::new(dice)),
    ])
}

/// The rate of false positives is at most 5%.
#[test]
fn auto_leaves_noise_to_the_column_mean() {
    let fixed = small_models();
    let mut wrong: Vec<String> = Vec::new();
    let mut columns = 0;
    for table in 0..TABLES {
        let filled = filled_after(UPDATES, &fixed, &noise(table), &random_graph(table), "auto");
        for choice in filled.expect("filled").choices {
            columns += 1;
            if choice.method != "column-mean" {
                wrong.push(format!(
                    "{table} {} {} {:?}",
                    choice.group, choice.method, choice.reason
                ));
            }
        }
    }
    assert_eq!(columns, 5 * TABLES as usize);
    let rate = wrong.len() as f64 / columns as f64;
    assert!(rate <= 0.05, "{} of {columns} columns of noise, {rate:.3}: {wrong:#?}", wrong.len());
}

/// Columns that neighbours share are not left to the column mean.
#[test]
fn auto_uses_the_graph_where_neighbours_are_alike() {
    let fixed = small_models();
    for table in 0..4 {
        let graph = tables::village(NODES);
        let (bell, groups) = (normal(table, 2, NODES), normal(table, 3, NODES));
        let smooth = |row: usize| f64::from(groups[row / 8] + 0.3 * bell[row]);
        let lacks = missing(table, 1);
        let level = |row: usize| if smooth(row) > 0.0 { "high" } else { "low" };
        let levels: StringArray = (0..NODES).map(|r| (!lacks[r]).then(|| level(r))).collect();
        let columns = vec![
            numbers(table, 0, Kind::Number, smooth),
            Column::new("level", Kind::Category, Arc::new(levels)),
        ];
        let filled = filled_after(UPDATES, &fixed, &tables::table(columns), &graph, "auto");
        for choice in filled.expect("filled").choices {
            assert_ne!(choice.method, "column-mean", "{table} {}", choice.group);
        }
    }
}
