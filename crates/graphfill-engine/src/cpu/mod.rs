//! Kernels for the processor.

mod sparse_product;

pub use sparse_product::{FinishRow, PANEL_WIDTHS, Store, panel_width, sparse_product};
