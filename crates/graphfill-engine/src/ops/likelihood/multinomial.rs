//! One distribution over all columns:  −Σ_k (x_k / |x|) · ln softmax(s)_k,  slope softmax(s) − x/|x|

use super::categorical::softmax;
use super::targets::entries;
use super::weights::Weights;
use super::{JudgeRow, Targets};

#[derive(Debug)]
pub(super) struct Multinomial {
    pub(super) targets: Targets,
    /// 1/|x| of each row; 0 where the row has nothing, which then counts nothing.
    pub(super) shares: Vec<f32>,
}

impl Multinomial {
    pub(super) fn new(targets: Targets) -> Self {
        let total = |row: usize| -> f32 {
            match &targets {
                Targets::Sparse(rows) => entries(rows, row).map(|(_, x)| x).sum(),
                Targets::Dense { shape, values } => {
                    let row = &values[row * shape.columns..][..shape.columns];
                    row.iter().filter(|x| !x.is_nan()).sum()
                }
            }
        };
        let share = |total: f32| if total > 0.0 { 1.0 / total } else { 0.0 };
        let shares = (0..targets.shape().rows).map(|row| share(total(row))).collect();
        Multinomial { targets, shares }
    }

    pub(super) fn rows_with_any(&self) -> usize {
        self.shares.iter().filter(|&&share| share > 0.0).count()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.targets.bytes() + size_of_val(&self.shares[..]) as u64
    }
}

impl JudgeRow for Multinomial {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], weights: impl Weights, scale: f32) -> f64 {
        let share = self.shares[row];
        // A row without columns has no share.
        if share == 0.0 || weights.at(0) == 0.0 {
            scores.fill(0.0);
            return 0.0;
        }
        let (weight, scale) = (f64::from(weights.at(0)), weights.at(0) * scale);
        let columns = scores.len();
        let dense = match &self.targets {
            Targets::Dense { values, .. } => Some(&values[row * columns..][..columns]),
            Targets::Sparse(_) => None,
        };
        // Σ_k x_k s_k / |x|, before the scores are gone.
        let along: f64 = match (&self.targets, dense) {
            (Targets::Sparse(rows), _) => {
                entries(rows, row).map(|(column, x)| f64::from(x * share * scores[column])).sum()
            }
            (_, Some(dense)) => {
                let cells = dense.iter().zip(&*scores).filter(|(x, _)| !x.is_nan());
                cells.map(|(&x, &score)| f64::from(x * share * score)).sum()
            }
            _ => 0.0,
        };
        let log_total = softmax(scores, scale);
        match (&self.targets, dense) {
            (Targets::Sparse(rows), _) => {
                entries(rows, row).for_each(|(column, x)| scores[column] -= scale * x * share);
            }
            (_, Some(dense)) => {
                for (score, &x) in scores.iter_mut().zip(dense) {
                    *score -= if x.is_nan() { 0.0 } else { scale * x * share };
                }
            }
            _ => {}
        }
        weight * (log_total - along)
    }
}
