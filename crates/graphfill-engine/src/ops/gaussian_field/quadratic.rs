//! The trace, row by row:  tr(ZᵀKZ) = Σ_i ⟨z_i, (KZ)_i⟩,  (KZ)_i = z_i − Σ_j s_ij z_j

use pulp::NullaryFnOnce;

use crate::SparseMatrix;
use crate::cpu::sparse_row;

/// ⟨z_i, (KZ)_i⟩ summed over some rows, whose derivative becomes factor · (KZ)_i + correction.
pub(super) struct Quadratic<'a> {
    pub(super) similarity: &'a SparseMatrix,
    pub(super) latent: &'a [f32],
    pub(super) first: usize,
    pub(super) derivative: &'a mut [f32],
    pub(super) factor: f32,
    /// 1 × columns, or nothing.
    pub(super) correction: &'a [f64],
}

impl NullaryFnOnce for Quadratic<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let columns = self.latent.len() / self.similarity.shape().rows.max(1);
        let mut sum = 0.0;
        for (at, out) in self.derivative.chunks_exact_mut(columns.max(1)).enumerate() {
            let row = self.first + at;
            sparse_row(self.similarity.view(), row, self.latent, out);
            let own = &self.latent[row * columns..(row + 1) * columns];
            let mut sums = [0.0f32; 16];
            for (out, own) in out.chunks_mut(16).zip(own.chunks(16)) {
                for ((out, &z), sum) in out.iter_mut().zip(own).zip(&mut sums) {
                    let difference = z - *out;
                    *sum += z * difference;
                    *out = self.factor * difference;
                }
            }
            for (out, &correction) in out.iter_mut().zip(self.correction) {
                *out += correction as f32;
            }
            sum += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
        }
        sum
    }
}

/// ⟨z_i, (KZ)_i⟩ of one row.
pub(super) fn quadratic_row(
    similarity: &SparseMatrix,
    latent: &[f32],
    columns: usize,
    row: usize,
) -> f64 {
    let of = |row: usize| &latent[row * columns..(row + 1) * columns];
    let dot = |other: usize| -> f64 {
        of(row).iter().zip(of(other)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let view = similarity.view();
    let values = view.values(row);
    let neighbours = view.columns(row).iter().enumerate();
    let along: f64 = neighbours
        .map(|(at, &other)| {
            values.map_or(1.0, |values| f64::from(values[at])) * dot(other as usize)
        })
        .sum();
    dot(row) - along
}
