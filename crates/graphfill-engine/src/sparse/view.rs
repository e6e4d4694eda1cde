//! A sparse matrix in compressed rows, borrowed from whoever holds it.

/// `rows × columns`; row `i` has the entries `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct SparseView<'a> {
    offsets: &'a [usize],
    columns: &'a [u32],
    values: Option<&'a [f32]>,
    width: usize,
}

impl<'a> SparseView<'a> {
    /// A view of `width` columns; without values every entry is one.
    ///
    /// # Panics
    /// If the parts don't fit together: offsets that fall or run past the entries, a column
    /// outside `0..width`, another number of values than of columns.
    pub fn new(
        offsets: &'a [usize],
        columns: &'a [u32],
        values: Option<&'a [f32]>,
        width: usize,
    ) -> Self {
        assert!(!offsets.is_empty() && offsets[0] == 0, "row offsets start at 0");
        assert!(offsets.windows(2).all(|pair| pair[0] <= pair[1]), "row offsets never fall");
        assert_eq!(offsets[offsets.len() - 1], columns.len(), "row offsets end at the entries");
        assert!(columns.iter().all(|&column| (column as usize) < width), "columns lie inside");
        assert!(values.is_none_or(|values| values.len() == columns.len()), "a value an entry");
        SparseView { offsets, columns, values, width }
    }

    /// A view of parts that are known to fit.
    pub(super) fn of_checked(
        offsets: &'a [usize],
        columns: &'a [u32],
        values: Option<&'a [f32]>,
        width: usize,
    ) -> Self {
        SparseView { offsets, columns, values, width }
    }

    /// Where the entries of each row begin, and where those of the last one end.
    pub fn offsets(&self) -> &'a [usize] {
        self.offsets
    }

    /// The columns of all entries, row after row.
    pub fn all_columns(&self) -> &'a [u32] {
        self.columns
    }

    /// The values of all entries, row after row; none where every entry is one.
    pub fn all_values(&self) -> Option<&'a [f32]> {
        self.values
    }

    /// Where a row's entries lie among all entries.
    #[inline(always)]
    pub fn entries(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The columns of a row's entries.
    #[inline(always)]
    pub fn columns(&self, row: usize) -> &'a [u32] {
        &self.columns[self.offsets[row]..self.offsets[row + 1]]
    }

    /// The values beside [`SparseView::columns`]; none where every entry is one.
    #[inline(always)]
    pub fn values(&self, row: usize) -> Option<&'a [f32]> {
        Some(&self.values?[self.offsets[row]..self.offsets[row + 1]])
    }
}
