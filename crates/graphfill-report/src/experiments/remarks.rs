//! A sentence on every difference from the paper above 5%: what differs, and why as far as we know.

use graphfill_eval::experiments::Experiment;
use graphfill_eval::experiments::published::published;

use super::numbers::Metric;
use super::results::Row;

/// What is known about why a method's figures differ from the paper's.
fn reason(experiment: Experiment, method: &str, dataset: &str) -> Option<&'static str> {
    match (experiment, method, dataset) {
        (Experiment::Table4, "neighbour-mean", _) => Some(
            "Nodes without observed neighbours have nothing but zeros; how the paper's classifiers take them is not said.",
        ),
        _ => None,
    }
}

/// The differences of a row, in a sentence; none where all are small.
pub(super) fn sentence(
    experiment: Experiment,
    row: &Row<'_>,
    metrics: &[Metric],
) -> Option<String> {
    let differences: Vec<(String, bool)> = metrics
        .iter()
        .filter_map(|metric| {
            let paper = published(row.dataset, row.method, &metric.name)?;
            let ours = row.summary(&metric.name)?.mean;
            let told = format!("{} {}", metric.title, metric.difference(ours, paper));
            metric.differs(ours, paper).then_some((told, metric.is_better(ours, paper)))
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
    let told: Vec<&str> = differences.iter().map(|(told, _)| told.as_str()).collect();
    let unknown = match row.limited {
        true => "Its training was limited here, see the notes.",
        false => "The paper does not say enough about this row to tell why.",
    };
    let reason = reason(experiment, row.method, row.dataset).unwrap_or(unknown);
    Some(format!("- `{}` is {way} the paper ({}). {reason}", row.method, told.join(", ")))
}
