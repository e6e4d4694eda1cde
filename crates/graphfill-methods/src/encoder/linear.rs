//! No graph at all, so that only the field knows it:
//!
//!   Z = W₁ + B + b₁                                                               nodes × width
//!
//! Parameters: `embedding` (W₁), `first_bias`.

use graphfill_engine::Matrix;

use super::layers::Layers;

pub(super) fn record<'p>(layers: &Layers<'_, 'p>) -> Matrix<'p> {
    layers.add_bias(1, layers.with_beside(&[layers.embedding("embedding")]))
}
