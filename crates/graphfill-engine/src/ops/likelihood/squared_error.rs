//! Squared error of a number t with score s:  (s − t)², slope 2(s − t)

use super::targets::entries;
use super::{JudgeRow, Targets};

#[derive(Debug)]
pub(super) struct SquaredError(pub(super) Targets);

impl JudgeRow for SquaredError {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], scale: f32) -> f64 {
        match &self.0 {
            // The targets that are not zero first; then all differences are alike.
            Targets::Sparse(rows) => {
                for (column, t) in entries(rows, row) {
                    scores[column] -= t;
                }
                let mut sums = [0.0f32; 16];
                for chunk in scores.chunks_mut(16) {
                    for (score, sum) in chunk.iter_mut().zip(&mut sums) {
                        *sum += *score * *score;
                        *score *= 2.0 * scale;
                    }
                }
                sums.iter().map(|&sum| f64::from(sum)).sum::<f64>()
            }
            Targets::Dense { values, .. } => {
                let targets = &values[row * scores.len()..][..scores.len()];
                let mut sums = [0.0f32; 16];
                for (chunk, targets) in scores.chunks_mut(16).zip(targets.chunks(16)) {
                    for ((score, &t), sum) in chunk.iter_mut().zip(targets).zip(&mut sums) {
                        let difference = if t.is_nan() { 0.0 } else { *score - t };
                        *sum += difference * difference;
                        *score = 2.0 * scale * difference;
                    }
                }
                sums.iter().map(|&sum| f64::from(sum)).sum()
            }
        }
    }
}
