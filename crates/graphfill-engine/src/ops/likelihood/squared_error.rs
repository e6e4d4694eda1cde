//! Squared error of a number t with score s:  (s − t)², slope 2(s − t)

use super::targets::entries;
use super::{JudgeRow, Targets};

#[derive(Debug)]
pub(super) struct SquaredError(pub(super) Targets);

impl JudgeRow for SquaredError {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], scale: f32) -> f64 {
        match &self.0 {
            // All targets as zeros first, then those that are not: (s − t)² = s² + t² − 2st.
            Targets::Sparse(rows) => {
                let right = |(column, t): (usize, f32)| f64::from(t * (t - 2.0 * scores[column]));
                let correction: f64 = entries(rows, row).map(right).sum();
                let mut sums = [0.0f32; 16];
                for chunk in scores.chunks_mut(16) {
                    for (score, sum) in chunk.iter_mut().zip(&mut sums) {
                        *sum += *score * *score;
                        *score *= 2.0 * scale;
                    }
                }
                for (column, t) in entries(rows, row) {
                    scores[column] -= 2.0 * scale * t;
                }
                correction + sums.iter().map(|&sum| f64::from(sum)).sum::<f64>()
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
