//! The ratio of a split, `train:validation:test`, such as 4:1:5.
//!
//! Only the ratio counts: 4:1:5 and 0.4:0.1:0.5 are the same split.

use std::fmt;
use std::str::FromStr;

use crate::error::{DataError, Result};

/// What to do about a ratio that is none.
const ADVICE: &str = "write three numbers, train:validation:test, such as 4:1:5";

/// How far below a whole number a product may fall by rounding errors.
const ROUNDING_SLACK: f64 = 1e-9;

/// The ratio of the three parts of a split: no number is negative, and the first is above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitRatio {
    ratio: [f64; 3],
}

impl Default for SplitRatio {
    /// 4:1:5, as in the literature on feature estimation.
    fn default() -> Self {
        SplitRatio { ratio: [4.0, 1.0, 5.0] }
    }
}

impl SplitRatio {
    /// The ratio of three numbers.
    pub fn new(train: f64, validation: f64, test: f64) -> Result<SplitRatio> {
        let ratio = [train, validation, test];
        let invalid = |what: &str| {
            Err(DataError::request(
                format!("the ratio {train}:{validation}:{test} (train:validation:test) {what}"),
                ADVICE,
            ))
        };
        if ratio.iter().any(|part| !part.is_finite() || *part < 0.0) {
            return invalid("has a part that is not a number of at least 0");
        }
        if train == 0.0 || !(train + validation + test).is_finite() {
            return invalid("leaves nothing to train on");
        }
        Ok(SplitRatio { ratio })
    }

    /// The fraction to train on.
    pub fn train(&self) -> f64 {
        self.fractions()[0]
    }

    /// The fraction to validate on.
    pub fn validation(&self) -> f64 {
        self.fractions()[1]
    }

    /// The fraction to test on.
    pub fn test(&self) -> f64 {
        self.fractions()[2]
    }

    fn fractions(&self) -> [f64; 3] {
        let whole: f64 = self.ratio.iter().sum();
        self.ratio.map(|part| part / whole)
    }

    /// The fractions of `total` for each part: rounded down, and the remainder.
    pub(super) fn floors(&self, total: usize) -> [(usize, f64); 3] {
        self.fractions().map(|fraction| {
            let exact = fraction * total as f64;
            let floor = (exact + ROUNDING_SLACK).floor();
            (floor as usize, (exact - floor).max(0.0))
        })
    }

    /// How many of `total` nodes each part gets: fractions rounded up or down so that they add up
    /// to `total`, and at least one node to train on if there is any.
    pub fn counts(&self, total: usize) -> [usize; 3] {
        let floors = self.floors(total);
        let mut counts = floors.map(|(floor, _)| floor);
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| floors[b].1.total_cmp(&floors[a].1));
        if counts[0] == 0 {
            order.sort_by_key(|&part| part != 0);
        }
        let left = total - counts.iter().sum::<usize>();
        for &part in order.iter().take(left) {
            counts[part] += 1;
        }
        counts
    }
}

impl fmt::Display for SplitRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [train, validation, test] = self.ratio;
        write!(f, "{train}:{validation}:{test}")
    }
}

impl FromStr for SplitRatio {
    type Err = DataError;

    fn from_str(text: &str) -> Result<SplitRatio> {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let [train, validation, test] = parts[..] else {
            let found = format!("'{text}' has {} parts, expected three", parts.len());
            return Err(DataError::request(found, ADVICE));
        };
        let number = |part: &str| {
            let invalid =
                |_| DataError::request(format!("'{part}' in '{text}' is no number"), ADVICE);
            part.parse::<f64>().map_err(invalid)
        };
        SplitRatio::new(number(train)?, number(validation)?, number(test)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn is_read_as_it_is_written() {
        let ratio: SplitRatio = "4:1:5".parse().expect("a ratio");
        assert_eq!(ratio, SplitRatio::default());
        assert_eq!(ratio.to_string(), "4:1:5");
        let ratio: SplitRatio = " 0.8 : 0.1:0.1".parse().expect("a ratio");
        assert_eq!(ratio.counts(2708), [2166, 271, 271]);
    }

    #[test]
    fn invalid_ratios_are_refused() {
        for (text, told) in [
            ("4:1", "2 parts"),
            ("4:1:5:", "4 parts"),
            ("4:x:5", "'x'"),
            ("", "1 parts"),
            ("4:-1:5", "at least 0"),
            ("4:nan:5", "at least 0"),
            ("inf:1:5", "at least 0"),
            ("0:1:5", "train on"),
        ] {
            let error = text.parse::<SplitRatio>().expect_err(text).to_string();
            assert!(error.contains(told) && error.contains("such as 4:1:5"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn counts_add_up_and_keep_the_ratio(
            total in 0usize..5000,
            train in 1u32..20, validation in 0u32..20, test in 0u32..20,
        ) {
            let ratio = SplitRatio::new(train.into(), validation.into(), test.into());
            let ratio = ratio.expect("a ratio");
            let counts = ratio.counts(total);
            prop_assert_eq!(counts.iter().sum::<usize>(), total);
            prop_assert!(counts[0] > 0 || total == 0);
            for (count, fraction) in counts.into_iter().zip(ratio.fractions()) {
                prop_assert!((count as f64 - fraction * total as f64).abs() < 1.0);
            }
        }
    }
}
