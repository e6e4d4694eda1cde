//! Gated recurrent units that read random walks both ways and tell the words of every node passed.

use std::sync::Arc;

use graphfill_engine::{Direction, Initial, Matrix, Program, SparseMatrix};

use crate::community::{
    Community, NODES, Numbers, WORDS, adam, all_nodes, compressed, loss_now, minimise, session,
    told_apart, train,
};

const LENGTH: usize = 5;
const HIDDEN: usize = 12;

/// A walk from every node; the nodes of the first time first.
fn walks(graph: &Community) -> Vec<u32> {
    let mut numbers = Numbers::new(5);
    let mut nodes = all_nodes();
    let mut passed = nodes.clone();
    for _ in 1..LENGTH {
        for node in &mut nodes {
            let neighbours = &graph.neighbours[*node as usize];
            *node = neighbours[numbers.below(neighbours.len())];
        }
        passed.extend(&nodes);
    }
    passed
}

/// The scores of words at each place of each walk.
fn scores<'p>(program: &'p Program, walks: &[u32], dropout: f32) -> Matrix<'p> {
    let places = program.parameter("places", [NODES, 8], Initial::Normal(0.5));
    let steps = places.gather_rows(walks).dropout(dropout);
    let forward = steps.gru_layer("forward", HIDDEN, LENGTH, Direction::Forward);
    let backward = steps.gru_layer("backward", HIDDEN, LENGTH, Direction::Backward);
    forward.concatenate(backward).linear("words", WORDS)
}

/// Row i of its product is the mean over the places of walks where node i was passed.
fn means(walks: &[u32]) -> Arc<SparseMatrix> {
    let passed = |node: u32| -> Vec<u32> {
        (0..walks.len() as u32).filter(|&place| walks[place as usize] == node).collect()
    };
    let rows: Vec<Vec<u32>> = all_nodes().into_iter().map(passed).collect();
    let values = rows.iter().flat_map(|row| vec![1.0 / row.len() as f32; row.len()]).collect();
    let (offsets, columns) = compressed(&rows);
    Arc::new(SparseMatrix::new(offsets, columns, Some(values), walks.len()))
}

#[test]
fn units_along_walks_learn() {
    let graph = Community::new();
    let walks = walks(&graph);
    let training = Program::new("training");
    let loss = scores(&training, &walks, 0.2).loss(&graph.cells(&walks));
    minimise(&training, loss, &adam(0.01), Some(1.0));
    let prediction = Program::new("prediction");
    let means = prediction.sparse_product(&means(&walks), scores(&prediction, &walks, 0.0));
    prediction.output("scores", means);
    prediction.output("loss", means.loss(&graph.cells(&all_nodes())));

    let mut session = session(vec![training, prediction]);
    let before = loss_now(&mut session, "prediction");
    train(&mut session, "training", 100, 0.7);
    let after = loss_now(&mut session, "prediction");
    assert!(after < 0.7 * before, "the loss of predictions was {before} and is {after}");
    let scores = session.read("prediction", "scores").expect("scores");
    assert_eq!(told_apart(&scores, &all_nodes()), 1.0);
}
