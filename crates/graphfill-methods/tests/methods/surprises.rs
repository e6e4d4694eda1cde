//! Tables that propagation is easily wrong about.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, UInt8Array};
use graphfill_data::{CellMask, Column, ColumnData, Graph, Kind, NodeTable};
use graphfill_methods::Context;
use graphfill_methods::fill::{Filled, fill};

use crate::tables::{block, cliques, graph, table};

fn filled(table: &NodeTable, graph: &Graph, method: &str) -> Filled {
    let (graph, context) = (graph.undirected(), Context::default());
    fill(&crate::support::method(method), table, &graph, &context).expect("filled").0
}

#[test]
fn hubs_stay_within_what_was_observed() {
    // Three stars of a hundred leaves; S sums a hub's neighbours to ten times their mean.
    let value = |node: u32| if node % 101 == 0 { None } else { Some(80.0 + f64::from(node % 5)) };
    let low = |node: u32| value(node).map(|v| if node < 101 { v } else { v - 60.0 });
    let column = |cells: ArrayRef| Column::new("age", Kind::Count, cells);
    let spokes =
        (0..3u32).flat_map(|star| (1..=100).map(move |leaf| (star * 101, star * 101 + leaf)));
    let graph = graph(303, spokes);
    let wide: Float64Array = (0..303).map(low).collect();
    let narrow: UInt8Array = (0..303).map(|node| low(node).map(|v| v as u8)).collect();
    for cells in [Arc::new(wide) as ArrayRef, Arc::new(narrow)] {
        let table = table(vec![column(cells)]);
        for method in ["fp", "arb", "pcfi", "auto"] {
            let result = filled(&table, &graph, method);
            let ages = result.table.column("age").expect("a column").numbers();
            assert!(ages.iter().all(|age| (20.0..=84.0).contains(age)), "{method}: {ages:?}");
        }
    }
}

#[test]
fn large_offsets_lose_no_digits() {
    // Milliseconds since 1970: the spread is a trillionth of the value.
    let cells: Float64Array =
        (0..60u32).map(|n| (n % 6 != 0).then(|| 1.7e12 + f64::from(n / 6 * 5 + n % 2))).collect();
    let table = table(vec![Column::new("time", Kind::Number, Arc::new(cells))]);
    let result = filled(&table, &graph(60, cliques(10, 6)), "auto");
    let times = result.table.column("time").expect("a column").numbers();
    for node in (0..60).step_by(6) {
        let expected = 1.7e12 + f64::from(node as u32 / 6 * 5);
        assert!((times[node] - expected).abs() < 3.0, "{} is not near {expected}", times[node]);
    }
}

#[test]
fn tiny_numbers_do_not_become_zero() {
    let value = |n: u32| (n % 6 != 0).then(|| 1e-20 * f64::from(1 + n / 6));
    let text: arrow_array::StringArray =
        (0..60).map(|n| value(n).map(|v| format!("{v:e}"))).collect();
    let typed: Float64Array = (0..60).map(value).collect();
    for cells in [Arc::new(text) as ArrayRef, Arc::new(typed)] {
        let table = table(vec![Column::new("mass", Kind::Number, cells)]);
        let result = filled(&table, &graph(60, cliques(10, 6)), "neighbour-mean");
        let masses = result.table.column("mass").expect("a column").numbers();
        assert!((masses[54] / 1e-19 - 1.0).abs() < 1e-3, "{}", masses[54]);
    }
}

/// One tag a group: whatever the width, the group's tag is right and no other.
#[test]
fn a_perfect_pattern_is_taken_in_blocks_of_any_width() {
    for width in [5, 12, 100] {
        let tag = |row: usize| vec![(row / 6 % width) as u32];
        let missing = CellMask::of_rows(120, width, (0..120).step_by(6));
        let table = table(vec![block(120, width, tag, missing)]);
        let result = filled(&table, &graph(120, cliques(20, 6)), "auto");
        let ColumnData::Block(tags) = result.table.columns()[0].data() else { panic!("no block") };
        for row in (0..120).step_by(6) {
            assert_eq!(tags.columns(row), tag(row), "width {width}, row {row}");
        }
    }
}

/// Rows with a hole are still observed rows when ones are counted, and a hole in a row full of
/// ones is a one.
#[test]
fn holes_in_binary_rows_are_judged_by_the_row() {
    let width = 30;
    let half: Vec<u32> = (0..15).collect();
    let missing = CellMask::build(60, width, |row, cells| match row % 6 {
        0 => cells.extend(0..width as u32),
        _ => cells.push(3),
    });
    let table = table(vec![block(60, width, |_| half.clone(), missing)]);
    let result = filled(&table, &graph(60, cliques(10, 6)), "fp");
    let ColumnData::Block(tags) = result.table.columns()[0].data() else { panic!("no block") };
    for row in (0..60).step_by(6) {
        let ones = tags.columns(row).len();
        assert!((14..=16).contains(&ones), "row {row} has {ones} ones");
    }
    let full = CellMask::build(60, width, |row, cells| {
        if row % 6 == 1 {
            cells.push(3);
        }
    });
    let all: Vec<u32> = (0..width as u32).collect();
    let rest = |row: usize| if row % 2 == 0 { vec![0] } else { all.clone() };
    let table = crate::tables::table(vec![block(60, width, rest, full)]);
    let result = filled(&table, &graph(60, cliques(10, 6)), "fp");
    let ColumnData::Block(tags) = result.table.columns()[0].data() else { panic!("no block") };
    assert_eq!(tags.columns(1).len(), width);
}

#[test]
fn a_category_of_more_levels_than_a_panel_has_columns() {
    let level = |node: u32| format!("level {:03}", node / 4);
    let cells: arrow_array::StringArray =
        (0..400).map(|node| (node % 4 != 0).then(|| level(node))).collect();
    let table = table(vec![Column::new("kind", Kind::Category, Arc::new(cells))]);
    let result = filled(&table, &graph(400, cliques(100, 4)), "neighbour-mean");
    let kinds = result.table.column("kind").expect("a column").text();
    for node in (0..400).step_by(4) {
        assert_eq!(kinds.value(node), level(node as u32));
    }
}
