//! Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations:
//!
//!   A = Uᵀ diag(λ) U        A, U: size × size, the rows of U are the eigenvectors
//!
//! Each rotation makes one entry beside the diagonal zero; some sweeps over all of them leave nothing.

/// Sweeps after which rounding is all that is left, whatever the matrix.
const MAX_SWEEPS: usize = 30;
/// What is left beside the diagonal, as a share of the matrix, when the sweeps end.
const MIN_REST: f64 = 1e-12;

/// λ and U.
pub(crate) fn eigen(mut matrix: Vec<f64>, size: usize) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; size * size];
    (0..size).for_each(|at| vectors[at * size + at] = 1.0);
    let whole: f64 = matrix.iter().map(|entry| entry * entry).sum();
    for _ in 0..MAX_SWEEPS {
        let mut rest = 0.0;
        for first in 0..size {
            for second in first + 1..size {
                rest += matrix[first * size + second].powi(2);
                rotate(&mut matrix, &mut vectors, size, first, second);
            }
        }
        if rest <= MIN_REST * MIN_REST * whole {
            break;
        }
    }
    let values = (0..size).map(|at| matrix[at * size + at]).collect();
    (values, vectors)
}

/// Makes the entry of two places zero.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], size: usize, first: usize, second: usize) {
    let entry = matrix[first * size + second];
    if entry == 0.0 {
        return;
    }
    let half = (matrix[second * size + second] - matrix[first * size + first]) / (2.0 * entry);
    let tangent = half.signum() / (half.abs() + half.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for row in matrix.chunks_exact_mut(size) {
        let (one, other) = (row[first], row[second]);
        row[first] = cosine * one - sine * other;
        row[second] = sine * one + cosine * other;
    }
    for rows in [matrix, vectors] {
        let (before, after) = rows.split_at_mut(second * size);
        let pairs = before[first * size..][..size].iter_mut().zip(&mut after[..size]);
        for (one, other) in pairs {
            (*one, *other) = (cosine * *one - sine * *other, sine * *one + cosine * *other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_matrix_apart() {
        let size = 7;
        let entry = |row: usize, column: usize| ((row + 1) * (column + 1) * 7 % 11) as f64 - 4.0;
        let matrix: Vec<f64> = (0..size * size)
            .map(|at| entry((at / size).min(at % size), (at / size).max(at % size)))
            .collect();
        let (values, vectors) = eigen(matrix.clone(), size);
        for row in 0..size {
            for column in 0..size {
                let sum: f64 = (0..size)
                    .map(|at| vectors[at * size + row] * values[at] * vectors[at * size + column])
                    .sum();
                assert!((sum - matrix[row * size + column]).abs() < 1e-9, "{row}, {column}");
            }
        }
    }
}
