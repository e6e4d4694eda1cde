//! SVGA, the structured variational graph autoencoder: a graph encoder over identity inputs, linear
//! decoders, and a Gaussian Markov random field that keeps neighbours' latents alike.
//!
//! Here is the model as a training program of the engine: [`Model::training`] records one update.

pub mod encoder;
mod model;
mod normalised_graph;
mod unrestricted;

use graphfill_engine::EngineError;

pub use model::{Model, Normalisation, TRAINING};
pub use normalised_graph::NormalisedGraph;

/// What is wrong with what a model is made of: its settings, its graph.
fn wrong(place: &str, problem: String) -> EngineError {
    EngineError::Program { operation: "svga", place: place.to_owned(), problem }
}
