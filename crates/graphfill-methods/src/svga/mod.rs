//! SVGA, the structured variational graph autoencoder: a graph encoder over identity inputs, linear
//! decoders, and a Gaussian Markov random field (GMRF) that keeps neighbours' latents alike.
//!
//! Here is the model as programs of the engine: [`Model::training`] records one update,
//! [`Model::prediction`] the latents as they are learned. `model` and `stochastic` list the
//! differences from the paper, of SVGA and of SVGA-U. SVGA-R is SVGA with λ = 0.

mod method;
mod model;
mod prediction;
mod stochastic;

use graphfill_engine::EngineError;

pub use crate::encoder::{EncoderKind, NormalisedGraph};
pub use method::Svga;
pub use model::{Known, Model, Normalisation, TRAINING};
pub use prediction::PREDICTION;

/// What is wrong with what a model is made of: its settings.
fn wrong(place: &str, problem: String) -> EngineError {
    EngineError::Program { operation: "svga", place: place.to_owned(), problem }
}
