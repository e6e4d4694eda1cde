//! A model learns with every encoder, of every depth.

use graphfill_engine::Plan;
use graphfill_methods::encoder::DEFAULT_DEPTH;
use graphfill_methods::svga::{EncoderKind, Model, TRAINING};

use crate::svga_problem::{TRAINED, Variant};
use crate::svga_training::{Communities, lambda_of};

#[test]
fn every_encoder_learns_two_communities() {
    let Communities { graph, observed, likelihood } = Communities::new();
    for variant in [Variant::Restricted, Variant::Stochastic] {
        for encoder in EncoderKind::ALL {
            for depth in 1..=3 {
                if encoder == EncoderKind::Linear && depth != DEFAULT_DEPTH {
                    continue;
                }
                let lambda = lambda_of(variant, 0.1);
                let model = Model { encoder, depth, lambda, ..TRAINED };
                let program = variant.training(&model, &graph, &observed, &likelihood);
                let plan = Plan::new(vec![program.expect("a program")]).expect("a plan");
                let mut session = crate::device::session(plan, 3);
                let mut losses = || {
                    session.run(TRAINING).expect("an update");
                    ["loss", "features"].map(|name| session.scalar(TRAINING, name).expect(name))
                };
                let first = losses();
                let last = (0..79).map(|_| losses()).last().expect("updates");
                let fell = first.iter().zip(&last).all(|(first, last)| *last <= 0.7 * first);
                let what = format!("{variant:?}, {encoder}, depth {depth}");
                assert!(fell, "{what}: {first:?} became {last:?}");
            }
        }
    }
}
