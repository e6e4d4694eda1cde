//! The best approximation of a symmetric matrix by one of a small rank:
//!
//!   M ≈ V Λ Vᵀ        M: size × size, V: size × rank with orthonormal columns, Λ diagonal
//!
//! by subspace iteration from random directions: Q ← orthonormal(M Q) some times, then the
//! eigenvectors of the small QᵀMQ. As M is symmetric, its singular values are |Λ|, its left singular
//! vectors V and its right ones V with the signs of Λ.

use graphfill_engine::cpu::multiply;
use graphfill_engine::random::{Key, normals};
use rayon::prelude::*;

use crate::eigen::eigen;
use crate::row_gaussian::dense::dot;

/// Directions beyond the rank, which make those within it sharper.
const MORE_DIRECTIONS: usize = 16;
/// Products with M before its eigenvectors are taken.
const ITERATIONS: usize = 6;
/// The stream of random directions.
const STREAM: u32 = 0x4152_574D;
/// A direction that is shorter than this share of what it was lies in those before it.
const MIN_REST: f64 = 1e-6;

/// V and Λ, the largest |λ| first.
#[derive(Debug, Clone)]
pub struct Factors {
    size: usize,
    rank: usize,
    /// rank × size.
    vectors: Vec<f64>,
    values: Vec<f64>,
}

/// The memory of a factorisation beside its matrix.
pub(super) fn bytes(size: usize, rank: usize) -> u64 {
    let directions = (rank + MORE_DIRECTIONS).min(size) as u64;
    // Q twice in double and M Q twice in single precision.
    24u64.saturating_mul(size as u64).saturating_mul(directions)
}

impl Factors {
    /// The best `rank` factors of `matrix`, size × size.
    pub fn of(matrix: &[f32], size: usize, rank: usize, seed: u64) -> Self {
        let directions = (rank + MORE_DIRECTIONS).min(size);
        let mut image = vec![0.0f32; size * directions];
        normals(Key::new(seed, STREAM, 0), 0, &mut image);
        let mut basis = orthonormal(&image, size, directions);
        for _ in 0..ITERATIONS {
            image = product(matrix, size, &basis, directions);
            basis = orthonormal(&image, size, directions);
        }
        image = product(matrix, size, &basis, directions);
        let columns = transposed(&image, size, directions);
        let mut small = vec![0.0; directions * directions];
        for row in 0..directions {
            for column in 0..=row {
                let at = |row: usize| row * size..(row + 1) * size;
                let value = dot(&basis[at(row)], &columns[at(column)]);
                small[row * directions + column] = value;
                small[column * directions + row] = value;
            }
        }
        let (values, turns) = eigen(small, directions);
        let mut order: Vec<usize> = (0..directions).collect();
        order.sort_by(|&one, &other| values[other].abs().total_cmp(&values[one].abs()));
        order.truncate(rank);
        let mut vectors = vec![0.0; order.len() * size];
        vectors.par_chunks_mut(size.max(1)).zip(&order).for_each(|(vector, &which)| {
            for (direction, basis) in basis.chunks_exact(size.max(1)).enumerate() {
                let turn = turns[which * directions + direction];
                vector.iter_mut().zip(basis).for_each(|(sum, part)| *sum += turn * part);
            }
        });
        let values = order.iter().map(|&which| values[which]).collect();
        Factors { size, rank: order.len(), vectors, values }
    }

    /// How many there are.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// V |Λ|^½ of some rows, the first `rank` columns: rows × rank.
    pub fn left(&self, rows: std::ops::Range<usize>, rank: usize) -> Vec<f32> {
        let roots: Vec<f64> = self.values[..rank].iter().map(|value| value.abs().sqrt()).collect();
        let entry = |row: usize, at: usize| self.vectors[at * self.size + row] * roots[at];
        rows.flat_map(|row| (0..rank).map(move |at| (row, at)))
            .map(|(row, at)| entry(row, at) as f32)
            .collect()
    }

    /// (V Λ |Λ|^-½)ᵀ of some rows, the first `rank` columns: rank × rows.
    pub fn right(&self, rows: std::ops::Range<usize>, rank: usize) -> Vec<f32> {
        let of_factor = |at: usize| {
            let value = self.values[at];
            let root = value.abs().sqrt().copysign(value);
            let vector = &self.vectors[at * self.size..][rows.clone()];
            vector.iter().map(move |entry| (entry * root) as f32)
        };
        (0..rank).flat_map(of_factor).collect()
    }
}

/// M Q: size × directions, for Q given as directions × size.
fn product(matrix: &[f32], size: usize, basis: &[f64], directions: usize) -> Vec<f32> {
    let mut right = vec![0.0f32; basis.len()];
    for (direction, basis) in basis.chunks_exact(size.max(1)).enumerate() {
        for (row, &entry) in basis.iter().enumerate() {
            right[row * directions + direction] = entry as f32;
        }
    }
    let mut image = vec![0.0f32; basis.len()];
    multiply(matrix, size, size, &right, directions, &mut image);
    image
}

fn transposed(image: &[f32], size: usize, directions: usize) -> Vec<f64> {
    let mut columns = vec![0.0f64; image.len()];
    columns.par_chunks_mut(size.max(1)).enumerate().for_each(|(direction, column)| {
        let entries = image.iter().skip(direction).step_by(directions);
        column.iter_mut().zip(entries).for_each(|(out, &entry)| *out = f64::from(entry));
    });
    columns
}

/// The columns of `image` made orthonormal, directions × size, each against all before it, twice over.
/// A direction that lies in those before it becomes zero.
fn orthonormal(image: &[f32], size: usize, directions: usize) -> Vec<f64> {
    let mut basis = transposed(image, size, directions);
    for direction in 0..directions {
        let (before, own) = basis.split_at_mut(direction * size);
        let own = &mut own[..size];
        let length = dot(own, own).sqrt();
        for _ in 0..2 {
            for other in before.chunks_exact(size.max(1)) {
                let share = dot(own, other);
                own.iter_mut().zip(other).for_each(|(own, other)| *own -= share * other);
            }
        }
        let rest = dot(own, own).sqrt();
        let scale = if rest > MIN_REST * length { 1.0 / rest } else { 0.0 };
        own.iter_mut().for_each(|entry| *entry *= scale);
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum of outer products with known weights is found again, signs and all.
    #[test]
    fn finds_a_matrix_of_small_rank() {
        let (size, weights) = (40, [5.0, -3.0, 2.0, 0.5]);
        let mut entries = vec![0.0f32; size * weights.len()];
        normals(Key::new(3, 1, 0), 0, &mut entries);
        let basis = orthonormal(&entries, size, weights.len());
        let mut matrix = vec![0.0f32; size * size];
        for (weight, vector) in weights.iter().zip(basis.chunks_exact(size)) {
            for (row, one) in vector.iter().enumerate() {
                for (column, other) in vector.iter().enumerate() {
                    matrix[row * size + column] += (weight * one * other) as f32;
                }
            }
        }
        let factors = Factors::of(&matrix, size, 3, 0);
        for (value, weight) in factors.values.iter().zip(weights) {
            assert!((value - weight).abs() < 1e-4, "{value} is not {weight}");
        }
        let (left, right) = (factors.left(0..size, 3), factors.right(0..size, 3));
        let mut again = vec![0.0f32; size * size];
        multiply(&left, size, 3, &right, size, &mut again);
        for (row, one) in basis[3 * size..].iter().enumerate() {
            for (column, other) in basis[3 * size..].iter().enumerate() {
                again[row * size + column] += (0.5 * one * other) as f32;
            }
        }
        let worst = matrix.iter().zip(&again).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn nothing_has_no_factors() {
        let factors = Factors::of(&[0.0; 9], 3, 2, 0);
        assert!(factors.left(0..3, factors.rank()).iter().all(|&entry| entry == 0.0));
    }
}
