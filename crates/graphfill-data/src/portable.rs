//! The exponential and the logarithm in additions, products and divisions alone.
//!
//! The standard library takes its own from the system, whose last digit differs from one platform
//! to the next. What is drawn by a seed must not, so random choices go through these.

/// ln 2, split so that `exponent × LN_2_HIGH` is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The largest power of two that still has its plain form in double precision.
const MAX_EXPONENT: f64 = 1020.0;

/// eˣ = 2ᵏ eʳ with |r| ≤ ½ ln 2; zero and infinity beyond what double precision holds.
pub(crate) fn exp(x: f64) -> f64 {
    let power = (x / std::f64::consts::LN_2).round();
    if power > MAX_EXPONENT {
        return f64::INFINITY;
    }
    if power < -MAX_EXPONENT {
        return 0.0;
    }
    let rest = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    let series = (1..=14).rev().fold(1.0, |sum, term| 1.0 + sum * rest / f64::from(term));
    series * f64::from_bits(((power as i64 + 1023) as u64) << 52)
}

/// ln x = k ln 2 + 2 artanh((m − 1) / (m + 1)) with x = 2ᵏ m and m near 1.
///
/// Stated for normal numbers above zero, which is all that random draws give.
pub(crate) fn ln(x: f64) -> f64 {
    debug_assert!(x >= f64::MIN_POSITIVE && x.is_finite(), "ln({x})");
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..12).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    let exponent = exponent as f64;
    exponent * LN_2_HIGH + (2.0 * ratio * series + exponent * LN_2_LOW)
}

/// ln(1 + x) for −1 < x ≤ 0, exact also where 1 + x rounds to 1.
pub(crate) fn ln_one_plus(x: f64) -> f64 {
    if x.abs() < 1e-5 { x * (1.0 - x * (0.5 - x / 3.0)) } else { ln(1.0 + x) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 4e-15 * expected.abs().max(1e-3)
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(x in -600.0f64..600.0) {
            prop_assert!(close(exp(x), x.exp()), "exp({x}) = {}", exp(x));
            let positive = x.exp();
            prop_assert!(close(ln(positive), positive.ln()), "ln({positive})");
        }

        #[test]
        fn small_rates_keep_their_digits(x in 0.0f64..0.999, tenths in 0i32..15) {
            let x = -x * 10f64.powi(-tenths);
            let (found, expected) = (ln_one_plus(x), x.ln_1p());
            prop_assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found} {expected}");
        }
    }

    #[test]
    fn ends_where_double_precision_does() {
        assert_eq!(exp(1e6), f64::INFINITY);
        assert_eq!(exp(-1e6), 0.0);
        assert_eq!((exp(0.0), ln(1.0)), (1.0, 0.0));
    }
}
