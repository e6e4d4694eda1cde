//! The network where rows have known cells of their own: row by row, for the graph has spoken already,
//! in the components that it sees.
//!
//!   shown = known ∘ (1 − hidden)                       some known cells are hidden, anew in each update
//!   H = relu((z ∘ shown) W_z + shown W_s + C W_c + b₁)     C: arb, one hop, degree, standardised
//!   Z = relu(dropout(H) W₂ + b₂)                                                  rows × width
//!   scores = Z W_x + b_x + s ∘ o                       W_x from 0; s from 1, one a feature
//!   loss = features(scores of the hidden cells) + labels(Z W_y + b_y)
//!
//! No cell is predicted from itself: a hidden one is not shown, and its own o has not seen it. Passing
//! rows on along edges would break that: a neighbour's prior knows the cells that a row is to learn
//! from.

use graphfill_engine::{
    Adam, Decoder, Initial, Matrix, Program, Recorded, Result, Schedule, WeightDecay,
};

use super::model::{OFFSET, OFFSET_SCALE};
use crate::svga::{Known, PREDICTION, TRAINING};

/// The inputs: z (zero where unknown), what is known, C. All rows ×.
pub(super) const VALUES: &str = "values";
pub(super) const KNOWN: &str = "known";
pub(super) const CONTEXT: &str = "context";

/// The dropout of hidden rows.
const DROPOUT: f32 = 0.1;
/// How strongly weights are drawn to 0.
const DECAY: f32 = 1e-3;
/// The share of known cells that an update hides.
const HIDDEN_SHARE: f32 = 0.25;

/// The model's sizes and settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowModel {
    /// The number of rows.
    pub(super) rows: usize,
    /// The width of hidden and latent rows.
    pub(super) width: usize,
    /// The columns of C.
    pub(super) context: usize,
    /// The cell of each feature.
    pub(super) cells: Vec<u32>,
    /// The share of rows that an update hides whole.
    pub(super) hidden_rows: f32,
    /// The learning rate of Adam.
    pub(super) learning_rate: f32,
}

impl RowModel {
    /// One update, with the outputs `loss`, `features` and, if any are known, `labels`. The features
    /// are those of all rows.
    pub(super) fn training(&self, known: &Known) -> Result<Recorded> {
        let program = Program::new(TRAINING);
        let features = self.cells.len();
        let hidden = program.hidden_cells(self.rows, &self.cells, HIDDEN_SHARE, self.hidden_rows);
        let given = program.input(KNOWN, [self.rows, features]);
        let shown = given - given.multiply(hidden);
        let latent = self.latent(&program, shown, DROPOUT);
        let offset = program.input(OFFSET, [self.rows, features]);
        let weight = program.parameter("features.weight", [self.width, features], Initial::ZEROS);
        let bias = program.parameter("features.bias", [1, features], Initial::ZEROS);
        let scale = program.parameter(OFFSET_SCALE, [1, features], Initial::Constant(1.0));
        let scores = latent.product(weight).add_bias(bias) + offset.scale_columns(scale);
        // The mean is over all known cells, of which this share is hidden.
        let share = self.hidden_rows + (1.0 - self.hidden_rows) * HIDDEN_SHARE;
        let likelihood = &known.features.likelihood;
        let mut loss = scores.weighted_loss(likelihood, hidden).scale(1.0 / share);
        program.output("features", loss);
        if let Some(labels) = &known.labels {
            let classes = labels.likelihood.shape().columns;
            let weight = program.parameter("labels.weight", [self.width, classes], Initial::ZEROS);
            let bias = program.parameter("labels.bias", [1, classes], Initial::ZEROS);
            let decoder = Decoder { bias: Some(bias), ..Decoder::new(weight) };
            let rows = latent.gather_rows(&labels.rows);
            let labels = rows.decoder_loss(decoder, &labels.likelihood);
            program.output("labels", labels);
            loss = loss + labels;
        }
        program.output("loss", loss);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let adam = Adam {
            weight_decay: WeightDecay::Decoupled(DECAY),
            ..Adam::new(Schedule::Constant(self.learning_rate))
        };
        program.minimise(loss, &adam, None, &names);
        program.finish()
    }

    /// Z of all rows, of which everything is shown that is known, as the output `latent`.
    pub(super) fn prediction(&self) -> Result<Recorded> {
        let program = Program::new(PREDICTION);
        let known = program.input(KNOWN, [self.rows, self.cells.len()]);
        program.output("latent", self.latent(&program, known, 0.0));
        program.finish()
    }

    fn latent<'p>(&self, program: &'p Program, shown: Matrix<'p>, dropout: f32) -> Matrix<'p> {
        let times = |rows: Matrix<'p>, name: &str| {
            let shape = [rows.shape().columns, self.width];
            rows.product(program.parameter(name, shape, Initial::Glorot))
        };
        let bias = |name: &str| program.parameter(name, [1, self.width], Initial::ZEROS);
        let values = program.input(VALUES, [self.rows, self.cells.len()]).multiply(shown);
        let context = program.input(CONTEXT, [self.rows, self.context]);
        let first = times(values, "values.weight")
            + times(shown, "shown.weight")
            + times(context, "context.weight");
        let hidden = first.add_bias(bias("first.bias")).relu().dropout(dropout);
        times(hidden, "second.weight").add_bias(bias("second.bias")).relu()
    }
}
