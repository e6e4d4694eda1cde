//! Secrecy: what a method may not read has no influence on its estimates. The values of cells are
//! changed that a method must not see, and the estimates have to stay the same to the last bit.
//!
//! Every method of the registry is tested, on a table that lacks whole rows and on one that lacks
//! single cells; SVGA-P has another network for each.

use std::sync::Arc;

use graphfill_data::{CellMask, NodeTable};
use graphfill_methods::features::Features;
use graphfill_methods::{Choice, Fitted, Method, Registry, Task};

use crate::support::{Dense, LEARNERS, small_models, updates_of};
use crate::tables::{mixed, village};

const ROWS: usize = 80;

/// Which cells are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    /// All cells of some rows.
    Rows,
    /// Single cells of most rows, a block counting as one cell.
    Cells,
}

const PATTERNS: [Pattern; 2] = [Pattern::Rows, Pattern::Cells];

impl Pattern {
    /// Whether a cell is to be estimated.
    fn is_unknown(self, row: usize, column: usize) -> bool {
        self.set_of(row, column) == 0
    }

    /// Whether a cell is in the validation set.
    fn is_validated(self, row: usize, column: usize) -> bool {
        self.set_of(row, column) == 1
    }

    /// Whether a cell is held out, for comparisons between methods.
    fn is_held_out(self, row: usize, column: usize) -> bool {
        self.set_of(row, column) == 2
    }

    fn set_of(self, row: usize, column: usize) -> usize {
        match self {
            Pattern::Rows => row % 5,
            Pattern::Cells => (row * 3 + column * 5) % 7,
        }
    }

    fn mask(self, features: &Features<'_>, is_in: fn(Self, usize, usize) -> bool) -> CellMask {
        CellMask::build(features.rows(), features.cells(), |row, cells| {
            for (column, group) in features.groups().iter().enumerate() {
                if is_in(self, row, column) {
                    cells.extend(group.cells.clone().map(|cell| cell as u32));
                }
            }
        })
    }
}

/// The methods of the registry that accept tables of a pattern, as small models.
fn methods(pattern: Pattern) -> Vec<Arc<dyn Method>> {
    let mut fixed = small_models();
    LEARNERS.into_iter().for_each(|name| fixed.set(name, "learning_rate", 0.03));
    fixed.set("grape", "hidden", 8.0);
    fixed.set("graph-rna", "hidden", 8.0);
    let registry = Registry::with_defaults().with_overrides(&fixed).expect("parameters");
    // GRAPE reads the other cells of a row, and refuses tables that lack whole rows.
    let accepts =
        |method: &&Arc<dyn Method>| pattern == Pattern::Cells || method.info().name != "grape";
    registry.all().iter().filter(accepts).cloned().collect()
}

/// The table as it is, and with the values of other rows in some cells.
fn tables(
    is_other: impl Fn(usize, usize) -> bool,
    other: impl Fn(usize) -> usize,
) -> [NodeTable; 2] {
    let other = |row: usize, column: usize| if is_other(row, column) { other(row) } else { row };
    let tables = [mixed(ROWS, |row, _| row, |_, _| false), mixed(ROWS, other, |_, _| false)];
    let [one, other] = [Features::of(&tables[0]), Features::of(&tables[1])];
    for (at, group) in one.groups().iter().enumerate() {
        let differs = |feature: usize, row: usize| {
            one.value(at, row, feature) != other.value(at, row, feature)
        };
        let changed = group.features.clone().any(|f| (0..ROWS).any(|row| differs(f, row)));
        assert!(changed, "something of {} is another", group.name);
    }
    tables
}

/// How the validation cells of a run are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Validation {
    None,
    /// Known, but for the validation itself, as when a table is filled.
    Known,
    /// Unknown anyway, as in an evaluation.
    Unknown,
}

/// What a method chose and what it estimates, as bits.
struct Outcome {
    choices: Vec<Choice>,
    /// All cells.
    estimates: Vec<u64>,
    /// The cells of the held-out set, as estimated without them.
    held_out: Vec<u64>,
}

fn outcome(
    method: &dyn Method,
    pattern: Pattern,
    table: &NodeTable,
    updates: u64,
    how: Validation,
) -> Outcome {
    let features = Features::of(table);
    let graph = village(ROWS).undirected();
    let validation = [pattern.mask(&features, Pattern::is_validated)];
    let mut unknown = pattern.mask(&features, Pattern::is_unknown);
    if how == Validation::Unknown {
        unknown = unknown.union(&validation[0]);
    }
    let held_out = [pattern.mask(&features, Pattern::is_held_out)];
    let context = updates_of(updates);
    let task = Task {
        validation: if how == Validation::None { &[] } else { &validation },
        held_out: if how == Validation::None { &[] } else { &held_out },
        ranking_depth: 3,
        ..Task::new(&graph, &features, &unknown, &context)
    };
    let fitted = method.fit_task(&task).expect("fitted");
    let width = features.width();
    let dense = |estimate: &dyn Fn(&dyn Fitted, &mut Dense)| {
        let mut dense = Dense { width, values: vec![0.0; ROWS * width] };
        estimate(fitted.as_ref(), &mut dense);
        dense.values
    };
    let estimates = dense(&|fitted, sink| fitted.estimate(&task, sink).expect("estimates"));
    assert!(estimates.iter().all(|value| value.is_finite()), "{}", method.info().name);
    let compared = match fitted.held_out_sets(&task) {
        0 => Vec::new(),
        _ => dense(&|fitted, sink| fitted.estimate_held_out(&task, 0, sink).expect("estimates")),
    };
    let is_in_set = |&at: &usize| {
        let feature = at % width;
        let of_feature = |group: &usize| features.groups()[*group].features.contains(&feature);
        let group = (0..features.groups().len()).find(of_feature).expect("a group");
        held_out[0].contains(at / width, features.groups()[group].cell_of(feature))
    };
    let cells = (0..compared.len()).filter(is_in_set).map(|at| compared[at].to_bits());
    Outcome {
        choices: fitted.choices().to_vec(),
        held_out: cells.collect(),
        estimates: estimates.into_iter().map(f64::to_bits).collect(),
    }
}

/// Other values in the cells to estimate, the same choices, scores and estimates.
#[test]
fn unknown_cells_leave_no_trace() {
    for pattern in PATTERNS {
        let [honest, other] =
            tables(|row, column| pattern.is_unknown(row, column), |row| (row + 27) % ROWS);
        for method in methods(pattern) {
            for how in [Validation::None, Validation::Known, Validation::Unknown] {
                let name = format!("{} {pattern:?} {how:?}", method.info().name);
                let run = |table: &NodeTable| outcome(&*method, pattern, table, 20, how);
                let (honest, other) = (run(&honest), run(&other));
                assert_eq!(honest.choices, other.choices, "{name} chose by unknown cells");
                assert!(honest.estimates == other.estimates, "{name} has seen unknown cells");
                assert!(honest.held_out == other.held_out, "{name} compares by unknown cells");
            }
        }
    }
}

/// Held-out cells choose nothing within a method, and their estimates have not seen them: with other
/// values in them, choices, scores and estimates of held-out cells are the same.
#[test]
fn held_out_cells_choose_nothing() {
    for pattern in PATTERNS {
        let is_other = |row: usize, column: usize| pattern.is_held_out(row, column);
        let [honest, other] = tables(is_other, |row| (row + 27) % ROWS);
        // `auto` holds out cells of its own, and compares by them.
        for method in methods(pattern).into_iter().filter(|method| method.info().name != "auto") {
            let name = format!("{} {pattern:?}", method.info().name);
            let run = |table: &NodeTable| outcome(&*method, pattern, table, 10, Validation::Known);
            let (honest, other) = (run(&honest), run(&other));
            assert_eq!(honest.choices, other.choices, "{name} chose by held-out cells");
            assert!(!honest.held_out.is_empty(), "{name} estimates nothing that is held out");
            assert!(honest.held_out == other.held_out, "{name} has seen held-out cells");
            let learns = name.starts_with("column-mean") || honest.estimates != other.estimates;
            assert!(learns, "{name} should learn from them in the end");
        }
    }
}
