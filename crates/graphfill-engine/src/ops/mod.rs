//! The operations, one a file: what it computes, how shapes follow, how gradients flow, the kernel.
//!
//! # How to add an operation
//!
//! 1. A file with a struct that holds what the operation depends on (a rate, a sparse matrix), and
//!    the equation and the shapes above it.
//! 2. `impl Operation`: [`name`](crate::Operation::name), [`shapes`](crate::Operation::shapes),
//!    [`gradient`](crate::Operation::gradient) (which records other operations),
//!    [`cpu`](crate::Operation::cpu).
//!    For CUDA cards, [`cuda`](crate::Operation::cuda) says what to launch, with kernels in a `.cu`
//!    file beside it; without, programs that use the operation run on the processor only.
//! 3. A method of [`Matrix`](crate::Matrix) or [`Program`](crate::Program) that records it.
//! 4. A test that hands the method and a plain reference in double precision to `testing::check`:
//!    it compares the kernel with the reference and the gradient with finite differences.

mod activations;
mod add_bias;
mod binary_loss;
mod column_sums;
mod columns;
mod dense_product;
mod dropout;
mod edge_attention;
mod fill;
mod gather_rows;
mod gaussian_field;
mod gaussian_kl;
mod gru;
mod head_scores;
mod hidden_cells;
mod likelihood;
mod linear_combination;
mod multiply;
#[cfg(test)]
mod nan;
mod noise;
mod normalise_rows;
mod pair_scores;
mod propagation;
mod row_products;
mod row_sums;
mod scale_by;
mod scoring;
mod sparse_product;
mod sum;
mod wanted;

pub use binary_loss::Label;
pub use dense_product::Factor;
pub(crate) use fill::Fill;
pub use gru::Direction;
pub use likelihood::{Decoder, Likelihood, MISSING_CATEGORY, Targets};
pub(crate) use linear_combination::linear_combination;
pub use propagation::PropagationRound;
pub use scoring::{
    Averaged, Ranking, RankingMeasure, TrueColumns, TrueValues, ValueOfScore, shuffled_column,
};
