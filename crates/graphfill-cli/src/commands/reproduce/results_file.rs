//! The results of an experiment, in `EXPERIMENT.json` beside its table: a run on some data sets or
//! methods replaces their rows and keeps the others.

use std::path::{Path, PathBuf};

use graphfill::data::{DataError, Place, atomic_file};
use graphfill::eval::experiments::{Cell, Experiment, Failure, Outcome, Ran, Work};
use graphfill::methods::registry;
use serde::{Deserialize, Serialize};

use crate::output::SCHEMA_VERSION;

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResultsFile {
    schema_version: u32,
    /// One row per data set and method, in the order of the table.
    rows: Vec<Row>,
    /// Data sets that were asked for and were not there.
    missing: Vec<String>,
}

/// The results of a method on a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    dataset: String,
    method: String,
    /// The metric by which models are selected.
    measure: String,
    /// The command that gave these results, and the version of the program.
    command: String,
    version: String,
    cells: Vec<KeptCell>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct KeptCell {
    seed: u64,
    /// The share of nodes whose labels were shown.
    labels: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_updates: Option<u64>,
    result: KeptResult,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptResult {
    Outcome(Outcome),
    OutOfMemory(String),
    Refused(String),
    Failed(String),
}

/// What a run found, and how.
pub(super) struct NewResults<'a> {
    /// The data sets, in the order of the cells' subjects, with the metrics that select models.
    pub(super) datasets: &'a [String],
    pub(super) measures: &'a [String],
    pub(super) missing: &'a [String],
    pub(super) command: &'a str,
    pub(super) ran: &'a [Ran],
}

/// All results of an experiment, as a report takes them.
pub(super) struct AllResults {
    pub(super) datasets: Vec<String>,
    pub(super) measures: Vec<String>,
    pub(super) missing: Vec<String>,
    /// The commands that gave the results, one per line.
    pub(super) command: String,
    pub(super) ran: Vec<Ran>,
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
            let advice = "rename or remove it: finished cells are kept apart, and nothing is lost";
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

    /// Takes up what a run found: its rows replace those of the same data set and method.
    pub(super) fn add(&mut self, experiment: Experiment, new: &NewResults<'_>) {
        let mut rows: Vec<Row> = Vec::new();
        for (cell, result) in new.ran {
            let (dataset, method) = (&new.datasets[cell.subject], cell.method.info().name);
            let is_own = |row: &Row| row.dataset == *dataset && row.method == method;
            let at = rows.iter().position(is_own).unwrap_or_else(|| {
                rows.push(Row {
                    dataset: dataset.clone(),
                    method: method.to_owned(),
                    measure: new.measures.get(cell.subject).cloned().unwrap_or_default(),
                    command: new.command.to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    cells: Vec::new(),
                });
                rows.len() - 1
            });
            rows[at].cells.push(KeptCell::of(cell, result));
        }
        let is_new = |row: &Row| {
            rows.iter().any(|own| own.dataset == row.dataset && own.method == row.method)
        };
        self.rows.retain(|row| !is_new(row) && registry::find(&row.method).is_ok());
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
        let place = |row: &Row| {
            let dataset = experiment.datasets().iter().position(|name| *name == row.dataset);
            let method = methods.iter().position(|method| method.info().name == row.method);
            let last = usize::MAX;
            (dataset.unwrap_or(last), row.dataset.clone(), method.unwrap_or(last))
        };
        self.rows.sort_by_key(place);
    }

    /// The results as a report takes them.
    pub(super) fn all(&self, experiment: Experiment) -> AllResults {
        let (mut datasets, mut measures) = (Vec::<String>::new(), Vec::new());
        let (mut commands, mut ran) = (Vec::<String>::new(), Vec::new());
        for row in &self.rows {
            let Ok(method) = registry::find(&row.method) else { continue };
            let subject = datasets.iter().position(|name| *name == row.dataset);
            let subject = subject.unwrap_or_else(|| {
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
            ran.extend(row.cells.iter().map(|kept| {
                let KeptCell { seed, labels, max_updates: most_updates, .. } = *kept;
                let work = work(experiment, labels);
                (Cell { subject, method, seed, work, most_updates }, kept.result.clone().into())
            }));
        }
        let missing = self.missing.clone();
        AllResults { datasets, measures, missing, command: commands.join("\n"), ran }
    }
}

/// What is done in a cell of an experiment.
fn work(experiment: Experiment, labels: f64) -> Work {
    match experiment {
        Experiment::Table4 => Work::Classification,
        Experiment::Scaling => Work::Timing,
        Experiment::Ablation => Work::Curves,
        _ => Work::Estimation { labels },
    }
}

impl KeptCell {
    fn of(cell: &Cell, result: &Result<Outcome, Failure>) -> Self {
        let labels = match cell.work {
            Work::Estimation { labels } => labels,
            _ => 0.0,
        };
        let result = match result {
            Ok(outcome) => KeptResult::Outcome(outcome.clone()),
            Err(Failure::Memory(reason)) => KeptResult::OutOfMemory(reason.clone()),
            Err(Failure::Refused(reason)) => KeptResult::Refused(reason.clone()),
            Err(Failure::Other(reason)) => KeptResult::Failed(reason.clone()),
        };
        KeptCell { seed: cell.seed, labels, max_updates: cell.most_updates, result }
    }
}

impl From<KeptResult> for Result<Outcome, Failure> {
    fn from(kept: KeptResult) -> Self {
        match kept {
            KeptResult::Outcome(outcome) => Ok(outcome),
            KeptResult::OutOfMemory(reason) => Err(Failure::Memory(reason)),
            KeptResult::Refused(reason) => Err(Failure::Refused(reason)),
            KeptResult::Failed(reason) => Err(Failure::Other(reason)),
        }
    }
}
