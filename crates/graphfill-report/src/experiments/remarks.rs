//! A sentence on every difference from the paper above 5%: which way, how much, in standard errors.

use graphfill_eval::experiments::published::published;

use super::numbers::Metric;
use super::results::{Row, Summary};

/// The differences of a row under the published protocol, in a sentence; none where all are small.
pub(super) fn sentence(row: &Row<'_>, metrics: &[Metric]) -> Option<String> {
    let differences: Vec<(String, bool)> = metrics
        .iter()
        .filter_map(|metric| {
            let paper = published(row.dataset, row.label, &metric.name)?;
            let ours = row.summary(&metric.name)?;
            let errors = standard_errors(ours, row.seeds(), paper)
                .map_or_else(String::new, |errors| format!(" = {errors:.0} standard errors"));
            let difference = metric.difference(ours.mean, paper);
            let text = format!("{} {difference}{errors}", metric.title);
            let is_better = metric.is_better(ours.mean, paper);
            metric.differs(ours.mean, paper).then_some((text, is_better))
        })
        .collect();
    if differences.is_empty() {
        return None;
    }
    let way = match differences.iter().filter(|(_, better)| *better).count() {
        0 => "worse than",
        count if count == differences.len() => "better than",
        _ => "different from",
    };
    let texts: Vec<&str> = differences.iter().map(|(text, _)| text.as_str()).collect();
    let limited = if row.limited { " Its training was limited, see below." } else { "" };
    Some(format!("- `{}` is {way} the paper ({}).{limited}", row.label, texts.join(", ")))
}

/// The distance of a mean over seeds from the paper's figure, in standard errors of that mean.
fn standard_errors(ours: Summary, seeds: usize, paper: f64) -> Option<f64> {
    let error = ours.deviation? / (seeds as f64).sqrt();
    (error > 0.0).then(|| (ours.mean - paper).abs() / error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_errors_shrink_with_the_number_of_seeds() {
        let ours = Summary { mean: 0.20, deviation: Some(0.02) };
        let errors = |seeds: usize| standard_errors(ours, seeds, 0.16).expect("a deviation");
        assert!((errors(1) - 2.0).abs() < 1e-9 && (errors(4) - 4.0).abs() < 1e-9);
        assert_eq!(standard_errors(Summary { deviation: None, ..ours }, 1, 0.16), None);
        assert_eq!(standard_errors(Summary { deviation: Some(0.0), ..ours }, 3, 0.16), None);
    }
}
