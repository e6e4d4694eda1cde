//! Conformal scores by class of cells (Mondrian conformal prediction), and their quantiles.
//!
//! Within a class, the score of a new cell is below the p-quantile of m calibration scores with
//! probability p if all m + 1 are exchangeable. The quantile is interpolated between the order
//! statistics around (m + 1) p, so that coverage is p on average and not up to 1/(m + 1) above.

use serde::{Deserialize, Serialize};

use super::surroundings::CLASSES;

/// The fewest scores of a class of its own; smaller classes are merged with their neighbours. Quantiles of
/// fewer would vary more than classes differ.
const MIN_CLASS: usize = 200;
/// The fewest scores that are calibrated on at all.
pub const MIN_CALIBRATION_CELLS: usize = 20;

/// Sorted scores of merged classes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ScoresByClass {
    /// The position in `scores` of each class.
    merged: Vec<u8>,
    /// The scores of each merged class, ascending.
    scores: Vec<Vec<f32>>,
}

impl ScoresByClass {
    /// Scores with their classes; none where there are too few.
    pub(super) fn new(cells: impl Iterator<Item = (usize, f64)>) -> Option<Self> {
        let mut by_class = vec![Vec::new(); CLASSES];
        for (class, score) in cells {
            by_class[class].push(score as f32);
        }
        let counts: Vec<usize> = by_class.iter().map(Vec::len).collect();
        if counts.iter().sum::<usize>() < MIN_CALIBRATION_CELLS {
            return None;
        }
        let merged = merged_classes(&counts);
        let groups = merged.iter().copied().max().map_or(1, |last| usize::from(last) + 1);
        let mut scores = vec![Vec::new(); groups];
        for (own, &group) in by_class.into_iter().zip(&merged) {
            scores[usize::from(group)].extend(own);
        }
        scores.iter_mut().for_each(|scores| scores.sort_unstable_by(f32::total_cmp));
        Some(ScoresByClass { merged, scores })
    }

    /// The scores that a class is compared with, ascending.
    pub(super) fn of_class(&self, class: usize) -> &[f32] {
        &self.scores[usize::from(self.merged[class])]
    }

    /// How many scores there are.
    pub(super) fn count(&self) -> usize {
        self.scores.iter().map(Vec::len).sum()
    }
}

/// Which classes are merged: neighbours in degree until there are enough;
/// both kinds of rows together where one of them has too few.
fn merged_classes(counts: &[usize]) -> Vec<u8> {
    let half = counts.len() / 2;
    let (empty_rows, other_rows) = counts.split_at(half);
    let total = |counts: &[usize]| counts.iter().sum::<usize>();
    if total(empty_rows) < MIN_CLASS || total(other_rows) < MIN_CLASS {
        let both: Vec<usize> = empty_rows.iter().zip(other_rows).map(|(a, b)| a + b).collect();
        return merged_neighbours(&both, 0).repeat(2);
    }
    let mut merged = merged_neighbours(empty_rows, 0);
    let next = merged.last().map_or(0, |last| last + 1);
    merged.extend(merged_neighbours(other_rows, next));
    merged
}

fn merged_neighbours(counts: &[usize], first: u8) -> Vec<u8> {
    let (mut merged, mut group, mut size) = (Vec::new(), first, 0);
    let mut left: usize = counts.iter().sum();
    for &count in counts {
        merged.push(group);
        size += count;
        left -= count;
        if size >= MIN_CLASS && left >= MIN_CLASS {
            (group, size) = (group + 1, 0);
        }
    }
    merged
}

/// The p-quantile of sorted scores as conformal prediction takes it, interpolated; none beyond the
/// outermost scores, which promise nothing there.
pub(super) fn quantile(sorted: &[f32], p: f64) -> Option<f64> {
    let position = (sorted.len() + 1) as f64 * p;
    if position < 1.0 || position > sorted.len() as f64 {
        return None;
    }
    let below = (position.floor() as usize).min(sorted.len()) - 1;
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (f64::from(sorted[below]), f64::from(sorted[above]));
    Some(low + (high - low) * position.fract())
}

/// The quantile, held to the outermost scores: for draws, which must have some value.
pub(super) fn nearest_quantile(sorted: &[f32], p: f64) -> f64 {
    let n = sorted.len() as f64;
    quantile(sorted, p.clamp(1.0 / (n + 1.0), n / (n + 1.0))).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_classes_are_merged_with_their_neighbours() {
        let merged = |counts: [usize; 6]| merged_classes(&counts);
        assert_eq!(merged([0, 0, 0, 240, 180, 320]), [0, 1, 1, 0, 1, 1]);
        assert_eq!(merged([120, 120, 0, 0, 240, 280]), [0, 0, 0, 1, 1, 2]);
        assert_eq!(merged([3, 0, 2, 9, 9, 9]), [0; 6]);
    }

    #[test]
    fn a_quantile_is_the_interpolated_order_statistic() {
        let scores: Vec<f32> = (1..=19).map(|score| score as f32).collect();
        assert_eq!(quantile(&scores, 0.5), Some(10.0));
        assert_eq!(quantile(&scores, 0.95), Some(19.0));
        assert_eq!(quantile(&scores, 0.725), Some(14.5));
        assert_eq!(quantile(&scores, 0.96), None, "19 scores do not tell where 96% end");
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(nearest_quantile(&scores, 0.999), 19.0);
    }
}
