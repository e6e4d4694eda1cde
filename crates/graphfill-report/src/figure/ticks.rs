//! The marks along an axis: steps of 1, 2 or 5 times a power of ten; powers of ten on a logarithmic
//! axis, with 2 and 5 between them where these are few.

use super::interval::Interval;
use super::numbers;
use super::panel::Scale;

/// A labelled mark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// Where along the axis: 0 at the low end, 1 at the high end.
    pub(crate) place: f64,
    pub(crate) label: String,
}

/// The marks of an axis: not many more than `most`, from the low end to the high one.
pub(crate) fn ticks(interval: &Interval, most: usize) -> Vec<Tick> {
    let most = most.max(2);
    match interval.scale {
        Scale::Linear => linear(interval, interval.low, interval.high, most),
        Scale::Logarithmic => logarithmic(interval, most),
    }
}

/// The places of marks without labels: the multiples between powers of ten.
pub(crate) fn minor(interval: &Interval) -> Vec<f64> {
    const MAX_DECADES: f64 = 6.0;
    if interval.scale == Scale::Linear || interval.high - interval.low > MAX_DECADES {
        return Vec::new();
    }
    between(interval, &[2, 3, 4, 5, 6, 7, 8, 9])
        .into_iter()
        .map(|(mantissa, exponent)| place(interval, mantissa, exponent))
        .collect()
}

fn linear(interval: &Interval, low: f64, high: f64, most: usize) -> Vec<Tick> {
    let step = step_near((high - low) / most as f64);
    // Rounding must not lose a mark at the very end.
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    let values: Vec<f64> = (first..=last).map(|count| count as f64 * step).collect();
    let labels = numbers::labels(&values, step);
    let place = |value| interval.place(value).unwrap_or(0.0);
    values
        .into_iter()
        .zip(labels)
        .map(|(value, label)| Tick { place: place(value).clamp(0.0, 1.0), label })
        .collect()
}

/// The smallest of 1, 2 and 5 times a power of ten that is not far below `length`: rather a few
/// marks more than asked for than half of them.
fn step_near(length: f64) -> f64 {
    const SHORTEST: f64 = 0.75;
    let length = SHORTEST * length;
    let power = 10f64.powi(length.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= length * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

fn logarithmic(interval: &Interval, most: usize) -> Vec<Tick> {
    let powers = between(interval, &[1]);
    let some = between(interval, &[1, 2, 5]);
    let all = between(interval, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let chosen = if powers.len() > most {
        let stride = powers.len().div_ceil(most);
        powers.into_iter().step_by(stride).collect()
    } else if powers.len() >= 4 || (powers.len() >= 2 && some.len() > most) {
        powers
    } else if some.len() >= 3 && some.len() <= most {
        some
    } else if all.len() >= 3 && all.len() <= most {
        all
    } else if powers.len() >= 2 {
        powers
    } else {
        return linear(interval, interval.value(0.0), interval.value(1.0), most);
    };
    let labels = numbers::decimal_labels(&chosen);
    chosen
        .into_iter()
        .zip(labels)
        .map(|((mantissa, exponent), label)| Tick {
            place: place(interval, mantissa, exponent),
            label,
        })
        .collect()
}

/// All mantissa · 10^exponent of the interval, ascending.
fn between(interval: &Interval, mantissas: &[u8]) -> Vec<(u8, i32)> {
    (interval.low.floor() as i32..=interval.high.ceil() as i32)
        .flat_map(|exponent| mantissas.iter().map(move |mantissa| (*mantissa, exponent)))
        .filter(|(mantissa, exponent)| {
            let value = f64::from(*mantissa).log10() + f64::from(*exponent);
            value >= interval.low - 1e-9 && value <= interval.high + 1e-9
        })
        .collect()
}

fn place(interval: &Interval, mantissa: u8, exponent: i32) -> f64 {
    let value = f64::from(mantissa).log10() + f64::from(exponent);
    ((value - interval.low) / (interval.high - interval.low)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64, most: usize) -> Vec<String> {
        let interval = match scale {
            Scale::Linear => Interval { low, high, scale },
            Scale::Logarithmic => Interval { low: low.log10(), high: high.log10(), scale },
        };
        ticks(&interval, most).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn steps_of_one_two_five() {
        use Scale::Linear;
        assert_eq!(labels(Linear, 0.0, 2000.0, 5), ["0", "500", "1000", "1500", "2000"]);
        assert_eq!(labels(Linear, 0.0, 0.3, 3), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(Linear, 0.12, 0.21, 5), ["0.12", "0.14", "0.16", "0.18", "0.20"]);
        assert_eq!(labels(Linear, -7.0, 7.0, 5), ["−5", "0", "5"]);
        assert_eq!(labels(Linear, 0.0, 100_000.0, 5), ["0", "20k", "40k", "60k", "80k", "100k"]);
    }

    #[test]
    fn powers_of_ten() {
        use Scale::Logarithmic;
        assert_eq!(labels(Logarithmic, 1.0, 1e4, 6), ["1", "10", "100", "1k", "10k"]);
        assert_eq!(labels(Logarithmic, 1.0, 50.0, 6), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(Logarithmic, 1e-6, 1e2, 5), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²"]);
        assert_eq!(labels(Logarithmic, 21.0, 24.0, 4), ["21", "22", "23", "24"]);
        assert_eq!(labels(Logarithmic, 0.5, 30.0, 4), ["1", "10"]);
    }

    #[test]
    fn places_are_on_the_axis() {
        for (low, high) in [(0.0, 1e-9), (-1e9, 1e9), (3.0, 3.000_001), (1e149, 1.1e149)] {
            let interval = Interval { low, high, scale: Scale::Linear };
            let ticks = ticks(&interval, 6);
            assert!((2..=8).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.place)));
        }
    }
}
