//! Sparse matrices in compressed rows: what stays the same while a program runs thousands of times.

mod matrix;
mod rows;
mod view;

pub use matrix::SparseMatrix;
pub use rows::SparseRows;
pub use view::SparseView;
