//! Numbers as people read them.

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

/// Four decimals where the number is small, fewer where it is large.
pub(crate) fn metric(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match value.abs() {
        size if size < 10.0 => format!("{value:.4}"),
        size if size < 1000.0 => format!("{value:.2}"),
        _ => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(value.abs().round() as usize))
        }
    }
}

/// Seconds as a person says them.
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
        assert_eq!(seconds(0.004), "4 ms");
        assert_eq!(bytes(3 << 20), "3 MiB");
        assert_eq!(percent(1, 8), "12.5%");
    }
}
