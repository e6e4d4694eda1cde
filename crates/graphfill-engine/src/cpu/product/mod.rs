//! Dense products:  out = left · right  (+ out)          rows × depth · depth × columns
//!
//! The right matrix is packed once into panels of 32 columns, cut into blocks of 256 of depth, so
//! that the innermost loop reads it straight through. Eight rows of the left matrix at a time are
//! copied where they stay in the first-level cache, and [`tile`] multiplies them with one panel
//! after the other. Rows are dealt out to threads, and every sum runs through the depth in the same
//! order whichever rows it is computed with: the bits don't depend on the threads.

mod pack;
mod tile;

use pulp::Arch;
use rayon::prelude::*;

pub(crate) use pack::{PackedRight, pack_right, packed_len};

/// Columns of a panel of the right matrix.
const PANEL: usize = 32;
/// Depth that is worked through at a time: eight rows of it fit the first-level cache.
const DEPTH: usize = 256;
/// Numbers of the right matrix that are packed at a time, where its depth is long: 4 MiB.
const MOST_PACKED: usize = 1 << 20;

/// A matrix as it lies in memory, row by row, or its transpose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dense<'a> {
    values: &'a [f32],
    /// The length of a row in memory.
    stride: usize,
    rows: usize,
    columns: usize,
    transposed: bool,
}

/// What happens to the numbers that are already in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    Replace,
    Add,
}

impl<'a> Dense<'a> {
    pub(crate) fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(values.len(), rows * columns, "a matrix of {rows} × {columns}");
        Dense { values, stride: columns, rows, columns, transposed: false }
    }

    pub(crate) fn columns(self) -> usize {
        self.columns
    }

    pub(crate) fn transposed(self) -> Self {
        let Dense { rows, columns, transposed, .. } = self;
        Dense { rows: columns, columns: rows, transposed: !transposed, ..self }
    }

    pub(crate) fn transposed_if(self, transposed: bool) -> Self {
        if transposed { self.transposed() } else { self }
    }
}

/// Temporary numbers that [`product`] needs.
pub(crate) fn product_scratch(depth: usize, columns: usize) -> usize {
    depth.min(packed_depth(columns)) * columns.next_multiple_of(PANEL)
}

/// How much depth is packed at a time.
fn packed_depth(columns: usize) -> usize {
    let blocks = MOST_PACKED / (DEPTH * columns.next_multiple_of(PANEL)).max(1);
    blocks.max(1) * DEPTH
}

/// out = left · right, or out += left · right, on all threads.
pub(crate) fn product(
    left: Dense<'_>,
    right: Dense<'_>,
    out: &mut [f32],
    existing: Existing,
    scratch: &mut [f32],
) {
    product_of(left, right, out, existing, Columns::All, scratch);
}

/// out = matrixᵀ · matrix, of which half is computed and half is copied.
pub(crate) fn gram(matrix: Dense<'_>, out: &mut [f32], scratch: &mut [f32]) {
    let size = matrix.columns;
    let from_diagonal = Columns::FromDiagonal;
    product_of(matrix.transposed(), matrix, out, Existing::Replace, from_diagonal, scratch);
    for row in 0..size {
        for column in 0..row {
            out[row * size + column] = out[column * size + row];
        }
    }
}

/// Which columns of a row are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Columns {
    All,
    /// Those right of the diagonal, for a product that is symmetric; others may be computed too.
    FromDiagonal,
}

fn product_of(
    left: Dense<'_>,
    right: Dense<'_>,
    out: &mut [f32],
    existing: Existing,
    needed: Columns,
    scratch: &mut [f32],
) {
    let (rows, depth, columns) = (left.rows, left.columns, right.columns);
    assert_eq!(depth, right.rows, "the depth of a product");
    assert_eq!(out.len(), rows * columns, "the output of a product");
    if out.is_empty() {
        return;
    }
    if depth == 0 && existing == Existing::Replace {
        out.fill(0.0);
    }
    let portion = rows_a_task(rows);
    let mut existing = existing;
    for begin in (0..depth).step_by(packed_depth(columns)) {
        let end = depth.min(begin + packed_depth(columns));
        let packed = pack_right(right, begin..end, scratch);
        out.par_chunks_mut(portion * columns).enumerate().for_each(|(task, out)| {
            let first = task * portion;
            let columns = match needed {
                Columns::All => 0,
                Columns::FromDiagonal => first,
            };
            let rows = tile::Rows { left, first, begin, right: packed, columns, out, existing };
            Arch::new().dispatch(rows);
        });
        existing = Existing::Add;
    }
}

/// The rows from `first` on, on this thread. The part of the depth that was packed begins at
/// `begin` in the left matrix.
pub(crate) fn product_rows(
    left: Dense<'_>,
    first: usize,
    begin: usize,
    right: PackedRight<'_>,
    out: &mut [f32],
    existing: Existing,
) {
    Arch::new().dispatch(tile::Rows { left, first, begin, right, columns: 0, out, existing });
}

/// Rows that one thread takes at a time: whole tiles, about four portions a thread. The more rows,
/// the less often the right matrix is fetched; a row's sum doesn't depend on the rows beside it.
fn rows_a_task(rows: usize) -> usize {
    let tile = Arch::new().dispatch(tile::TileRows);
    let portions = 4 * rayon::current_num_threads();
    (rows / portions).next_multiple_of(tile).clamp(tile, 96)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wave(len: usize, seed: f32) -> Vec<f32> {
        (0..len).map(|at| (at as f32 * 0.7 + seed).sin()).collect()
    }

    fn at(matrix: Dense<'_>, row: usize, column: usize) -> f64 {
        let (row, column) = if matrix.transposed { (column, row) } else { (row, column) };
        f64::from(matrix.values[row * matrix.stride + column])
    }

    proptest! {
        #[test]
        fn agrees_with_the_plain_sum(
            rows in 0usize..40,
            depth in prop_oneof![0usize..40, 250usize..530],
            columns in prop_oneof![0usize..40, 60usize..70],
            left_transposed: bool,
            right_transposed: bool,
            add: bool,
        ) {
            let (left, right) = (wave(rows * depth, 0.1), wave(depth * columns, 0.3));
            let stored = |values, rows, columns, transposed: bool| {
                if transposed {
                    Dense::new(values, columns, rows).transposed()
                } else {
                    Dense::new(values, rows, columns)
                }
            };
            let left = stored(&left, rows, depth, left_transposed);
            let right = stored(&right, depth, columns, right_transposed);
            let before = wave(rows * columns, 0.5);
            let mut out = before.clone();
            let mut scratch = vec![f32::NAN; product_scratch(depth, columns)];
            let existing = if add { Existing::Add } else { Existing::Replace };
            product(left, right, &mut out, existing, &mut scratch);
            for row in 0..rows {
                for column in 0..columns {
                    let index = row * columns + column;
                    let sum: f64 =
                        (0..depth).map(|k| at(left, row, k) * at(right, k, column)).sum();
                    let expected = sum + if add { f64::from(before[index]) } else { 0.0 };
                    let error = (f64::from(out[index]) - expected).abs();
                    prop_assert!(error < 1e-5 * depth.max(1) as f64, "{row} {column}: {} {expected}", out[index]);
                }
            }
        }
    }

    /// The tiles of machines with fewer and shorter vectors than this one.
    #[test]
    fn every_kind_of_tile_gives_the_product() {
        fn run<S: pulp::Simd>(simd: S) {
            for (rows, depth, columns) in [(1, 1, 1), (13, 300, 70), (12, 256, 64)] {
                for transposed in [false, true] {
                    let (left, right) = (wave(rows * depth, 0.1), wave(depth * columns, 0.3));
                    let left = match transposed {
                        false => Dense::new(&left, rows, depth),
                        true => Dense::new(&left, depth, rows).transposed(),
                    };
                    let right = Dense::new(&right, depth, columns);
                    let mut scratch = vec![0.0; packed_len(depth, columns)];
                    let packed = pack_right(right, 0..depth, &mut scratch);
                    let mut out = vec![f32::NAN; rows * columns];
                    let (existing, whole) = (Existing::Replace, &mut out);
                    S::vectorize(
                        simd,
                        tile::Rows {
                            left,
                            first: 0,
                            begin: 0,
                            right: packed,
                            columns: 0,
                            out: whole,
                            existing,
                        },
                    );
                    for row in 0..rows {
                        for column in 0..columns {
                            let sum = |k| at(left, row, k) * at(right, k, column);
                            let exact: f64 = (0..depth).map(sum).sum();
                            let found = f64::from(out[row * columns + column]);
                            assert!((found - exact).abs() < 1e-3, "{found} {exact}");
                        }
                    }
                }
            }
        }
        run(pulp::Scalar::new());
        #[cfg(target_arch = "x86_64")]
        {
            pulp::x86::V3::try_new().into_iter().for_each(run);
            pulp::x86::V4::try_new().into_iter().for_each(run);
        }
    }

    #[test]
    fn a_gram_is_the_product_with_the_transpose() {
        for (rows, columns) in [(0, 3), (1, 1), (37, 70), (300, 150)] {
            let values = wave(rows * columns, 0.2);
            let matrix = Dense::new(&values, rows, columns);
            let mut scratch = vec![0.0; product_scratch(rows, columns)];
            let mut whole = vec![f32::NAN; columns * columns];
            product(matrix.transposed(), matrix, &mut whole, Existing::Replace, &mut scratch);
            let mut half = vec![f32::NAN; columns * columns];
            gram(matrix, &mut half, &mut scratch);
            assert!(half.iter().zip(&whole).all(|(half, whole)| (half - whole).abs() < 1e-4));
        }
    }

    #[test]
    fn a_long_depth_is_packed_in_parts() {
        let (depth, columns) = (5000, 300);
        assert!(product_scratch(depth, columns) < depth * columns);
        let (left, right) = (vec![1.0; 3 * depth], vec![0.5; depth * columns]);
        let mut out = vec![0.0; 3 * columns];
        let mut scratch = vec![0.0; product_scratch(depth, columns)];
        let (left, right) = (Dense::new(&left, 3, depth), Dense::new(&right, depth, columns));
        product(left, right, &mut out, Existing::Replace, &mut scratch);
        assert!(out.iter().all(|&value| value == 2500.0));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let (left, right) = (wave(301 * 777, 0.1), wave(777 * 95, 0.3));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let mut out = vec![0.0; 301 * 95];
                let mut scratch = vec![0.0; product_scratch(777, 95)];
                let (left, right) = (Dense::new(&left, 301, 777), Dense::new(&right, 777, 95));
                product(left, right, &mut out, Existing::Replace, &mut scratch);
                out
            })
        };
        assert_eq!(run(1), run(3));
    }
}
