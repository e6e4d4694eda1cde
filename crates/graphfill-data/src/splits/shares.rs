//! In which shares a whole is divided: `train : validation : test`, such as 4:1:5.
//!
//! Only the ratio counts: 4:1:5 and 0.4:0.1:0.5 are the same.

use std::fmt;
use std::str::FromStr;

use crate::error::{DataError, Result};

/// How far below a whole number a product of shares may fall and still be meant as that number.
const ROUNDING_SLACK: f64 = 1e-9;

/// Checked shares: none negative, and something to train on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    ratio: [f64; 3],
}

impl Default for Shares {
    /// 4:1:5, as in the literature on feature estimation.
    fn default() -> Self {
        Shares { ratio: [4.0, 1.0, 5.0] }
    }
}

impl Shares {
    /// Shares in the ratio of three numbers.
    pub fn new(train: f64, validation: f64, test: f64) -> Result<Shares> {
        let ratio = [train, validation, test];
        if ratio.iter().any(|part| !part.is_finite() || *part < 0.0) {
            return Err(DataError::request(
                format!(
                    "the shares {train}:{validation}:{test} (train:validation:test) are not all \
                 numbers of at least 0"
                ),
                "",
            ));
        }
        if train == 0.0 || !(train + validation + test).is_finite() {
            return Err(DataError::request(
                format!(
                    "the shares {train}:{validation}:{test} (train:validation:test) leave nothing to \
                 train on: the first must be above 0"
                ),
                "",
            ));
        }
        Ok(Shares { ratio })
    }

    /// The part to train on, of 1.
    pub fn train(&self) -> f64 {
        self.fractions()[0]
    }

    /// The part to validate on, of 1.
    pub fn validation(&self) -> f64 {
        self.fractions()[1]
    }

    /// The part to test on, of 1.
    pub fn test(&self) -> f64 {
        self.fractions()[2]
    }

    fn fractions(&self) -> [f64; 3] {
        let whole: f64 = self.ratio.iter().sum();
        self.ratio.map(|part| part / whole)
    }

    /// What each part surely gets of `total` things, and the fraction of one more that it is due.
    pub(super) fn due(&self, total: usize) -> [(usize, f64); 3] {
        self.fractions().map(|fraction| {
            let exact = fraction * total as f64;
            let sure = (exact + ROUNDING_SLACK).floor();
            (sure as usize, (exact - sure).max(0.0))
        })
    }

    /// How many of `total` things each part gets: the shares rounded up or down so that they add
    /// up, and never nothing to train on where there is anything.
    pub fn counts(&self, total: usize) -> [usize; 3] {
        let due = self.due(total);
        let mut counts = due.map(|(sure, _)| sure);
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| due[b].1.total_cmp(&due[a].1));
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

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [train, validation, test] = self.ratio;
        write!(f, "{train}:{validation}:{test}")
    }
}

impl FromStr for Shares {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Shares> {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let [train, validation, test] = parts[..] else {
            return Err(DataError::request(
                format!(
                    "'{text}' has {} parts; write three, train:validation:test, such as 4:1:5",
                    parts.len()
                ),
                "",
            ));
        };
        let number = |part: &str| {
            part.parse::<f64>().map_err(|_| {
                DataError::request(format!(
                    "'{part}' in '{text}' is no number; write train:validation:test, such as 4:1:5"
                ), "")
            })
        };
        Shares::new(number(train)?, number(validation)?, number(test)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn is_read_as_it_is_written() {
        let shares: Shares = "4:1:5".parse().expect("shares");
        assert_eq!(shares, Shares::default());
        assert_eq!(shares.to_string(), "4:1:5");
        let shares: Shares = " 0.8 : 0.1:0.1".parse().expect("shares");
        assert_eq!(shares.counts(2708), [2166, 271, 271]);
    }

    #[test]
    fn slips_are_named() {
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
            let error = text.parse::<Shares>().expect_err(text).to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn counts_add_up_and_keep_the_shares(
            total in 0usize..5000,
            train in 1u32..20, validation in 0u32..20, test in 0u32..20,
        ) {
            let shares = Shares::new(train.into(), validation.into(), test.into()).expect("shares");
            let counts = shares.counts(total);
            prop_assert_eq!(counts.iter().sum::<usize>(), total);
            prop_assert!(counts[0] > 0 || total == 0);
            for (count, fraction) in counts.into_iter().zip(shares.fractions()) {
                prop_assert!((count as f64 - fraction * total as f64).abs() < 1.0);
            }
        }
    }
}
