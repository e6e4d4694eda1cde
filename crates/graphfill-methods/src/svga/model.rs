//! Algorithm 1: one encoder, and latents that are used as they are.
//!
//!   Z = unit(Â · dropout(relu(Â W₁ + b₁)) · W₂ + b₂)                           nodes × width
//!   loss = features(dropout(Z) W_x) + λ/n · (tr(ZᵀKZ) − ½ log|I + ZᵀZ/β|)
//!
//! The inputs of the encoder are the identity, so that W₁ has a row for every node.

use std::sync::Arc;

use graphfill_engine::{
    Adam, Decoder, Initial, Likelihood, Matrix, Program, Recorded, Result, Schedule,
};

use super::NormalisedGraph;

/// The name of the program that [`Model::training`] records.
pub const TRAINING: &str = "training";

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

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
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
        let wrong = |name: &str, value: f32, expected: &str| {
            Err(super::wrong("settings", format!("{name} is {value}, not {expected}")))
        };
        match *self {
            Model { width: 0, .. } => wrong("the width", 0.0, "at least 1"),
            Model { dropout, .. } if !(0.0..1.0).contains(&dropout) => {
                wrong("the dropout", dropout, "in 0 ≤ rate < 1")
            }
            Model { lambda, .. } if !(0.0..f32::INFINITY).contains(&lambda) => {
                wrong("λ", lambda, "a number from 0 on")
            }
            Model { beta, .. } if !(beta > 0.0 && beta.is_finite()) => {
                wrong("β", beta, "a positive number")
            }
            _ => Ok(()),
        }
    }

    /// One update: the loss of the observed rows, its gradients, and a step of Adam. Its outputs are
    /// `loss`, and the parts `features` and, unless λ is 0, `field`.
    pub fn training(
        &self,
        graph: &NormalisedGraph,
        observed: &[u32],
        likelihood: &Arc<Likelihood>,
    ) -> Result<Recorded> {
        let names = self.parameters();
        self.update_of(&names, |program| self.loss(program, graph, observed, likelihood))
    }

    /// The loss alone, with its parts as outputs.
    pub fn loss<'p>(
        &self,
        program: &'p Program,
        graph: &NormalisedGraph,
        observed: &[u32],
        likelihood: &Arc<Likelihood>,
    ) -> Matrix<'p> {
        let latent = self.latent(program, graph);
        let features = self.feature_loss(latent.gather_rows(observed), likelihood);
        program.output("features", features);
        let mut loss = features;
        if self.lambda > 0.0 {
            let field = latent.field_regulariser(graph.similarity(), self.beta);
            program.output("field", field);
            loss = loss + field.scale(self.lambda / graph.nodes().max(1) as f32);
        }
        program.output("loss", loss);
        loss
    }

    /// The names of all that is learnt.
    pub fn parameters(&self) -> Vec<String> {
        encoder_parameters("encoder").into_iter().chain(self.decoder_parameters()).collect()
    }

    /// Z.
    fn latent<'p>(&self, program: &'p Program, graph: &NormalisedGraph) -> Matrix<'p> {
        let latent = self.encode(program, graph, "encoder");
        match self.normalisation {
            Normalisation::Unit => latent.normalise_rows(),
            Normalisation::None => latent,
        }
    }

    /// Â · dropout(relu(Â W₁ + b₁)) · W₂ + b₂
    pub(super) fn encode<'p>(
        &self,
        program: &'p Program,
        graph: &NormalisedGraph,
        name: &str,
    ) -> Matrix<'p> {
        let parameter = |part: &str, shape: [usize; 2], initial: Initial| {
            program.parameter(&format!("{name}.{part}"), shape, initial)
        };
        let embedding = parameter("embedding", [graph.nodes(), self.width], Initial::Glorot);
        let first_bias = parameter("first_bias", [1, self.width], Initial::ZEROS);
        let weight = parameter("weight", [self.width, self.width], Initial::Glorot);
        let second_bias = parameter("second_bias", [1, self.width], Initial::ZEROS);
        let hidden = program
            .sparse_product(graph.with_self_loops(), embedding)
            .add_bias(first_bias)
            .relu()
            .dropout(HIDDEN_DROPOUT);
        program
            .sparse_product(graph.with_self_loops(), hidden.product(weight))
            .add_bias(second_bias)
    }

    /// The loss of the observed rows, decoded.
    pub(super) fn feature_loss<'p>(
        &self,
        latent: Matrix<'p>,
        likelihood: &Arc<Likelihood>,
    ) -> Matrix<'p> {
        let program = latent.program();
        let columns = likelihood.shape().columns;
        let bound = Initial::Uniform(1.0 / (self.width.max(1) as f32).sqrt());
        let weight = program.parameter("features.weight", [self.width, columns], bound);
        let bias =
            self.decoder_bias.then(|| program.parameter("features.bias", [1, columns], bound));
        let decoder = Decoder { bias, ..Decoder::new(weight) };
        latent.dropout(self.dropout).decoder_loss(decoder, likelihood)
    }

    /// A step of Adam down a loss, once the settings are found to make sense.
    pub(super) fn update_of(
        &self,
        names: &[String],
        record_loss: impl for<'p> FnOnce(&'p Program) -> Matrix<'p>,
    ) -> Result<Recorded> {
        self.check()?;
        let program = Program::new(TRAINING);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let adam = Adam::new(Schedule::Constant(self.learning_rate));
        program.minimise(record_loss(&program), &adam, None, &names);
        program.finish()
    }

    pub(super) fn decoder_parameters(&self) -> impl Iterator<Item = String> {
        let names = ["features.weight", "features.bias"];
        names.into_iter().take(if self.decoder_bias { 2 } else { 1 }).map(str::to_owned)
    }
}

/// The parameters of one encoder.
pub(super) fn encoder_parameters(name: &str) -> [String; 4] {
    ["embedding", "first_bias", "weight", "second_bias"].map(|part| format!("{name}.{part}"))
}
