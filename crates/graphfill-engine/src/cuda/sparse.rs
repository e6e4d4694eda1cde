//! How a card goes over the rows of a sparse matrix: groups of lanes, strips of columns, and long
//! rows in pieces.
//!
//! A node with 100,000 neighbours would keep one group of lanes busy long after all others are done.
//! So rows with more than [`LONG_ROW`] entries are cut into pieces that are summed like rows; what
//! the pieces of a row give is added in their order: the same bits in every run.

use super::{Address, Call, Define, Grid, Source};
use crate::SparseView;

/// Entries of a row beyond which it is cut, and of a piece.
const LONG_ROW: usize = 512;

/// The constants of `sparse_rows.cuh`.
pub(crate) const SPARSE_DEFINES: &[Define] = &[Define::count("LONG_ROW", LONG_ROW)];

/// What the strips of the gathered rows may take, so that they stay in a card's cache.
const CACHED_BYTES: usize = 24 << 20;

/// Lanes that fetch 128 bytes at a time, four numbers each: fewer would waste what memory gives.
const LEAST_LANES: usize = 8;

/// A file of kernels that begins with `sparse_rows.cuh` and `finish.cuh`, and its own constants.
macro_rules! sparse_source {
    ($name:literal) => {
        $crate::cuda::sparse::sparse_source!($name, &[])
    };
    ($name:literal, $defines:expr) => {
        $crate::cuda::Source::new(
            $name,
            concat!(
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda/sparse_rows.cuh")),
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda/finish.cuh")),
                include_str!($name)
            ),
        )
        .with(&[$crate::cuda::sparse::SPARSE_DEFINES, $crate::cuda::FINISH_DEFINES, $defines])
    };
}
pub(crate) use sparse_source;

/// How threads are dealt out over rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dealt {
    /// Whether a lane takes four columns or one.
    pub(crate) vectors: bool,
    /// Lanes of a group: a power of two, at most a warp.
    pub(crate) lanes: u32,
    /// Of the dense rows, in what a lane takes.
    pub(crate) width: usize,
}

const THREADS: usize = 256;

impl Dealt {
    /// For sums of rows of a dense matrix of so many columns, as a sparse matrix has them.
    pub(crate) fn new(view: SparseView<'_>, columns: usize) -> Self {
        let (inner, entries) = (view.width(), view.all_columns().len());
        // Rows that are fetched once or twice gain nothing from being kept.
        Dealt::over(if entries > 2 * inner { inner } else { 0 }, columns)
    }

    fn over(inner: usize, columns: usize) -> Self {
        let vectors = columns % 4 == 0;
        let width = if vectors { columns / 4 } else { columns };
        let lanes = if vectors { Dealt::lanes(inner, width) } else { whole_lanes(width) };
        Dealt { vectors, lanes, width }
    }

    /// Lanes that take 16 bytes each of rows that are so many times as long: fewer of them, if strips
    /// of all rows then stay in the cache.
    pub(crate) fn lanes(inner: usize, width: usize) -> u32 {
        let mut lanes = whole_lanes(width) as usize;
        let fits = |lanes: usize| inner * lanes * 16 <= CACHED_BYTES;
        if width > LEAST_LANES && fits(LEAST_LANES) {
            while lanes > LEAST_LANES && !fits(lanes) {
                lanes /= 2;
            }
        }
        lanes as u32
    }

    /// A group for each of so many rows or pieces, and each strip.
    pub(crate) fn grid(self, rows: usize) -> Grid {
        let groups = THREADS / self.lanes as usize;
        let strips = self.width.div_ceil(self.lanes as usize).max(1);
        Grid::blocks(rows.div_ceil(groups).max(1), THREADS as u32).by(strips)
    }
}

/// Lanes that take a row in one go, or a warp.
fn whole_lanes(width: usize) -> u32 {
    width.next_power_of_two().clamp(1, 32) as u32
}

/// The pieces of long rows on a card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pieces {
    pub(crate) list: Address,
    pub(crate) count: usize,
    /// Their sums: count × columns.
    pub(crate) partial: Address,
}

/// How many pieces the long rows of a matrix have together.
pub(crate) fn pieces(view: SparseView<'_>) -> usize {
    let lens = view.offsets().windows(2).map(|pair| pair[1] - pair[0]);
    lens.filter(|&len| len > LONG_ROW).map(|len| len.div_ceil(LONG_ROW)).sum()
}

/// Temporary numbers that the pieces of a matrix need for products with so many columns.
pub(crate) fn pieces_scratch(view: SparseView<'_>, columns: usize) -> usize {
    (pieces(view) * columns).next_multiple_of(16)
}

/// Uploads the list of the pieces of long rows, if there are any, and takes temporary memory for
/// their sums.
pub(crate) fn cut_long_rows(
    call: &mut Call<'_>,
    (identity, part): (usize, &str),
    view: SparseView<'_>,
    columns: usize,
) -> Result<Option<Pieces>, String> {
    let count = pieces(view);
    if count == 0 || columns == 0 {
        return Ok(None);
    }
    let partial = call.scratch(count * columns);
    let list = call.constant(identity, &format!("{part}.pieces"), || listed(view))?;
    Ok(Some(Pieces { list, count, partial }))
}

/// Cuts long rows into pieces and sums these up, if there are any. `kernels` has `sum_long_rows` and
/// `sum_long_rows_of_vectors`.
pub(crate) fn sum_long_rows(
    call: &mut Call<'_>,
    kernels: Source,
    (identity, part): (usize, &str),
    view: SparseView<'_>,
    dense: Address,
    columns: usize,
) -> Result<Option<Pieces>, String> {
    let Some(pieces) = cut_long_rows(call, (identity, part), view, columns)? else {
        return Ok(None);
    };
    let sparse = call.sparse(identity, part, view)?;
    let dealt = Dealt::new(view, columns);
    let name = if dealt.vectors { "sum_long_rows_of_vectors" } else { "sum_long_rows" };
    let arguments = [
        sparse.columns.into(),
        sparse.values.into(),
        pieces.list.into(),
        (pieces.count as u32).into(),
        dense.into(),
        dealt.width.into(),
        pieces.partial.into(),
        dealt.lanes.into(),
    ];
    call.launch(kernels.kernel(name), dealt.grid(pieces.count), arguments);
    Ok(Some(pieces))
}

/// Row, beginning, end, and of the first piece of a row how many there are.
fn listed(view: SparseView<'_>) -> Vec<[u32; 4]> {
    let mut list = Vec::new();
    for row in 0..view.rows() {
        let entries = view.entries(row);
        if entries.len() <= LONG_ROW {
            continue;
        }
        let count = entries.len().div_ceil(LONG_ROW) as u32;
        for (piece, begin) in entries.clone().step_by(LONG_ROW).enumerate() {
            let end = (begin + LONG_ROW).min(entries.end);
            let pieces = if piece == 0 { count } else { 0 };
            list.push([row as u32, begin as u32, end as u32, pieces]);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparseMatrix;

    #[test]
    fn long_rows_are_cut_and_nothing_is_lost() {
        let lens = [3, LONG_ROW, LONG_ROW + 1, 0, 3 * LONG_ROW];
        let mut offsets = vec![0];
        lens.iter().for_each(|len| offsets.push(offsets[offsets.len() - 1] + len));
        let columns = vec![0; offsets[lens.len()]];
        let matrix = SparseMatrix::new(offsets, columns, None, 1);
        let list = listed(matrix.view());
        assert_eq!(list.len(), pieces(matrix.view()));
        assert_eq!(list.len(), 2 + 3);
        for row in [2, 4] {
            let own: Vec<_> = list.iter().filter(|piece| piece[0] == row).collect();
            let entries = matrix.view().entries(row as usize);
            assert_eq!(own[0][1] as usize, entries.start);
            assert_eq!(own[own.len() - 1][2] as usize, entries.end);
            assert!(own.windows(2).all(|pair| pair[0][2] == pair[1][1]));
            assert_eq!(own[0][3] as usize, own.len());
            assert!(own[1..].iter().all(|piece| piece[3] == 0));
        }
    }

    #[test]
    fn strips_fit_the_cache_where_they_can() {
        assert_eq!(Dealt::over(2708, 256), Dealt { vectors: true, lanes: 32, width: 64 });
        assert_eq!(Dealt::over(169_343, 512).lanes, 8);
        // Beyond any cache: as wide as a warp.
        assert_eq!(Dealt::over(10_000_000, 128).lanes, 32);
        assert_eq!(Dealt::over(100, 3), Dealt { vectors: false, lanes: 4, width: 3 });
        assert_eq!(Dealt::over(100, 0).lanes, 1);
    }
}
