//! SVGA, the structured variational graph autoencoder: a graph encoder over identity inputs, linear
//! decoders, and a Gaussian Markov random field that keeps neighbours' latents alike.
//!
//! Here is the model as a training program of the engine: [`Model::training`] records one update.

mod model;
mod normalised_graph;
mod unrestricted;

pub use model::{Model, Normalisation, TRAINING};
pub use normalised_graph::NormalisedGraph;
