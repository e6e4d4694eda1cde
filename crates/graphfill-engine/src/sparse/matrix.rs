//! A sparse matrix that a program holds: its rows, and those of its transpose for gradients.

use std::fmt;

use super::{SparseRows, SparseView};
use crate::Shape;

/// A sparse matrix in compressed rows. Never changed once made, so programs share it by `Arc`.
pub struct SparseMatrix {
    rows: SparseRows,
    transpose: Transpose,
}

/// The gradient of a product A·X is Aᵀ·G, so the rows of Aᵀ are kept as well, unless A = Aᵀ.
enum Transpose {
    Same,
    Other(SparseRows),
}

impl SparseMatrix {
    /// A matrix of `width` columns; without values every entry is one.
    ///
    /// # Panics
    /// If the parts don't fit together, as [`SparseView::new`] says.
    pub fn new(
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Option<Vec<f32>>,
        width: usize,
    ) -> Self {
        let rows = SparseRows::new(offsets, columns, values, width);
        let transpose = Transpose::Other(rows.transposed());
        SparseMatrix { rows, transpose }
    }

    /// A matrix that equals its transpose, of which one copy is enough.
    ///
    /// # Panics
    /// If the parts don't fit together, or it is not symmetric.
    pub fn symmetric(offsets: Vec<usize>, columns: Vec<u32>, values: Option<Vec<f32>>) -> Self {
        let width = offsets.len().saturating_sub(1);
        let rows = SparseRows::new(offsets, columns, values, width);
        assert!(rows.is_symmetric(), "the matrix equals its transpose");
        SparseMatrix { rows, transpose: Transpose::Same }
    }

    /// One entry a row: row i of the product is row `chosen[i]` of the other matrix.
    ///
    /// # Panics
    /// If a chosen row is not below `width`.
    pub fn selection(chosen: &[u32], width: usize) -> Self {
        Self::new((0..=chosen.len()).collect(), chosen.to_vec(), None, width)
    }

    /// Its rows and columns.
    pub fn shape(&self) -> Shape {
        self.rows.shape()
    }

    /// How many entries it has.
    pub fn entries(&self) -> usize {
        self.rows.entries()
    }

    /// Its rows.
    pub fn view(&self) -> SparseView<'_> {
        self.rows.view()
    }

    /// Its columns: the rows of the transpose.
    pub fn transposed(&self) -> SparseView<'_> {
        match &self.transpose {
            Transpose::Same => self.rows.view(),
            Transpose::Other(columns) => columns.view(),
        }
    }

    /// Whether it was made as one that equals its transpose.
    pub fn is_symmetric(&self) -> bool {
        matches!(self.transpose, Transpose::Same)
    }

    /// The memory that it holds.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
            + match &self.transpose {
                Transpose::Same => 0,
                Transpose::Other(columns) => columns.bytes(),
            }
    }
}

impl SparseMatrix {
    /// Its shape, the number of its entries and their fingerprint, in the identity of an operation.
    pub(crate) fn identity(&self) -> String {
        self.rows.identity()
    }
}

impl fmt::Debug for SparseMatrix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.rows, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transpose_has_the_columns_as_rows() {
        // [0 2 0]
        // [3 4 0]
        let matrix = SparseMatrix::new(vec![0, 1, 3], vec![1, 1, 0], Some(vec![2.0, 4.0, 3.0]), 3);
        let transposed = matrix.transposed();
        assert_eq!((transposed.rows(), transposed.width()), (3, 2));
        assert_eq!(transposed.columns(0), [1]);
        assert_eq!(transposed.columns(1), [0, 1]);
        assert_eq!(transposed.values(1), Some(&[2.0, 4.0][..]));
        assert!(transposed.columns(2).is_empty());
    }

    #[test]
    fn a_symmetric_matrix_is_kept_once() {
        let parts = || (vec![0, 1, 2], vec![1, 0], vec![0.5, 0.5]);
        let (offsets, columns, values) = parts();
        let once = SparseMatrix::symmetric(offsets, columns, Some(values));
        let (offsets, columns, values) = parts();
        let twice = SparseMatrix::new(offsets, columns, Some(values), 2);
        assert_eq!(2 * once.bytes(), twice.bytes());
        assert_eq!(format!("{once:?}"), format!("{twice:?}"));
    }

    #[test]
    #[should_panic(expected = "equals its transpose")]
    fn an_asymmetric_matrix_is_not_taken_for_symmetric() {
        let _ = SparseMatrix::symmetric(vec![0, 1, 2], vec![1, 0], Some(vec![0.5, 0.25]));
    }
}
