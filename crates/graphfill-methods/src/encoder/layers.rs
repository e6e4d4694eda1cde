//! What the kinds of encoders share: their parameters, the first layer's sum, the way from one layer
//! to the next.
//!
//!   H₁ = … + B + b₁       H_{k+1} = layer(h) [+ h W_self] + b,  h = dropout(activation(H_k))
//!
//! Every H and h is nodes × width.

use graphfill_engine::{Initial, Matrix, Program};

use super::{Encoder, Identity, Mode, NormalisedGraph, OwnPath};

/// An encoder that is being recorded.
pub(super) struct Layers<'a, 'p> {
    pub(super) encoder: &'a Encoder,
    pub(super) program: &'p Program,
    pub(super) graph: &'a NormalisedGraph,
    pub(super) name: &'a str,
    /// B.
    pub(super) beside: Option<Matrix<'p>>,
    pub(super) mode: Mode,
}

impl<'p> Layers<'_, 'p> {
    /// A weight of the identity: a row for each node. There is none where it is not used.
    pub(super) fn embedding(&self, part: &str) -> Option<Matrix<'p>> {
        let shape = [self.graph.nodes(), self.encoder.width];
        let used = self.encoder.identity == Identity::Used;
        used.then(|| self.parameter(part, shape, Initial::Glorot))
    }

    /// A weight from hidden rows to hidden rows.
    pub(super) fn weight(&self, part: &str) -> Matrix<'p> {
        self.parameter(part, [self.encoder.width; 2], Initial::Glorot)
    }

    pub(super) fn parameter(&self, part: &str, shape: [usize; 2], initial: Initial) -> Matrix<'p> {
        self.program.parameter(&format!("{}.{part}", self.name), shape, initial)
    }

    pub(super) fn add_bias(&self, layer: usize, rows: Matrix<'p>) -> Matrix<'p> {
        let part = match layer {
            1 => "first_bias".to_owned(),
            2 => "second_bias".to_owned(),
            _ => part_of(layer, "bias"),
        };
        rows.add_bias(self.parameter(&part, [1, self.encoder.width], Initial::ZEROS))
    }

    /// The sum of what there is of these and B.
    pub(super) fn with_beside(&self, parts: &[Option<Matrix<'p>>]) -> Matrix<'p> {
        let parts = parts.iter().copied().chain([self.beside]).flatten();
        let shape = [self.graph.nodes(), self.encoder.width];
        parts.reduce(|sum, part| sum + part).unwrap_or_else(|| self.program.constant(shape, 0.0))
    }

    /// The identity's way past a single layer that sees nothing but the graph.
    pub(super) fn own_path_of_identity(&self) -> Option<Matrix<'p>> {
        let single = self.encoder.depth == 1 && self.encoder.own_path == OwnPath::Added;
        if single { self.embedding("own_embedding") } else { None }
    }

    /// Of the last layer: with the way of its inputs past the graph, if that is asked for.
    pub(super) fn with_own_path(
        &self,
        layer: usize,
        rows: Matrix<'p>,
        inputs: Matrix<'p>,
    ) -> Matrix<'p> {
        if layer == self.encoder.depth && self.encoder.own_path == OwnPath::Added {
            rows + inputs.product(self.weight("own_weight"))
        } else {
            rows
        }
    }

    /// Z from H₁. A layer gets its number and h.
    pub(super) fn behind_first(
        &self,
        first: Matrix<'p>,
        activation: impl Fn(Matrix<'p>) -> Matrix<'p>,
        record_layer: impl Fn(usize, Matrix<'p>) -> Matrix<'p>,
    ) -> Matrix<'p> {
        (2..=self.encoder.depth).fold(first, |hidden, layer| {
            let inputs = match self.mode {
                Mode::Training => activation(hidden).dropout(self.encoder.hidden_dropout),
                Mode::Prediction => activation(hidden),
            };
            self.add_bias(layer, record_layer(layer, inputs))
        })
    }
}

/// The name of a parameter of a layer behind the first: `weight` of the second, `layer_3.weight` of
/// the third.
pub(super) fn part_of(layer: usize, part: &str) -> String {
    if layer == 2 { part.to_owned() } else { format!("layer_{layer}.{part}") }
}
