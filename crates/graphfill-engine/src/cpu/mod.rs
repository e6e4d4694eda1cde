//! The processor as a device: the arena is memory, kernels run on rayon's threads.
//!
//! Kernels use the widest vectors that the machine at hand has, chosen when the program runs, not
//! when it is built. However rows are dealt out to threads, each is computed in the same way, and
//! sums over portions, which depend on shapes alone, are made in order: the same bits for any number
//! of threads.

mod arena;
mod call;
mod centred_gram;
mod cholesky;
mod column_means;
mod elementwise;
mod multiply;
mod numerics;
mod product;
mod scratch;
mod sparse_product;
mod sparse_rows;
mod sums;

pub(crate) use arena::Cpu;
pub use call::Call;
pub(crate) use centred_gram::{Centring, centred_gram};
pub(crate) use cholesky::{cholesky, inverse, inverse_times, rounded_off};
pub use column_means::column_means;
pub(crate) use elementwise::{Combine, Convert, PORTION, combine, convert, for_each_portion};
pub use multiply::multiply;
pub(crate) use numerics::{exp, ln, sigmoid, sine_and_cosine_of_turns, tanh};
pub(crate) use product::{
    Dense, Existing, PackedRight, gram, pack_right, packed_len, product, product_rows,
    product_scratch,
};
pub(crate) use scratch::{as_doubles, cut, cut_len, doubles};
pub use sparse_product::{FinishRow, PANEL_WIDTHS, Store, panel_width, sparse_product};
pub(crate) use sparse_rows::{sparse_row, sparse_times_dense};
pub(crate) use sums::{portions, sum_of_portions};

/// The vectors that kernels use on this machine.
pub fn vectors() -> &'static str {
    struct Width;
    impl pulp::WithSimd for Width {
        type Output = usize;
        fn with_simd<S: pulp::Simd>(self, _simd: S) -> usize {
            S::F32_LANES
        }
    }
    match pulp::Arch::new().dispatch(Width) {
        16 => "512 bits",
        8 => "256 bits",
        4 => "128 bits",
        _ => "none",
    }
}
