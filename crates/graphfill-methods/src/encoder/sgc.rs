//! Simple graph convolution, all layers as one:
//!
//!   Z = Âᴸ (W₁ + B) [+ (W₁ + B) W_self] + b₁                                      nodes × width
//!
//! Parameters: `embedding` (W₁), `first_bias`; `own_weight` (W_self) where there is a path past the
//! graph. Nothing is hidden, so nothing is dropped.

use graphfill_engine::Matrix;

use super::layers::Layers;

pub(super) fn record<'p>(layers: &Layers<'_, 'p>) -> Matrix<'p> {
    let inputs = layers.with_beside(&[layers.embedding("embedding")]);
    let depth = layers.encoder.depth;
    let averaged = (0..depth).fold(inputs, |rows, _| {
        layers.program.sparse_product(layers.graph.with_self_loops(), rows)
    });
    layers.add_bias(1, layers.with_own_path(depth, averaged, inputs))
}
