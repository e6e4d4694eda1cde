//! The program says what [`Validator::score`] says of the same parameters.

use std::sync::Arc;

use graphfill_data::{CellMask, Column, NodeTable};
use graphfill_engine::{Initial, Plan, Program, Recorded, Session, TensorStore};

use super::*;
use crate::context::Context;
use crate::features::Features;
use crate::learning::{Bias, Counts, Decoded, LikelihoodOptions, Likelihoods, Weight};
use crate::method::Task;

#[path = "../../../tests/methods/tables.rs"]
#[allow(dead_code)]
mod tables;

use tables::{block, graph, mixed, table};

const WIDTH: usize = 5;

/// What a comparison is made with.
#[derive(Debug, Clone, Copy)]
struct Case {
    criterion: Criterion,
    bias: Bias,
    /// Factors of offsets: whether each has one for every feature.
    offsets: &'static [bool],
    /// Parameters are small whole numbers: many scores are the same.
    ties: bool,
    logit_bytes: usize,
}

const PLAIN: Case = Case {
    criterion: Criterion::Published,
    bias: Bias::Parameter("bias"),
    offsets: &[],
    ties: false,
    logit_bytes: LOGIT_BYTES,
};

/// All that may come together with a table.
fn cases() -> impl Iterator<Item = Case> {
    let criteria = [Criterion::Published, Criterion::AllMetrics].into_iter();
    criteria.flat_map(|criterion| {
        let plain = Case { criterion, ..PLAIN };
        [
            plain,
            Case { ties: true, ..plain },
            Case { bias: Bias::None, offsets: &[false], ..plain },
            Case { bias: Bias::PerNode("bias"), offsets: &[true, false], ..plain },
            Case { logit_bytes: 700, offsets: &[true], ..plain },
            Case { logit_bytes: 1, offsets: &[false], ties: true, ..plain },
        ]
    })
}

/// A program that has latents, and one that has all other parameters.
fn plan(nodes: usize, features: usize, case: Case) -> Plan {
    let program = Program::new("prediction");
    let by_node = usize::from(matches!(case.bias, Bias::PerNode(_)));
    let latent = program.parameter("z", [nodes, WIDTH + by_node], Initial::Normal(0.5));
    program.output("latent", latent);
    let prediction = program.finish().expect("a program");
    let program = Program::new("training");
    let weight = program.parameter("weight", [WIDTH, features], Initial::Normal(0.5));
    let bias = program.parameter("bias", [1, features], Initial::Normal(0.5));
    program.output("sum", weight.sum() + bias.sum());
    for (name, &by_feature) in FACTORS.iter().zip(case.offsets) {
        let columns = if by_feature { features } else { 1 };
        let factor = program.parameter(name, [1, columns], Initial::Normal(1.0));
        program.output(&format!("sum of {name}"), factor.sum());
    }
    Plan::new(vec![program.finish().expect("a program"), prediction]).expect("a plan")
}

const FACTORS: [&str; 2] = ["first factor", "second factor"];

fn spec(task: &Task<'_>, unknown: &CellMask, case: Case) -> DecoderSpec {
    let (nodes, features) = (task.features.rows(), task.features.width());
    let counts = if case.ties { Counts::Plain } else { Counts::Logarithmic };
    let options = LikelihoodOptions { counts, ..LikelihoodOptions::PLAIN };
    let number = |at: usize| {
        let wave = (at as f32 * 0.37).sin();
        if case.ties { wave.round() } else { wave }
    };
    let offset = |at: usize| (at..at + nodes * features).map(number).collect::<Vec<f32>>();
    let priors = FACTORS.iter().enumerate().take(case.offsets.len());
    DecoderSpec {
        predictions: vec!["prediction".to_owned()],
        weight: Weight::Parameter("weight"),
        bias: case.bias,
        prior_logits: priors.map(|(at, name)| (Arc::new(offset(at)), *name)).collect(),
        likelihoods: Likelihoods::fit(task.features, unknown, options),
        nodes,
        classes: 0,
        losses: Vec::new(),
        found: TensorStore::default(),
    }
}

/// Small whole numbers: their sums are the same in any order.
fn round_parameters(session: &mut Session) {
    let names: Vec<String> = session.parameters().map(str::to_owned).collect();
    for name in names {
        let values = session.buffer(&name).expect("a parameter");
        let rounded: Vec<f32> = values.iter().map(|value| value.round()).collect();
        session.write(&name, &rounded).expect("a parameter");
    }
}

/// The score by the program and by the host.
fn both(task: &Task<'_>, cells: &CellMask, case: Case) -> Option<(f64, f64)> {
    let unknown = task.unknown.union(cells);
    let validator = Validator::new(task, cells.clone(), &unknown, case.criterion);
    let spec = spec(task, &unknown, case);
    let plan = plan(task.features.rows(), task.features.width(), case);
    let (recorded, program): (Recorded, _) =
        ValidationProgram::record_in_runs(&validator, &plan, "validation", &spec, case.logit_bytes)
            .expect("a program")?;
    let plan = plan.with_auxiliary(vec![recorded]).expect("a plan");
    let mut session = crate::device::session(plan, 3);
    for (name, values) in &program.inputs {
        session.write(name, values).expect("an input");
    }
    if case.ties {
        round_parameters(&mut session);
    }
    let model = spec.read(&mut session, None).expect("a model");
    let models = Decoded::of(task, &spec, vec![model]);
    let host = validator.score(&models).expect("a score");
    Some((program.score(&mut session).expect("a score"), host))
}

/// Compares in all cases, with cells of the table hidden for validation and others unknown.
fn compare(table: &NodeTable, cells: impl Fn(&Features<'_>) -> CellMask) {
    let features = Features::of(table);
    let graph = graph(features.rows(), [(0, 1)]).undirected();
    let unknown = features.missing();
    let cells = cells(&features).without(&unknown);
    let sets = [cells.clone()];
    let context = Context::default();
    let task = Task { validation: &sets, ..Task::new(&graph, &features, &unknown, &context) };
    for case in cases() {
        let (device, host) = both(&task, &cells, case).expect("a program");
        assert!((device - host).abs() < 1e-5 * host.abs().max(1.0), "{case:?}: {device}, {host}");
        assert!(host != 0.0 && host.is_finite(), "{case:?}: {host} tells nothing");
    }
}

fn whole_rows(features: &Features<'_>) -> CellMask {
    let rows = (0..features.rows()).filter(|row| row % 3 == 1);
    CellMask::of_rows(features.rows(), features.cells(), rows)
}

fn single_cells(features: &Features<'_>) -> CellMask {
    CellMask::build(features.rows(), features.cells(), |row, cells| {
        let hidden = |&cell: &usize| row % 4 == 0 || (row * 5 + cell * 3) % 7 < 2;
        cells.extend((0..features.cells()).filter(hidden).map(|cell| cell as u32));
    })
}

/// Words of 60 columns, some of them missing.
fn words(rows: usize, holes: bool) -> Column {
    let ones = |row: usize| (0..60u32).filter(|at| (row as u32 * 7 + at * 11) % 9 == 0).collect();
    let missing = CellMask::build(rows, 60, |row, cells| {
        let is_hole = |&at: &u32| holes && (row as u32 + at) % 13 == 0;
        cells.extend((0..60).filter(is_hole));
    });
    block(rows, 60, ones, missing)
}

#[test]
fn a_ranking_block() {
    for holes in [false, true] {
        let table = table(vec![words(50, holes)]);
        compare(&table, whole_rows);
        compare(&table, single_cells);
    }
}

#[test]
fn a_numeric_block() {
    let all = mixed(60, |row, _| row, |_, _| false);
    let numbers = all.columns()[5].clone();
    compare(&table(vec![numbers.clone()]), whole_rows);
    compare(&table(vec![numbers]), single_cells);
}

#[test]
fn a_table_of_every_kind() {
    let table = mixed(80, |row, _| row, |row, column| (row * 3 + column) % 11 == 0);
    compare(&table, whole_rows);
    compare(&table, single_cells);
}

#[test]
fn blocks_between_single_columns() {
    let mut columns = mixed(64, |row, _| row, |_, _| false).columns().to_vec();
    columns.swap(1, 4);
    columns.insert(3, words(64, true));
    compare(&table(columns), single_cells);
}

/// More rows than rankings and numeric blocks are scored on.
#[test]
fn many_rows() {
    let table = mixed(17_000, |row, _| row, |_, _| false);
    let features = Features::of(&table);
    let graph = graph(features.rows(), [(0, 1)]).undirected();
    let unknown = features.missing();
    let most = (0..features.rows()).filter(|row| row % 50 != 0);
    let cells = [CellMask::of_rows(features.rows(), features.cells(), most)];
    let context = Context::default();
    let task = Task { validation: &cells, ..Task::new(&graph, &features, &unknown, &context) };
    for criterion in [Criterion::Published, Criterion::AllMetrics] {
        let case = Case { criterion, ties: true, ..PLAIN };
        let (device, host) = both(&task, &cells[0], case).expect("a program");
        assert!((device - host).abs() < 1e-5 * host.abs().max(1.0), "{case:?}: {device}, {host}");
    }
}

#[test]
fn groups_without_validation_cells_count_nothing() {
    let table = mixed(48, |row, _| row, |_, _| false);
    // The first column, and one word of the block.
    compare(&table, |features| {
        CellMask::build(features.rows(), features.cells(), |row, cells| {
            if row % 2 == 0 {
                cells.extend([0, 4 + (row / 8 % 4) as u32]);
            }
        })
    });
}

#[test]
fn what_is_never_estimated_is_left_to_the_host() {
    let table = mixed(48, |row, _| row, |_, _| false);
    let features = Features::of(&table);
    let graph = graph(features.rows(), [(0, 1)]).undirected();
    let nothing = features.missing();
    // Everything is watched, nothing estimated.
    let context = Context::default();
    let task = Task::new(&graph, &features, &nothing, &context);
    assert_eq!(both(&task, &whole_rows(&features), PLAIN), None);
    // There is nothing to score.
    assert_eq!(both(&task, &nothing, PLAIN), None);
}
