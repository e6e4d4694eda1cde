//! Outcomes by data set and method, summarised over seeds.

use graphfill_eval::experiments::{Failure, Outcome, Ran};
use graphfill_eval::{mean, standard_deviation};

/// All outcomes of one method on one data set.
pub(super) struct Row<'a> {
    pub(super) dataset: &'a str,
    pub(super) method: &'a str,
    pub(super) outcomes: Vec<&'a Outcome>,
    pub(super) failure: Option<&'a Failure>,
    /// Whether its training was limited by the caller.
    pub(super) limited: bool,
}

/// Rows in the order of the cells.
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
    pub(super) fn of(datasets: &'a [String], ran: &'a [Ran]) -> Self {
        let mut rows: Vec<Row<'a>> = Vec::new();
        for (cell, outcome) in ran {
            let (dataset, method) = (datasets[cell.subject].as_str(), cell.method.info().name);
            let known = rows.iter().position(|row| row.dataset == dataset && row.method == method);
            let at = known.unwrap_or_else(|| {
                let (outcomes, failure) = (Vec::new(), None);
                rows.push(Row { dataset, method, outcomes, failure, limited: false });
                rows.len() - 1
            });
            let is_early = outcome.as_ref().is_ok_and(|outcome| outcome.ended_early);
            rows[at].limited |= cell.most_updates.is_some() || is_early;
            match outcome {
                Ok(outcome) => rows[at].outcomes.push(outcome),
                Err(failure) => rows[at].failure = Some(failure),
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
    /// A metric over the seeds.
    pub(super) fn summary(&self, metric: &str) -> Option<Summary> {
        let values = self.outcomes.iter().filter_map(|outcome| outcome.metrics.get(metric));
        Summary::of(&values.copied().collect::<Vec<f64>>())
    }

    /// How many seeds it has.
    pub(super) fn seeds(&self) -> usize {
        self.outcomes.len()
    }
}
