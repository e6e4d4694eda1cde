//! Lines of thousands of points, as few that look the same: the points are cut into equal runs, and
//! of each run the point stays that makes the largest triangle with the point kept before it and
//! the middle of the run behind it. Peaks and bends make large triangles; both ends stay.

/// A place in the plot, in pixels.
pub(crate) type Place = (f64, f64);

/// At most `most` (three at the least) of the points, in their order.
pub(crate) fn thinned(points: &[Place], most: usize) -> Vec<Place> {
    let most = most.max(3);
    if points.len() <= most {
        return points.to_vec();
    }
    // The ends are runs of their own; `most < len` gives every other run a point at least.
    let inner = points.len() - 2;
    let runs = most - 2;
    let start = |run: usize| 1 + run * inner / runs;
    let mut kept = vec![points[0]];
    for run in 0..runs {
        let last = kept[kept.len() - 1];
        let ahead = if run + 1 == runs {
            points[points.len() - 1]
        } else {
            middle(&points[start(run + 1)..start(run + 2)])
        };
        let mut best = (points[start(run)], f64::NEG_INFINITY);
        for &point in &points[start(run)..start(run + 1)] {
            let area = twice_the_area(last, point, ahead);
            if area > best.1 {
                best = (point, area);
            }
        }
        kept.push(best.0);
    }
    kept.push(points[points.len() - 1]);
    kept
}

fn middle(points: &[Place]) -> Place {
    let count = points.len() as f64;
    let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    (sum.0 / count, sum.1 / count)
}

fn twice_the_area(a: Place, b: Place, c: Place) -> f64 {
    ((b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1)).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_stay() {
        let points = [(0.0, 1.0), (1.0, 2.0), (2.0, 0.0)];
        assert_eq!(thinned(&points, 3), points);
        assert_eq!(thinned(&[], 300), []);
    }

    #[test]
    fn ends_peaks_and_order_stay() {
        let mut points: Vec<Place> =
            (0..5000).map(|i| (f64::from(i) * 0.06, (f64::from(i) * 0.003).sin())).collect();
        points[2345].1 = 40.0;
        let few = thinned(&points, 300);
        assert_eq!(few.len(), 300);
        assert_eq!((few[0], few[299]), (points[0], points[4999]));
        assert!(few.contains(&points[2345]));
        assert!(few.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_line_between_kept_points_is_near_those_left_out() {
        let points: Vec<Place> =
            (0..4000).map(|i| (f64::from(i) * 0.1, 100.0 * (f64::from(i) * 0.002).cos())).collect();
        let few = thinned(&points, 300);
        for point in &points {
            let right = few.partition_point(|kept| kept.0 < point.0).clamp(1, few.len() - 1);
            let (a, b) = (few[right - 1], few[right]);
            let height = a.1 + (b.1 - a.1) * (point.0 - a.0) / (b.0 - a.0);
            assert!((height - point.1).abs() < 0.5, "{point:?}: {height}");
        }
    }
}
