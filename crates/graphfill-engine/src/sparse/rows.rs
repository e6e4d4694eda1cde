//! The rows of a sparse matrix, one after the other.

use std::fmt;

use rayon::prelude::*;

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

    /// Whether every entry has an equal one on the other side of the diagonal. Entries are added up
    /// as well-mixed numbers, once as they are and once with row and column exchanged: the sums are
    /// the same if the entries are, and otherwise once in 2⁶⁴ times. Nothing is sorted or moved.
    pub(super) fn is_symmetric(&self) -> bool {
        let value = |at: usize| self.values.as_ref().map_or(1.0, |values| values[at]);
        let difference = |row: usize| {
            let entries = self.offsets[row]..self.offsets[row + 1];
            entries.fold(0u64, |sum, at| {
                let (row, column, value) = (row as u64, u64::from(self.columns[at]), value(at));
                let [here, there] =
                    [row << 32 | column, column << 32 | row].map(|place| mixed(place, value));
                sum.wrapping_add(here).wrapping_sub(there)
            })
        };
        let rows = (0..self.offsets.len() - 1).into_par_iter();
        let is_number = !self.values.iter().flatten().any(|value| value.is_nan());
        is_number && rows.map(difference).reduce(|| 0, u64::wrapping_add) == 0
    }

    /// The memory that it holds.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.offsets[..])
            + size_of_val(&self.columns[..])
            + self.values.as_ref().map_or(0, |values| size_of_val(&values[..]))) as u64
    }

    /// Its shape, the number of its entries and their fingerprint, in the identity of an operation.
    pub(crate) fn identity(&self) -> String {
        let (shape, entries) = (self.shape(), self.entries());
        format!("sparse({shape}, {entries} entries, {:016x})", self.fingerprint)
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

/// A number of which every bit depends on every bit of an entry: the finalizer of SplitMix64, twice.
fn mixed(place: u64, value: f32) -> u64 {
    let mix = |mut word: u64| {
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    };
    // −0 is 0.
    mix(mix(place).wrapping_add(u64::from((value + 0.0).to_bits())))
}

impl fmt::Debug for SparseRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A matrix of four rows from entries in any order, some of them twice.
    fn matrix(entries: &[(usize, u32, f32)]) -> SparseRows {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..4 {
            for &(_, column, value) in entries.iter().filter(|entry| entry.0 == row) {
                columns.push(column);
                values.push(value);
            }
            offsets.push(columns.len());
        }
        SparseRows::new(offsets, columns, Some(values), 4)
    }

    proptest! {
        #[test]
        fn symmetric_is_what_equals_its_transpose(
            mut entries in prop::collection::vec((0..4usize, 0..4u32, -1..2i8), 0..12),
            mirrored: bool,
        ) {
            if mirrored {
                let others = entries.clone().into_iter();
                entries.extend(others.map(|(row, column, value)| (column as usize, row as u32, value)));
            }
            let as_floats = |entries: &[(usize, u32, i8)]| -> Vec<(usize, u32, f32)> {
                entries.iter().map(|&(row, column, value)| (row, column, f32::from(value))).collect()
            };
            let sorted = |mut entries: Vec<(usize, u32, i8)>| {
                entries.sort_unstable();
                entries
            };
            let exchanged: Vec<_> = entries
                .iter()
                .map(|&(row, column, value)| (column as usize, row as u32, value))
                .collect();
            let expected = sorted(entries.clone()) == sorted(exchanged);
            prop_assert!(expected || !mirrored);
            prop_assert_eq!(matrix(&as_floats(&entries)).is_symmetric(), expected);
        }
    }

    #[test]
    fn zeros_are_alike_and_what_is_no_number_is_like_nothing() {
        assert!(matrix(&[(0, 1, 0.0), (1, 0, -0.0)]).is_symmetric());
        assert!(!matrix(&[(0, 1, f32::NAN), (1, 0, f32::NAN)]).is_symmetric());
        assert!(!matrix(&[(2, 2, f32::NAN)]).is_symmetric());
    }
}
