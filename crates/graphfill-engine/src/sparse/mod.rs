//! Sparse matrices in compressed rows: what stays the same while a program runs thousands of times.

mod matrix;
mod view;

pub use matrix::SparseMatrix;
pub use view::SparseView;
