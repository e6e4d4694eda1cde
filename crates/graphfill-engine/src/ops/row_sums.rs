//! What products of gathered rows are made of: the dot product of two rows, and a row added to
//! another; for whole rows, and for rows that are split among heads.
//!
//! Eight numbers side by side, which compilers keep in one vector. The usual widths of heads have
//! loops of their own: without knowing how often they run, they would take longer than their work.
//!
//! On a CUDA card, neighbouring lanes of a warp take a row together, and teams of threads a list of
//! rows; see `common.cuh`.

use crate::cuda::{Grid, LIST_THREADS, THREADS};

const LANES: usize = 8;

/// How many lanes of a warp take a row of so many columns together, each four of them at a time
/// where there are whole fours.
pub(super) fn lanes_of_row(columns: usize) -> u32 {
    let steps = if columns % 4 == 0 { columns / 4 } else { columns };
    steps.next_power_of_two().min(32) as u32
}

/// So many lanes for each of so many rows.
pub(super) fn grid_of_rows(rows: usize, lanes: u32) -> Grid {
    Grid::blocks((rows * lanes as usize).div_ceil(THREADS as usize).max(1), THREADS)
}

/// A warp for each of so many lists.
pub(super) fn grid_of_lists(lists: usize) -> Grid {
    Grid::blocks(lists.div_ceil(LIST_THREADS as usize / 32).max(1), LIST_THREADS)
}

/// Σ a · b
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let mut rest = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest += a * b;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    (((a + e) + (c + g)) + ((b + f) + (d + h))) + rest
}

/// out += scale · row
#[inline(always)]
pub(super) fn add_scaled(out: &mut [f32], scale: f32, row: &[f32]) {
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    let (row, row_rest) = row.as_chunks::<LANES>();
    for (out, row) in out.iter_mut().zip(row) {
        for lane in 0..LANES {
            out[lane] += scale * row[lane];
        }
    }
    for (out, &row) in out_rest.iter_mut().zip(row_rest) {
        *out += scale * row;
    }
}

/// [`dot`] for each head, of which there are as many as in `out`.
#[inline(always)]
pub(super) fn dot_heads(out: &mut [f32], a: &[f32], b: &[f32]) {
    match a.len() / out.len() {
        8 => dot_heads_of::<8>(out, a, b),
        16 => dot_heads_of::<16>(out, a, b),
        32 => dot_heads_of::<32>(out, a, b),
        width => {
            for ((out, a), b) in
                out.iter_mut().zip(a.chunks_exact(width)).zip(b.chunks_exact(width))
            {
                *out = dot(a, b);
            }
        }
    }
}

#[inline(always)]
fn dot_heads_of<const WIDTH: usize>(out: &mut [f32], a: &[f32], b: &[f32]) {
    let (a, b) = (a.as_chunks::<WIDTH>().0, b.as_chunks::<WIDTH>().0);
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = dot(a, b);
    }
}

/// [`add_scaled`] for each head, of which there are as many as scales.
#[inline(always)]
pub(super) fn add_scaled_heads(out: &mut [f32], scales: &[f32], row: &[f32]) {
    match out.len() / scales.len() {
        8 => add_scaled_heads_of::<8>(out, scales, row),
        16 => add_scaled_heads_of::<16>(out, scales, row),
        32 => add_scaled_heads_of::<32>(out, scales, row),
        width => {
            let heads = out.chunks_exact_mut(width).zip(row.chunks_exact(width));
            for ((out, row), &scale) in heads.zip(scales) {
                add_scaled(out, scale, row);
            }
        }
    }
}

#[inline(always)]
fn add_scaled_heads_of<const WIDTH: usize>(out: &mut [f32], scales: &[f32], row: &[f32]) {
    let (out, row) = (out.as_chunks_mut::<WIDTH>().0, row.as_chunks::<WIDTH>().0);
    for ((out, row), &scale) in out.iter_mut().zip(row).zip(scales) {
        add_scaled(out, scale, row);
    }
}
