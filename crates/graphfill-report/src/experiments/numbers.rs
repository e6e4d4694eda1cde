//! Metrics as text: what they are called, which way is better, how they are compared.

use super::results::Summary;

/// A metric of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// Its name in outcomes.
    pub(super) name: String,
    /// What the column is called.
    pub(super) title: String,
}

impl Metric {
    pub(super) fn new(name: impl Into<String>, title: impl Into<String>) -> Self {
        Metric { name: name.into(), title: title.into() }
    }

    /// Whether `a` is better than `b`.
    pub(super) fn is_better(&self, a: f64, b: f64) -> bool {
        if self.name.contains("rmse") { a < b } else { a > b }
    }

    /// Ours against the paper's: relative, but for R², which may be near zero.
    pub(super) fn difference(&self, ours: f64, paper: f64) -> String {
        if self.name == "r2" {
            return format!("{:+.4}", ours - paper);
        }
        let percent = (ours - paper) / paper.abs() * 100.0;
        // No minus before a zero.
        let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
        format!("{percent:+.1}%")
    }

    /// Whether the two differ by more than a twentieth; of R², which may be near zero, by more than
    /// 0.01, too.
    pub(super) fn differs(&self, ours: f64, paper: f64) -> bool {
        let least = if self.name == "r2" { 0.01 } else { 0.0 };
        (ours - paper).abs() > f64::max(0.05 * paper.abs(), least)
    }
}

/// Four digits, as the paper has them.
pub(super) fn figure(value: f64) -> String {
    format!("{value:.4}")
}

/// The mean, and the standard deviation where there are several seeds.
pub(super) fn with_deviation(summary: Summary) -> String {
    match summary.deviation {
        Some(deviation) => format!("{} ± {}", figure(summary.mean), figure(deviation)),
        None => figure(summary.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_relative_but_for_r2() {
        let recall = Metric::new("recall@10", "R@10");
        assert_eq!(recall.difference(0.1890, 0.1718), "+10.0%");
        assert_eq!(recall.difference(0.17180001, 0.1718), "+0.0%");
        assert_eq!(Metric::new("r2", "R²").difference(0.0300, -0.0010), "+0.0310");
        assert!(recall.differs(0.11, 0.10) && !recall.differs(0.104, 0.10));
        let rmse = Metric::new("rmse", "RMSE");
        assert!(rmse.is_better(0.1, 0.2) && recall.is_better(0.2, 0.1));
    }
}
