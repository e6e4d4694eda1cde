//! Kernels for the processor.

mod sparse_product;

pub use sparse_product::{PANEL_WIDTHS, panel_width, sparse_product};
