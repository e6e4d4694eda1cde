//! Whether the difference between two methods is more than noise.
//!
//! Over several seeds the splits overlap, so that their differences are not independent and a
//! plain paired t-test promises too much. The corrected resampled t-test (Nadeau and Bengio, 2003)
//! widens the variance by the ratio of test to training rows:
//!
//!   t = d̄ / √( (1/J + n_test/n_train) · s²_d ),   J − 1 degrees of freedom
//!
//! With one seed the rows of its test set are compared pairwise instead.

use serde::Serialize;

use crate::student::two_sided;
use crate::summary::{mean, standard_deviation};

/// Below this a difference is called real.
pub const LEVEL: f64 = 0.05;

/// The difference between two methods on the same splits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The metric that is compared.
    pub metric: String,
    /// The method in front.
    pub method: String,
    /// The method that it is compared with.
    pub against: String,
    /// The mean of the difference, positive where `method` has the larger value.
    pub difference: f64,
    /// The probability of such a difference between equals; none where it is unknown.
    pub p_value: Option<f64>,
    /// Whether the difference is more than noise.
    pub real: bool,
    /// What was paired: seeds or rows.
    pub paired_by: &'static str,
    /// How many pairs there were.
    pub pairs: usize,
}

/// Compares values of two methods seed by seed.
pub fn by_seed(
    first: &[f64],
    second: &[f64],
    test_rows: usize,
    train_rows: usize,
) -> (f64, Option<f64>) {
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let ratio = test_rows as f64 / train_rows.max(1) as f64;
    tested(&differences, 1.0 / differences.len() as f64 + ratio)
}

/// Compares values of two methods row by row of one test set.
pub fn by_row(first: &[f64], second: &[f64]) -> (f64, Option<f64>) {
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    tested(&differences, 1.0 / differences.len() as f64)
}

/// The mean difference and its p-value, the variance of the mean being `share · s²`.
fn tested(differences: &[f64], share: f64) -> (f64, Option<f64>) {
    let difference = mean(differences);
    let p_value = standard_deviation(differences).map(|deviation| {
        if deviation == 0.0 {
            if difference == 0.0 { 1.0 } else { 0.0 }
        } else {
            let t = difference / (share.sqrt() * deviation);
            two_sided(t, (differences.len() - 1) as f64)
        }
    });
    (difference, p_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_gain_is_real_and_a_wavering_one_is_not() {
        let base = [0.10, 0.12, 0.11, 0.13, 0.12, 0.10, 0.11, 0.12, 0.13, 0.11];
        let steady: Vec<f64> =
            base.iter().enumerate().map(|(at, b)| b + 0.010 + 0.001 * (at % 3) as f64).collect();
        let wavering: Vec<f64> = base
            .iter()
            .enumerate()
            .map(|(at, b)| b + if at % 2 == 0 { 0.02 } else { -0.015 })
            .collect();
        let (difference, p) = by_seed(&steady, &base, 5, 4);
        assert!(difference > 0.0 && p.unwrap() < LEVEL);
        let (_, p) = by_seed(&wavering, &base, 5, 4);
        assert!(p.unwrap() > LEVEL);
        // The correction makes the same differences less certain.
        let (_, plain) = by_row(&wavering, &base);
        assert!(plain.unwrap() < p.unwrap());
    }

    #[test]
    fn one_pair_tells_nothing() {
        assert_eq!(by_row(&[1.0], &[0.5]), (0.5, None));
    }
}
