//! The network along walks, as programs:
//!
//!   P = tanh(F W + b)                                        places × 2·hidden
//!   H = [ GRU→(dropout(P[walks])) | GRU←(…) ]                length·walks × 2·hidden
//!   Z = tanh [ mean of H over a node's walks | mean of H over their beginnings ]    nodes × 4·hidden
//!   scores = dropout(Z) W_x + b_x                            nodes × features

use std::sync::Arc;

use graphfill_engine::{
    Adam, Decoder, Direction, Initial, Matrix, Program, Recorded, Result, Schedule, SparseMatrix,
};

use super::walks::Walks;
use crate::learning::Observed;

/// Sizes and rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    /// The width of a recurrent state, in each direction.
    pub(super) hidden: usize,
    /// Places of a walk.
    pub(super) length: usize,
    /// The share of inputs and latents that are dropped.
    pub(super) dropout: f32,
    /// The learning rate of Adam.
    pub(super) learning_rate: f32,
}

/// Gradients that are longer are shortened to this length, as in the authors' program.
const CLIP: f32 = 0.6;
/// Where W begins: rows of F have length 1, so that tanh bends its sums but a little.
const PLACES: Initial = Initial::Normal(0.5);

impl Model {
    /// One step of learning from the walks of some nodes whose cells are known.
    pub(super) fn training(
        &self,
        name: &str,
        inputs: &Arc<SparseMatrix>,
        walks: &Walks,
        known: &Observed,
    ) -> Result<Recorded> {
        let program = Program::new(name);
        let latent = self.latent(&program, inputs, walks, self.dropout).dropout(self.dropout);
        let (width, columns) = (4 * self.hidden, known.likelihood.shape().columns);
        let weight = program.parameter("features.weight", [width, columns], Initial::Glorot);
        let bias = program.parameter("features.bias", [1, columns], Initial::ZEROS);
        let decoder = Decoder { bias: Some(bias), ..Decoder::new(weight) };
        let loss = latent.decoder_loss(decoder, &known.likelihood);
        program.output("loss", loss);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let adam = Adam::new(Schedule::Constant(self.learning_rate));
        program.minimise(loss, &adam, Some(CLIP), &names);
        program.finish()
    }

    /// Z of some nodes, as the output `latent`.
    pub(super) fn prediction(
        &self,
        name: &str,
        inputs: &Arc<SparseMatrix>,
        walks: &Walks,
    ) -> Result<Recorded> {
        let program = Program::new(name);
        program.output("latent", self.latent(&program, inputs, walks, 0.0));
        program.finish()
    }

    fn latent<'p>(
        &self,
        program: &'p Program,
        inputs: &Arc<SparseMatrix>,
        walks: &Walks,
        dropout: f32,
    ) -> Matrix<'p> {
        let (attributes, width) = (inputs.shape().columns, 2 * self.hidden);
        let weight = program.parameter("places.weight", [attributes, width], PLACES);
        let bias = program.parameter("places.bias", [1, width], Initial::ZEROS);
        let places = program.sparse_product(inputs, weight).add_bias(bias).tanh();
        let steps = places.gather_rows(&walks.places).dropout(dropout);
        let states =
            steps.gru_layer("forward", self.hidden, self.length, Direction::Forward).concatenate(
                steps.gru_layer("backward", self.hidden, self.length, Direction::Backward),
            );
        let all = program.sparse_product(&walks.means(self.length), states);
        let beginnings = program.sparse_product(&walks.means(1), states);
        all.concatenate(beginnings).tanh()
    }
}
