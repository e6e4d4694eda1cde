//! Graph networks that tell words from places in the graph: convolution (Kipf and Welling, 2017),
//! sample and aggregate (Hamilton and others, 2017), attention (Veličković and others, 2018).

use graphfill_engine::{Initial, Matrix, Program, SparseMatrix};
use std::sync::Arc;

use crate::community::{Community, NODES, WORDS, check_word_model};

const HIDDEN: usize = 16;

/// A learnt row for each node: the first weight of a network whose inputs are the identity.
fn places(program: &Program) -> Matrix<'_> {
    program.parameter("places", [NODES, HIDDEN], Initial::Glorot)
}

#[test]
fn graph_convolution_on_identity_inputs() {
    let graph = Community::new();
    let normalised = graph.normalised();
    check_word_model(&graph, 0.2, 80, |program, dropout| {
        let bias = program.parameter("bias", [1, HIDDEN], Initial::ZEROS);
        let first = program.sparse_product(&normalised, places(program)).add_bias(bias).relu();
        let second = first.dropout(dropout).linear("second", HIDDEN);
        program.sparse_product(&normalised, second).elu().linear("words", WORDS)
    });
}

/// [own | mean of neighbours], then a linear layer.
fn aggregate<'p>(means: &Arc<SparseMatrix>, name: &str, rows: Matrix<'p>) -> Matrix<'p> {
    let neighbours = rows.program().sparse_product(means, rows);
    rows.concatenate(neighbours).linear(name, HIDDEN).relu()
}

#[test]
fn sample_and_aggregate() {
    let graph = Community::new();
    let means = graph.means();
    check_word_model(&graph, 0.2, 80, |program, dropout| {
        let first = aggregate(&means, "first", places(program)).dropout(dropout);
        aggregate(&means, "second", first.normalise_rows()).linear("words", WORDS)
    });
}

#[test]
fn graph_attention() {
    let graph = Community::new();
    let attention = graph.attention();
    check_word_model(&graph, 0.2, 80, |program, dropout| {
        let first = program.graph_attention("first", &attention, places(program), 4, 4).elu();
        let first = first.dropout(dropout);
        let second = program.graph_attention("second", &attention, first, 4, 4).elu();
        second.linear("words", WORDS)
    });
}
