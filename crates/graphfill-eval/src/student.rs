//! Student's t distribution, for the comparison of methods.

/// P(|T| ≥ |t|) for T with `freedom` degrees of freedom:   I_x(ν/2, ½), x = ν / (ν + t²)
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on one side only; the other follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln())
        .exp()
        / a;
    const TINY: f64 = 1e-300;
    let mut c: f64 = 1.0;
    let mut d = 1.0 / (1.0 - (a + b) * x / (a + 1.0)).max(TINY);
    let mut fraction = d;
    for step in 1..300 {
        let m = f64::from(step);
        for coefficient in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 + coefficient * d;
            d = 1.0 / if d.abs() < TINY { TINY } else { d };
            c = 1.0 + coefficient / c;
            c = if c.abs() < TINY { TINY } else { c };
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// ln Γ(x) for x > 0: shifted upwards, then Stirling's series.
fn log_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut shift = 0.0;
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_printed_tables() {
        // Two-sided 5 % points of Student's t.
        for (freedom, t) in [(1.0, 12.7062), (2.0, 4.30265), (9.0, 2.26216), (30.0, 2.04227)] {
            assert!((two_sided(t, freedom) - 0.05).abs() < 1e-5, "{freedom}");
        }
        assert!((two_sided(1.95996, 1e7) - 0.05).abs() < 1e-4);
        assert_eq!(two_sided(0.0, 5.0), 1.0);
        assert!((two_sided(1.0, 1.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn log_gamma_of_known_values() {
        assert!((log_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
        assert!((log_gamma(5.0) - 24f64.ln()).abs() < 1e-12);
    }
}
