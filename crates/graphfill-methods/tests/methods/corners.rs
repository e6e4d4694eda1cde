//! Tables and graphs that leave a method little to learn from.

use std::sync::Arc;

use arrow_array::{Float64Array, StringArray};
use graphfill_data::{Column, Graph, Kind, NodeTable};

use crate::support::{LEARNERS, filled_after, small_models, town};
use crate::tables::{mixed, table, village};

fn methods() -> impl Iterator<Item = &'static str> {
    LEARNERS.into_iter().chain(["auto"])
}

fn fill(table: &NodeTable, graph: &Graph, method: &str) -> NodeTable {
    let result = filled_after(30, &small_models(), table, graph, method);
    let filled = result.unwrap_or_else(|error| panic!("{method}: {error}")).table;
    assert!(filled.missing().is_empty(), "{method} leaves holes");
    for column in filled.columns().iter().filter(|column| column.kind().is_numeric()) {
        assert!(column.numbers().iter().all(|v| v.is_finite()), "{method}: {}", column.name());
    }
    filled
}

fn number(name: &str, cells: Vec<Option<f64>>) -> Column {
    Column::new(name, Kind::Number, Arc::new(Float64Array::from(cells)))
}

#[test]
fn a_graph_without_edges() {
    let town = town(6);
    let alone = Graph::without_arcs(town.table.rows());
    for method in methods() {
        let filled = fill(&town.table, &alone, method);
        let ages = filled.column("age").expect("a column").numbers();
        assert!(ages.iter().all(|age| (0.0..=120.0).contains(age)), "{method}: {ages:?}");
    }
}

#[test]
fn a_single_node() {
    let graph = Graph::without_arcs(1);
    let own = number("own", vec![Some(3.0)]);
    let lost = number("lost", vec![None]);
    for method in methods() {
        let filled = fill(&table(vec![own.clone(), lost.clone()]), &graph, method);
        assert_eq!(filled.column("own").expect("a column").numbers(), [3.0]);
        fill(&table(vec![lost.clone()]), &graph, method);
    }
}

#[test]
fn a_column_of_which_nothing_is_known() {
    let rows = 64;
    let (graph, full) = (village(rows), mixed(rows, |row, _| row, |row, _| row % 7 == 0));
    for column in 0..6 {
        // No level of a category is known either: such a column has nothing to fill it with.
        if column == 3 {
            continue;
        }
        let table = mixed(rows, |row, _| row, |row, at| at == column || row % 7 == 0);
        assert!(table.missing().count() > full.missing().count());
        for method in methods() {
            fill(&table, &graph, method);
        }
    }
}

/// Fewer than twenty rows that anything is known of: nothing can be validated.
#[test]
fn few_known_rows() {
    let rows = 64;
    let graph = village(rows);
    for known in [1, 2, 19] {
        let table = mixed(rows, |row, _| row, |row, _| row * 11 % rows >= known);
        for method in methods() {
            let filled = fill(&table, &graph, method);
            let heights = filled.column("height").expect("a column").numbers();
            assert!(heights.iter().all(|h| (100.0..250.0).contains(h)), "{method}: {heights:?}");
        }
    }
}

/// Values that are all the same have no spread to be measured by.
#[test]
fn columns_that_never_vary() {
    let rows = 48;
    let cells = |row: usize, value: f64| (row % 6 != 0).then_some(value);
    let same = number("same", (0..rows).map(|row| cells(row, 7.25)).collect());
    let zero = number("zero", (0..rows).map(|row| cells(row, 0.0)).collect());
    let word: StringArray = (0..rows).map(|row| (row % 6 != 0).then_some("only")).collect();
    let word = Column::new("word", Kind::Category, Arc::new(word));
    let table = table(vec![same, zero, word]);
    for method in methods() {
        let filled = fill(&table, &village(rows), method);
        let numbers = |name: &str| filled.column(name).expect("a column").numbers();
        assert!(numbers("same").iter().all(|v| (v - 7.25).abs() < 0.1), "{method}");
        assert!(numbers("zero").iter().all(|v| v.abs() < 0.1), "{method}");
        let words = filled.column("word").expect("a column").text();
        assert!((0..rows).all(|row| words.value(row) == "only"), "{method}");
    }
}
