//! Graph attention, 8 heads side by side in every layer:
//!
//!   H₁ = att(W₁) + B + b₁        H_{k+1} = att(h W) + b,  h = dropout(elu(H_k))    nodes × width
//!   att(M)[i, head] = Σ_j softmax_j(leaky_relu(s · M[j, head] + t · M[i, head])) · M[j, head]
//!
//! j runs through the neighbours of i and i itself; what edges weigh doesn't matter. s and t are a
//! vector for each head: 8 × width/8.
//!
//! Parameters: `embedding` (W₁), `layer_1.source` (s), `layer_1.target` (t), `first_bias`;
//! `layer_2.weight`, `layer_2.source`, `layer_2.target`, `second_bias`; …

use graphfill_engine::{Initial, Matrix};

use super::layers::Layers;

/// The number of heads.
pub(super) const HEADS: usize = 8;

pub(super) fn record<'p>(layers: &Layers<'_, 'p>) -> Matrix<'p> {
    let attended = layers.embedding("embedding").map(|embedding| attend(layers, embedding));
    let first = layers.with_beside(&[attended, layers.own_path_of_identity()]);
    layers.behind_first(layers.add_bias(1, first), Matrix::elu, |layer, inputs| {
        let name = format!("{}.layer_{layer}", layers.name);
        // Attention asks Â only which entries there are.
        let (graph, width) = (layers.graph.with_self_loops(), layers.encoder.width / HEADS);
        let attended = layers.program.graph_attention(&name, graph, inputs, HEADS, width);
        layers.with_own_path(layer, attended, inputs)
    })
}

/// The first layer: the identity times its weight is that weight, so that there is no product.
fn attend<'p>(layers: &Layers<'_, 'p>, embedding: Matrix<'p>) -> Matrix<'p> {
    let scores = ["layer_1.source", "layer_1.target"].map(|part| {
        let vectors = [HEADS, layers.encoder.width / HEADS];
        embedding.head_scores(layers.parameter(part, vectors, Initial::Glorot))
    });
    let [source, target] = scores;
    let graph = layers.graph.with_self_loops();
    layers.program.edge_attention(graph, embedding, source, target, HEADS)
}
