//! What a method may not see has no way into its estimates: other hidden values, same estimates.

use graphfill_data::{CellMask, NodeTable};
use graphfill_methods::features::Features;
use graphfill_methods::learning::TrainingOptions;
use graphfill_methods::{Fitted, Method, Task, registry};

use crate::support::{Dense, LEARNERS, small_models, texts};
use crate::tables::{mixed, village};

const ROWS: usize = 80;

/// Rows of which nothing is known, and a single cell of each of some others.
fn is_secret(row: usize, column: usize) -> bool {
    row % 5 == 0 || row % 5 == 1 && column == row % 4
}

/// Rows that are validated on, and single cells.
fn is_validated(row: usize, column: usize) -> bool {
    row % 10 == 3 || row % 10 == 4 && column == row % 4
}

fn mask(features: &Features<'_>, is_in: impl Fn(usize, usize) -> bool) -> CellMask {
    CellMask::build(features.rows(), features.cells(), |row, cells| {
        for (column, group) in features.groups().iter().enumerate() {
            if is_in(row, column) {
                cells.extend(group.cells.clone().map(|cell| cell as u32));
            }
        }
    })
}

/// The table as it is, and with the values of other rows in some cells.
fn tables(
    is_other: impl Fn(usize, usize) -> bool,
    other: impl Fn(usize) -> usize,
) -> [NodeTable; 2] {
    let other = |row: usize, column: usize| if is_other(row, column) { other(row) } else { row };
    let tables = [mixed(ROWS, |row, _| row, |_, _| false), mixed(ROWS, other, |_, _| false)];
    let mut pairs = texts(&tables[0]).into_iter().zip(texts(&tables[1]));
    assert!(pairs.all(|(one, other)| one != other), "something of every column is another");
    tables
}

/// How the validation cells of a run are treated.
#[derive(Clone, Copy, PartialEq)]
enum Validation {
    None,
    /// Known, but for the validation itself, as when a table is filled.
    Known,
    /// Unknown anyway, as in an evaluation.
    Unknown,
}

struct Outcome {
    /// How long was trained, where anything was.
    updates: Vec<Option<f64>>,
    estimates: Vec<f64>,
    validation: Vec<f64>,
}

fn outcome(method: &str, table: &NodeTable, updates: u64, how: Validation) -> Outcome {
    let features = Features::of(table);
    let graph = village(ROWS).undirected();
    let validation = [mask(&features, is_validated)];
    let mut unknown = mask(&features, is_secret);
    if how == Validation::Unknown {
        unknown = unknown.union(&validation[0]);
    }
    let training = TrainingOptions { most_updates: Some(updates), ..TrainingOptions::default() };
    let mut fixed = small_models();
    LEARNERS.into_iter().for_each(|name| fixed.fix(name, "learning_rate", 0.03));
    let method: &dyn Method = registry::find(method).expect("a method");
    let task = Task {
        validation: if how == Validation::None { &[] } else { &validation },
        ranking_depth: 3,
        fixed: &fixed,
        training: &training,
        ..Task::new(&graph, &features, &unknown)
    };
    let fitted = method.fit(&task).expect("fitted");
    let dense = |estimate: &dyn Fn(&dyn Fitted, &mut Dense)| {
        let width = features.width();
        let mut dense = Dense { width, values: vec![0.0; ROWS * width] };
        estimate(fitted.as_ref(), &mut dense);
        dense.values
    };
    let estimates = dense(&|fitted, sink| fitted.estimate(&task, sink).expect("estimates"));
    let validation = match how {
        Validation::None => Vec::new(),
        _ => dense(&|fitted, sink| fitted.estimate_validation(&task, 0, sink).expect("estimates")),
    };
    let updates = fitted.choices().iter().map(|choice| choice.parameters.get("updates")).collect();
    Outcome { updates, estimates, validation }
}

#[test]
fn unknown_cells_leave_no_trace() {
    let [honest, other] = tables(is_secret, |row| (row + 27) % ROWS);
    for method in LEARNERS.into_iter().chain(["arb", "arwmf", "graph-rna", "auto"]) {
        for how in [Validation::None, Validation::Known, Validation::Unknown] {
            let run = |table: &NodeTable| outcome(method, table, 30, how);
            let (honest, other) = (run(&honest), run(&other));
            assert_eq!(honest.updates, other.updates, "{method}");
            assert!(honest.estimates.iter().all(|value| value.is_finite()), "{method}");
            assert!(honest.estimates == other.estimates, "{method} has seen unknown cells");
            assert!(honest.validation == other.validation, "{method} validates on unknown cells");
        }
    }
}

/// Validation decides how long to train, and nothing else: trained as long, models say the same.
/// The other values are a neighbour's, lest they speak for another number of updates.
#[test]
fn validation_cells_are_not_seen_by_what_they_judge() {
    let [honest, other] = tables(is_validated, |row| row ^ 1);
    // SVGA-P also trusts its training as far as validation says, and gnn takes the best network.
    let learners = LEARNERS.into_iter().filter(|method| !["svga-p", "gnn"].contains(method));
    for method in learners.chain(["graph-rna"]) {
        for how in [Validation::Known, Validation::Unknown] {
            let run = |table: &NodeTable| outcome(method, table, 10, how);
            let (honest, other) = (run(&honest), run(&other));
            assert_eq!(honest.updates, other.updates, "{method}: not to be compared");
            assert!(honest.validation == other.validation, "{method} has seen validation cells");
            if how == Validation::Unknown {
                assert!(honest.estimates == other.estimates, "{method} has seen validation cells");
            } else {
                assert!(honest.estimates != other.estimates, "{method} should learn from them");
            }
        }
    }
}
