//! The network on top of the prior o, which corrects it:
//!
//!   H = relu(dropout(U) W_p + b₁)                      U: what the prior says of a node, nodes × inputs
//!   Z = unit(Â · dropout(H) · W₂ + b₂)                                                nodes × width
//!   scores = dropout(Z) W_x + b_x + s · o              s learned, from 1            nodes × features
//!   loss = features(scores) + labels(dropout(Z) W_y + b_y) + λ/n · (tr(ZᵀKZ) − ½ log|I + ZᵀZ/β|)
//!
//! No node has parameters of its own: what was learned holds for nodes that arrive later.

use graphfill_engine::{
    Adam, Decoder, Initial, Matrix, Program, Recorded, Result, Schedule, Shape,
};

use crate::encoder::{DEFAULT_DEPTH, Encoder, EncoderKind, Identity, Mode, OwnPath};
use crate::learning::Observed;
use crate::svga::{Known, NormalisedGraph, PREDICTION, TRAINING};

/// The inputs of the programs: U for all nodes, o for the rows that are known.
pub(super) const INPUT: &str = "input";
pub(super) const OFFSET: &str = "offset";
/// s.
pub(super) const OFFSET_SCALE: &str = "offset.scale";

/// The dropout of inputs and hidden rows.
const DROPOUT: f32 = 0.5;

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    /// d, the width of hidden and latent rows.
    pub(super) width: usize,
    /// The columns of U.
    pub(super) inputs: usize,
    /// The dropout before the decoders.
    pub(super) dropout: f32,
    /// λ, the weight of the field; with 0 there is none.
    pub(super) lambda: f32,
    /// β, how free latents are of the field.
    pub(super) beta: f32,
    /// The learning rate of Adam.
    pub(super) learning_rate: f32,
}

impl Model {
    /// One update. Its outputs are `loss`, and the parts `features`, `labels` if any are known and,
    /// unless λ is 0, `gmrf`.
    pub(super) fn training(&self, graph: &NormalisedGraph, known: &Known) -> Result<Recorded> {
        let program = Program::new(TRAINING);
        let latent = self.latent(&program, graph, Mode::Training);
        let mut loss = self.feature_loss(latent, &known.features);
        if let Some(labels) = &known.labels {
            let rows = latent.gather_rows(&labels.rows).dropout(self.dropout);
            let decoder = self.decoder(&program, "labels", labels);
            let labels = rows.decoder_loss(decoder, &labels.likelihood);
            program.output("labels", labels);
            loss = loss + labels;
        }
        if self.lambda > 0.0 {
            let field = latent.field_regulariser(graph.similarity(), self.beta);
            program.output("gmrf", field);
            loss = loss + field.scale(self.lambda / graph.nodes().max(1) as f32);
        }
        program.output("loss", loss);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let adam = Adam::new(Schedule::Constant(self.learning_rate));
        program.minimise(loss, &adam, None, &names);
        program.finish()
    }

    /// Z without dropout, as the output `latent`.
    pub(super) fn prediction(&self, graph: &NormalisedGraph) -> Result<Recorded> {
        let program = Program::new(PREDICTION);
        program.output("latent", self.latent(&program, graph, Mode::Prediction));
        program.finish()
    }

    fn latent<'p>(&self, program: &'p Program, graph: &NormalisedGraph, mode: Mode) -> Matrix<'p> {
        let mut input = program.input(INPUT, [graph.nodes(), self.inputs]);
        if mode == Mode::Training {
            input = input.dropout(DROPOUT);
        }
        let weight = program.parameter("input.weight", [self.inputs, self.width], Initial::Glorot);
        let encoder = Encoder {
            kind: EncoderKind::Gcn,
            depth: DEFAULT_DEPTH,
            width: self.width,
            hidden_dropout: DROPOUT,
            own_path: OwnPath::None,
            identity: Identity::Unused,
        };
        let beside = Some(input.product(weight));
        encoder.encode(program, graph, "encoder", beside, mode).normalise_rows()
    }

    fn feature_loss<'p>(&self, latent: Matrix<'p>, known: &Observed) -> Matrix<'p> {
        let program = latent.program();
        let shape = known.likelihood.shape();
        let offset = program.input(OFFSET, [shape.rows, shape.columns]);
        let scale = program.parameter(OFFSET_SCALE, Shape::SCALAR, Initial::Constant(1.0));
        let mut decoder = self.decoder(program, "features", known);
        decoder.offsets = vec![(offset, scale)];
        let rows = latent.gather_rows(&known.rows).dropout(self.dropout);
        let loss = rows.decoder_loss(decoder, &known.likelihood);
        program.output("features", loss);
        loss
    }

    fn decoder<'p>(&self, program: &'p Program, name: &str, known: &Observed) -> Decoder<'p> {
        let columns = known.likelihood.shape().columns;
        let bound = Initial::Uniform(1.0 / (self.width.max(1) as f32).sqrt());
        let weight = program.parameter(&format!("{name}.weight"), [self.width, columns], bound);
        let bias = program.parameter(&format!("{name}.bias"), [1, columns], Initial::ZEROS);
        Decoder { bias: Some(bias), ..Decoder::new(weight) }
    }
}
