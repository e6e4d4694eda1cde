//! Classifiers with dropout, weight decay and clipped gradients: a perceptron that reads words, and
//! graph convolution that knows every other node's community.

use std::sync::Arc;

use graphfill_engine::{Initial, Likelihood, MISSING_CATEGORY, Matrix, Program, WeightDecay};

use crate::community::{
    Community, NODES, WORDS, adam, all_nodes, community, loss_now, minimise, session, train,
};

const HIDDEN: usize = 16;
const CLASSES: usize = 2;

/// Trains on the known communities, and reads the others too from a program without dropout.
fn check_classifier(
    graph: &Community,
    known: impl Fn(usize) -> bool,
    model: impl for<'p> Fn(&'p Program, f32) -> Matrix<'p>,
) {
    let category =
        |node: usize| if known(node) { community(node) as u32 } else { MISSING_CATEGORY };
    let categories = (0..NODES).map(category).collect();
    let likelihood = Likelihood::new(NODES).categorical(CLASSES, categories, 1.0);
    let likelihood = Arc::new(likelihood.expect("categories"));
    let (training, prediction) = (Program::new("training"), Program::new("prediction"));
    let loss = model(&training, 0.3).loss(&likelihood);
    let adam = adam(0.01).with_weight_decay(WeightDecay::Coupled(5e-4));
    minimise(&training, loss, &adam, Some(1.0));
    let scores = model(&prediction, 0.0);
    prediction.output("scores", scores);
    prediction.output("loss", scores.loss(&likelihood));

    let mut session = session(vec![training, prediction]);
    if session.buffer("words").is_ok() {
        session.write("words", &graph.dense_words()).expect("words");
    }
    train(&mut session, "training", 100, 0.3);
    assert!(loss_now(&mut session, "prediction") < 0.2);
    let scores = session.read("prediction", "scores").expect("scores");
    let right = |node: &usize| {
        let own = community(*node);
        scores[node * CLASSES + own] > scores[node * CLASSES + 1 - own]
    };
    let known_nodes = || (0..NODES).filter(|&node| known(node));
    assert_eq!(known_nodes().filter(right).count(), known_nodes().count(), "training accuracy");
    let all_right = (0..NODES).filter(right).count();
    assert!(all_right * 10 >= NODES * 9, "{all_right} of {NODES} nodes are right");
}

#[test]
fn a_perceptron_learns() {
    check_classifier(
        &Community::new(),
        |_| true,
        |program, dropout| {
            let words = program.input("words", [NODES, WORDS]);
            words.dropout(dropout).linear("hidden", HIDDEN).relu().linear("classes", CLASSES)
        },
    );
}

#[test]
fn graph_convolution_learns_from_half_of_the_nodes() {
    let graph = Community::new();
    let (normalised, table) = (graph.normalised(), graph.table(&all_nodes()));
    check_classifier(
        &graph,
        |node| node % 2 == 0,
        |program, dropout| {
            let weight = [WORDS, HIDDEN];
            let weight = program.parameter("hidden", weight, Initial::Glorot);
            let hidden = program.sparse_product(&table, weight);
            let hidden = program.sparse_product(&normalised, hidden).relu().dropout(dropout);
            program.sparse_product(&normalised, hidden.linear("classes", CLASSES))
        },
    );
}
