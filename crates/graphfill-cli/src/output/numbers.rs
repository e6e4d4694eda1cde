//! Numbers for people: counts, metrics, times, sizes, shares.

/// `1234567` as `1,234,567`.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with as many digits as it needs, at most four beside those before the point: `30.5`,
/// `0.01235`, `123457`, `1e-6`, `1.845e19`.
pub(crate) fn significant(value: f64) -> String {
    const DIGITS: i32 = 4;
    let size = value.abs();
    if !value.is_finite() {
        return "–".to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    // Rounding may reach the next power of ten, so the rounded number decides.
    let rounded = format!("{value:.*e}", DIGITS as usize - 1);
    let Some((digits, exponent)) = rounded.split_once('e') else { return rounded };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    match exponent {
        -4..=6 => {
            let decimals = (DIGITS - 1 - exponent).max(0) as usize;
            trimmed(&format!("{value:.decimals$}")).to_owned()
        }
        _ => format!("{}e{exponent}", trimmed(digits)),
    }
}

/// The number without zeros at the end of its decimals.
fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// Four decimals where the number is small, fewer where it is large; powers of ten where these would
/// show nothing of it, or too much.
pub(crate) fn metric(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match value.abs() {
        size if size > 0.0 && size < 0.00005 || size >= 1e15 => significant(value),
        size if size < 10.0 => format!("{value:.4}"),
        size if size < 1000.0 => format!("{value:.2}"),
        _ => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(value.abs().round() as usize))
        }
    }
}

/// Seconds with a unit: `4 ms`, `1.5 s`, `2 min 5 s`.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        _ if value < 0.0995 => format!("{:.0} ms", value * 1000.0),
        _ if value < 10.0 => format!("{value:.1} s"),
        _ if value < 120.0 => format!("{value:.0} s"),
        _ => format!("{:.0} min {:.0} s", (value / 60.0).floor(), value % 60.0),
    }
}

/// Bytes in the largest fitting unit.
pub(crate) fn bytes(value: u64) -> String {
    let value = value as f64;
    match value {
        _ if value < 1024.0 => format!("{value:.0} B"),
        _ if value < 1024.0 * 1024.0 => format!("{:.0} KiB", value / 1024.0),
        _ if value < 1024.0f64.powi(3) => format!("{:.0} MiB", value / 1024.0f64.powi(2)),
        _ => format!("{:.1} GiB", value / 1024.0f64.powi(3)),
    }
}

/// A share as per cent.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "0%".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    if part > 0 && share < 0.1 { "<0.1%".to_owned() } else { format!("{share:.1}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(metric(0.18274), "0.1827");
        assert_eq!(metric(-25_000.4), "-25,000");
        assert_eq!(metric(0.0), "0.0000");
        assert_eq!(metric(1e-6), "1e-6");
        assert_eq!(metric(1.2345e19), "1.234e19");
        assert_eq!(seconds(0.004), "4 ms");
        assert_eq!(bytes(3 << 20), "3 MiB");
        assert_eq!(percent(1, 8), "12.5%");
    }

    #[test]
    fn numbers_have_the_digits_that_they_need() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (30.5, "30.5"),
            (44.1, "44.1"),
            (2024.0, "2024"),
            (-1.5, "-1.5"),
            (1.0 / 3.0, "0.3333"),
            (0.012345, "0.01235"),
            (0.0001, "0.0001"),
            (1e-6, "1e-6"),
            (-2.5e-9, "-2.5e-9"),
            (123_456.789, "123457"),
            (9_999_999.0, "1e7"),
            (1e7, "1e7"),
            (u64::MAX as f64, "1.845e19"),
            (1e300, "1e300"),
            (f64::MAX, "1.798e308"),
            (f64::MIN_POSITIVE, "2.225e-308"),
            (0.99999, "1"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(significant(value), text, "{value}");
        }
    }
}
