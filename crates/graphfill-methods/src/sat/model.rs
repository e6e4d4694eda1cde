//! Both encoders, both decoders, the discriminator, and the programs that train them in turn:
//!
//!   row     z_x = dropout(relu(X W + b)) W' + b'                               rows × latent
//!   place   z_a = backbone(graph)                                              nodes × latent
//!   scores of features:  dropout(relu(z W₁ + b₁)) W_x + b_x                    × features
//!   score of an edge:    ⟨u_i, u_j⟩,  u = dropout(relu(z W₃ + b₃)) W₄ + b₄     × latent
//!   judgement:           dropout(relu(z W₅ + b₅)) w + b                        × 1
//!
//! X are the scores of known cells, zero where nothing is known. With F the loss of features, E that of
//! edges (½ mean over edges of −log σ(score) + ½ mean over drawn pairs of −log σ(−score)), j a judgement:
//!
//!   generator      2 F(z_x) + E(z_a) + c · (2 F(z_a) + E(z_x)) − mean log σ(j(z_x)) − mean log σ(j(z_a))
//!   discriminator  −mean log σ(j(noise)) − ½ [ mean log σ(−j(z_x)) + mean log σ(−j(z_a)) ]
//!
//! where judgements and F(z_a) are over the places of observed rows. The generator learns all but the
//! judgement, the discriminator the judgement alone.

use std::sync::Arc;

use graphfill_engine::{Decoder, Initial, Label, Matrix, Program, Recorded, Result, SparseMatrix};

use super::place::Backbone;
use crate::encoder::NormalisedGraph;
use crate::learning::{Network, Observed};

/// The program that trains encoders and decoders.
pub(super) const GENERATOR: &str = "generator";
/// The program that trains the discriminator.
pub(super) const DISCRIMINATOR: &str = "discriminator";
/// The program that gives what is decoded linearly, as its output `latent`.
pub(super) const PREDICTION: &str = "prediction";

/// What the loss of features counts beside those of edges.
const FEATURES_WEIGHT: f32 = 2.0;
/// The parameters of the discriminator begin with this.
const JUDGE: &str = "judge";

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    pub(super) backbone: Backbone,
    pub(super) hidden: usize,
    pub(super) latent: usize,
    /// The weight of what is decoded across.
    pub(super) cross: f32,
    pub(super) network: Network,
}

/// What a model learns from.
pub(super) struct Known<'a> {
    pub(super) graph: &'a NormalisedGraph,
    pub(super) features: &'a Observed,
    /// X.
    pub(super) rows: Arc<SparseMatrix>,
    /// The edges, each once.
    pub(super) edges: Arc<[[u32; 2]]>,
    /// The edges between observed rows, by their places among them.
    pub(super) observed_edges: Arc<[[u32; 2]]>,
}

/// Codes of the same space: of observed rows, and of the places of all nodes.
struct Codes<'p> {
    rows: Matrix<'p>,
    places: Matrix<'p>,
    /// The places of the observed rows.
    observed: Matrix<'p>,
}

impl Model {
    /// A step of encoders and decoders. Its outputs are `loss`, and `features`: the loss of what is
    /// decoded from places.
    pub(super) fn generator(&self, known: &Known<'_>) -> Result<Recorded> {
        let program = Program::new(GENERATOR);
        let Codes { rows, places, observed } = self.codes(&program, known);
        let features = self.features_loss(observed, known);
        let own = self.features_loss(rows, known).scale(FEATURES_WEIGHT)
            + self.edges_loss(places, &known.edges);
        let cross = features.scale(FEATURES_WEIGHT) + self.edges_loss(rows, &known.observed_edges);
        let fooling = self.judged(rows).binary_loss(Label::One)
            + self.judged(observed).binary_loss(Label::One);
        let loss = own + cross.scale(self.cross) + fooling;
        program.output("loss", loss);
        program.output("features", features);
        self.minimise(&program, loss, |name| !name.starts_with(JUDGE));
        program.finish()
    }

    /// A step of the discriminator, with the output `loss`: codes are zeros to it, and as much noise
    /// is ones.
    pub(super) fn discriminator(&self, known: &Known<'_>) -> Result<Recorded> {
        let program = Program::new(DISCRIMINATOR);
        let Codes { rows, observed, .. } = self.codes(&program, known);
        let noise = program.normal_noise(rows.shape());
        let codes = self.judged(rows).binary_loss(Label::Zero)
            + self.judged(observed).binary_loss(Label::Zero);
        let loss = self.judged(noise).binary_loss(Label::One) + codes.scale(0.5);
        program.output("loss", loss);
        self.minimise(&program, loss, |name| name.starts_with(JUDGE));
        program.finish()
    }

    /// The last hidden layer of all nodes, from their places: nodes × hidden.
    pub(super) fn prediction(&self, graph: &NormalisedGraph) -> Result<Recorded> {
        let program = Program::new(PREDICTION);
        let places = self.backbone.encode(&program, graph, [self.hidden, self.latent], 0.0);
        program.output("latent", self.decoded(places));
        program.finish()
    }

    fn codes<'p>(&self, program: &'p Program, known: &Known<'_>) -> Codes<'p> {
        let dropout = self.network.dropout;
        let shape = [known.rows.shape().columns, self.hidden];
        let weight = program.parameter("row.first.weight", shape, Initial::Glorot);
        let bias = program.parameter("row.first.bias", [1, self.hidden], Initial::ZEROS);
        let hidden = program.sparse_product(&known.rows, weight).add_bias(bias).relu();
        let hidden = hidden.dropout(dropout);
        let widths = [self.hidden, self.latent];
        let places = self.backbone.encode(program, known.graph, widths, dropout);
        let observed = places.gather_rows(&known.features.rows);
        Codes { rows: hidden.linear("row.second", self.latent), places, observed }
    }

    fn decoded<'p>(&self, codes: Matrix<'p>) -> Matrix<'p> {
        codes.linear("decoder", self.hidden).relu()
    }

    fn features_loss<'p>(&self, codes: Matrix<'p>, known: &Known<'_>) -> Matrix<'p> {
        let program = codes.program();
        let columns = known.features.likelihood.shape().columns;
        let bound = Initial::Uniform(1.0 / (self.hidden.max(1) as f32).sqrt());
        let weight = program.parameter("features.weight", [self.hidden, columns], bound);
        let bias = program.parameter("features.bias", [1, columns], bound);
        let decoder = Decoder { bias: Some(bias), ..Decoder::new(weight) };
        let rows = self.decoded(codes).dropout(self.network.dropout);
        rows.decoder_loss(decoder, &known.features.likelihood)
    }

    /// Edges against as many pairs that are drawn.
    fn edges_loss<'p>(&self, codes: Matrix<'p>, edges: &Arc<[[u32; 2]]>) -> Matrix<'p> {
        let hidden = codes.linear("edges.first", self.latent).relu();
        let ends = hidden.dropout(self.network.dropout).linear("edges.second", self.latent);
        let known = ends.pair_scores(ends, edges).binary_loss(Label::One);
        let drawn = ends.sampled_pair_scores(ends, edges.len()).binary_loss(Label::Zero);
        (known + drawn).scale(0.5)
    }

    fn judged<'p>(&self, codes: Matrix<'p>) -> Matrix<'p> {
        let hidden = codes.linear(&format!("{JUDGE}.first"), self.latent).relu();
        hidden.dropout(self.network.dropout).linear(&format!("{JUDGE}.second"), 1)
    }

    fn minimise<'p>(
        &self,
        program: &'p Program,
        loss: Matrix<'p>,
        is_learned: impl Fn(&str) -> bool,
    ) {
        let names = program.parameters();
        let learned: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| is_learned(name)).collect();
        program.minimise(loss, &self.network.adam(), None, &learned);
    }
}
