//! How large an error is expected to be: a log-linear model of its size, common to all columns.
//!
//!   log s = w · (inputs − their column means) / their deviations,   each held to ±4
//!
//! fitted by ridge regression to log max(|error|, 0.3 of the column's median |error|, 0.1 of its mean), also
//! centred by column. s has no unit: it says how a cell compares with others of its column. It is held to
//! e⁻³ … e³.

use serde::{Deserialize, Serialize};

use super::error_inputs::INPUTS;

/// The weight of the penalty, in cells.
const PENALTY: f64 = 50.0;
/// Errors below this share of the column's median, or of its mean, count as this large. The median alone
/// may be zero, and logarithms of next to nothing would outweigh all else.
const MIN_ERROR: f64 = 0.3;
const MIN_ERROR_OF_MEAN: f64 = 0.1;
/// The largest logarithm of an expected size, of either sign: inputs may lie outside of what was fitted to.
const MAX_LOG_SIZE: f64 = 3.0;
/// Inputs are held to this many deviations.
const MAX_DEVIATION: f64 = 4.0;

/// The expected size of errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Scale {
    weights: [f64; INPUTS],
    deviations: [f64; INPUTS],
    /// The mean inputs of each column.
    means: Vec<[f64; INPUTS]>,
}

/// The inputs of a hidden cell and the size of its error.
pub(super) type ErrorSize<'a> = (&'a [f32; INPUTS], f64);

impl Scale {
    /// Fits to the errors of hidden cells, one list per column.
    pub(super) fn fit(columns: &[Vec<ErrorSize<'_>>]) -> Self {
        let means: Vec<[f64; INPUTS]> = columns.iter().map(|cells| mean_inputs(cells)).collect();
        let count = columns.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        let mut deviations = [0.0; INPUTS];
        for (cells, means) in columns.iter().zip(&means) {
            for (inputs, _) in cells {
                for (at, deviation) in deviations.iter_mut().enumerate() {
                    *deviation += (f64::from(inputs[at]) - means[at]).powi(2) / count;
                }
            }
        }
        deviations.iter_mut().for_each(|deviation| {
            *deviation = if *deviation > 1e-12 { deviation.sqrt() } else { 1.0 };
        });
        let mut scale = Scale { weights: [0.0; INPUTS], deviations, means };
        let (mut gram, mut right) = ([[0.0; INPUTS]; INPUTS], [0.0; INPUTS]);
        for (column, cells) in columns.iter().enumerate() {
            let mut sizes: Vec<f64> = cells.iter().map(|cell| cell.1).collect();
            sizes.sort_unstable_by(f64::total_cmp);
            let median = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
            let count = sizes.len().max(1) as f64;
            let floor =
                (MIN_ERROR * median).max(MIN_ERROR_OF_MEAN * sizes.iter().sum::<f64>() / count);
            let log = |size: f64| size.max(floor).max(f64::MIN_POSITIVE).ln();
            let mean = sizes.iter().map(|&size| log(size)).sum::<f64>() / count;
            for (inputs, size) in cells {
                let own = scale.standardised(column, inputs);
                for i in 0..INPUTS {
                    right[i] += own[i] * (log(*size) - mean);
                    for j in 0..INPUTS {
                        gram[i][j] += own[i] * own[j];
                    }
                }
            }
        }
        scale.weights = solve(gram, right);
        scale
    }

    /// The expected size of the error of a cell, as a multiple of what is usual in its column.
    pub(super) fn of(&self, column: usize, inputs: &[f32; INPUTS]) -> f64 {
        let own = self.standardised(column, inputs);
        let log: f64 = own.iter().zip(&self.weights).map(|(input, weight)| input * weight).sum();
        log.clamp(-MAX_LOG_SIZE, MAX_LOG_SIZE).exp()
    }

    fn standardised(&self, column: usize, inputs: &[f32; INPUTS]) -> [f64; INPUTS] {
        let means = &self.means[column];
        std::array::from_fn(|at| {
            let centred = (f64::from(inputs[at]) - means[at]) / self.deviations[at];
            centred.clamp(-MAX_DEVIATION, MAX_DEVIATION)
        })
    }
}

fn mean_inputs(cells: &[ErrorSize<'_>]) -> [f64; INPUTS] {
    let count = cells.len().max(1) as f64;
    std::array::from_fn(|at| {
        cells.iter().map(|(inputs, _)| f64::from(inputs[at])).sum::<f64>() / count
    })
}

/// Weights of penalised least squares, by Gaussian elimination: the matrix is positive definite.
fn solve(mut gram: [[f64; INPUTS]; INPUTS], mut right: [f64; INPUTS]) -> [f64; INPUTS] {
    for (at, row) in gram.iter_mut().enumerate() {
        row[at] += PENALTY;
    }
    for pivot in 0..INPUTS {
        let pivot_row = gram[pivot];
        for row in pivot + 1..INPUTS {
            let factor = gram[row][pivot] / pivot_row[pivot];
            for (entry, own) in gram[row].iter_mut().zip(&pivot_row) {
                *entry -= factor * own;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut weights = [0.0; INPUTS];
    for row in (0..INPUTS).rev() {
        let known: f64 = (row + 1..INPUTS).map(|at| gram[row][at] * weights[at]).sum();
        weights[row] = (right[row] - known) / gram[row][row];
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_errors_is_found_whatever_the_unit_of_the_column() {
        // Errors grow with exp(input 3), in a column of grams and one of tons.
        let inputs: Vec<[f32; INPUTS]> = (0..600)
            .map(|at| {
                let mut inputs = [0.0; INPUTS];
                inputs[3] = (at % 7) as f32 / 3.0;
                inputs[5] = (at % 5) as f32;
                inputs
            })
            .collect();
        let sizes = |unit: f64| {
            let noise = |at: usize| if at % 2 == 0 { 0.8 } else { 1.25 };
            let size =
                |(at, own): (usize, &[f32; INPUTS])| f64::from(own[3]).exp() * noise(at) * unit;
            inputs.iter().enumerate().map(size).collect::<Vec<f64>>()
        };
        let (grams, tons) = (sizes(1.0), sizes(1e-6));
        let of = |sizes: &[f64]| inputs.iter().zip(sizes.to_vec()).collect::<Vec<_>>();
        let scale = Scale::fit(&[of(&grams), of(&tons)]);
        let ratio = scale.of(0, &inputs[6]) / scale.of(0, &inputs[0]);
        assert!((ratio.ln() - 2.0).abs() < 0.2, "log ratio {}", ratio.ln());
        assert!((scale.of(1, &inputs[6]) - scale.of(0, &inputs[6])).abs() < 1e-9);
    }

    /// Where most estimates are exact, a few errors are not infinitely larger than usual.
    #[test]
    fn a_column_that_is_mostly_exact_does_not_blow_up_the_others() {
        let inputs: Vec<[f32; INPUTS]> = (0..400)
            .map(|at| std::array::from_fn(|input| ((at * (input + 3)) % 11) as f32 / 5.0))
            .collect();
        let usual = |at: usize| 1.0 + (at % 3) as f64;
        for exact in [0.0, 1e-12] {
            let mostly = |at: usize| if inputs[at][0] > 1.7 { 1.0 } else { exact };
            let columns = [&usual as &dyn Fn(usize) -> f64, &mostly].map(|size| {
                inputs.iter().enumerate().map(|(at, own)| (own, size(at))).collect::<Vec<_>>()
            });
            let scale = Scale::fit(&columns);
            let largest = inputs.iter().map(|own| scale.of(0, own).ln().abs()).fold(0.0, f64::max);
            assert!(largest < 2.0, "sizes differ by e^{largest}");
            assert!(scale.weights.iter().all(|weight| weight.abs() < 1.0), "{:?}", scale.weights);
        }
    }
}
