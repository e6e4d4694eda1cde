//! Every encoder against its definition in double precision: Z, and the gradients of all parameters
//! by central differences; on a graph with weights and isolated nodes.

mod learning;
mod mistakes;
mod prediction;

use std::collections::BTreeMap;

use graphfill_engine::{Plan, Program, Session};
use graphfill_methods::encoder::{DEFAULT_DEPTH, Encoder, EncoderKind, Identity, Mode, OwnPath};

use crate::svga_problem::{Edges, Numbers};
use crate::svga_reference::{Dense, DenseGraph, EncoderInputs};

const NODES: usize = 11;
const PROGRAM: &str = "encoding";
const NAME: &str = "some";
const SEED: u64 = 7;

/// What the engine may be off by at the worst cell, relative to the largest one.
const TOLERANCE: f64 = 1e-5;

/// Half the distance of two values whose difference is taken.
const STEP: f64 = 1e-6;

pub(crate) fn encoder(kind: EncoderKind) -> Encoder {
    Encoder {
        kind,
        depth: DEFAULT_DEPTH,
        width: if kind == EncoderKind::Gat { 16 } else { 6 },
        hidden_dropout: 0.3,
        own_path: OwnPath::None,
        identity: Identity::Used,
    }
}

#[derive(Debug, Clone, Copy)]
struct Case {
    encoder: Encoder,
    beside: bool,
    mode: Mode,
}

/// Every case of a kind that makes sense.
fn cases(kind: EncoderKind) -> Vec<Case> {
    let mut cases = Vec::new();
    for depth in 1..=3 {
        for choice in 0..16 {
            let chosen = |bit: u32| choice >> bit & 1 == 1;
            let encoder = Encoder {
                depth,
                own_path: if chosen(0) { OwnPath::Added } else { OwnPath::None },
                identity: if chosen(1) { Identity::Unused } else { Identity::Used },
                ..encoder(kind)
            };
            let mode = if chosen(2) { Mode::Training } else { Mode::Prediction };
            let beside = chosen(3);
            if encoder.check().is_ok() && (beside || encoder.identity == Identity::Used) {
                cases.push(Case { encoder, beside, mode });
            }
        }
    }
    cases
}

/// A session of  loss = Σ Z ⊙ slope  and all its gradients, at random parameters.
fn engine(case: &Case, edges: &Edges) -> Session {
    let Case { encoder, beside, mode } = case;
    let shape = [NODES, encoder.width];
    let program = Program::new(PROGRAM);
    let brought = beside.then(|| program.input("beside", shape));
    let latent = encoder.encode(&program, &edges.graph(), NAME, brought, *mode);
    program.output("latent", latent);
    let loss = latent.multiply(program.input("slope", shape)).sum();
    let mut names = program.parameters();
    names.extend(beside.then(|| "beside".to_owned()));
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    for (name, gradient) in names.iter().zip(program.differentiate(loss, &borrowed)) {
        program.output(&format!("gradient of {name}"), gradient);
    }
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::device::session(plan, SEED);
    names.push("slope".to_owned());
    let mut numbers = Numbers::new(19);
    for name in names {
        let count = session.buffer(&name).expect("a buffer").len();
        let values: Vec<f32> = (0..count).map(|_| 1.4 * numbers.uniform() - 0.7).collect();
        session.write(&name, &values).expect("a buffer");
    }
    session
}

/// What dropout keeps between layers in the first step: a program of the same name whose random
/// operations are recorded in the same order draws the same.
fn masks(case: &Case) -> Vec<Dense> {
    let Encoder { depth, width, hidden_dropout, .. } = case.encoder;
    let rate = if case.mode == Mode::Training { hidden_dropout } else { 0.0 };
    let program = Program::new(PROGRAM);
    for layer in 2..=depth {
        let kept = program.constant([NODES, width], 1.0).dropout(rate);
        program.output(&format!("layer {layer}"), kept);
    }
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::device::session(plan, SEED);
    session.run(PROGRAM).expect("a run");
    let mask = |layer: usize| {
        let kept = session.read(PROGRAM, &format!("layer {layer}")).expect("an output");
        Dense::of_singles(width, &kept)
    };
    (2..=depth).map(mask).collect()
}

pub(crate) fn assert_close(found: &[f32], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.1, |most: f64, value| most.max(value.abs()));
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let tolerance = TOLERANCE * crate::device::coarseness();
        let close = (f64::from(found) - expected).abs() <= tolerance * largest;
        assert!(close, "{what}, number {at}: {found}, not {expected}");
    }
}

fn assert_agrees(case: &Case) {
    let edges = Edges::random(NODES, true);
    let mut session = engine(case, &edges);
    session.run(PROGRAM).expect("a run");
    let (graph, masks) = (DenseGraph::new(&edges), masks(case));
    let dense = |name: &str| {
        let columns = match name.rsplit('.').next() {
            Some("source" | "target") => case.encoder.width / 8,
            _ => case.encoder.width,
        };
        Dense::of_singles(columns, &session.buffer(name).expect("a buffer"))
    };
    let mut parameters: BTreeMap<String, Dense> =
        session.parameters().map(|name| (name.to_owned(), dense(name))).collect();
    if case.beside {
        parameters.insert("beside".to_owned(), dense("beside"));
    }
    let encode = |parameters: &BTreeMap<String, Dense>| {
        let (encoder, beside) = (&case.encoder, parameters.get("beside"));
        let (graph, masks) = (&graph, &masks[..]);
        EncoderInputs { encoder, name: NAME, graph, parameters, beside, masks }.encode()
    };
    let slope = dense("slope");
    let loss = |parameters: &BTreeMap<String, Dense>| -> f64 {
        encode(parameters).times(&slope).values().iter().sum()
    };
    let read = |name: &str| session.read(PROGRAM, name).expect("an output");
    assert_close(&read("latent"), encode(&parameters).values(), &format!("{case:?}: Z"));

    for name in parameters.keys().cloned().collect::<Vec<_>>() {
        let original = parameters[&name].clone();
        let mut differences = Vec::new();
        for at in 0..original.values().len() {
            let (row, column) = (at / original.columns, at % original.columns);
            let mut loss_at = |distance: f64| {
                let mut moved = original.clone();
                moved.set(row, column, original.at(row, column) + distance);
                parameters.insert(name.clone(), moved);
                loss(&parameters)
            };
            differences.push((loss_at(STEP) - loss_at(-STEP)) / (2.0 * STEP));
        }
        parameters.insert(name.clone(), original);
        let what = format!("{case:?}: the gradient of {name}");
        assert_close(&read(&format!("gradient of {name}")), &differences, &what);
    }
}

/// So many cases of a kind agree.
fn assert_all_agree(kind: EncoderKind, expected: usize) {
    let cases = cases(kind);
    assert_eq!(cases.len(), expected);
    cases.iter().for_each(assert_agrees);
}

#[test]
fn convolutions_agree() {
    assert_all_agree(EncoderKind::Gcn, 32);
}

#[test]
fn samples_and_aggregates_agree() {
    assert_all_agree(EncoderKind::Sage, 32);
}

#[test]
fn attentions_agree() {
    assert_all_agree(EncoderKind::Gat, 32);
}

#[test]
fn simple_convolutions_agree() {
    assert_all_agree(EncoderKind::Sgc, 36);
}

#[test]
fn rows_of_their_own_agree() {
    assert_all_agree(EncoderKind::Linear, 12);
}
