//! Numbers, shares, times and names as text for readers of a page.

use crate::figure::numbers::{grouped, superscript};

/// The longest name of a column, level or method on a page, in characters.
pub(super) const MAX_NAME: usize = 80;

/// The longest sentence that comes from outside, in characters.
const MAX_SENTENCE: usize = 400;

/// A number with four significant digits; a dash where there is none.
pub(super) fn number(value: f64) -> String {
    const SIGNIFICANT: i32 = 4;
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    // Printing rounds: 9.9996 has the exponent of 10.
    let scientific = format!("{:.*e}", SIGNIFICANT as usize - 1, value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..7).contains(&exponent) {
        return format!("{sign}{mantissa}×10{}", superscript(exponent));
    }
    let decimals = usize::try_from(SIGNIFICANT - 1 - exponent).unwrap_or(0);
    let text = format!("{:.decimals$}", value.abs());
    let text = if exponent >= 4 { grouped(&text) } else { text };
    format!("{sign}{text}")
}

/// A mean and a standard deviation with the same decimals: two significant digits of the deviation.
pub(super) fn mean_and_sd(mean: f64, sd: f64) -> String {
    const MAX_EXPONENT: i32 = 6;
    if !mean.is_finite() || !sd.is_finite() {
        return number(mean);
    }
    // A deviation that rounding made is none.
    let sd = if sd.abs() < mean.abs() * 1e-9 { 0.0 } else { sd };
    if sd == 0.0 {
        return format!("{} ± 0", number(mean));
    }
    let exponent = sd.abs().log10().floor() as i32;
    let large = mean.abs().max(sd.abs()).log10().floor() as i32;
    if exponent < -MAX_EXPONENT || large > MAX_EXPONENT {
        return format!("{} ± {}", number(mean), number(sd));
    }
    let decimals = usize::try_from(1 - exponent).unwrap_or(0);
    format!("{mean:.decimals$} ± {sd:.decimals$}").replace('-', "−")
}

/// A count, its digits in groups of three.
pub(super) fn count(count: usize) -> String {
    let text = count.to_string();
    if text.len() > 4 { grouped(&text) } else { text }
}

/// "1 column", "3 columns".
pub(super) fn counted(number: usize, singular: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {singular}{plural}", count(number))
}

/// A share in percent, with one decimal.
pub(super) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1}%", share * 100.0) } else { "–".to_owned() }
}

/// A nominal level in percent, without decimals where it needs none.
pub(super) fn level(share: f64) -> String {
    let percent = (share * 1e4).round() / 100.0;
    if percent.is_finite() { format!("{percent}%") } else { "–".to_owned() }
}

/// A time span, in the units that suit it.
pub(super) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "–".to_owned();
    }
    if seconds < 1.0 {
        return format!("{:.0} ms", seconds * 1000.0);
    }
    if seconds < 99.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 { format!("{hours} h {minutes} min") } else { format!("{minutes} min {rest} s") }
}

/// Text of at most `max` characters; what is cut off becomes an ellipsis.
pub(super) fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

/// A name as the page shows it.
pub(super) fn name(text: &str) -> String {
    shortened(text, MAX_NAME)
}

/// A sentence as the page shows it.
pub(super) fn sentence(text: &str) -> String {
    shortened(text, MAX_SENTENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.000"),
            (-0.123_46, "−0.1235"),
            (9.999_96, "10.00"),
            (12_345.6, "12\u{2009}346"),
            (1.5e300, "1.500×10³⁰⁰"),
            (-2e-9, "−2.000×10⁻⁹"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn means_have_the_decimals_of_their_deviation() {
        assert_eq!(mean_and_sd(0.491_96, 0.013_78), "0.492 ± 0.014");
        assert_eq!(mean_and_sd(-123.456, 12.0), "−123 ± 12");
        assert_eq!(mean_and_sd(1.8, 2.5e-16), "1.800 ± 0");
        assert_eq!(mean_and_sd(1e12, 1e10), "1.000×10¹² ± 1.000×10¹⁰");
        assert_eq!(mean_and_sd(0.5, f64::NAN), "0.5000");
    }

    #[test]
    fn words_around_numbers() {
        assert_eq!(counted(1, "column"), "1 column");
        assert_eq!(counted(12_000, "column"), "12\u{2009}000 columns");
        assert_eq!((level(0.9), level(0.975)), ("90%".to_owned(), "97.5%".to_owned()));
        assert_eq!(duration(0.25), "250 ms");
        assert_eq!(duration(3725.0), "1 h 2 min");
        assert_eq!(duration(f64::NAN), "–");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
