//! The straight line through points:   y ≈ slope · x + intercept, with the least sum of squares
//!
//! R² = 1 − Σ (y − ŷ)² / Σ (y − ȳ)²   is the share of the variance that the line explains.

/// A straight line and how well it fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// What y gains where x gains one.
    pub slope: f64,
    /// y where x is zero.
    pub intercept: f64,
    /// The share of the variance of y that the line explains: 1 for points on a line.
    pub r_squared: f64,
}

impl Line {
    /// The line of least squares through `points` (x, y).
    ///
    /// None where fewer than two points differ in x, or where any number is not finite. Points of
    /// one height are explained in full: R² is 1.
    pub fn least_squares(points: &[(f64, f64)]) -> Option<Line> {
        let count = points.len() as f64;
        let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
        let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
        // Sums about the means: they do not cancel where x or y is far from zero.
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for &(x, y) in points {
            xx += (x - mean_x) * (x - mean_x);
            xy += (x - mean_x) * (y - mean_y);
            yy += (y - mean_y) * (y - mean_y);
        }
        // A variance below the rounding of the mean is no variance; this also catches NaN.
        let differs = xx > count * (mean_x * f64::EPSILON).powi(2);
        if points.len() < 2 || !differs {
            return None;
        }
        let slope = xy / xx;
        let intercept = mean_y - slope * mean_x;
        let unexplained: f64 =
            points.iter().map(|&(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
        let varies = yy > count * (mean_y * f64::EPSILON).powi(2);
        let r_squared = if varies { (1.0 - unexplained / yy).max(0.0) } else { 1.0 };
        let line = Line { slope, intercept, r_squared };
        let finite = [slope, intercept, unexplained, xx, yy].iter().all(|sum| sum.is_finite());
        finite.then_some(line)
    }

    /// The line's y at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.slope * x + self.intercept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_give_the_line() {
        let points: Vec<_> = (0..10).map(|x| (f64::from(x), 3.0 * f64::from(x) - 2.0)).collect();
        let line = Line::least_squares(&points).unwrap();
        assert!((line.slope - 3.0).abs() < 1e-12);
        assert!((line.intercept + 2.0).abs() < 1e-12);
        assert!((line.r_squared - 1.0).abs() < 1e-12);
        assert!((line.at(4.0) - 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_worked_example() {
        // x̄ = 3, ȳ = 4; Σxy = 6, Σxx = 10, Σyy = 6: slope 0.6, intercept 2.2, R² = 0.6.
        let points = [(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)];
        let line = Line::least_squares(&points).unwrap();
        assert!((line.slope - 0.6).abs() < 1e-12);
        assert!((line.intercept - 2.2).abs() < 1e-12);
        assert!((line.r_squared - 0.6).abs() < 1e-12);
    }

    #[test]
    fn far_from_zero_nothing_cancels() {
        let points: Vec<_> =
            (0..5).map(|x| (1e8 + f64::from(x), 1e6 + 2.0 * f64::from(x))).collect();
        let line = Line::least_squares(&points).unwrap();
        assert!((line.slope - 2.0).abs() < 1e-9);
        assert!(line.r_squared > 0.999_999);
    }

    #[test]
    fn what_has_no_line() {
        assert_eq!(Line::least_squares(&[]), None);
        assert_eq!(Line::least_squares(&[(1.0, 2.0)]), None);
        assert_eq!(Line::least_squares(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(Line::least_squares(&[(0.1, 2.0), (0.1, 3.0), (0.1, 4.0)]), None);
        assert_eq!(Line::least_squares(&[(1.0, f64::NAN), (2.0, 3.0)]), None);
        assert_eq!(Line::least_squares(&[(1.0, 2.0), (f64::INFINITY, 3.0)]), None);
        assert_eq!(Line::least_squares(&[(-1e308, 2.0), (1e308, 3.0)]), None);
    }

    #[test]
    fn points_of_one_height_are_explained() {
        let line = Line::least_squares(&[(1.0, 0.1), (2.0, 0.1), (4.0, 0.1)]).unwrap();
        assert!(line.slope.abs() < 1e-12);
        assert_eq!(line.r_squared, 1.0);
    }
}
