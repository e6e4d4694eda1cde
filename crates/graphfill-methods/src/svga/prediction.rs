//! Latents to decode once something was learned, without dropout and noise:
//!
//!   Z = unit(encoder(graph)),   of SVGA-U  Z = unit(U)                         nodes × width
//!
//! The programs share their parameters with those that train, in one plan.

use graphfill_engine::{Program, Recorded, Result};

use super::model::ENCODER;
use super::stochastic::MEAN;
use super::{Model, NormalisedGraph};
use crate::encoder::Mode;

/// The name of the program that [`Model::prediction`] records.
pub const PREDICTION: &str = "prediction";

impl Model {
    /// The latents that [`Model::training`] has learned so far, as the output `latent`.
    pub fn prediction(&self, graph: &NormalisedGraph) -> Result<Recorded> {
        self.prediction_of(graph, ENCODER)
    }

    /// The means of the latents that [`Model::stochastic_training`] has learned so far, as the
    /// output `latent`.
    pub fn stochastic_prediction(&self, graph: &NormalisedGraph) -> Result<Recorded> {
        self.prediction_of(graph, MEAN)
    }

    fn prediction_of(&self, graph: &NormalisedGraph, name: &str) -> Result<Recorded> {
        self.check()?;
        let program = Program::new(PREDICTION);
        let rows = self.encoder().encode(&program, graph, name, None, Mode::Prediction);
        program.output("latent", self.normalised(rows));
        program.finish()
    }
}
