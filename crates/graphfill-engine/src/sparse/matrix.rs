//! A sparse matrix that a program holds: its rows, and those of its transpose for gradients.

use std::fmt;

use super::SparseView;
use crate::Shape;
use crate::fingerprint::Fingerprint;

/// A sparse matrix in compressed rows. Never changed once made, so programs share it by `Arc`.
pub struct SparseMatrix {
    rows: Compressed,
    transpose: Transpose,
    fingerprint: u64,
}

struct Compressed {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Option<Vec<f32>>,
    width: usize,
}

/// The gradient of a product A·X is Aᵀ·G, so the rows of Aᵀ are kept as well, unless A = Aᵀ.
enum Transpose {
    Same,
    Other(Compressed),
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
        let rows = Compressed::new(offsets, columns, values, width);
        let transpose = Transpose::Other(rows.transposed());
        SparseMatrix { fingerprint: rows.fingerprint(), rows, transpose }
    }

    /// A matrix that equals its transpose, of which one copy is enough.
    ///
    /// # Panics
    /// If the parts don't fit together, or it is not symmetric.
    pub fn symmetric(offsets: Vec<usize>, columns: Vec<u32>, values: Option<Vec<f32>>) -> Self {
        let width = offsets.len().saturating_sub(1);
        let rows = Compressed::new(offsets, columns, values, width);
        assert!(rows.is_symmetric(), "the matrix equals its transpose");
        SparseMatrix { fingerprint: rows.fingerprint(), rows, transpose: Transpose::Same }
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
        Shape::new(self.rows.offsets.len() - 1, self.rows.width)
    }

    /// How many entries it has.
    pub fn entries(&self) -> usize {
        self.rows.columns.len()
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

    /// The memory that it holds.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
            + match &self.transpose {
                Transpose::Same => 0,
                Transpose::Other(columns) => columns.bytes(),
            }
    }
}

impl Compressed {
    fn new(offsets: Vec<usize>, columns: Vec<u32>, values: Option<Vec<f32>>, width: usize) -> Self {
        // Only for its checks.
        let _ = SparseView::new(&offsets, &columns, values.as_deref(), width);
        Compressed { offsets, columns, values, width }
    }

    fn view(&self) -> SparseView<'_> {
        SparseView::of_checked(&self.offsets, &self.columns, self.values.as_deref(), self.width)
    }

    /// A counting sort by column; the entries of a column stay in the order of their rows.
    fn transposed(&self) -> Compressed {
        let mut offsets = vec![0; self.width + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for at in 0..self.width {
            offsets[at + 1] += offsets[at];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = self.values.as_ref().map(|values| vec![0.0; values.len()]);
        for row in 0..self.offsets.len() - 1 {
            for entry in self.offsets[row]..self.offsets[row + 1] {
                let to = &mut next[self.columns[entry] as usize];
                columns[*to] = row as u32;
                if let (Some(values), Some(own)) = (&mut values, &self.values) {
                    values[*to] = own[entry];
                }
                *to += 1;
            }
        }
        Compressed { offsets, columns, values, width: self.offsets.len() - 1 }
    }

    /// Whether every entry has an equal one on the other side of the diagonal.
    fn is_symmetric(&self) -> bool {
        let other = self.transposed();
        // A transpose is ordered by column within a row; this matrix need not be.
        let sorted = |of: &Compressed, row: usize| {
            let mut entries: Vec<(u32, f32)> = (of.offsets[row]..of.offsets[row + 1])
                .map(|at| (of.columns[at], of.values.as_ref().map_or(1.0, |values| values[at])))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            entries
        };
        self.offsets == other.offsets
            && (0..self.width).all(|row| sorted(self, row) == sorted(&other, row))
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&self.offsets[..])
            + size_of_val(&self.columns[..])
            + self.values.as_ref().map_or(0, |values| size_of_val(&values[..]))) as u64
    }

    fn fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add_all(self.offsets.iter().map(|&offset| offset as u64));
        fingerprint.add_all(self.columns.iter().map(|&column| u64::from(column)));
        fingerprint.add_all(self.values.iter().flatten().map(|value| u64::from(value.to_bits())));
        fingerprint.add_all([self.width as u64]);
        fingerprint.value()
    }
}

impl fmt::Debug for SparseMatrix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, entries) = (self.shape(), self.entries());
        write!(formatter, "sparse({shape}, {entries} entries, {:016x})", self.fingerprint)
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
