//! Heavy tails, and how far the estimates of a column may go.
//!
//!   spread  half the distance between the quartiles, or an eighth of the mean distance from the median
//!           where most values are the same
//!   heavy   the largest distance from the median is more than 30 spreads
//!
//! Estimates stay within the observed values, for near hubs propagation with S can leave any range. A heavy
//! tail goes on beyond them, though: where the largest of 1,000 incomes is missing, the largest observed one
//! says little about it. There estimates may lie 1.65 times as far from the median as the known ones, which is half a
//! unit of its logarithm.

use super::{Group, GroupKind};

/// A tail is heavy if it reaches so many spreads from the median.
const MIN_SPREADS: f64 = 30.0;
/// How far estimates may go beyond a heavy tail, on the scale of logarithms.
pub(crate) const MARGIN: f64 = 0.5;
/// Fewer values do not show what a tail is.
const MIN_VALUES: usize = 20;

/// Where shares, percentages and much else end: a column that ends there does not go on.
const BOUNDS: [f64; 4] = [-1.0, 0.0, 1.0, 100.0];

/// The middle of some values, and how far the usual ones lie from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Middle {
    pub(crate) median: f64,
    pub(crate) spread: f64,
}

impl Middle {
    /// Of ascending values; none where they are all the same.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let quantile = |share: f64| values.get((share * values.len() as f64) as usize).copied();
        let (low, median, high) = (quantile(0.25)?, quantile(0.5)?, quantile(0.75)?);
        let distances = values.iter().map(|value| (value - median).abs());
        let mean_distance = distances.sum::<f64>() / values.len() as f64;
        let spread = ((high - low) / 2.0).max(mean_distance / 8.0);
        (spread > 0.0 && spread.is_finite()).then_some(Middle { median, spread })
    }

    /// Whether a value lies in a heavy tail.
    pub(crate) fn is_far(self, value: f64) -> bool {
        (value - self.median).abs() > MIN_SPREADS * self.spread
    }
}

/// Whether estimates of a column may go beyond what was observed.
pub(crate) fn has_reach(group: &Group) -> bool {
    matches!(group.kind, GroupKind::Number | GroupKind::Count) && !group.is_date
}

/// The smallest and the largest value that estimates of numbers may have, given the known ones, as
/// [`known_range`] has it.
pub(crate) fn reach(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
        return (f64::INFINITY, f64::NEG_INFINITY);
    };
    let Some(middle) = Middle::of(&values).filter(|_| values.len() >= MIN_VALUES) else {
        return (low, high);
    };
    let beyond = |value: f64| match middle.is_far(value) && !BOUNDS.contains(&value) {
        true => middle.median + (value - middle.median) * MARGIN.exp(),
        false => value,
    };
    let (lowest, highest) = (beyond(low), beyond(high));
    // Numbers of one sign keep it.
    let lowest = if low >= 0.0 { lowest.max(0.0) } else { lowest };
    (lowest, if high <= 0.0 { highest.min(0.0) } else { highest })
}

/// The smallest and the largest known value; the first is infinite, and the second its negative, where none
/// is known.
pub(crate) fn known_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let known = values.filter(|value| !value.is_nan());
    known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_go_beyond_heavy_tails_alone() {
        let even = || (0..100).map(f64::from);
        assert_eq!(reach(even()), (0.0, 99.0));
        assert_eq!(reach(even().chain([f64::NAN, 500.0])), (0.0, 500.0));
        let (low, high) = reach(even().chain([10_000.0]));
        assert_eq!(low, 0.0);
        assert!((high - (50.0 + 9950.0 * MARGIN.exp())).abs() < 1.0, "{high}");
        let (low, high) = reach(even().map(|value| -value).chain([-10_000.0]));
        assert!(low < -16_000.0 && high == 0.0, "{low} {high}");
        // Signs and shares.
        let steady = || (0..100).map(|at| 1e6 + f64::from(at));
        assert_eq!(reach(steady().chain([5.0])), (0.0, 1e6 + 99.0));
        let shares = || (0..100).map(|at| 1e-4 * f64::from(at));
        assert_eq!(reach(shares().chain([1.0])), (0.0, 1.0));
        // Few values, equal values, none.
        assert_eq!(reach([1.0, 2.0, 3.0, 1e6].into_iter()), (1.0, 1e6));
        assert_eq!(reach([7.0; 50].into_iter()), (7.0, 7.0));
        let (low, high) = reach(std::iter::empty());
        assert!(low > high);
    }
}
