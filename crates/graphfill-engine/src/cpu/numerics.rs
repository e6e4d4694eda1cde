//! Exponentials and logarithms that compilers turn into vectors: no branches, no calls.

use std::f32::consts::{FRAC_PI_2, LN_2, LOG2_E};

/// eˣ to about one unit in the last place; 0 below −87.3, and never infinite: e^88.3 above that.
///
/// x = k·ln 2 + r with |r| ≤ ½ ln 2, so eˣ = 2ᵏ · eʳ. Adding 1.5·2²³ rounds to a whole number that
/// then stands in the low bits.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts: k times the first is exact.
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-87.336, 88.3);
    let shifted = clamped * LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (clamped - k * HIGH) - k * LOW;
    let tail = 1.0 / 720.0 + r * (1.0 / 5040.0);
    let tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * tail);
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * tail)));
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < -87.336 { 0.0 } else { series * power }
}

/// ln x for positive, normal x.
///
/// x = 2ᵏ·m with m in [√½, √2), and ln m = 2 artanh s, s = (m − 1)/(m + 1), |s| < 0.172.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    const ROOT_HALF: u32 = 0x3f35_04f3;
    let shifted = x.to_bits().wrapping_sub(ROOT_HALF);
    let k = (shifted as i32 >> 23) as f32;
    let m = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(ROOT_HALF));
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let tail = 1.0 / 5.0 + square * (1.0 / 7.0 + square * (1.0 / 9.0));
    let series = 2.0 * s * (1.0 + square * (1.0 / 3.0 + square * tail));
    series + k * LN_2
}

/// 1 / (1 + e⁻ˣ)
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// tanh x; the series near 0, where the quotient would lose digits.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let square = x * x;
    let tail = 2.0 / 15.0 + square * (-17.0 / 315.0 + square * (62.0 / 2835.0));
    let near = x + x * square * (-1.0 / 3.0 + square * tail);
    let far = 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    if x.abs() < 0.25 { near } else { far }
}

/// sin 2πt and cos 2πt for 0 ≤ t < 1.
///
/// The nearest quarter turn, and the series of the rest, which is at most an eighth.
#[inline(always)]
pub(crate) fn sine_and_cosine_of_turns(turns: f32) -> (f32, f32) {
    let quarters = turns * 4.0;
    let nearest = (quarters + 0.5).floor();
    let angle = (quarters - nearest) * FRAC_PI_2;
    let square = angle * angle;
    let tail = 1.0 / 120.0 + square * (-1.0 / 5040.0 + square * (1.0 / 362_880.0));
    let sine = angle * (1.0 + square * (-1.0 / 6.0 + square * tail));
    let tail = -1.0 / 720.0 + square * (1.0 / 40_320.0);
    let cosine = 1.0 + square * (-0.5 + square * (1.0 / 24.0 + square * tail));
    // Quarter turns take (sine, cosine) to (cosine, −sine), (−sine, −cosine), (−cosine, sine).
    let odd = nearest == 1.0 || nearest == 3.0;
    let (own, other) = if odd { (cosine, sine) } else { (sine, cosine) };
    let own = if nearest == 2.0 || nearest == 3.0 { -own } else { own };
    let other = if nearest == 1.0 || nearest == 2.0 { -other } else { other };
    (own, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest relative error between two numbers, at steps of equal size.
    fn worst(function: fn(f32) -> f32, exact: fn(f64) -> f64, from: f32, to: f32) -> f64 {
        (0..=200_000)
            .map(|at| from + (to - from) * (at as f32 / 200_000.0))
            .filter(|&x| exact(f64::from(x)) != 0.0)
            .map(|x| (f64::from(function(x)) / exact(f64::from(x)) - 1.0).abs())
            .fold(0.0, |worst, error| if error <= worst { worst } else { error })
    }

    #[test]
    fn are_exact_to_a_few_units_in_the_last_place() {
        assert!(worst(exp, f64::exp, -87.0, 88.0) < 2e-7);
        for decade in -30..30 {
            let from = 10f32.powi(decade);
            assert!(worst(ln, f64::ln, from, from * 9.9) < 3e-7, "{decade}");
        }
        // Where softplus uses it.
        assert!(worst(ln, f64::ln, 1.0, 2.0) < 3e-7);
        assert!(worst(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), -80.0, 80.0) < 3e-7);
        assert!(worst(tanh, f64::tanh, -20.0, 20.0) < 1e-6);
    }

    #[test]
    fn turns_go_around_the_circle() {
        for at in 0..100_000 {
            let turns = at as f32 / 100_000.0;
            let (sine, cosine) = sine_and_cosine_of_turns(turns);
            let (exact_sine, exact_cosine) = (std::f64::consts::TAU * f64::from(turns)).sin_cos();
            assert!((f64::from(sine) - exact_sine).abs() < 3e-7, "{turns}");
            assert!((f64::from(cosine) - exact_cosine).abs() < 3e-7, "{turns}");
        }
    }

    #[test]
    fn stay_finite_at_the_ends() {
        assert_eq!(exp(-200.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert!(exp(1e9).is_finite());
        assert!(exp(f32::NAN).is_nan());
        assert!(sigmoid(-200.0) < 1e-38 && sigmoid(200.0) == 1.0);
        assert_eq!((tanh(-90.0), tanh(90.0)), (-1.0, 1.0));
        assert_eq!(ln(1.0), 0.0);
    }
}
