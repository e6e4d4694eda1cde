//! The autoencoder of observed rows:
//!
//!   H = dropout(relu(X W₁ + b₁))                                              rows × hidden
//!   mean = H W_m + b_m,  v = H W_v + b_v,  z = mean + e^(v/2) ⊙ noise         rows × latent
//!   G = dropout(relu(z W₂ + b₂)),  scores = G W_x + b_x                       rows × features
//!
//! X are the scores of known cells, zero where nothing is known. Learned latents are means, without
//! noise; P takes them to all nodes (see [`neighbours`](super::neighbours)): relu(P mean W₂ + b₂) is
//! nodes × hidden.

use std::sync::Arc;

use graphfill_engine::{Decoder, Initial, Matrix, Program, Recorded, Result, SparseMatrix};

use super::method::NoNeighbours;
use crate::learning::{Network, Observed};

/// The program of an update.
pub(super) const TRAINING: &str = "training";
/// The program that gives what is decoded linearly, as its output `latent`.
pub(super) const PREDICTION: &str = "prediction";

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    pub(super) hidden: usize,
    pub(super) latent: usize,
    /// The weight of the KL divergence, which is a sum over columns and a mean over rows.
    pub(super) kl_weight: f32,
    pub(super) no_observed_neighbours: NoNeighbours,
    pub(super) network: Network,
}

impl Model {
    /// One update; its outputs are `loss` and `features`.
    pub(super) fn training(&self, rows: &Arc<SparseMatrix>, known: &Observed) -> Result<Recorded> {
        let program = Program::new(TRAINING);
        let dropout = self.network.dropout;
        let features = rows.shape().columns;
        let hidden = self.encoded(&program, rows).dropout(dropout);
        let mean = hidden.linear("mean", self.latent);
        let log_variance = hidden.linear("log_variance", self.latent);
        let noise = program.normal_noise([rows.shape().rows, self.latent]);
        let latent = mean + log_variance.scale(0.5).exp().multiply(noise);
        let bound = Initial::Uniform(1.0 / (self.hidden.max(1) as f32).sqrt());
        let weight = program.parameter("features.weight", [self.hidden, features], bound);
        let bias = program.parameter("features.bias", [1, features], bound);
        let decoder = Decoder { bias: Some(bias), ..Decoder::new(weight) };
        let told = self.decoded(latent).dropout(dropout);
        let features = told.decoder_loss(decoder, &known.likelihood);
        let loss = features + mean.gaussian_kl(log_variance).scale(self.kl_weight);
        program.output("features", features);
        program.output("loss", loss);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        program.minimise(loss, &self.network.adam(), None, &names);
        program.finish()
    }

    /// The last hidden layer of all nodes, nodes × hidden. Where nodes without evidence get zeros, one
    /// more column is what the bias is multiplied with: one, or zero of such a node.
    pub(super) fn prediction(
        &self,
        rows: &Arc<SparseMatrix>,
        to_nodes: &Arc<SparseMatrix>,
    ) -> Result<Recorded> {
        let program = Program::new(PREDICTION);
        let mean = self.encoded(&program, rows).linear("mean", self.latent);
        let hidden = self.decoded(program.sparse_product(to_nodes, mean));
        program.output(
            "latent",
            match self.no_observed_neighbours {
                NoNeighbours::Prior => hidden,
                NoNeighbours::Zeros => {
                    let ones = program.constant([rows.shape().rows, 1], 1.0);
                    let has_evidence = program.sparse_product(to_nodes, ones);
                    hidden.scale_rows(has_evidence).concatenate(has_evidence)
                }
            },
        );
        program.finish()
    }

    fn encoded<'p>(&self, program: &'p Program, rows: &Arc<SparseMatrix>) -> Matrix<'p> {
        let shape = [rows.shape().columns, self.hidden];
        let weight = program.parameter("encoder.weight", shape, Initial::Glorot);
        let bias = program.parameter("encoder.bias", [1, self.hidden], Initial::ZEROS);
        program.sparse_product(rows, weight).add_bias(bias).relu()
    }

    fn decoded<'p>(&self, latent: Matrix<'p>) -> Matrix<'p> {
        latent.linear("decoder", self.hidden).relu()
    }
}
