//! The results of an experiment, in `EXPERIMENT.json` beside its table: a run on some data sets, methods
//! or protocols replaces their rows and keeps the others.

use std::path::{Path, PathBuf};

use graphfill::data::{DataError, Place, atomic_file};
use graphfill::eval::experiments::{
    Competitor, Experiment, Failure, Job, JobResult, Outcome, Work,
};
use graphfill::eval::protocols::Protocol;
use serde::{Deserialize, Serialize};

use crate::output::SCHEMA_VERSION;

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResultsFile {
    schema_version: u32,
    /// One row per data set, method and protocol, in the order of the table.
    rows: Vec<Row>,
    /// Data sets that were asked for and were not there.
    missing: Vec<String>,
}

/// The results of a competitor on a data set under a protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    dataset: String,
    /// The label of the competitor.
    method: String,
    #[serde(default)]
    protocol: Protocol,
    /// The metric by which models are selected.
    measure: String,
    /// The command that gave these results, and the version of the program.
    command: String,
    version: String,
    #[serde(alias = "cells")]
    jobs: Vec<StoredJob>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredJob {
    seed: u64,
    /// The share of nodes whose labels were observed.
    labels: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_updates: Option<u64>,
    result: StoredResult,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredResult {
    Outcome(Outcome),
    OutOfMemory(String),
    Refused(String),
    Failed(String),
}

/// What a run found, and how.
pub(super) struct NewResults<'a> {
    /// The data sets, in the order of the benchmarks, with the metrics that select models.
    pub(super) datasets: &'a [String],
    pub(super) measures: &'a [String],
    pub(super) missing: &'a [String],
    pub(super) command: &'a str,
    pub(super) results: &'a [JobResult],
}

/// All results of an experiment, as a report takes them.
pub(super) struct AllResults {
    pub(super) datasets: Vec<String>,
    pub(super) measures: Vec<String>,
    pub(super) missing: Vec<String>,
    /// The commands that gave the results, one per line.
    pub(super) command: String,
    pub(super) results: Vec<JobResult>,
}

impl ResultsFile {
    /// Where the results of an experiment are kept.
    pub(super) fn path(folder: &Path, experiment: Experiment) -> PathBuf {
        folder.join(format!("{}.json", experiment.name()))
    }

    /// The results that earlier runs left, if any.
    pub(super) fn read(path: &Path) -> Result<Self, DataError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::empty()),
            Err(error) => return Err(DataError::read(path, error)),
        };
        let damaged = |found: String| {
            let advice = "rename or remove it: finished jobs are stored apart, and nothing is lost";
            DataError::malformed(Place::file(path), found, advice)
        };
        let file: ResultsFile = serde_json::from_str(&text)
            .map_err(|error| damaged(format!("expected results of an experiment: {error}")))?;
        match file.schema_version {
            SCHEMA_VERSION => Ok(file),
            other => Err(damaged(format!("expected schema {SCHEMA_VERSION}, found {other}"))),
        }
    }

    fn empty() -> Self {
        ResultsFile { schema_version: SCHEMA_VERSION, rows: Vec::new(), missing: Vec::new() }
    }

    /// Replaces the file.
    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        Ok(atomic_file::write(path, serde_json::to_string_pretty(self)?.as_bytes())?)
    }

    /// Adds the results of a run: its rows replace those of the same data set, method and protocol. A method
    /// whose protocols were equal has no other rows than those of the run.
    pub(super) fn add(&mut self, experiment: Experiment, new: &NewResults<'_>) {
        let mut rows: Vec<Row> = Vec::new();
        for (job, result) in new.results {
            let (dataset, method) = (&new.datasets[job.benchmark], job.competitor.label);
            let is_own = |row: &Row| {
                row.dataset == *dataset && row.method == method && row.protocol == job.protocol
            };
            let at = rows.iter().position(is_own).unwrap_or_else(|| {
                rows.push(Row {
                    dataset: dataset.clone(),
                    method: method.to_owned(),
                    protocol: job.protocol,
                    measure: new.measures.get(job.benchmark).cloned().unwrap_or_default(),
                    command: new.command.to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    jobs: Vec::new(),
                });
                rows.len() - 1
            });
            rows[at].jobs.push(StoredJob::new(job, result));
        }
        let is_new = |row: &Row| {
            rows.iter().any(|own| {
                let is_same = own.dataset == row.dataset && own.method == row.method;
                let (one, other) = (own.protocol, row.protocol);
                is_same && (one.includes(other) || other.includes(one))
            })
        };
        self.rows.retain(|row| !is_new(row) && Competitor::find(&row.method).is_ok());
        self.rows.extend(rows);
        self.missing.extend(new.missing.iter().cloned());
        self.missing.sort();
        self.missing.dedup();
        self.missing.retain(|name| self.rows.iter().all(|row| row.dataset != *name));
        self.sort(experiment);
    }

    /// Data sets and methods in the order of the paper, others behind them.
    fn sort(&mut self, experiment: Experiment) {
        let methods = experiment.methods().unwrap_or_default();
        let competitors = experiment.competitors(&methods).unwrap_or_default();
        let place = |row: &Row| {
            let dataset = experiment.datasets().iter().position(|name| *name == row.dataset);
            let method = competitors.iter().position(|own| own.label == row.method);
            let last = usize::MAX;
            (dataset.unwrap_or(last), row.dataset.clone(), method.unwrap_or(last))
        };
        self.rows.sort_by_key(place);
    }

    /// The results as a report takes them.
    pub(super) fn all(&self, experiment: Experiment) -> AllResults {
        let (mut datasets, mut measures) = (Vec::<String>::new(), Vec::new());
        let (mut commands, mut results) = (Vec::<String>::new(), Vec::new());
        for row in &self.rows {
            let Ok(competitor) = Competitor::find(&row.method) else { continue };
            let benchmark = datasets.iter().position(|name| *name == row.dataset);
            let benchmark = benchmark.unwrap_or_else(|| {
                datasets.push(row.dataset.clone());
                measures.push(row.measure.clone());
                datasets.len() - 1
            });
            let command = match row.version == env!("CARGO_PKG_VERSION") {
                true => row.command.clone(),
                false => format!("{}  # graphfill {}", row.command, row.version),
            };
            if !commands.contains(&command) {
                commands.push(command);
            }
            results.extend(row.jobs.iter().map(|stored| {
                let StoredJob { seed, labels, max_updates, .. } = *stored;
                let (protocol, work) = (row.protocol, work(experiment, labels));
                let job = Job { benchmark, competitor, protocol, seed, work, max_updates };
                (job, stored.result.clone().into())
            }));
        }
        let missing = self.missing.clone();
        AllResults { datasets, measures, missing, command: commands.join("\n"), results }
    }
}

/// The work of an experiment's jobs.
fn work(experiment: Experiment, labels: f64) -> Work {
    match experiment {
        Experiment::Table4 => Work::Classification,
        Experiment::Scaling => Work::Timing,
        Experiment::Ablation => Work::Curves,
        _ => Work::Estimation { labels },
    }
}

impl StoredJob {
    fn new(job: &Job, result: &Result<Outcome, Failure>) -> Self {
        let labels = match job.work {
            Work::Estimation { labels } => labels,
            _ => 0.0,
        };
        let result = match result {
            Ok(outcome) => StoredResult::Outcome(outcome.clone()),
            Err(Failure::Memory(reason)) => StoredResult::OutOfMemory(reason.clone()),
            Err(Failure::Refused(reason)) => StoredResult::Refused(reason.clone()),
            Err(Failure::Other(reason)) => StoredResult::Failed(reason.clone()),
        };
        StoredJob { seed: job.seed, labels, max_updates: job.max_updates, result }
    }
}

impl From<StoredResult> for Result<Outcome, Failure> {
    fn from(stored: StoredResult) -> Self {
        match stored {
            StoredResult::Outcome(outcome) => Ok(outcome),
            StoredResult::OutOfMemory(reason) => Err(Failure::Memory(reason)),
            StoredResult::Refused(reason) => Err(Failure::Refused(reason)),
            StoredResult::Failed(reason) => Err(Failure::Other(reason)),
        }
    }
}
