//! Metrics of an evaluation: their names for readers, and which of two values is better.

/// What a metric's values mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Direction {
    /// Larger values are better.
    Higher,
    /// Smaller values are better.
    Lower,
    /// The best value is the nominal coverage, where the name says it; no value is marked as best.
    Nominal(Option<f64>),
}

/// The direction of a metric, by its name: "rmse", "interval_score@90", "coverage@90".
pub(super) fn direction(name: &str) -> Direction {
    const LOWER: [&str; 11] = [
        "rmse",
        "nrmse",
        "mae",
        "mse",
        "interval_score",
        "crps",
        "width",
        "set_size",
        "log_loss",
        "brier",
        "calibration_error",
    ];
    let (base, depth) = name.split_once('@').map_or((name, None), |(base, at)| (base, Some(at)));
    if base.ends_with("coverage") {
        let percent = depth.and_then(|depth| depth.parse::<f64>().ok());
        return Direction::Nominal(percent.filter(|percent| (0.0..=100.0).contains(percent)));
    }
    let is_lower = |lower: &str| {
        base == lower
            || base.strip_prefix(lower).is_some_and(|rest| rest.starts_with('_'))
            || base.strip_suffix(lower).is_some_and(|rest| rest.ends_with('_'))
    };
    if LOWER.iter().any(|lower| is_lower(lower)) { Direction::Lower } else { Direction::Higher }
}

/// The positions of the best values; none for coverage, or where fewer than two values are known.
pub(super) fn best(name: &str, values: &[f64]) -> Vec<usize> {
    let known = values.iter().copied().filter(|value| value.is_finite());
    if known.clone().count() < 2 {
        return Vec::new();
    }
    let best = match direction(name) {
        Direction::Higher => known.fold(f64::NEG_INFINITY, f64::max),
        Direction::Lower => known.fold(f64::INFINITY, f64::min),
        Direction::Nominal(_) => return Vec::new(),
    };
    (0..values.len()).filter(|position| values[*position] == best).collect()
}

/// The name of a metric for readers: "RMSE", "nDCG@10", "balanced accuracy", "interval score@90".
pub(super) fn label(name: &str) -> String {
    let (base, depth) = name.split_once('@').map_or((name, None), |(base, at)| (base, Some(at)));
    let base = match base {
        "rmse" | "mae" | "crps" | "mse" => base.to_uppercase(),
        "nrmse" => "NRMSE".to_owned(),
        "r2" => "R²".to_owned(),
        "r2_by_column" => "R² by column".to_owned(),
        "ndcg" => "nDCG".to_owned(),
        other => other.replace('_', " "),
    };
    depth.map_or(base.clone(), |depth| format!("{base}@{depth}"))
}

/// A word on the direction, for the header of a table.
pub(super) fn arrow(name: &str) -> &'static str {
    match direction(name) {
        Direction::Higher => "↑",
        Direction::Lower => "↓",
        Direction::Nominal(_) => "→",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_by_name() {
        for name in [
            "rmse",
            "nrmse",
            "mae",
            "interval_score@90",
            "crps",
            "set_size@90",
            "width@80",
            "mean_width@90",
            "crps_mean",
        ] {
            assert_eq!(direction(name), Direction::Lower, "{name}");
        }
        for name in ["recall@10", "ndcg@10", "accuracy", "balanced_accuracy", "r2"] {
            assert_eq!(direction(name), Direction::Higher, "{name}");
        }
        assert_eq!(direction("coverage@90"), Direction::Nominal(Some(90.0)));
        assert_eq!(direction("coverage"), Direction::Nominal(None));
    }

    #[test]
    fn the_best_values() {
        assert_eq!(best("rmse", &[2.0, 1.0, f64::NAN, 1.0]), [1, 3]);
        assert_eq!(best("accuracy", &[0.2, 0.9]), [1]);
        assert!(best("coverage@90", &[0.9, 0.8]).is_empty());
        assert!(best("rmse", &[2.0, f64::NAN]).is_empty());
    }
}
