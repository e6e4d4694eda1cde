//! Graph convolution:
//!
//!   H₁ = Â W₁ + B + b₁        H_{k+1} = Â h W + b,  h = dropout(relu(H_k))        nodes × width
//!
//! Parameters: `embedding` (W₁), `first_bias`; `weight`, `second_bias`; `layer_3.weight`,
//! `layer_3.bias`; …

use graphfill_engine::Matrix;

use super::layers::{Layers, part_of};

pub(super) fn record<'p>(layers: &Layers<'_, 'p>) -> Matrix<'p> {
    let average =
        |rows: Matrix<'p>| layers.program.sparse_product(layers.graph.with_self_loops(), rows);
    let averaged = layers.embedding("embedding").map(average);
    let first = layers.with_beside(&[averaged, layers.own_path_of_identity()]);
    layers.behind_first(layers.add_bias(1, first), Matrix::relu, |layer, inputs| {
        let weight = layers.weight(&part_of(layer, "weight"));
        layers.with_own_path(layer, average(inputs.product(weight)), inputs)
    })
}
