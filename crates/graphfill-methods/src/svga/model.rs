//! Algorithm 1: one encoder, and latents that are used as they are.
//!
//!   Z = unit(encoder(graph))                                                   nodes × width
//!   loss = features(dropout(Z) W_x) + labels(dropout(Z) W_y) + λ/n · (tr(ZᵀKZ) − ½ log|I + ZᵀZ/β|)
//!
//! The published encoder is  Â · dropout(relu(Â W₁ + b₁)) · W₂ + b₂, a `gcn` of depth 2.

use graphfill_engine::{Adam, Decoder, Initial, Matrix, Program, Recorded, Result, Schedule};

use super::{NormalisedGraph, wrong};
use crate::encoder::{Encoder, EncoderKind, Identity, Mode, OwnPath};
use crate::learning::Observed;

/// The name of the program that [`Model::training`] records.
pub const TRAINING: &str = "training";

/// The parameters of the encoder begin with this.
pub(super) const ENCODER: &str = "encoder";

/// The dropout inside the encoder, the same in every published run.
const HIDDEN_DROPOUT: f32 = 0.5;

/// What the latent rows are scaled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalisation {
    /// Length one.
    Unit,
    /// As they are.
    None,
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
    /// λ, the weight of the field; with 0 there is none (SVGA-R).
    pub lambda: f32,
    /// β, how free latents are of the field.
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
    /// `loss`, and the parts `features`, `labels` if any are known and, unless λ is 0, `field`.
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
            program.output("field", field);
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
