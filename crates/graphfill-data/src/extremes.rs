//! Values that stand far away from all others in a column: a sentinel (−999, 9999, 1e20) that means
//! "missing", or a slip. One of them moves the mean and the scale of the column, and so the estimates
//! of every other row.

/// Beyond this no method can compute with a value: its square leaves single precision.
pub(crate) const MAX_VALUE: f64 = 1.8e19;
/// A gap of so many times the range of the other values cannot be bridged by standardisation.
const MAX_GAP: f64 = 1e6;
/// A gap of so many times the range of the other values is suspicious.
const SUSPICIOUS_GAP: f64 = 10.0;
/// Values that programs write for "missing"; a smaller gap makes them suspicious.
const SENTINELS: [f64; 12] = [
    99.0,
    999.0,
    9999.0,
    99999.0,
    999_999.0,
    9_999_999.0,
    32767.0,
    65535.0,
    2_147_483_647.0,
    888.0,
    8888.0,
    1e20,
];
/// Fewer values than this have no range to speak of.
const MIN_VALUES: usize = 5;

/// A value that stands apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extreme {
    pub(crate) value: f64,
    /// How many cells have it.
    pub(crate) cells: usize,
    /// The smallest and the largest of the other values.
    pub(crate) others: (f64, f64),
    /// Whether no method can use the column with it.
    pub(crate) unusable: bool,
}

/// The value that stands furthest apart, if one does; NaN is a missing cell.
pub(crate) fn find(numbers: &[f64]) -> Option<Extreme> {
    let known = || numbers.iter().copied().filter(|value| value.is_finite());
    let count = known().count();
    let (least, most) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
    let huge = [least, most].into_iter().find(|value| value.abs() > MAX_VALUE);
    if count < MIN_VALUES && huge.is_none() {
        return None;
    }
    let apart = |value: f64| {
        let cells = known().filter(|&other| other == value).count();
        let others = || known().filter(|&other| other != value);
        let others = (others().reduce(f64::min)?, others().reduce(f64::max)?);
        if cells * 2 > count {
            return None;
        }
        let gap = if value > others.1 { value - others.1 } else { others.0 - value };
        let range = others.1 - others.0;
        let sentinel = SENTINELS.contains(&value.abs());
        let factor = gap / range;
        let suspicious =
            range > 0.0 && (factor > SUSPICIOUS_GAP || (sentinel && factor > SUSPICIOUS_GAP / 3.0));
        let unusable = value.abs() > MAX_VALUE || (range > 0.0 && factor > MAX_GAP);
        (suspicious || unusable).then_some((factor, Extreme { value, cells, others, unusable }))
    };
    let found = [apart(most), apart(least)];
    let found = found.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, e)| e);
    found.or_else(|| {
        huge.map(|value| Extreme { value, cells: 1, others: (least, most), unusable: true })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_and_slips_stand_apart() {
        let near_five = |value: f64| {
            find(&[4.8, 5.1, 5.3, 4.9, 5.0, f64::NAN, value]).map(|e| (e.value, e.unusable))
        };
        assert_eq!(near_five(9999.0), Some((9999.0, false)));
        assert_eq!(near_five(-999.0), Some((-999.0, false)));
        assert_eq!(near_five(1e20), Some((1e20, true)));
        assert_eq!(near_five(1e160), Some((1e160, true)));
        assert_eq!(near_five(6.0), None);
        let repeated = find(&[1.0, 2.0, 3.0, 4.0, 5.0, -999.0, -999.0]).expect("found");
        assert_eq!((repeated.cells, repeated.others), (2, (1.0, 5.0)));
    }

    #[test]
    fn heavy_tails_are_not_suspicious() {
        let powers: Vec<f64> = (0..40).map(|power| 1.5f64.powi(power)).collect();
        assert_eq!(find(&powers), None);
        assert_eq!(find(&[0.0, 0.0, 0.0, 0.0, 0.0, 7.0]), None);
        assert_eq!(find(&[0.0, 1.0]), None);
    }
}
