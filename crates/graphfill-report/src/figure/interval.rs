//! The values an axis shows:   place = (t(value) − low) / (high − low), t = identity or log₁₀

use super::panel::{Axis, Scale};

/// Values beyond this, and positive ones below its inverse, are not told from infinity and zero:
/// differences and ratios of what is left never overflow.
const LARGEST: f64 = 1e150;
/// A range shorter than this share of its values has no ticks that could be told apart.
const SHORTEST: f64 = 1e-9;
/// Places are kept so near the plot that no coordinate grows without bounds.
const FARTHEST: f64 = 100.0;

/// How much room there is around what is drawn, where the axis has no range of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The share of the length left free at either end.
    pub(crate) margin: f64,
    /// The axis starts at zero where the lowest value is below this share of the highest.
    pub(crate) zero_below: f64,
    /// What is left free where the lowest value is zero itself.
    pub(crate) at_zero: AtZero,
}

/// Whether what is zero may lie on the other axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtZero {
    /// It may: bars and curves stand on the axis.
    Touches,
    /// It may not: the margin is kept.
    Margin,
}

/// What an axis shows, from `low` to `high`: logarithms on a logarithmic axis. Never empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) scale: Scale,
}

impl Interval {
    /// The axis' own range, or one that holds `values`.
    pub(crate) fn of(axis: &Axis, values: impl IntoIterator<Item = f64>, room: Room) -> Interval {
        let scale = axis.scale;
        if let Some((from, to)) = axis.range
            && let (Some(from), Some(to)) = (transformed(scale, from), transformed(scale, to))
            && long_enough(from.min(to), from.max(to))
        {
            return Interval { low: from.min(to), high: from.max(to), scale };
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter_map(|value| transformed(scale, value)) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        } else if !long_enough(low, high) {
            let half = match scale {
                Scale::Logarithmic => 0.5,
                Scale::Linear if high.abs().max(low.abs()) == 0.0 => 1.0,
                Scale::Linear => high.abs().max(low.abs()) * 0.1,
            };
            (low, high) = (low - half, high + half);
        } else {
            let margin = (high - low) * room.margin;
            let (tight_low, tight_high) = (low, high);
            (low, high) = (low - margin, high + margin);
            if scale == Scale::Linear {
                // No room on the wrong side of zero.
                let keeps_off = |end: f64| end == 0.0 && room.at_zero == AtZero::Margin;
                let near_zero = low < 0.0 || tight_low <= tight_high * room.zero_below;
                if tight_low >= 0.0 && near_zero && !keeps_off(tight_low) {
                    low = 0.0;
                }
                if tight_high <= 0.0 && high > 0.0 && !keeps_off(tight_high) {
                    high = 0.0;
                }
            }
        }
        Interval { low, high, scale }
    }

    /// Where a value lies: 0 at the low end, 1 at the high end. None where it has no place.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = (transformed(self.scale, value)? - self.low) / (self.high - self.low);
        Some(place.clamp(-FARTHEST, FARTHEST))
    }

    /// The value at a place.
    pub(crate) fn value(&self, place: f64) -> f64 {
        let value = self.low + place * (self.high - self.low);
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => 10f64.powf(value),
        }
    }
}

fn long_enough(low: f64, high: f64) -> bool {
    high - low > SHORTEST * low.abs().max(high.abs())
}

/// The value as the axis counts it.
fn transformed(scale: Scale, value: f64) -> Option<f64> {
    if !value.is_finite() || value.abs() > LARGEST {
        return None;
    }
    let value = if value.abs() < 1.0 / LARGEST { 0.0 } else { value };
    match scale {
        Scale::Linear => Some(value),
        Scale::Logarithmic => (value > 0.0).then(|| value.log10()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { margin: 0.05, zero_below: 0.3, at_zero: AtZero::Touches };

    fn linear(values: &[f64]) -> (f64, f64) {
        let interval = Interval::of(&Axis::default(), values.iter().copied(), ROOM);
        (interval.low, interval.high)
    }

    #[test]
    fn room_around_values() {
        assert_eq!(linear(&[50.0, 100.0]), (47.5, 102.5));
        assert_eq!(linear(&[10.0, 100.0]).0, 0.0);
        assert_eq!(linear(&[-100.0, 100.0]), (-110.0, 110.0));
        assert_eq!(linear(&[-100.0, 0.0]).1, 0.0);
        assert_eq!(linear(&[0.0, 100.0]), (0.0, 105.0));
        let kept_off = Room { at_zero: AtZero::Margin, ..ROOM };
        assert_eq!(Interval::of(&Axis::default(), [0.0, 100.0], kept_off).low, -5.0);
    }

    #[test]
    fn values_without_a_range() {
        assert_eq!(linear(&[]), (0.0, 1.0));
        assert_eq!(linear(&[f64::NAN, f64::INFINITY, 1e300]), (0.0, 1.0));
        assert_eq!(linear(&[0.0, 0.0]), (-1.0, 1.0));
        assert_eq!(linear(&[5.0]), (4.5, 5.5));
        assert_eq!(linear(&[1e-320, 1e-310]), (-1.0, 1.0));
    }

    #[test]
    fn logarithms_leave_out_what_is_not_positive() {
        let axis = Axis::logarithmic("");
        let room = Room { margin: 0.0, ..ROOM };
        let interval = Interval::of(&axis, [-1.0, 0.0, 1.0, 100.0], room);
        assert_eq!((interval.low, interval.high), (0.0, 2.0));
        assert_eq!(interval.place(10.0), Some(0.5));
        assert_eq!(interval.place(0.0), None);
        assert_eq!(interval.value(0.5), 10.0);
    }

    #[test]
    fn ranges_are_taken_where_they_make_sense() {
        let of = |axis: Axis| Interval::of(&axis, [2.0, 3.0], Room { margin: 0.0, ..ROOM });
        assert_eq!(of(Axis::linear("").within(1.0, 0.0)).high, 1.0);
        assert_eq!(of(Axis::linear("").within(1.0, 1.0)).high, 3.0);
        assert_eq!(of(Axis::linear("").within(1.0, f64::NAN)).high, 3.0);
        assert_eq!(of(Axis::logarithmic("").within(0.0, 10.0)).high, 3f64.log10());
    }
}
