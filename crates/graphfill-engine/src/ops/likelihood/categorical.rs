//! One category c a row:  −ln softmax(s)_c,  slope softmax(s) − unit vector of c

use std::fmt;

use super::weights::Weights;
use super::{JudgeRow, MISSING_CATEGORY, fingerprint_of};
use crate::cpu::exp;

pub(super) struct Categorical(pub(super) Vec<u32>);

impl Categorical {
    /// In the identity of an operation.
    pub(super) fn identity(&self) -> String {
        let words = self.0.iter().map(|&category| u64::from(category));
        format!("categories({}, {:016x})", self.0.len(), fingerprint_of(words))
    }

    pub(super) fn known(&self) -> usize {
        self.0.iter().filter(|&&category| category != MISSING_CATEGORY).count()
    }
}

impl JudgeRow for Categorical {
    #[inline(always)]
    fn judge(&self, row: usize, scores: &mut [f32], weights: impl Weights, scale: f32) -> f64 {
        let category = self.0[row];
        // A row without columns has no category.
        if category == MISSING_CATEGORY || weights.at(0) == 0.0 {
            scores.fill(0.0);
            return 0.0;
        }
        let (weight, scale) = (f64::from(weights.at(0)), weights.at(0) * scale);
        let score = f64::from(scores[category as usize]);
        let log_total = softmax(scores, scale);
        scores[category as usize] -= scale;
        weight * (log_total - score)
    }
}

/// Scores become scale · softmax(scores); ln Σ e^score.
#[inline(always)]
pub(super) fn softmax(scores: &mut [f32], scale: f32) -> f64 {
    let mut highest = [f32::NEG_INFINITY; 16];
    for chunk in scores.chunks(16) {
        for (&score, highest) in chunk.iter().zip(&mut highest) {
            *highest = highest.max(score);
        }
    }
    let highest = highest.iter().fold(f32::NEG_INFINITY, |most, &value| most.max(value));
    let mut sums = [0.0f32; 16];
    for chunk in scores.chunks_mut(16) {
        for (score, sum) in chunk.iter_mut().zip(&mut sums) {
            *score = exp(*score - highest);
            *sum += *score;
        }
    }
    let total: f64 = sums.iter().map(|&sum| f64::from(sum)).sum();
    let factor = (f64::from(scale) / total) as f32;
    scores.iter_mut().for_each(|score| *score *= factor);
    f64::from(highest) + total.ln()
}

impl fmt::Debug for Categorical {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}
