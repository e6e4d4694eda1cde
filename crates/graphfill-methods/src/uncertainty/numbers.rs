//! Intervals of numbers, counts and dates: normalised conformal prediction.
//!
//! The score of a hidden cell is its error over the expected size of errors like it, u = (x − x̂) / s. An
//! interval is x̂ ± s q, with q the quantile of |u| over hidden cells with like surroundings; where these
//! are many, it reaches from x̂ + s Q(α/2) to x̂ + s Q(1 − α/2) with the quantiles Q of u.

use serde::{Deserialize, Serialize};

use super::classes::{ScoresByClass, nearest_quantile, quantile};
use super::error_inputs::INPUTS;
use super::surroundings::Surroundings;

/// The fewest scores of a class for the ends of an interval to have quantiles of their own.
const MIN_TWO_SIDED: usize = 300;

/// A hidden cell of a column of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HiddenNumber {
    /// Its row.
    pub row: u32,
    /// The estimate.
    pub estimate: f64,
    /// The observed value.
    pub truth: f64,
    /// What was observed around it.
    pub surroundings: Surroundings,
    /// What tells how large its error may be.
    pub(super) inputs: [f32; INPUTS],
}

impl HiddenNumber {
    /// How far the truth is above the estimate.
    pub fn error(&self) -> f64 {
        self.truth - self.estimate
    }
}

/// The calibration of one column of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberCalibration {
    /// u, and |u|.
    scores: ScoresByClass,
    sizes: ScoresByClass,
    /// The lowest and highest value that the column can have: an interval does not leave them.
    allowed: (Option<f64>, Option<f64>),
}

/// The distribution of a number: where its centre is, how large its error is expected to be, what surrounds
/// it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberCell {
    /// Its row.
    pub row: u32,
    /// The estimate of the run that did not see the hidden cells: its errors on those are known.
    pub centre: f64,
    /// The expected size of its error, as a multiple of what is usual in the column.
    pub size: f64,
    /// What was observed around it.
    pub surroundings: Surroundings,
}

impl NumberCalibration {
    /// Calibrates on hidden cells and their true values; none where they are too few.
    pub(super) fn fit(
        cells: &[(NumberCell, f64)],
        allowed: (Option<f64>, Option<f64>),
    ) -> Option<Self> {
        let score = |(cell, truth): &(NumberCell, f64)| {
            (cell.surroundings.class(), (truth - cell.centre) / cell.size)
        };
        let scores = ScoresByClass::new(cells.iter().map(score))?;
        let size = |cell| {
            let (class, score) = score(cell);
            (class, score.abs())
        };
        let sizes = ScoresByClass::new(cells.iter().map(size))?;
        Some(NumberCalibration { scores, sizes, allowed })
    }

    /// The interval that covers the truth with this probability; none where too few cells were hidden
    /// to tell.
    pub fn interval(&self, cell: &NumberCell, coverage: f64) -> Option<(f64, f64)> {
        let class = cell.surroundings.class();
        let scores = self.scores.of_class(class);
        let tail = (1.0 - coverage) / 2.0;
        let (low, high) = match scores.len() >= MIN_TWO_SIDED {
            true => (quantile(scores, tail)?, quantile(scores, 1.0 - tail)?),
            false => {
                let reach = quantile(self.sizes.of_class(class), coverage)?;
                (-reach, reach)
            }
        };
        // Where nearly all errors have one sign, the centre lies outside: it is taken in.
        let (low, high) = (low.min(0.0), high.max(0.0));
        let end = |score: f64| self.within(cell.centre + cell.size * score);
        Some((end(low), end(high)))
    }

    /// The value at which the distribution of the cell reaches p.
    pub fn value_at(&self, cell: &NumberCell, p: f64) -> f64 {
        let scores = self.scores.of_class(cell.surroundings.class());
        self.within(cell.centre + cell.size * nearest_quantile(scores, p))
    }

    /// The probability that the cell is below a value: its rank among the scores.
    pub(super) fn probability_below(&self, cell: &NumberCell, value: f64) -> f64 {
        let scores = self.scores.of_class(cell.surroundings.class());
        let score = ((value - cell.centre) / cell.size) as f32;
        let below = scores.partition_point(|other| *other < score);
        let up_to = scores.partition_point(|other| *other <= score);
        ((below + up_to) as f64 / 2.0 + 0.5) / (scores.len() + 1) as f64
    }

    /// The values that the cell's predictive distribution consists of, ascending and equally likely.
    pub fn values(&self, cell: &NumberCell) -> impl Iterator<Item = f64> + '_ {
        let (centre, size) = (cell.centre, cell.size);
        let scores = self.scores.of_class(cell.surroundings.class()).iter();
        scores.map(move |&score| self.within(centre + size * f64::from(score)))
    }

    /// How many hidden cells it was calibrated on.
    pub fn cells(&self) -> usize {
        self.scores.count()
    }

    fn within(&self, value: f64) -> f64 {
        let above = self.allowed.0.map_or(value, |low| value.max(low));
        self.allowed.1.map_or(above, |high| above.min(high))
    }
}
