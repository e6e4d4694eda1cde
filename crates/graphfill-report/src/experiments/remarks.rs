//! A sentence on every difference from the paper above 5%: what differs, and why as far as we know.

use graphfill_eval::experiments::Experiment;
use graphfill_eval::experiments::published::published;

use super::numbers::Metric;
use super::results::Row;

/// What is known about why a method's figures differ from the paper's.
fn reason(experiment: Experiment, method: &str) -> Option<&'static str> {
    Some(match (experiment, method) {
        (Experiment::Table4, "neighbour-mean") => {
            "Nodes without observed neighbours have zeros for features; public code for this protocol guesses their class at random, which probably makes the difference; ours asks the graph as for any other node."
        }
        (Experiment::Table4, "vae") => {
            "Its rankings hardly tell nodes apart, and both accuracies are near the share of the largest class."
        }
        (Experiment::Table4, _) => {
            "Our classifiers get features less the mean of each column, in units of their spread; fed as they are, small numbers such as estimates of tf-idf teach a network little in 1,000 epochs."
        }
        (_, "neighbour-mean") => {
            "A node without observed neighbours gets the mean of the column here, and zeros in the paper."
        }
        (_, "vae") => {
            "With the published weight of its divergence every decoded row is nearly the same ranking of the columns, and what it scores depends on when training is stopped."
        }
        (_, "gnn") => {
            "Learning rate and weight decay of the published runs are not told; ours are those that come nearest on Cora."
        }
        (Experiment::Table3, "graph-rna") => {
            "How the recurrent network was made to predict numbers is not told; ours predicts them less the mean of each column, in units of their spread, and so does not fall behind the column mean."
        }
        (_, "graph-rna") => {
            "Its authors classify nodes whose attributes are known; what was changed for this task is not told. Ours hides a node's own attributes from its walks, which helps."
        }
        (_, "arwmf") => {
            "How attributes were scored is not told; ours adds the logarithm of an attribute's degree to the product of the vectors."
        }
        _ => return None,
    })
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
    let known = reason(experiment, row.method);
    let reason = match (row.limited, known) {
        (true, None) => "Its training was limited here, see below.",
        (_, Some(known)) => known,
        (false, None) => "The paper does not say enough about this row to tell why.",
    };
    Some(format!("- `{}` is {way} the paper ({}). {reason}", row.method, told.join(", ")))
}
