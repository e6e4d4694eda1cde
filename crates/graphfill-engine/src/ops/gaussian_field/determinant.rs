//! The determinant:  −l · log|I + ZᵀZ/β|, and D = −2l · (βI + ZᵀZ)⁻¹, with which ∂Z = Z·D
//!
//! ZᵀZ, its factor and its inverse are width × width. They are computed so that rows which are alike
//! lose nothing; the module above says why.

use crate::Shape;
use crate::cpu::{
    Centring, Dense, PackedRight, as_doubles, centred_gram, cholesky, cut, cut_len, doubles,
    inverse, inverse_times, pack_right, packed_len, product_scratch, rounded_off,
};

/// The term of the energy, with weight l.
#[derive(Debug, Clone, Copy)]
pub(super) struct Determinant {
    pub(super) weight: f64,
    pub(super) beta: f64,
}

/// What is known of the determinant at some Z.
pub(super) struct Evaluated<'a> {
    /// −l · log|I + ZᵀZ/β|
    pub(super) energy: f64,
    /// D, packed to be multiplied with, if a derivative was wanted.
    pub(super) back: Option<PackedRight<'a>>,
    /// What every row of Z·D lacks by rounding: 1 × width, or nothing.
    pub(super) correction: &'a [f64],
}

/// Temporary parts: D (before that ZᵀZ), D packed, the factor and its inverse in double precision,
/// the packing of Z, four rows in double precision, and Z − z̄ unless the derivative lends its place.
fn parts(shape: Shape, with_derivative: bool) -> [usize; 7] {
    let Shape { rows, columns } = shape;
    let square = columns * columns;
    [
        square,
        packed_len(columns, columns),
        doubles(square),
        doubles(square),
        product_scratch(rows, columns),
        doubles(4 * columns),
        if with_derivative { 0 } else { shape.len() },
    ]
}

impl Determinant {
    /// Temporary numbers that evaluating needs.
    pub(super) fn scratch(&self, shape: Shape, with_derivative: bool) -> usize {
        if self.weight == 0.0 { 0 } else { cut_len(parts(shape, with_derivative)) }
    }

    /// Evaluates the term. `derivative` is only lent: what it holds afterwards means nothing.
    pub(super) fn evaluate<'a>(
        &self,
        latent: &[f32],
        shape: Shape,
        derivative: Option<&mut [f32]>,
        scratch: &'a mut [f32],
    ) -> Evaluated<'a> {
        let mut evaluated = Evaluated { energy: 0.0, back: None, correction: &[] };
        if self.weight == 0.0 {
            return evaluated;
        }
        let with_derivative = derivative.is_some();
        let [matrix, packed, factor, factor_inverse, packing, four_rows, centred] =
            cut(scratch, parts(shape, with_derivative));
        let [factor, factor_inverse] = [factor, factor_inverse].map(as_doubles);
        let size = shape.columns;
        let mut rows = as_doubles(four_rows).chunks_exact_mut(size.max(1));
        let [mean, sums, solved, correction] = [(); 4].map(|()| rows.next().unwrap_or_default());

        let scratch = Centring {
            centred: derivative.unwrap_or(centred),
            gram: &mut *matrix,
            packing,
            rest: &mut *sums,
        };
        centred_gram(latent, factor, mean, scratch);
        factor.iter_mut().step_by(size + 1).for_each(|diagonal| *diagonal += self.beta);
        // log|I + ZᵀZ/β| = log|βI + ZᵀZ| − width · ln β
        let log_determinant = cholesky(factor, size, self.beta) - size as f64 * self.beta.ln();
        evaluated.energy = -self.weight * log_determinant;
        if with_derivative {
            let scale = -2.0 * self.weight;
            inverse(factor, size, factor_inverse, matrix);
            matrix.iter_mut().for_each(|cell| *cell *= scale as f32);
            solved.copy_from_slice(mean);
            inverse_times(factor_inverse, solved, sums);
            rounded_off(scale, mean, solved, matrix, correction);
            evaluated.correction = correction;
            evaluated.back = Some(pack_right(Dense::new(matrix, size, size), 0..size, packed));
        }
        evaluated
    }
}
