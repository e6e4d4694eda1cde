//! The standard normal distribution function and its inverse.

/// Φ(z), by the complementary error function (Abramowitz and Stegun 7.1.26, error below 2e-7).
pub(super) fn distribution(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let upper = 0.5 * terms.iter().fold(0.0, |sum, term| (sum + term) * t) * (-x * x).exp();
    if z < 0.0 { upper } else { 1.0 - upper }
}

/// Φ⁻¹(p), right to 5e-4 (Abramowitz and Stegun 26.2.23).
pub(super) fn quantile(p: f64) -> f64 {
    let tail = p.min(1.0 - p).max(1e-12);
    let t = (-2.0 * tail.ln()).sqrt();
    let size = t
        - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
            / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t);
    if p < 0.5 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.841_345), (-1.959_964, 0.025), (2.575_829, 0.995)] {
            assert!((distribution(z) - p).abs() < 1e-5, "Φ({z})");
            assert!((quantile(p) - z).abs() < 1e-3, "Φ⁻¹({p})");
        }
    }
}
