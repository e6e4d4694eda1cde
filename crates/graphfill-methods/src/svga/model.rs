//! Algorithm 1: one encoder, and latents that are used as they are.
//!
//!   Z = unit(encoder(graph))                                                   nodes × width
//!   loss = features(dropout(Z) W_x) + labels(dropout(Z) W_y) + λ/n · (tr(ZᵀKZ) − ½ log|I + ZᵀZ/β|)
//!
//! The published encoder is  Â · dropout(relu(Â W₁ + b₁)) · W₂ + b₂, a `gcn` of depth 2.
//!
//! # Differences from the paper
//! - The paper's loss is Σ l_x + Σ l_y + λ l_GMRF, with sums over observed nodes. Here l_x is a mean
//!   over observed cells, l_y a mean over labelled nodes, and the field weighs λ/n.
//! - Ones of a 0/1 block weigh 1/(2p) and zeros 1/(2(1 − p)), p the share of ones: the paper's α and
//!   1 − α divided by 2p(1 − p), so that both kinds together weigh one half.
//! - The paper writes its squared error with a minus sign; here it is positive.
//! - The paper writes decoders with a bias; its runs on six of the eight data sets have none.
//! - A latent row of zeros is replaced by a random direction.
//! - Tables of several columns: each column has its likelihood and a slice of the decoder, and all
//!   columns weigh the same. The paper has one kind of features per data set.

use graphfill_engine::{Adam, Decoder, Initial, Matrix, Program, Recorded, Result, Schedule};

use super::{NormalisedGraph, wrong};
use crate::encoder::{Encoder, EncoderKind, Identity, Mode, OwnPath};
use crate::learning::Observed;
use crate::word_parameter;

/// The name of the program that [`Model::training`] records.
pub const TRAINING: &str = "training";

/// The parameters of the encoder begin with this.
pub(super) const ENCODER: &str = "encoder";

/// The dropout inside the encoder, the same in every published run.
const HIDDEN_DROPOUT: f32 = 0.5;

word_parameter! {
    /// What the latent rows are scaled to.
    pub enum Normalisation {
        /// Length one.
        Unit = "unit",
        /// As they are.
        None = "none",
    }
}

/// What a model learns from.
#[derive(Debug, Clone)]
pub struct Known {
    /// Rows of the table, and what is known of them.
    pub features: Observed,
    /// Nodes with a label, and which.
    pub labels: Option<Observed>,
}

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// The encoder.
    pub encoder: EncoderKind,
    /// The encoder's number of layers; [`DEFAULT_DEPTH`](crate::encoder::DEFAULT_DEPTH) as published.
    pub depth: usize,
    /// d, the width of hidden and latent rows.
    pub width: usize,
    /// What latent rows are scaled to.
    pub normalisation: Normalisation,
    /// The dropout before the decoder.
    pub dropout: f32,
    /// Whether the decoder has a bias.
    pub decoder_bias: bool,
    /// λ, the weight of the GMRF; with 0 there is none (SVGA-R).
    pub lambda: f32,
    /// β, the prior's variance scale: larger values weaken the GMRF.
    pub beta: f32,
    /// The learning rate of Adam.
    pub learning_rate: f32,
}

impl Model {
    /// Whether the settings make sense.
    pub fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: f32, expected: &str| {
            Err(wrong("settings", format!("{name} is {value}, not {expected}")))
        };
        match *self {
            Model { dropout, .. } if !(0.0..1.0).contains(&dropout) => {
                refuse("the dropout", dropout, "in 0 ≤ rate < 1")
            }
            Model { lambda, .. } if !(0.0..f32::INFINITY).contains(&lambda) => {
                refuse("λ", lambda, "a number from 0 on")
            }
            Model { beta, .. } if !(beta > 0.0 && beta.is_finite()) => {
                refuse("β", beta, "a positive number")
            }
            _ => self.encoder().check(),
        }
    }

    /// One update: the loss of what is known, its gradients, and a step of Adam. Its outputs are
    /// `loss`, and the parts `features`, `labels` if any are known and, unless λ is 0, `gmrf`.
    pub fn training(&self, graph: &NormalisedGraph, known: &Known) -> Result<Recorded> {
        self.update_of(|program| self.loss(program, graph, known))
    }

    /// The loss alone, with its parts as outputs.
    pub fn loss<'p>(
        &self,
        program: &'p Program,
        graph: &NormalisedGraph,
        known: &Known,
    ) -> Matrix<'p> {
        let rows = self.encoder().encode(program, graph, ENCODER, None, Mode::Training);
        let latent = self.normalised(rows);
        let mut loss = self.known_loss(latent, known);
        if self.lambda > 0.0 {
            let field = latent.field_regulariser(graph.similarity(), self.beta);
            program.output("gmrf", field);
            loss = loss + field.scale(self.lambda / graph.nodes().max(1) as f32);
        }
        program.output("loss", loss);
        loss
    }

    /// Z of rows that an encoder gave.
    pub(super) fn normalised<'p>(&self, rows: Matrix<'p>) -> Matrix<'p> {
        match self.normalisation {
            Normalisation::Unit => rows.normalise_rows(),
            Normalisation::None => rows,
        }
    }

    /// The encoder, which is all that the settings say about it.
    pub(super) fn encoder(&self) -> Encoder {
        Encoder {
            kind: self.encoder,
            depth: self.depth,
            width: self.width,
            hidden_dropout: HIDDEN_DROPOUT,
            own_path: OwnPath::None,
            identity: Identity::Used,
        }
    }

    /// features + labels
    pub(super) fn known_loss<'p>(&self, latent: Matrix<'p>, known: &Known) -> Matrix<'p> {
        let features = self.decoded_loss(latent, &known.features, "features");
        match &known.labels {
            Some(labels) => features + self.decoded_loss(latent, labels, "labels"),
            None => features,
        }
    }

    /// The loss of the rows that are known, decoded, with an output of that name.
    fn decoded_loss<'p>(&self, latent: Matrix<'p>, known: &Observed, name: &str) -> Matrix<'p> {
        let program = latent.program();
        let columns = known.likelihood.shape().columns;
        let bound = Initial::Uniform(1.0 / (self.width.max(1) as f32).sqrt());
        let weight = program.parameter(&format!("{name}.weight"), [self.width, columns], bound);
        let bias = || program.parameter(&format!("{name}.bias"), [1, columns], bound);
        let decoder = Decoder { bias: self.decoder_bias.then(bias), ..Decoder::new(weight) };
        let rows = latent.gather_rows(&known.rows).dropout(self.dropout);
        let loss = rows.decoder_loss(decoder, &known.likelihood);
        program.output(name, loss);
        loss
    }

    /// A step of Adam down a loss, by all its parameters, once the settings are found to make sense.
    pub(super) fn update_of(
        &self,
        record_loss: impl for<'p> FnOnce(&'p Program) -> Matrix<'p>,
    ) -> Result<Recorded> {
        self.check()?;
        let program = Program::new(TRAINING);
        let loss = record_loss(&program);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let adam = Adam::new(Schedule::Constant(self.learning_rate));
        program.minimise(loss, &adam, None, &names);
        program.finish()
    }
}
