//! A graph network and a decoder of two layers:
//!
//!   H = elu(encoder(graph))                                                   nodes × hidden
//!   G = elu(H W₂ + b₂)                                               nodes × decoder_hidden
//!   scores = dropout(G) W_x + b_x                                             nodes × features

use graphfill_engine::{Decoder, Initial, Matrix, Program, Recorded, Result};

use crate::encoder::{
    DEFAULT_DEPTH, Encoder, EncoderKind, Identity, Mode, NormalisedGraph, OwnPath,
};
use crate::learning::{Network, Observed};

/// The program of an update.
pub(super) const TRAINING: &str = "training";
/// The program that gives G, as its output `latent`.
pub(super) const PREDICTION: &str = "prediction";

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    pub(super) kind: EncoderKind,
    pub(super) hidden: usize,
    pub(super) decoder_hidden: usize,
    pub(super) network: Network,
}

impl Model {
    /// Whether the settings make sense.
    pub(super) fn check(&self) -> Result<()> {
        self.encoder().check()
    }

    /// One update; its output is `loss`.
    pub(super) fn training(&self, graph: &NormalisedGraph, known: &Observed) -> Result<Recorded> {
        let program = Program::new(TRAINING);
        let columns = known.likelihood.shape().columns;
        let bound = Initial::Uniform(1.0 / (self.decoder_hidden.max(1) as f32).sqrt());
        let weight = program.parameter("features.weight", [self.decoder_hidden, columns], bound);
        let bias = program.parameter("features.bias", [1, columns], bound);
        let decoder = Decoder { bias: Some(bias), ..Decoder::new(weight) };
        let hidden = self.hidden(&program, graph, Mode::Training).gather_rows(&known.rows);
        let rows = self.decoder_hidden(hidden).dropout(self.network.dropout);
        let loss = rows.decoder_loss(decoder, &known.likelihood);
        program.output("loss", loss);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        program.minimise(loss, &self.network.adam(), None, &names);
        program.finish()
    }

    /// G of all nodes.
    pub(super) fn prediction(&self, graph: &NormalisedGraph) -> Result<Recorded> {
        let program = Program::new(PREDICTION);
        let rows = self.decoder_hidden(self.hidden(&program, graph, Mode::Prediction));
        program.output("latent", rows);
        program.finish()
    }

    /// H.
    fn hidden<'p>(&self, program: &'p Program, graph: &NormalisedGraph, mode: Mode) -> Matrix<'p> {
        self.encoder().encode(program, graph, "encoder", None, mode).elu()
    }

    /// G.
    fn decoder_hidden<'p>(&self, hidden: Matrix<'p>) -> Matrix<'p> {
        hidden.linear("decoder", self.decoder_hidden).elu()
    }

    fn encoder(&self) -> Encoder {
        Encoder {
            kind: self.kind,
            depth: DEFAULT_DEPTH,
            width: self.hidden,
            hidden_dropout: self.network.dropout,
            own_path: OwnPath::None,
            identity: Identity::Used,
        }
    }
}
