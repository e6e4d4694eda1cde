//! Tables and graphs that are made by hand.

use std::sync::Arc;

use arrow_array::{BooleanArray, Float64Array, StringArray};
use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::{
    CellMask, Column, Direction, EdgeList, Graph, IdColumn, Kind, NodeIds, NodeTable,
};

pub(crate) fn table(columns: Vec<Column>) -> NodeTable {
    let rows = columns[0].rows();
    let ids = NodeIds::numbered(rows);
    NodeTable::new(IdColumn::default(), ids, columns, None).expect("columns of one length")
}

pub(crate) fn graph(nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    let mut list = EdgeList::unweighted();
    edges.into_iter().for_each(|(a, b)| list.push(a, b, 1.0));
    list.into_graph(nodes, Direction::Undirected).expect("valid arcs")
}

/// Groups of `size` nodes, each joined to all others of its group.
pub(crate) fn cliques(count: u32, size: u32) -> Vec<(u32, u32)> {
    let pairs = move |group: u32| {
        let first = group * size;
        (0..size).flat_map(move |a| (a + 1..size).map(move |b| (first + a, first + b)))
    };
    (0..count).flat_map(pairs).collect()
}

pub(crate) fn block(
    rows: usize,
    width: usize,
    ones: impl Fn(usize) -> Vec<u32>,
    missing: CellMask,
) -> Column {
    let mut builder = BlockBuilder::new(width, BlockLayout::List);
    for row in 0..rows {
        let mut cells: Vec<(u32, f64)> = ones(row)
            .into_iter()
            .filter(|&column| !missing.contains(row, column as usize))
            .map(|column| (column, 1.0))
            .collect();
        builder.push_row(&mut cells);
    }
    Column::block("tags", builder.finish(missing))
}

/// A table of every kind of column: two numbers, a truth value, a category, tags and a block of
/// numbers. The cell of a row and a column is that of the row `source(row, column)`, or a hole where
/// `hole(row, column)`; a block counts as one column.
pub(crate) fn mixed(
    rows: usize,
    source: impl Fn(usize, usize) -> usize,
    hole: impl Fn(usize, usize) -> bool,
) -> NodeTable {
    let cell = |row: usize, column: usize| (!hole(row, column)).then(|| source(row, column));
    let group = |row: usize| row / 8 % 4;
    let all = || 0..rows;
    let height: Float64Array =
        all().map(|r| cell(r, 0).map(|s| 150.5 + (10 * group(s) + s * 7 % 11) as f64)).collect();
    let visits: Float64Array =
        all().map(|r| cell(r, 1).map(|s| (3 * group(s) + s * 5 % 3) as f64)).collect();
    let keen: BooleanArray =
        all().map(|r| cell(r, 2).map(|s| (group(s) + s / 3) % 2 == 0)).collect();
    let colours = ["red", "green", "blue", "grey"];
    let colour: StringArray =
        all().map(|r| cell(r, 3).map(|s| colours[(group(s) + s % 2) % 4])).collect();
    let holes = |column: usize, width: usize| {
        CellMask::of_rows(rows, width, all().filter(|&row| hole(row, column)))
    };
    let tags = |row: usize| {
        let s = source(row, 4);
        vec![group(s) as u32, 4 + (s % 4) as u32, 8 + (s * 3 % 4) as u32]
    };
    let mut numbers = BlockBuilder::new(3, BlockLayout::List);
    for row in all() {
        let s = source(row, 5);
        let mut cells: Vec<(u32, f64)> = match hole(row, 5) {
            true => Vec::new(),
            false => {
                (0..3).map(|k| (k, (group(s) as u32 + k) as f64 + 0.25 * (s % 3) as f64)).collect()
            }
        };
        numbers.push_row(&mut cells);
    }
    table(vec![
        Column::new("height", Kind::Number, Arc::new(height)),
        Column::new("visits", Kind::Count, Arc::new(visits)),
        Column::new("keen", Kind::Boolean, Arc::new(keen)),
        Column::new("colour", Kind::Category, Arc::new(colour)),
        block(rows, 12, tags, holes(4, 12)),
        Column::block("position", numbers.finish(holes(5, 3))),
    ])
}

/// Groups of eight who all know one another, joined to a ring.
pub(crate) fn village(rows: usize) -> Graph {
    let count = rows as u32 / 8;
    let ring = (0..count).map(move |group| (group * 8, (group + 1) % count * 8 + 1));
    graph(rows, cliques(count, 8).into_iter().chain(ring))
}
