//! The model as programs; see the [module](super) for its equations.

use graphfill_engine::{Adam, Factor, Initial, Matrix, Program, Recorded, Result, Schedule};

use super::edges::{Edges, Side};
use crate::learning::Observed;
use crate::svga::{PREDICTION, TRAINING};

/// The inputs: the scores of cells, unit vectors of features, and what their scores begin with.
pub(super) const VALUES: &str = "values";
pub(super) const UNIT_VECTORS: &str = "unit_vectors";
pub(super) const BASE: &str = "base";

/// What predictions are made of: the outputs of [`Model::prediction`].
pub(super) const LATENT: &str = "latent";
pub(super) const WEIGHT: &str = "weight";
pub(super) const BIAS: &str = "bias";

/// What is small beside a count of 1.
const SMALL: f32 = 0.1;
/// Gradients are cut to this length: the first updates of deep sums are wild.
const LARGEST_GRADIENT: f32 = 1.0;

/// The model's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    /// The width of nodes and cells.
    pub(super) width: usize,
    /// The number of layers.
    pub(super) depth: usize,
    /// The share of known cells that an update hides.
    pub(super) hidden_share: f32,
    /// The learning rate of Adam.
    pub(super) learning_rate: f32,
}

/// Both sides, rows first.
type Nodes<'p> = [Matrix<'p>; 2];

impl Model {
    /// One update, with the output `loss`. `cells` says which cell each feature belongs to.
    pub(super) fn training(
        &self,
        edges: &Edges,
        cells: &[u32],
        known: &Observed,
    ) -> Result<Recorded> {
        let program = Program::new(TRAINING);
        let (rows, features) = (edges.rows.nodes, edges.features.nodes);
        let hidden = program.hidden_cells(rows, cells, self.hidden_share, 0.0);
        let unit_vectors = program.input(UNIT_VECTORS, [features, features]);
        // Row i of `shown` times unit vector k is its cell k.
        let shown = program.constant([rows, features], 1.0) - hidden;
        let shown = shown.pair_scores(unit_vectors, &edges.pairs);
        let [latent, weight, bias] = self.readout(&program, edges, shown);
        let one = program.constant([1, 1], 1.0);
        let bias = one.product_of(Factor::Plain, bias, Factor::Transposed);
        let latent = latent.gather_rows(&known.rows);
        let scores = latent.product_of(Factor::Plain, weight, Factor::Transposed).add_bias(bias);
        // The mean is over all known cells, of which this share is hidden.
        let loss = scores.weighted_loss(&known.likelihood, hidden.gather_rows(&known.rows));
        let loss = loss.scale(1.0 / self.hidden_share);
        program.output("loss", loss);
        let names = program.parameters();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let adam = Adam::new(Schedule::Constant(self.learning_rate));
        program.minimise(loss, &adam, Some(LARGEST_GRADIENT), &names);
        program.finish()
    }

    /// Latents of rows, weights and biases of features, from all known cells.
    pub(super) fn prediction(&self, edges: &Edges) -> Result<Recorded> {
        let program = Program::new(PREDICTION);
        let shown = program.constant([edges.values.len(), 1], 1.0);
        let [latent, weight, bias] = self.readout(&program, edges, shown);
        program.output(LATENT, latent);
        program.output(WEIGHT, weight);
        program.output(BIAS, bias);
        program.finish()
    }

    /// relu(h_row R + b), h_feature C and h_feature c + o. C and c begin at zero, so that the first
    /// scores are those of the column alone.
    fn readout<'p>(
        &self,
        program: &'p Program,
        edges: &Edges,
        shown: Matrix<'p>,
    ) -> [Matrix<'p>; 3] {
        let [rows, features] = self.encode(program, edges, shown);
        let latent = rows.linear("rows.readout", self.width).relu();
        let decode = |name: &str, width: usize| {
            let weight = [features.columns(), width];
            features.product(program.parameter(name, weight, Initial::ZEROS))
        };
        let base = program.input(BASE, [edges.features.nodes, 1]);
        [latent, decode("features.readout", self.width), decode("features.bias", 1) + base]
    }

    /// h of rows and features after all layers. Messages of cells that are not `shown` count nothing.
    fn encode<'p>(&self, program: &'p Program, edges: &Edges, shown: Matrix<'p>) -> Nodes<'p> {
        let width = edges.features.nodes;
        let sides = [&edges.rows, &edges.features];
        let shares = sides.map(|side| inverse(side.sum(shown)));
        let mut cells = program.input(VALUES, [edges.values.len(), 1]);
        let mut nodes: Nodes<'p> = [
            program.constant([edges.rows.nodes, width], 1.0 / width.max(1) as f32),
            program.input(UNIT_VECTORS, [width, width]),
        ];
        for layer in 0..self.depth {
            let named = |part: &str| format!("layer.{layer}.{part}");
            let message = cells.linear(&named("message.cell"), self.width);
            // Unit vectors choose a row each: it is as wide as one, whatever their number.
            let initial = if layer == 0 { Initial::Uniform(1.0) } else { Initial::Glorot };
            let weight = self.weight(nodes[0], &named("message.node"), initial);
            let means = [0, 1].map(|side| {
                let other = sides[1 - side].gather(nodes[1 - side].product(weight));
                let message = (other + message).relu();
                sides[side].mean(message.scale_rows(shown), shares[side])
            });
            let own = self.weight(nodes[0], &named("update.node"), initial);
            nodes = [0, 1].map(|side| {
                let mean = means[side].linear(&named("update.mean"), self.width);
                (nodes[side].product(own) + mean).relu()
            });
            if layer + 1 < self.depth {
                let own = cells.linear(&named("cell.own"), self.width);
                let [codes, of_feature] =
                    [(0, "cell.row"), (1, "cell.feature")].map(|(side, name): (usize, &str)| {
                        let weight = self.weight(nodes[side], &named(name), Initial::Glorot);
                        sides[side].gather(nodes[side].product(weight))
                    });
                cells = (own + codes + of_feature).relu();
            }
        }
        nodes
    }

    /// A weight that rows like these can be multiplied with.
    fn weight<'p>(&self, rows: Matrix<'p>, name: &str, initial: Initial) -> Matrix<'p> {
        rows.program().parameter(name, [rows.columns(), self.width], initial)
    }
}

/// One over each number of a column of counts, or nearly: c / √(n² + c²) / c with a small c, which
/// is 1/n but for half a percent at most, and finite for 0.
fn inverse(counts: Matrix<'_>) -> Matrix<'_> {
    let small = counts.program().constant(counts.shape(), SMALL);
    counts.concatenate(small).normalise_rows().slice_columns(1..2).scale(1.0 / SMALL)
}

impl Side {
    /// The row of each edge's node.
    fn gather<'p>(&self, nodes: Matrix<'p>) -> Matrix<'p> {
        nodes.program().sparse_product(&self.of_edge, nodes)
    }

    /// The sum of each node's edges.
    fn sum<'p>(&self, edges: Matrix<'p>) -> Matrix<'p> {
        edges.program().transposed_sparse_product(&self.of_edge, edges)
    }

    /// The mean of each node's edges, of which each counts for a share, less the mean over nodes, in
    /// units of what a mean of so many deviates.
    fn mean<'p>(&self, edges: Matrix<'p>, shares: Matrix<'p>) -> Matrix<'p> {
        let mean = self.sum(edges).scale_rows(shares);
        let nodes = self.nodes.max(1) as f32;
        let centre = mean.column_sums().scale(-1.0 / nodes);
        mean.add_bias(centre).scale((edges.rows() as f32 / nodes).sqrt())
    }
}
