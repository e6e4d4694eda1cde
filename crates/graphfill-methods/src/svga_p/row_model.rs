//! The network where rows have known cells of their own: row by row, for the graph has spoken already,
//! in the components that it sees.
//!
//!   Z = relu(dropout(relu(U W_p + b₁)) W₂ + b₂)        U: what is known of a row, rows × inputs
//!   scores = Z W_x + b_x + s ∘ o                       W_x from 0; s from 1, one a feature
//!   loss = mean over views of features(scores of the cells that the view hides)
//!
//! Passing U on along edges would tell a row what its neighbours' priors know of it: the cells that
//! it is to learn from.

use graphfill_engine::{
    Adam, Decoder, Initial, Matrix, Program, Recorded, Result, Schedule, WeightDecay,
};

use super::model::{INPUT, OFFSET, OFFSET_SCALE};
use crate::learning::Observed;
use crate::svga::{PREDICTION, TRAINING};

/// The dropout of hidden rows.
const DROPOUT: f32 = 0.1;
/// How strongly weights are drawn to 0.
const DECAY: f32 = 1e-3;

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RowModel {
    /// The width of hidden and latent rows.
    pub(super) width: usize,
    /// The columns of U.
    pub(super) inputs: usize,
    /// The learning rate of Adam.
    pub(super) learning_rate: f32,
}

impl RowModel {
    /// The name of a view's input, and of its offset.
    pub(super) fn names(view: usize) -> (String, String) {
        (format!("{INPUT}.{view}"), format!("{OFFSET}.{view}"))
    }

    /// One update, with the output `loss`.
    pub(super) fn training(&self, views: &[Observed]) -> Result<Recorded> {
        let program = Program::new(TRAINING);
        let losses = views.iter().enumerate().map(|(view, known)| {
            let (input, offset) = Self::names(view);
            let input = program.input(&input, [known.rows.len(), self.inputs]);
            let shape = known.likelihood.shape();
            let offset = program.input(&offset, [shape.rows, shape.columns]);
            let decoder = self.decoder(&program, shape.columns, offset);
            self.latent(input, DROPOUT).decoder_loss(decoder, &known.likelihood)
        });
        let losses: Vec<Matrix<'_>> = losses.collect();
        let sum = losses.into_iter().reduce(|sum, loss| sum + loss);
        let sum = sum.unwrap_or_else(|| program.constant([1, 1], 0.0));
        let loss = sum.scale(1.0 / views.len().max(1) as f32);
        program.output("loss", loss);
        program.output("features", loss);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let adam = Adam {
            weight_decay: WeightDecay::Decoupled(DECAY),
            ..Adam::new(Schedule::Constant(self.learning_rate))
        };
        program.minimise(loss, &adam, None, &names);
        program.finish()
    }

    /// Z of all rows, as the output `latent`.
    pub(super) fn prediction(&self, rows: usize) -> Result<Recorded> {
        let program = Program::new(PREDICTION);
        let input = program.input(INPUT, [rows, self.inputs]);
        program.output("latent", self.latent(input, 0.0));
        program.finish()
    }

    fn latent<'p>(&self, input: Matrix<'p>, dropout: f32) -> Matrix<'p> {
        let program = input.program();
        let layer = |name: &str, rows: Matrix<'p>| {
            let shape = [rows.shape().columns, self.width];
            let weight = program.parameter(&format!("{name}.weight"), shape, Initial::Glorot);
            let bias = program.parameter(&format!("{name}.bias"), [1, self.width], Initial::ZEROS);
            rows.product(weight).add_bias(bias).relu()
        };
        layer("second", layer("first", input).dropout(dropout))
    }

    fn decoder<'p>(&self, program: &'p Program, features: usize, offset: Matrix<'p>) -> Decoder<'p> {
        let weight = program.parameter("features.weight", [self.width, features], Initial::ZEROS);
        let bias = program.parameter("features.bias", [1, features], Initial::ZEROS);
        let scale = program.parameter(OFFSET_SCALE, [1, features], Initial::Constant(1.0));
        Decoder { weight, bias: Some(bias), offsets: vec![(offset, scale)] }
    }
}
