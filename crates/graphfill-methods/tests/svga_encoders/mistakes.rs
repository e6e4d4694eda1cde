//! Settings that make no sense are told, and how they would.

use graphfill_engine::Program;
use graphfill_methods::encoder::{Encoder, EncoderKind, Identity, Mode};
use graphfill_methods::svga::{Model, PREDICTION};

use super::{NODES, encoder};
use crate::svga_problem::{Edges, TRAINED};

fn assert_told(encoder: &Encoder, expected: &str) {
    let error = encoder.check().expect_err("a mistake").to_string();
    assert!(error.contains(expected), "{error}");
    // Also where nobody has checked.
    let program = Program::new("mistaken");
    let beside = Some(program.input("beside", [NODES, encoder.width]));
    let graph = Edges::random(NODES, false).graph();
    let _ = encoder.encode(&program, &graph, "some", beside, Mode::Training);
    let error = program.finish().expect_err("a mistake").to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn settings_without_sense() {
    let plain = encoder(EncoderKind::Gcn);
    let gat = Encoder { width: 12, ..encoder(EncoderKind::Gat) };
    assert_told(&gat, "the width is 12, which the 8 heads of gat cannot share evenly");
    for depth in [1, 3] {
        let linear = Encoder { depth, ..encoder(EncoderKind::Linear) };
        assert_told(&linear, "but linear has no layers to count; leave it at 2");
    }
    assert_told(&Encoder { depth: 0, ..plain }, "the depth is 0");
    assert_told(&Encoder { depth: usize::MAX, ..plain }, "not from 1 to 100");
    assert_told(&Encoder { width: 0, ..plain }, "the width is 0");
    assert_told(&Encoder { hidden_dropout: 1.0, ..plain }, "the hidden dropout is 1");
    let blind = Encoder { depth: 1, identity: Identity::Unused, ..plain };
    assert_told(&blind, "does not see the graph; give at least 2");
}

#[test]
fn nodes_that_bring_nothing_or_something_else() {
    let graph = Edges::random(NODES, false).graph();
    let unused = Encoder { identity: Identity::Unused, ..encoder(EncoderKind::Linear) };
    let program = Program::new("mistaken");
    let _ = unused.encode(&program, &graph, "some", None, Mode::Training);
    let error = program.finish().expect_err("a mistake").to_string();
    assert!(error.contains("nodes must bring something"), "{error}");
    let program = Program::new("mistaken");
    let beside = Some(program.input("beside", [NODES + 1, unused.width]));
    let _ = unused.encode(&program, &graph, "some", beside, Mode::Training);
    let error = program.finish().expect_err("a mistake").to_string();
    assert!(error.contains("what nodes bring is 12 × 6, not 11 × 6"), "{error}");
}

#[test]
fn a_model_tells_of_its_encoder() {
    let graph = Edges::random(NODES, false).graph();
    let model = Model { encoder: EncoderKind::Gat, width: 12, ..TRAINED };
    let error = model.prediction(&graph).expect_err("a mistake").to_string();
    assert!(error.contains("the 8 heads of gat"), "{error}");
    assert_eq!(PREDICTION, "prediction");
}
