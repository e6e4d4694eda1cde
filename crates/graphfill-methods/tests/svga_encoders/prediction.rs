//! What is predicted is Z, without dropout and noise, at the parameters that training left.

use std::collections::BTreeMap;
use std::sync::Arc;

use graphfill_engine::{Likelihood, Plan, Session};
use graphfill_methods::encoder::{Encoder, EncoderKind};
use graphfill_methods::svga::{Model, Normalisation, PREDICTION, TRAINING};

use super::{assert_close, encoder};
use crate::svga_problem::{Edges, TRAINED, Variant, listed, observed_nodes, words};
use crate::svga_reference::{Dense, DenseGraph, EncoderInputs};

const NODES: usize = 30;

fn both_programs(model: &Model, variant: Variant, edges: &Edges) -> Session {
    let (graph, observed) = (edges.graph(), observed_nodes(NODES));
    let targets = listed(20, &words(observed.len(), 20));
    let likelihood = Likelihood::new(observed.len()).balanced_bernoulli(targets, 1.0);
    let likelihood = Arc::new(likelihood.expect("a likelihood"));
    let training = variant.training(model, &graph, &observed, &likelihood);
    let prediction = match variant {
        Variant::Restricted => model.prediction(&graph),
        Variant::Stochastic => model.stochastic_prediction(&graph),
    };
    let programs = [training, prediction].map(|program| program.expect("a program"));
    crate::device::session(Plan::new(programs.into()).expect("a plan"), 29)
}

fn latent(session: &mut Session) -> Vec<f32> {
    session.run(PREDICTION).expect("a run");
    session.read(PREDICTION, "latent").expect("an output")
}

/// Z by its definition, at the parameters of the session.
fn expected(model: &Model, name: &str, edges: &Edges, session: &Session) -> Dense {
    let Model { encoder: kind, depth, width, .. } = *model;
    let encoder = &Encoder { depth, width, ..encoder(kind) };
    let own = session.parameters().filter(|parameter| parameter.starts_with(name));
    let parameters: BTreeMap<String, Dense> = own
        .map(|parameter| {
            let values = session.buffer(parameter).expect("a parameter");
            let vectors = parameter.ends_with("source") || parameter.ends_with("target");
            let columns = if vectors { width / 8 } else { width };
            (parameter.to_owned(), Dense::of_singles(columns, &values))
        })
        .collect();
    let masks = vec![Dense::new(NODES, width, |_, _| 1.0); depth - 1];
    let (graph, parameters, masks) = (&DenseGraph::new(edges), &parameters, &masks[..]);
    let rows = EncoderInputs { encoder, name, graph, parameters, beside: None, masks }.encode();
    match model.normalisation {
        Normalisation::None => rows,
        Normalisation::Unit => Dense::new(NODES, width, |row, k| {
            rows.at(row, k) / rows.row(row).iter().map(|value| value * value).sum::<f64>().sqrt()
        }),
    }
}

#[test]
fn predictions_share_what_training_learns() {
    let edges = Edges::random(NODES, true);
    for (variant, name) in [(Variant::Restricted, "encoder"), (Variant::Stochastic, "mean")] {
        for encoder in EncoderKind::ALL {
            for normalisation in [Normalisation::Unit, Normalisation::None] {
                let model = Model { encoder, normalisation, ..TRAINED };
                let mut session = both_programs(&model, variant, &edges);
                let first = latent(&mut session);
                (0..3).for_each(|_| session.run(TRAINING).expect("an update"));
                let found = latent(&mut session);
                let what = format!("{variant:?}, {encoder}, {normalisation:?}");
                assert_close(&found, expected(&model, name, &edges, &session).values(), &what);
                assert!(found != first, "{what}: something was learnt");
                assert!(latent(&mut session) == found, "{what}: nothing is drawn");
            }
        }
    }
}

#[test]
fn training_does_not_notice_predictions() {
    let edges = Edges::random(NODES, false);
    for variant in [Variant::Restricted, Variant::Stochastic] {
        let trained = |predictions: usize| {
            let mut session = both_programs(&TRAINED, variant, &edges);
            for _ in 0..4 {
                session.run(TRAINING).expect("an update");
                (0..predictions).for_each(|_| drop(latent(&mut session)));
            }
            latent(&mut session)
        };
        assert!(trained(0) == trained(2), "{variant:?}");
    }
}
