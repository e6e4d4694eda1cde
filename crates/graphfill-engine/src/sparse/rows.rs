//! The rows of a sparse matrix, one after the other.

use std::fmt;

use super::SparseView;
use crate::Shape;
use crate::fingerprint::Fingerprint;

/// A sparse matrix in compressed rows, of which only the rows are ever asked for: targets of a loss,
/// say. A [`SparseMatrix`](super::SparseMatrix) has its columns as well.
pub struct SparseRows {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Option<Vec<f32>>,
    width: usize,
    fingerprint: u64,
}

impl SparseRows {
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
        // Only for its checks.
        let _ = SparseView::new(&offsets, &columns, values.as_deref(), width);
        let mut rows = SparseRows { offsets, columns, values, width, fingerprint: 0 };
        rows.fingerprint = rows.compute_fingerprint();
        rows
    }

    /// Its rows and columns.
    pub fn shape(&self) -> Shape {
        Shape::new(self.offsets.len() - 1, self.width)
    }

    /// How many entries it has.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The values of its entries, row by row; none where every entry is one.
    pub fn values(&self) -> Option<&[f32]> {
        self.values.as_deref()
    }

    /// A view of it.
    pub fn view(&self) -> SparseView<'_> {
        SparseView::of_checked(&self.offsets, &self.columns, self.values.as_deref(), self.width)
    }

    /// A counting sort by column; the entries of a column stay in the order of their rows.
    pub(super) fn transposed(&self) -> SparseRows {
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
        SparseRows { offsets, columns, values, width: self.offsets.len() - 1, fingerprint: 0 }
    }

    /// Whether every entry has an equal one on the other side of the diagonal.
    pub(super) fn is_symmetric(&self) -> bool {
        let other = self.transposed();
        // A transpose is ordered by column within a row; this matrix need not be.
        let sorted = |of: &SparseRows, row: usize| {
            let mut entries: Vec<(u32, f32)> = (of.offsets[row]..of.offsets[row + 1])
                .map(|at| (of.columns[at], of.values.as_ref().map_or(1.0, |values| values[at])))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            entries
        };
        self.offsets == other.offsets
            && (0..self.width).all(|row| sorted(self, row) == sorted(&other, row))
    }

    /// The memory that it holds.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.offsets[..])
            + size_of_val(&self.columns[..])
            + self.values.as_ref().map_or(0, |values| size_of_val(&values[..]))) as u64
    }

    fn compute_fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add_all(self.offsets.iter().map(|&offset| offset as u64));
        fingerprint.add_all(self.columns.iter().map(|&column| u64::from(column)));
        fingerprint.add_all(self.values.iter().flatten().map(|value| u64::from(value.to_bits())));
        fingerprint.add_all([self.width as u64]);
        fingerprint.value()
    }
}

impl fmt::Debug for SparseRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, entries) = (self.shape(), self.entries());
        write!(formatter, "sparse({shape}, {entries} entries, {:016x})", self.fingerprint)
    }
}
