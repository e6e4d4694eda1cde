//! Outcomes by data set and method, summarised over seeds.

use graphfill_eval::experiments::{Failure, JobResult, Outcome};
use graphfill_eval::protocols::Protocol;
use graphfill_eval::{mean, standard_deviation};

/// All outcomes of one competitor on one data set.
pub(super) struct Row<'a> {
    pub(super) dataset: &'a str,
    pub(super) label: &'a str,
    /// Under the published protocol.
    pub(super) outcomes: Vec<&'a Outcome>,
    /// Under the tuned protocol.
    pub(super) tuned: Vec<&'a Outcome>,
    pub(super) failure: Option<&'a Failure>,
    /// Whether its training was limited by the caller.
    pub(super) limited: bool,
}

/// Rows in the order of the jobs.
pub(super) struct Results<'a> {
    pub(super) rows: Vec<Row<'a>>,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) mean: f64,
    pub(super) deviation: Option<f64>,
}

impl Summary {
    /// None of no values.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let summary = Summary { mean: mean(values), deviation: standard_deviation(values) };
        (!values.is_empty()).then_some(summary)
    }
}

impl<'a> Results<'a> {
    pub(super) fn of(datasets: &'a [String], jobs: &'a [JobResult]) -> Self {
        let mut rows: Vec<Row<'a>> = Vec::new();
        for (job, outcome) in jobs {
            let (dataset, label) = (datasets[job.benchmark].as_str(), job.competitor.label);
            let known = rows.iter().position(|row| row.dataset == dataset && row.label == label);
            let at = known.unwrap_or_else(|| {
                let (outcomes, tuned) = (Vec::new(), Vec::new());
                rows.push(Row { dataset, label, outcomes, tuned, failure: None, limited: false });
                rows.len() - 1
            });
            let row = &mut rows[at];
            let is_early = outcome.as_ref().is_ok_and(|outcome| outcome.ended_early);
            row.limited |= job.max_updates.is_some() || is_early;
            match outcome {
                Ok(outcome) => {
                    if job.protocol.includes(Protocol::Published) {
                        row.outcomes.push(outcome);
                    }
                    if job.protocol.includes(Protocol::Tuned) {
                        row.tuned.push(outcome);
                    }
                }
                Err(failure) => row.failure = Some(failure),
            }
        }
        Results { rows }
    }

    /// The data sets, each once, in their order.
    pub(super) fn datasets(&self) -> Vec<&'a str> {
        let mut datasets: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !datasets.contains(&row.dataset) {
                datasets.push(row.dataset);
            }
        }
        datasets
    }

    /// The rows of a data set.
    pub(super) fn of_dataset(&self, dataset: &str) -> impl Iterator<Item = &Row<'a>> {
        self.rows.iter().filter(move |row| row.dataset == dataset)
    }

    /// The metric of rankings that selects in a data set: recall at the least depth, else RMSE.
    pub(super) fn first_metric(&self, dataset: &str) -> Option<String> {
        let outcomes = self.of_dataset(dataset).flat_map(|row| &row.outcomes);
        let names: Vec<&String> = outcomes.flat_map(|outcome| outcome.metrics.keys()).collect();
        let depth = |name: &&&String| {
            name.strip_prefix("recall@").and_then(|depth| depth.parse::<u32>().ok())
        };
        let recall = names.iter().filter(|name| depth(name).is_some()).min_by_key(depth);
        let other = || names.iter().find(|name| name.as_str() == "rmse");
        recall.or_else(other).map(|name| (*name).clone())
    }
}

impl Row<'_> {
    /// A metric over the seeds, under the published protocol.
    pub(super) fn summary(&self, metric: &str) -> Option<Summary> {
        summary(&self.outcomes, metric)
    }

    /// A metric over the seeds, under the tuned protocol.
    pub(super) fn tuned_summary(&self, metric: &str) -> Option<Summary> {
        summary(&self.tuned, metric)
    }

    /// The number of its seeds under the published protocol.
    pub(super) fn seeds(&self) -> usize {
        self.outcomes.len()
    }

    /// The number of its seeds, of both protocols where they differ.
    pub(super) fn seeds_text(&self, with_tuned: bool) -> String {
        match (self.outcomes.len(), self.tuned.len()) {
            (published, tuned) if with_tuned && published != tuned => {
                format!("{published}; {tuned}")
            }
            (published, _) => published.to_string(),
        }
    }
}

fn summary(outcomes: &[&Outcome], metric: &str) -> Option<Summary> {
    let values = outcomes.iter().filter_map(|outcome| outcome.metrics.get(metric));
    Summary::of(&values.copied().collect::<Vec<f64>>())
}
