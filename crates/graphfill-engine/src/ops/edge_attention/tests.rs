use std::sync::Arc;

use proptest::prelude::*;

use crate::random::{KEEP_GROUP, Key, keep_threshold, kept_in_group};
use crate::testing::{Reference, check, sparse_matrices};
use crate::{Initial, Matrix, Plan, Program, Shape, SparseMatrix};

/// The definition, `factor` being what dropout does to an entry and head.
fn attention(
    graph: &SparseMatrix,
    x: &[Reference],
    heads: usize,
    factor: impl Fn(usize, usize) -> f64,
) -> Reference {
    let [features, source, target] = x else { panic!("three inputs") };
    let width = features.shape.columns / heads;
    let shape = Shape::new(graph.shape().rows, features.shape.columns);
    Reference::new(shape, |row, column| {
        let head = column / width;
        let neighbours = graph.view().columns(row).iter().map(|&other| other as usize);
        let score = |other: usize| {
            let raw = source.at(other, head) + target.at(row, head);
            if raw > 0.0 { raw.exp() } else { (0.2 * raw).exp() }
        };
        let whole: f64 = neighbours.clone().map(score).sum();
        let entries = graph.view().entries(row).zip(neighbours);
        let weighted = |(entry, other): (usize, usize)| {
            factor(entry, head) * score(other) / whole * features.at(other, column)
        };
        entries.map(weighted).sum()
    })
}

fn shapes(graph: &SparseMatrix, heads: usize, width: usize) -> [Shape; 3] {
    let Shape { rows, columns } = graph.shape();
    [[columns, heads * width], [columns, heads], [rows, heads]].map(Shape::from)
}

proptest! {
    #[test]
    fn weighs_neighbours(
        (graph, _) in sparse_matrices(),
        heads in prop_oneof![1usize..4, 4usize..15],
        width in prop_oneof![1usize..4, 7usize..10],
    ) {
        check(
            &shapes(&graph, heads, width),
            |program, x| program.edge_attention(&graph, x[0], x[1], x[2], heads),
            |x| attention(&graph, x, heads, |_, _| 1.0),
        );
    }

    #[test]
    fn drops_weights(
        (graph, _) in sparse_matrices(), heads in 1usize..10, rate in 0.05f32..0.95,
    ) {
        check_dropout(&graph, heads, 2, rate);
    }
}

/// The reference draws the mask of the first random operation, seed and step of the test.
fn check_dropout(graph: &Arc<SparseMatrix>, heads: usize, width: usize, rate: f32) {
    let key = Key::new(5, Program::new("test").new_stream(), 0);
    let threshold = keep_threshold(rate);
    let factor = |entry: usize, head: usize| {
        let draw = entry * heads + head;
        let factors = kept_in_group(key, (draw / KEEP_GROUP) as u32, threshold);
        let kept = factors[draw % KEEP_GROUP] == 1.0;
        if kept { 65536.0 / f64::from(65536 - threshold) } else { 0.0 }
    };
    check(
        &shapes(graph, heads, width),
        |program, x| program.edge_attention_with_dropout(graph, x[0], [x[1], x[2]], heads, rate),
        |x| attention(graph, x, heads, factor),
    );
}

/// Rows in no order, a self loop, a node alone.
fn symmetric() -> Arc<SparseMatrix> {
    Arc::new(SparseMatrix::symmetric(vec![0, 3, 5, 5, 6], vec![3, 0, 1, 1, 0, 0], None))
}

#[test]
fn a_graph_that_is_its_own_transpose() {
    check_dropout(&symmetric(), 2, 3, 0.5);
}

#[test]
fn widths_that_have_loops_of_their_own() {
    for width in [8, 16, 32, 37, 132] {
        check_dropout(&symmetric(), 2, width, 0.3);
    }
}

#[test]
fn more_edges_than_are_staged_at_a_time() {
    let columns = (0..90u32).map(|entry| entry * entry % 7 % 3).collect();
    let graph = Arc::new(SparseMatrix::new(vec![0, 60, 60, 90], columns, None, 3));
    check_dropout(&graph, 21, 1, 0.4);
}

/// A row and columns of hundreds of entries beside short ones.
#[test]
fn long_rows() {
    let columns = (0..640u32).map(|entry| if entry < 600 { entry % 2 } else { 2 }).collect();
    let graph = Arc::new(SparseMatrix::new(vec![0, 600, 600, 603, 640], columns, None, 3));
    for (heads, width) in [(3, 4), (2, 5)] {
        check_dropout(&graph, heads, width, 0.4);
    }
}

#[test]
fn each_input_may_be_the_only_one_that_is_learnt() {
    let graph = symmetric();
    let shapes = shapes(&graph, 2, 3);
    for learnt in 0..3 {
        let others: Vec<f32> = vec![0.3, -0.4, 0.2];
        check(
            &shapes[learnt..=learnt],
            |program, x| {
                let pick = |at: usize| -> Matrix<'_> {
                    if at == learnt { x[0] } else { program.constant(shapes[at], others[at]) }
                };
                program.edge_attention(&graph, pick(0), pick(1), pick(2), 2)
            },
            |x| {
                let pick = |at: usize| {
                    let other = Reference::new(shapes[at], |_, _| f64::from(others[at]));
                    if at == learnt { x[0].clone() } else { other }
                };
                attention(&graph, &[pick(0), pick(1), pick(2)], 2, |_, _| 1.0)
            },
        );
    }
}

#[test]
fn large_scores_do_not_overflow() {
    let graph = Arc::new(SparseMatrix::new(vec![0, 3], vec![0, 1, 2], None, 3));
    let values = [vec![1.0, 2.0, 3.0], vec![200.0, 199.0, -500.0], vec![50.0]];
    crate::testing::check_at(
        &shapes(&graph, 1, 1),
        &values,
        |program, x| program.edge_attention(&graph, x[0], x[1], x[2], 1),
        |x| attention(&graph, x, 1, |_, _| 1.0),
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let columns: Vec<u32> = (0..3000u32).map(|entry| entry * entry % 997 % 150).collect();
    let offsets = (0..=200).map(|row| row * 15).collect();
    let graph = Arc::new(SparseMatrix::new(offsets, columns, None, 150));
    let run = |threads: usize| {
        let program = Program::new("test");
        let [features, source, target] = shapes(&graph, 5, 9);
        let x = program.parameter("features", features, Initial::Normal(1.0));
        let source = program.parameter("source", source, Initial::Normal(1.0));
        let target = program.parameter("target", target, Initial::Normal(1.0));
        let out = program.edge_attention_with_dropout(&graph, x, [source, target], 5, 0.4);
        let names = ["features", "source", "target"];
        let gradients = program.differentiate(out.multiply(out).sum(), &names);
        program.output("out", out);
        names.iter().zip(gradients).for_each(|(name, gradient)| program.output(name, gradient));
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 2);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| session.run("test").expect("a run"));
        ["out", "features", "source", "target"]
            .map(|name| session.read("test", name).expect("an output"))
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn mistakes_are_refused() {
    let message = |columns: usize, scores: usize, heads: usize, rate: f32| {
        let program = Program::new("attention");
        let x = program.constant([4, columns], 1.0);
        let scores = program.constant([4, scores], 1.0);
        let _ = program.edge_attention_with_dropout(&symmetric(), x, [scores, scores], heads, rate);
        program.finish().expect_err("a mistake").to_string()
    };
    let found = message(5, 2, 2, 0.0);
    assert!(found.contains("5 columns cannot be split among 2 heads"), "{found}");
    let found = message(6, 3, 2, 0.0);
    assert!(found.contains("4 × 2 does not fit 4 × 3: source scores"), "{found}");
    let found = message(6, 2, 2, 1.0);
    assert!(found.contains("the rate of dropout is 1"), "{found}");
}
