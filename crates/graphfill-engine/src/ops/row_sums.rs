//! What products of gathered rows are made of: the dot product of two rows, and a row added to
//! another.
//!
//! Eight numbers side by side, which compilers keep in one vector; narrow heads still fill it.

const LANES: usize = 8;

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
