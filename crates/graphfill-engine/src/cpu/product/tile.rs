//! The innermost loops: a few rows of the left matrix times one panel of the right one.
//!
//!   sum[i, :] += left[i, k] · right[k, :]        k through the block of depth
//!
//! The sums of a tile stay in registers: 8 rows × 2 vectors where there are 32 registers, 6 × 2
//! where there are 16. A panel of 32 columns is two vectors of AVX-512, and is walked in two or four
//! tiles where vectors are shorter.

use pulp::{Simd, WithSimd};

use super::{DEPTH, Dense, Existing, PANEL, PackedRight};

/// Vectors side by side in a tile.
const VECTORS: usize = 2;
/// Panels that stay in the second-level cache while the rows pass: 512 KiB.
const PANELS_A_TURN: usize = 16;
/// Keeps the rows of a left block from falling on the same cache lines.
const GAP: usize = 16;

/// The rows of a tile on this machine.
pub(super) struct TileRows;

impl WithSimd for TileRows {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> usize {
        if S::REGISTER_COUNT >= 32 { 8 } else { 6 }
    }
}

/// Some rows of a product.
pub(super) struct Rows<'a> {
    pub(super) left: Dense<'a>,
    pub(super) first: usize,
    pub(super) begin: usize,
    pub(super) right: PackedRight<'a>,
    /// Columns before this one are not needed, and left alone by whole panels.
    pub(super) columns: usize,
    pub(super) out: &'a mut [f32],
    pub(super) existing: Existing,
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match (TileRows.with_simd(simd) == 8, self.left.transposed) {
            (true, false) => self.run::<S, 8, ByRow<8>>(simd),
            (true, true) => self.run::<S, 8, ByDepth<8>>(simd),
            (false, false) => self.run::<S, 6, ByRow<6>>(simd),
            (false, true) => self.run::<S, 6, ByDepth<6>>(simd),
        }
    }
}

impl Rows<'_> {
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize, L: LeftBlock<ROWS>>(self, simd: S) {
        let Rows { left, first, begin, right, columns: needed, out, mut existing } = self;
        let columns = right.columns;
        let rows = out.len() / columns.max(1);
        let panels = columns.div_ceil(PANEL);
        if right.depth == 0 && existing == Existing::Replace {
            out.fill(0.0);
        }
        let mut block = L::new();
        for from in (0..right.depth).step_by(DEPTH) {
            let until = right.depth.min(from + DEPTH);
            for turn in (needed / PANEL..panels).step_by(PANELS_A_TURN) {
                for row in (0..rows).step_by(ROWS) {
                    let height = ROWS.min(rows - row);
                    block.load(
                        left,
                        first + row..first + row + height,
                        begin + from..begin + until,
                    );
                    for panel in turn..panels.min(turn + PANELS_A_TURN) {
                        let right = right.panel(from..until, panel);
                        let column = panel * PANEL;
                        let width = PANEL.min(columns - column);
                        let out = &mut out[row * columns + column..];
                        if height == ROWS && width == PANEL {
                            panel_of_tiles(simd, &block, right, out, columns, existing);
                        } else {
                            let mut whole = [[0.0; PANEL]; ROWS];
                            let tile = whole.as_flattened_mut();
                            panel_of_tiles(simd, &block, right, tile, PANEL, Existing::Replace);
                            for (row, whole) in whole[..height].iter().enumerate() {
                                let out = &mut out[row * columns..row * columns + width];
                                keep(out, &whole[..width], existing);
                            }
                        }
                    }
                }
            }
            existing = Existing::Add;
        }
    }
}

#[inline(always)]
fn keep(out: &mut [f32], sums: &[f32], existing: Existing) {
    match existing {
        Existing::Replace => out.copy_from_slice(sums),
        Existing::Add => out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum),
    }
}

/// A few rows of the left matrix, where they are read fast.
trait LeftBlock<const ROWS: usize> {
    fn new() -> Self;
    fn load(
        &mut self,
        left: Dense<'_>,
        rows: std::ops::Range<usize>,
        depth: std::ops::Range<usize>,
    );
    fn at(&self, row: usize, depth: usize) -> f32;
}

/// Row after row, as the matrix lies in memory: loading it copies.
struct ByRow<const ROWS: usize>([[f32; DEPTH + GAP]; ROWS]);

impl<const ROWS: usize> LeftBlock<ROWS> for ByRow<ROWS> {
    #[inline(always)]
    fn new() -> Self {
        ByRow([[0.0; DEPTH + GAP]; ROWS])
    }

    #[inline(always)]
    fn load(
        &mut self,
        left: Dense<'_>,
        rows: std::ops::Range<usize>,
        depth: std::ops::Range<usize>,
    ) {
        let height = rows.len();
        for (row, to) in rows.zip(&mut self.0) {
            let begin = row * left.stride;
            to[..depth.len()].copy_from_slice(&left.values[begin + depth.start..begin + depth.end]);
        }
        self.0[height..].iter_mut().for_each(|row| row.fill(0.0));
    }

    #[inline(always)]
    fn at(&self, row: usize, depth: usize) -> f32 {
        self.0[row][depth]
    }
}

/// The same for a transposed matrix, whose rows lie across.
struct ByDepth<const ROWS: usize>([[f32; ROWS]; DEPTH]);

impl<const ROWS: usize> LeftBlock<ROWS> for ByDepth<ROWS> {
    #[inline(always)]
    fn new() -> Self {
        ByDepth([[0.0; ROWS]; DEPTH])
    }

    #[inline(always)]
    fn load(
        &mut self,
        left: Dense<'_>,
        rows: std::ops::Range<usize>,
        depth: std::ops::Range<usize>,
    ) {
        if rows.len() == ROWS {
            for (k, to) in depth.zip(&mut self.0) {
                let begin = k * left.stride + rows.start;
                to.copy_from_slice(&left.values[begin..begin + ROWS]);
            }
        } else {
            for (k, to) in depth.zip(&mut self.0) {
                let begin = k * left.stride + rows.start;
                to.fill(0.0);
                to[..rows.len()].copy_from_slice(&left.values[begin..begin + rows.len()]);
            }
        }
    }

    #[inline(always)]
    fn at(&self, row: usize, depth: usize) -> f32 {
        self.0[depth][row]
    }
}

/// All tiles of a panel.
#[inline(always)]
fn panel_of_tiles<S: Simd, const ROWS: usize, L: LeftBlock<ROWS>>(
    simd: S,
    left: &L,
    right: &[[f32; PANEL]],
    out: &mut [f32],
    stride: usize,
    existing: Existing,
) {
    for first in (0..PANEL).step_by(VECTORS * S::F32_LANES) {
        tile::<S, ROWS, L>(simd, left, right, first, &mut out[first..], stride, existing);
    }
}

#[inline(always)]
fn tile<S: Simd, const ROWS: usize, L: LeftBlock<ROWS>>(
    simd: S,
    left: &L,
    right: &[[f32; PANEL]],
    first: usize,
    out: &mut [f32],
    stride: usize,
    existing: Existing,
) {
    // Tells the compiler that every access to the left block is inside.
    let right = &right[..right.len().min(DEPTH)];
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    for (depth, right) in right.iter().enumerate() {
        let (right, _) = S::as_simd_f32s(&right[first..]);
        for (row, sums) in sums.iter_mut().enumerate() {
            let left = simd.splat_f32s(left.at(row, depth));
            for vector in 0..VECTORS {
                sums[vector] = simd.mul_add_e_f32s(left, right[vector], sums[vector]);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        let out = &mut out[row * stride..row * stride + VECTORS * S::F32_LANES];
        let (out, _) = S::as_mut_simd_f32s(out);
        for vector in 0..VECTORS {
            out[vector] = match existing {
                Existing::Replace => sums[vector],
                Existing::Add => simd.add_f32s(out[vector], sums[vector]),
            };
        }
    }
}
