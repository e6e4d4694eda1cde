//! The numerical kernels of graphfill.
//!
//! So far one: the product of a sparse matrix with a narrow dense panel, the operation in which
//! propagation spends its time. It runs on all cores with the widest vectors that the machine at
//! hand has (chosen when the program runs, not when it is built), and its result depends on
//! neither.
//!
//! ```
//! use graphfill_engine::{SparseView, cpu::{Store, sparse_product}};
//!
//! // [0 2]   [1 1 1 1 1 1 1 1]   [6 6 6 6 6 6 6 6]
//! // [0 0] × [3 3 3 3 3 3 3 3] = [0 0 0 0 0 0 0 0]
//! let matrix = SparseView::new(&[0, 1, 1], &[1], Some(&[2.0]), 2);
//! let dense = [[1.0f32; 8], [3.0; 8]].concat();
//! let mut out = vec![0.0f32; 16];
//! sparse_product(matrix, &dense, 8, &mut out, &Store);
//! assert_eq!(out, [[6.0; 8], [0.0; 8]].concat());
//! ```
#![forbid(unsafe_code)]

pub mod cpu;
mod sparse_view;

pub use sparse_view::SparseView;
