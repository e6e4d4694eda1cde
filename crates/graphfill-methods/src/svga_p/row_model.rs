//! The network where rows have known cells of their own: row by row, for the graph has spoken already,
//! in the components that it sees.
//!
//!   shown = known ∘ (1 − hidden)                       some known cells are hidden, anew in each update
//!   H = relu((z ∘ shown) W_z + shown W_s + C W_c + b₁)     C: arb, one hop, degree, standardised
//!   Z = relu(dropout(H) W₂ + b₂)                                                  rows × width
//!   scores = Z W_x + b_x + s ∘ o + r ∘ t               W_x from 0; s and r from 1, one per feature;
//!                                                      t: what trees add to o, where there are any
//!   loss = features(scores of the hidden cells) + labels(Z W_y + b_y)
//!
//! Where rows are many, an update sees a batch of them, one batch after the other, and the cost of
//! training no longer grows with the table:
//!
//!   G ← gradient of the loss of batch k               one program for each batch
//!   parameters ← Adam(parameters, G)                  one program, with the moments of all batches
//!
//! No cell is predicted from itself: a hidden one is not shown, and its own o has not seen it. Passing
//! rows on along edges would break that: a neighbour's prior knows the cells that a row is to learn
//! from.

use graphfill_engine::{
    Adam, Decoder, Initial, Matrix, Program, Recorded, Result, Schedule, WeightDecay,
};

use super::model::OFFSET_SCALE;
use crate::svga::{Known, TRAINING};

/// Up to so many rows, every update sees all of them. Of more, it sees a batch.
pub(super) const MAX_ROWS_AT_ONCE: usize = 8192;
pub(super) const BATCH_ROWS: usize = 1024;
/// Rows that batches are made of.
pub(super) const MAX_TRAINING_ROWS: usize = 32_768;

/// The program that takes the step, where there are batches.
pub(super) const STEP: &str = "step";

/// The inputs of a batch's program: z (zero where unknown), what is known, C, o, t. All rows ×.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) program: String,
    pub(super) values: String,
    pub(super) known: String,
    pub(super) context: String,
    pub(super) offset: String,
    pub(super) trees: String,
}

/// r.
pub(super) const TREES_SCALE: &str = "trees.scale";

impl Names {
    /// Those of a batch.
    pub(super) fn of(batch: usize) -> Self {
        let name =
            |name: &str| if batch == 0 { name.to_owned() } else { format!("{name} {batch}") };
        Names {
            program: name(TRAINING),
            values: name("values"),
            known: name("known"),
            context: name("context"),
            offset: name("offset"),
            trees: name("trees"),
        }
    }
}

/// Whether an update is one program, or the gradient of a batch and a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Batches {
    One,
    Many,
}

/// The dropout of hidden rows.
const DROPOUT: f32 = 0.1;
/// How strongly weights are drawn to 0.
const DECAY: f32 = 1e-3;
/// The share of known cells that an update hides.
const HIDDEN_SHARE: f32 = 0.25;

/// The model's sizes and settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowModel {
    /// The width of hidden and latent rows.
    pub(super) width: usize,
    /// The columns of C.
    pub(super) context: usize,
    /// Whether there is t.
    pub(super) has_trees: bool,
    /// The cell of each feature.
    pub(super) cells: Vec<u32>,
    /// The share of rows that an update hides whole.
    pub(super) hidden_rows: f32,
    /// The learning rate of Adam.
    pub(super) schedule: Schedule,
}

impl RowModel {
    /// One update by a batch of rows, or its gradient, with the outputs `loss`, `features` and, if any
    /// are known, `labels`.
    pub(super) fn training(
        &self,
        names: &Names,
        known: &Known,
        batches: Batches,
    ) -> Result<Recorded> {
        let program = Program::new(&names.program);
        let (rows, features) = (known.features.rows.len(), self.cells.len());
        let hidden = program.hidden_cells(rows, &self.cells, HIDDEN_SHARE, self.hidden_rows);
        let given = program.input(&names.known, [rows, features]);
        let shown = given - given.multiply(hidden);
        let latent = self.latent(&program, names, shown);
        let offset = program.input(&names.offset, [rows, features]);
        let parameter =
            |name: &str, shape: [usize; 2]| program.parameter(name, shape, initial(name));
        let weight = parameter("features.weight", [self.width, features]);
        let bias = parameter("features.bias", [1, features]);
        let scale = parameter(OFFSET_SCALE, [1, features]);
        let mut scores = latent.product(weight).add_bias(bias) + offset.scale_columns(scale);
        if self.has_trees {
            let trees = program.input(&names.trees, [rows, features]);
            scores = scores + trees.scale_columns(parameter(TREES_SCALE, [1, features]));
        }
        // The mean is over all known cells, of which this share is hidden.
        let share = self.hidden_rows + (1.0 - self.hidden_rows) * HIDDEN_SHARE;
        let likelihood = &known.features.likelihood;
        let mut loss = scores.weighted_loss(likelihood, hidden).scale(1.0 / share);
        program.output("features", loss);
        if let Some(labels) = &known.labels {
            let classes = labels.likelihood.shape().columns;
            let weight = parameter("labels.weight", [self.width, classes]);
            let bias = parameter("labels.bias", [1, classes]);
            let decoder = Decoder { bias: Some(bias), ..Decoder::new(weight) };
            let rows = latent.gather_rows(&labels.rows);
            let labels = rows.decoder_loss(decoder, &labels.likelihood);
            program.output("labels", labels);
            loss = loss + labels;
        }
        program.output("loss", loss);
        let parameters = program.parameters();
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        match batches {
            Batches::One => program.minimise(loss, &self.adam(), None, &parameters),
            Batches::Many => {
                let gradients = program.differentiate(loss, &parameters);
                for (name, gradient) in parameters.iter().zip(gradients) {
                    program.send(gradient_of(&program, name, gradient), gradient, None);
                }
            }
        }
        program.finish()
    }

    /// The step of Adam by the gradient of the batch before. G is the gradient of Σ parameter ∘ G.
    pub(super) fn step(&self, classes: Option<usize>) -> Result<Recorded> {
        let program = Program::new(STEP);
        let (width, features) = (self.width, self.cells.len());
        let mut shapes = vec![
            ("values.weight", [features, width]),
            ("shown.weight", [features, width]),
            ("context.weight", [self.context, width]),
            ("first.bias", [1, width]),
            ("second.weight", [width, width]),
            ("second.bias", [1, width]),
            ("features.weight", [width, features]),
            ("features.bias", [1, features]),
            (OFFSET_SCALE, [1, features]),
        ];
        if self.has_trees {
            shapes.push((TREES_SCALE, [1, features]));
        }
        if let Some(classes) = classes {
            shapes.extend([("labels.weight", [width, classes]), ("labels.bias", [1, classes])]);
        }
        let parts = shapes.iter().map(|&(name, shape)| {
            let parameter = program.parameter(name, shape, initial(name));
            parameter.multiply(gradient_of(&program, name, parameter)).sum()
        });
        let sum = parts.reduce(|sum, part| sum + part);
        let names: Vec<&str> = shapes.iter().map(|(name, _)| *name).collect();
        if let Some(sum) = sum {
            program.minimise(sum, &self.adam(), None, &names);
        }
        program.finish()
    }

    fn adam(&self) -> Adam {
        Adam { weight_decay: WeightDecay::Decoupled(DECAY), ..Adam::new(self.schedule) }
    }

    /// Z of a batch.
    fn latent<'p>(&self, program: &'p Program, names: &Names, shown: Matrix<'p>) -> Matrix<'p> {
        let times = |rows: Matrix<'p>, name: &str| {
            let shape = [rows.shape().columns, self.width];
            rows.product(program.parameter(name, shape, initial(name)))
        };
        let bias = |name: &str| program.parameter(name, [1, self.width], initial(name));
        let rows = shown.shape().rows;
        let values = program.input(&names.values, [rows, self.cells.len()]).multiply(shown);
        let context = program.input(&names.context, [rows, self.context]);
        let first = times(values, "values.weight")
            + times(shown, "shown.weight")
            + times(context, "context.weight");
        let hidden = first.add_bias(bias("first.bias")).relu().dropout(DROPOUT);
        times(hidden, "second.weight").add_bias(bias("second.bias")).relu()
    }
}

/// What a parameter begins with: the encoder's weights are random, the decoders add nothing yet.
fn initial(parameter: &str) -> Initial {
    match parameter {
        "values.weight" | "shown.weight" | "context.weight" | "second.weight" => Initial::Glorot,
        OFFSET_SCALE | TREES_SCALE => Initial::Constant(1.0),
        _ => Initial::ZEROS,
    }
}

/// G of a parameter, shaped like the given matrix.
fn gradient_of<'p>(program: &'p Program, parameter: &str, like: Matrix<'p>) -> Matrix<'p> {
    program.state(&format!("gradient of {parameter}"), like.shape())
}
