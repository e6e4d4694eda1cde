//! A small graph network with everything that training takes, for tests of the engine as a whole.

#[path = "../device/mod.rs"]
mod device;

use std::sync::Arc;

use graphfill_engine::{
    Adam, Initial, Plan, Program, Schedule, Session, SparseMatrix, WeightDecay,
};

/// Nodes; enough that every kernel has work for several threads.
const NODES: usize = 1500;
const FEATURES: usize = 24;
const HIDDEN: usize = 40;
const CLASSES: usize = 7;

/// A ring in which every node also knows the one seven further on, and itself.
fn ring() -> Arc<SparseMatrix> {
    let mut columns = Vec::new();
    for node in 0..NODES {
        let mut row: Vec<u32> = [0, 1, 7, NODES - 1, NODES - 7]
            .iter()
            .map(|step| ((node + step) % NODES) as u32)
            .collect();
        row.sort_unstable();
        columns.extend(row);
    }
    let offsets = (0..=NODES).map(|node| node * 5).collect();
    let values = vec![0.2; columns.len()];
    Arc::new(SparseMatrix::symmetric(offsets, columns, Some(values)))
}

/// Two layers with biases, dropout and rows of unit length, learnt with clipping and weight decay.
pub(crate) fn session(seed: u64) -> Session {
    let graph = ring();
    let program = Program::new("train");
    let weights = [
        program.parameter("first.weights", [FEATURES, HIDDEN], Initial::Glorot),
        program.parameter("second.weights", [HIDDEN, CLASSES], Initial::Glorot),
    ];
    let biases = [
        program.parameter("first.bias", [1, HIDDEN], Initial::ZEROS),
        program.parameter("second.bias", [1, CLASSES], Initial::ZEROS),
    ];
    let x = program.input("x", [NODES, FEATURES]).dropout(0.2);
    let first = program.sparse_product(&graph, x.product(weights[0])).add_bias(biases[0]).relu();
    let first = first.normalise_rows().dropout(0.5);
    let second = program.sparse_product(&graph, first.product(weights[1])).add_bias(biases[1]);
    let error = second - program.input("y", [NODES, CLASSES]);
    let loss = error.multiply(error).mean();
    program.output("loss", loss);
    let schedule = Schedule::Cosine { from: 0.02, to: 0.001, steps: 30 };
    let adam = Adam::new(schedule).with_weight_decay(WeightDecay::Coupled(5e-4));
    let names = ["first.weights", "first.bias", "second.weights", "second.bias"];
    program.minimise(loss, &adam, Some(0.5), &names);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = device::session(plan, seed);
    let wave = |len: usize| (0..len).map(|at| (at as f32 * 0.37).sin()).collect::<Vec<_>>();
    session.write("x", &wave(NODES * FEATURES)).expect("x");
    session.write("y", &wave(NODES * CLASSES)).expect("y");
    session
}
