//! Sizes and times as people write them.

use std::time::Duration;

/// Bytes, with or without a unit: 4GiB, 500MB, 1000000.
pub(super) fn memory_size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 7] = [
        ("", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ];
    match with_unit(text, &UNITS) {
        Some(bytes) if bytes < 1e18 => Ok(bytes as u64),
        _ => Err("must be a size such as 4GiB, 500MB or a number of bytes".to_owned()),
    }
}

/// A time, in seconds or with a unit: 90, 90s, 10m, 1.5h.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 5] =
        [("", 1.0), ("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];
    match with_unit(text, &UNITS) {
        Some(seconds) if seconds < 1e9 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("must be a time such as 90s, 10m, 1.5h or a number of seconds".to_owned()),
    }
}

fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, size) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?;
    number.trim().parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number * size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood() {
        assert_eq!(memory_size("4GiB"), Ok(4 << 30));
        assert_eq!(memory_size("1.5 MB"), Ok(1_500_000));
        assert!(memory_size("4 elephants").is_err() && memory_size("-1").is_err());
        assert_eq!(time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5h"), Ok(Duration::from_secs(5400)));
        assert!(time("soon").is_err() && time("NaN").is_err());
    }
}
