//! A wide matrix in few columns: its rows in the space that holds most of them.
//!
//!   V ← orthonormal columns of Uᵀ(U V),  a few times;   compressed = U V          nodes × width
//!
//! Subspace iteration: V comes to span the leading right singular vectors of U. The rest of the model
//! does not care how V is turned within that space.

use graphfill_engine::cpu::multiply;
use graphfill_engine::random::{Key, normals};

/// Turns of the iteration.
const TURNS: usize = 3;
/// Rows beyond which a sample of them is enough to find the space.
const ENOUGH_ROWS: usize = 20_000;

/// V, columns × width, for a matrix of so many columns.
pub(super) fn leading_space(matrix: &[f32], columns: usize, width: usize) -> Vec<f32> {
    let rows = matrix.len() / columns.max(1);
    let step = rows.div_ceil(ENOUGH_ROWS).max(1);
    let sample: Vec<f32> = matrix.chunks_exact(columns).step_by(step).flatten().copied().collect();
    let rows = sample.len() / columns;
    let transposed = transposed(&sample, rows, columns);
    let mut space = vec![0.0; columns * width];
    normals(Key::new(0, 0, 0), 0, &mut space);
    orthonormalise(&mut space, columns, width);
    let mut image = vec![0.0; rows * width];
    for _ in 0..TURNS {
        multiply(&sample, rows, columns, &space, width, &mut image);
        multiply(&transposed, columns, rows, &image, width, &mut space);
        orthonormalise(&mut space, columns, width);
    }
    space
}

/// U V.
pub(super) fn compressed(matrix: &[f32], columns: usize, space: &[f32], width: usize) -> Vec<f32> {
    let rows = matrix.len() / columns.max(1);
    let mut compressed = vec![0.0; rows * width];
    multiply(matrix, rows, columns, space, width, &mut compressed);
    compressed
}

fn transposed(matrix: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut out = vec![0.0; matrix.len()];
    for (row, values) in matrix.chunks_exact(columns).enumerate() {
        for (column, value) in values.iter().enumerate() {
            out[column * rows + row] = *value;
        }
    }
    out
}

/// Gram-Schmidt, twice for steadiness, on the columns of a rows × width matrix. A column that is
/// nothing beside the earlier ones becomes zero.
fn orthonormalise(matrix: &mut [f32], rows: usize, width: usize) {
    let mut columns = transposed(matrix, rows, width);
    for at in 0..width {
        let (before, rest) = columns.split_at_mut(at * rows);
        let own = &mut rest[..rows];
        let before_length = length(own);
        for _ in 0..2 {
            for earlier in before.chunks_exact(rows.max(1)) {
                let share = dot(own, earlier);
                own.iter_mut().zip(earlier).for_each(|(own, earlier)| *own -= share * earlier);
            }
        }
        let length = length(own);
        let factor = if length > 1e-6 * before_length { 1.0 / length } else { 0.0 };
        own.iter_mut().for_each(|value| *value *= factor);
    }
    let back = transposed(&columns, width, rows);
    matrix.copy_from_slice(&back);
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    // Sixteen sums side by side, which the compiler makes vectors of.
    let mut sums = [0.0f32; 16];
    let (chunks, rest) = one.as_chunks::<16>();
    let (other_chunks, other_rest) = other.as_chunks::<16>();
    for (one, other) in chunks.iter().zip(other_chunks) {
        for lane in 0..16 {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let rest: f32 = rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

fn length(values: &[f32]) -> f32 {
    dot(values, values).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_low_rank_is_kept_whole() {
        let (rows, columns, rank) = (40, 30, 4);
        let mut left = vec![0.0; rows * rank];
        let mut right = vec![0.0; rank * columns];
        normals(Key::new(1, 0, 0), 0, &mut left);
        normals(Key::new(2, 0, 0), 0, &mut right);
        let mut matrix = vec![0.0; rows * columns];
        multiply(&left, rows, rank, &right, columns, &mut matrix);
        let space = leading_space(&matrix, columns, rank);
        let few = compressed(&matrix, columns, &space, rank);
        let mut back = vec![0.0; matrix.len()];
        multiply(&few, rows, rank, &transposed(&space, columns, rank), columns, &mut back);
        let error = matrix.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(error < 1e-3, "{error}");
    }
}
