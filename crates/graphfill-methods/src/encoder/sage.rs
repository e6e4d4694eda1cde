//! GraphSAGE with means:
//!
//!   H₁ = W₁ + Ā W₁' + B + b₁                                                      nodes × width
//!   H_{k+1} = h W + (Ā h) W' + b,  h = dropout(relu(H_k))
//!
//! Parameters: `embedding` (W₁), `neighbour_embedding` (W₁'), `first_bias`; `weight` (W),
//! `neighbour_weight` (W'), `second_bias`; `layer_3.weight`, `layer_3.neighbour_weight`,
//! `layer_3.bias`; … Every layer has a path past the graph.

use graphfill_engine::Matrix;

use super::layers::{Layers, part_of};

pub(super) fn record<'p>(layers: &Layers<'_, 'p>) -> Matrix<'p> {
    let average = |rows: Matrix<'p>| layers.program.sparse_product(layers.graph.means(), rows);
    let own = layers.embedding("embedding");
    let first = layers.with_beside(&[own, layers.embedding("neighbour_embedding").map(average)]);
    layers.behind_first(layers.add_bias(1, first), Matrix::relu, |layer, inputs| {
        let own = inputs.product(layers.weight(&part_of(layer, "weight")));
        let weight = layers.weight(&part_of(layer, "neighbour_weight"));
        own + average(inputs.product(weight))
    })
}
