//! The probability that an estimated one of a 0/1 block is a one: isotonic regression of what hidden
//! cells were on their scores.
//!
//! Scores rank the columns of a row; they need not be probabilities, and those of two runs need not even be
//! of one method. What counts is where a score stands among all scores of its run, from 0 to 1
//! ([`ScoreRanks`]). The probability is the best ascending function of that rank in least squares (pool
//! adjacent violators), interpolated between the centres of its steps.

use serde::{Deserialize, Serialize};

use super::classes::MIN_CALIBRATION_CELLS;

/// The largest number of steps that are kept, and the fewest cells of a step.
const MAX_STEPS: usize = 256;
const MIN_STEP: usize = 25;
/// The largest number of scores that ranks are read from.
const MAX_RANKED: usize = 200_000;

/// Where a score stands among all scores of a run.
#[derive(Debug, Clone)]
pub(super) struct ScoreRanks(Vec<f32>);

impl ScoreRanks {
    pub(super) fn new(scores: impl ExactSizeIterator<Item = f32>) -> Self {
        let every = scores.len().div_ceil(MAX_RANKED).max(1);
        let mut sorted: Vec<f32> = scores.step_by(every).collect();
        sorted.sort_unstable_by(f32::total_cmp);
        ScoreRanks(sorted)
    }

    /// The share of scores below, equal ones counted half.
    pub(super) fn rank(&self, score: f32) -> f32 {
        let below = self.0.partition_point(|other| *other < score);
        let up_to = self.0.partition_point(|other| *other <= score);
        ((below + up_to) as f64 / (2 * self.0.len().max(1)) as f64) as f32
    }
}

/// An ascending function from scores to probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnesCalibration {
    /// Rank and probability at the centre of each step, ascending.
    steps: Vec<(f32, f32)>,
    /// The hidden ones that it was calibrated on.
    ones: usize,
}

impl OnesCalibration {
    /// Calibrates on the ranks of the scores of hidden cells, and whether they were ones; none where fewer than
    /// about twenty were.
    pub(super) fn fit(mut cells: Vec<(f32, bool)>) -> Option<Self> {
        let ones = cells.iter().filter(|(_, one)| *one).count();
        if ones < MIN_CALIBRATION_CELLS {
            return None;
        }
        cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        // Sums of ranks and ones, and the number of cells, of steps with ascending means.
        let mut steps: Vec<(f64, f64, f64)> = Vec::new();
        for some in cells.rchunks(MIN_STEP).rev() {
            let ranks: f64 = some.iter().map(|(rank, _)| f64::from(*rank)).sum();
            let ones = some.iter().filter(|(_, one)| *one).count() as f64;
            let mut step = (ranks, ones, some.len() as f64);
            while let Some(last) = steps.last()
                && last.1 / last.2 >= step.1 / step.2
            {
                step = (step.0 + last.0, step.1 + last.1, step.2 + last.2);
                steps.pop();
            }
            steps.push(step);
        }
        let every = steps.len().div_ceil(MAX_STEPS);
        let thinned = steps.chunks(every).map(|steps| {
            let sum = |pick: fn(&(f64, f64, f64)) -> f64| steps.iter().map(pick).sum::<f64>();
            let cells = sum(|step| step.2);
            ((sum(|step| step.0) / cells) as f32, (sum(|step| step.1) / cells) as f32)
        });
        Some(OnesCalibration { steps: thinned.collect(), ones })
    }

    /// The probability that a cell is a one, by the rank of its score.
    pub fn probability(&self, rank: f32) -> f64 {
        let above = self.steps.partition_point(|step| step.0 < rank);
        let (Some(low), Some(high)) =
            (self.steps.get(above.wrapping_sub(1)), self.steps.get(above))
        else {
            let outermost = if above == 0 { self.steps.first() } else { self.steps.last() };
            return outermost.map_or(0.0, |step| f64::from(step.1));
        };
        let share = f64::from((rank - low.0) / (high.0 - low.0).max(f32::MIN_POSITIVE));
        f64::from(low.1) + share * f64::from(high.1 - low.1)
    }

    /// How many hidden ones it was calibrated on.
    pub fn cells(&self) -> usize {
        self.ones
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_become_frequencies() {
        // Cells of score s are ones with probability s², noise in between.
        let cells = (0..40_000u32).map(|at| {
            let score = (at % 200) as f32 / 200.0;
            let uniform = super::super::levels::uniform_of(3, at, 0) as f32;
            (score, uniform < score * score)
        });
        let calibration = OnesCalibration::fit(cells.collect()).expect("enough ones");
        for score in [0.1f32, 0.5, 0.9] {
            let own = calibration.probability(score);
            assert!((own - f64::from(score * score)).abs() < 0.03, "{score}: {own}");
        }
        let ascending: Vec<f64> =
            (0..100).map(|at| calibration.probability(at as f32 / 50.0)).collect();
        assert!(ascending.is_sorted() && ascending[99] <= 1.0);
    }

    #[test]
    fn few_ones_calibrate_nothing() {
        let cells = |ones: u32| (0..1000).map(|at| (at as f32, at < ones)).collect();
        assert_eq!(OnesCalibration::fit(cells(19)), None);
        assert!(OnesCalibration::fit(cells(20)).is_some());
    }
}
