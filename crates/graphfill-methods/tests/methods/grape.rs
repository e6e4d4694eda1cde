//! GRAPE: a table as a graph of its rows and features.

use std::sync::Arc;

use arrow_array::Float64Array;
use graphfill_data::{CellMask, Column, Kind, NodeTable};
use graphfill_engine::MemoryLimit;
use graphfill_engine::random::{Key, normals};
use graphfill_methods::features::Features;
use graphfill_methods::fill::fill;
use graphfill_methods::{Context, Method, ParamOverrides, Task};

use crate::support::{Dense, method_with, texts, town, updates_of};
use crate::tables::{graph, mixed, table, village};

const ROWS: usize = 96;

fn small() -> ParamOverrides {
    let mut fixed = ParamOverrides::default();
    fixed.set("grape", "hidden", 16.0);
    fixed.set("grape", "learning_rate", 0.01);
    fixed
}

fn grape() -> Arc<dyn Method> {
    method_with("grape", &small())
}

/// Six columns, row by row, with holes.
fn numbers(value: impl Fn(usize, usize) -> f64, hole: impl Fn(usize, usize) -> bool) -> NodeTable {
    let column = |column: usize| {
        let cells = (0..ROWS).map(|row| (!hole(row, column)).then(|| value(row, column)));
        let cells: Float64Array = cells.collect();
        Column::new(format!("c{column}"), Kind::Number, Arc::new(cells))
    };
    table((0..6).map(column).collect())
}

fn is_hole(row: usize, column: usize) -> bool {
    (row * 5 + column * 2) % 7 == 0
}

fn noise() -> Vec<f32> {
    let mut noise = vec![0.0; ROWS * 6];
    normals(Key::new(5, 1, 0), 0, &mut noise);
    noise
}

/// Columns that are all one number of the row, up or down, and a graph that says nothing.
#[test]
fn what_columns_say_about_each_other_is_learned() {
    let noise = noise();
    let value = |row: usize, column: usize| {
        let sign = if column % 2 == 0 { 1.0 } else { -1.0 };
        f64::from(sign * noise[row * 6] + 0.1 * noise[row * 6 + column])
    };
    let (truth, holes) = (numbers(value, |_, _| false), numbers(value, is_hole));
    let error = |method: &str| {
        let (method, graph) = (method_with(method, &small()), graph(ROWS, [(0, 1)]).undirected());
        let (filled, _) = fill(&method, &holes, &graph, &updates_of(200)).expect("filled");
        let columns = truth.columns().iter().zip(filled.table.columns());
        let squares = |(truth, filled): (&Column, &Column)| -> f64 {
            let pairs = truth.numbers().into_iter().zip(filled.numbers());
            pairs.map(|(truth, estimate)| (truth - estimate).powi(2)).sum()
        };
        columns.map(squares).sum::<f64>()
    };
    let (own, mean) = (error("grape"), error("column-mean"));
    assert!(own < 0.3 * mean, "{own} of {mean}");
}

/// Of noise there is nothing to learn, unless a cell is told from itself.
#[test]
fn no_cell_is_predicted_from_itself() {
    let noise = noise();
    let table = numbers(|row, column| f64::from(noise[row * 6 + column]), is_hole);
    let features = Features::of(&table);
    let graph = graph(ROWS, [(0, 1)]).undirected();
    let unknown = features.missing();
    let context = updates_of(75);
    let task = Task::new(&graph, &features, &unknown, &context);
    let fitted = grape().fit_task(&task).expect("fitted");
    let history = fitted.history().expect("a history");
    let losses: Vec<f32> = history.lines.iter().map(|line| line.losses[0]).collect();
    assert!(losses.iter().all(|&loss| loss > 0.7), "{losses:?}");
}

#[test]
fn every_kind_of_column_is_filled_and_seeds_and_nothing_else_matter() {
    let table = mixed(ROWS, |row, _| row, is_hole);
    let run = |seed: u64, threads: usize| {
        let context = Context { seed, ..updates_of(25) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let graph = village(ROWS).undirected();
        let filled = pool.install(|| fill(&grape(), &table, &graph, &context));
        let (filled, _) = filled.expect("filled");
        assert!(filled.table.missing().is_empty(), "holes are left");
        assert_eq!(filled.estimated, table.missing().count());
        for (before, after) in table.columns().iter().zip(filled.table.columns()) {
            assert_eq!(before.kind(), after.kind());
        }
        texts(&filled.table)
    };
    let first = run(1, 1);
    assert_eq!(run(1, 2), first);
    assert_ne!(run(2, 1), first);
}

#[test]
fn unknown_cells_leave_no_trace() {
    let other = |row: usize, column: usize| if is_hole(row, column) { row ^ 9 } else { row };
    let tables = [mixed(ROWS, |row, _| row, |_, _| false), mixed(ROWS, other, |_, _| false)];
    let [honest, other] = tables.map(|table| {
        let features = Features::of(&table);
        let unknown = CellMask::build(ROWS, features.cells(), |row, cells| {
            for (column, group) in features.groups().iter().enumerate() {
                if is_hole(row, column) {
                    cells.extend(group.cells.clone().map(|cell| cell as u32));
                }
            }
        });
        let graph = village(ROWS).undirected();
        let context = updates_of(25);
        let task = Task::new(&graph, &features, &unknown, &context);
        let fitted = grape().fit_task(&task).expect("fitted");
        let width = features.width();
        let mut dense = Dense { width, values: vec![0.0; ROWS * width] };
        fitted.estimate(&task, &mut dense).expect("estimates");
        dense.values
    });
    assert!(honest.iter().all(|value| value.is_finite()));
    assert!(honest == other, "unknown cells were seen");
}

#[test]
fn missing_rows_and_too_little_memory_are_told_before_anything_starts() {
    let town = town(3);
    let refused = |table: &NodeTable, context: &Context<'_>| {
        let graph = graph(table.rows(), [(0, 1)]).undirected();
        let method = crate::support::method("grape");
        let error = fill(&method, table, &graph, context).err().expect("refused");
        format!("{error} {:?}", error.settings())
    };
    let message = refused(&town.table, &updates_of(1));
    let blank = town.table.missing().whole_rows();
    assert!(message.contains(&format!("{blank} of 120 nodes have no known cell")), "{message}");
    assert!(message.contains("svga-p"), "{message}");
    let little = Context { memory: Some(MemoryLimit::Allowed(1 << 16)), ..updates_of(1) };
    let message = refused(&numbers(|row, _| row as f64, is_hole), &little);
    assert!(message.contains("known cells of 6 features"), "{message}");
    assert!(message.contains("\"grape.hidden\"") && message.contains("32.0"), "{message}");
}
