//! The second step of PCFI: what the other columns of a node say about a cell that few values reached.
//!
//!   z = (x̂ − mean) / σ                                     nodes × columns, over all nodes
//!   R = zᵀz / nodes, its diagonal 0                         correlations, columns × columns
//!   x̃ = x̂ + β (1 − c) ∘ (c ∘ z) R ∘ σ                       c: confidences, 1 where a cell is known
//!
//! Known cells keep their values, since 1 − c is 0 there.

use rayon::prelude::*;

use crate::features::Panel;

/// Rows that are summed at a time: sums don't depend on the number of threads.
const ROWS_PER_SUM: usize = 1024;

/// x̃ of a panel: `nodes × width`.
pub(super) fn between_columns(
    panel: &Panel,
    confidence: &[f32],
    beta: f64,
    values: &[f32],
) -> Vec<f32> {
    let (width, columns) = (panel.width, panel.features.len());
    let moments = Moments::of(values, width, columns);
    let correlations = moments.correlations();
    let mut out = values.to_vec();
    let rows = out.par_chunks_mut(width).zip(confidence.par_chunks(width)).zip(&panel.known);
    rows.for_each(|((row, confidence), &known)| {
        if known == panel.all_known() {
            return;
        }
        let trusted: Vec<f64> = (0..columns)
            .map(|b| f64::from(confidence[b]) * moments.standardised(b, f64::from(row[b])))
            .collect();
        for (a, value) in row[..columns].iter_mut().enumerate() {
            let others = &correlations[a * columns..(a + 1) * columns];
            let said: f64 = others.iter().zip(&trusted).map(|(r, z)| r * z).sum();
            let doubt = 1.0 - f64::from(confidence[a]);
            *value += (beta * doubt * said * moments.deviations[a]) as f32;
        }
    });
    out
}

/// Means, standard deviations and covariances of the columns of a panel.
struct Moments {
    columns: usize,
    means: Vec<f64>,
    deviations: Vec<f64>,
    /// columns × columns, of which the part above the diagonal is used.
    covariances: Vec<f64>,
}

impl Moments {
    fn of(values: &[f32], width: usize, columns: usize) -> Self {
        let nodes = (values.len() / width).max(1) as f64;
        let means = sum_over_blocks(values, width, columns, |row, sums| {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        });
        let means: Vec<f64> = means.iter().map(|sum| sum / nodes).collect();
        // Of the symmetric matrix, each row from its diagonal on.
        let products = sum_over_blocks(values, width, columns * columns, |row, sums| {
            let mut centred = [0.0; 64];
            for ((centred, &value), mean) in centred.iter_mut().zip(row).zip(&means) {
                *centred = f64::from(value) - mean;
            }
            for (a, sums) in sums.chunks_exact_mut(columns).enumerate() {
                for (sum, other) in sums[a..].iter_mut().zip(&centred[a..]) {
                    *sum += centred[a] * other;
                }
            }
        });
        let covariances: Vec<f64> = products.iter().map(|sum| sum / nodes).collect();
        let deviations = (0..columns).map(|a| covariances[a * columns + a].sqrt()).collect();
        Moments { columns, means, deviations, covariances }
    }

    /// A value in standard deviations from the mean; 0 in a constant column.
    fn standardised(&self, column: usize, value: f64) -> f64 {
        match self.deviations[column] {
            0.0 => 0.0,
            deviation => (value - self.means[column]) / deviation,
        }
    }

    /// R: zero on the diagonal and for constant columns.
    fn correlations(&self) -> Vec<f64> {
        let place = |at: usize| (at / self.columns, at % self.columns);
        let correlation = |at: usize| match place(at) {
            (a, b) if a == b => 0.0,
            (a, b) => match self.deviations[a] * self.deviations[b] {
                0.0 => 0.0,
                scale => self.covariances[a.min(b) * self.columns + a.max(b)] / scale,
            },
        };
        (0..self.covariances.len()).map(correlation).collect()
    }
}

/// Sums over all rows, in blocks of rows whose sums are added in their order.
fn sum_over_blocks(
    values: &[f32],
    width: usize,
    length: usize,
    add: impl Fn(&[f32], &mut [f64]) + Sync,
) -> Vec<f64> {
    let blocks: Vec<Vec<f64>> = values
        .par_chunks(ROWS_PER_SUM * width)
        .map(|rows| {
            let mut sums = vec![0.0; length];
            rows.chunks_exact(width).for_each(|row| add(row, &mut sums));
            sums
        })
        .collect();
    let mut total = vec![0.0; length];
    for sums in blocks {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    total
}
