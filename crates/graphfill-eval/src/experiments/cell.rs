//! A cell of an experiment: one piece of work on one data set with one method and seed, and what
//! came of it.

use std::collections::BTreeMap;
use std::fmt;

use graphfill_methods::{Method, Parameters};
use serde::{Deserialize, Serialize};

/// What is done in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work {
    /// Hidden rows are estimated and scored, with the labels of a share of the nodes to learn from.
    Estimation {
        /// The share.
        labels: f64,
    },
    /// Hidden rows are estimated, and classifiers are trained on the estimates.
    Classification,
    /// A model is trained while its scores on training and test rows are watched.
    Curves,
    /// An update and an inference are timed on ever more of the edges.
    Timing,
}

impl fmt::Display for Work {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Work::Estimation { labels: 0.0 } => formatter.write_str("estimation"),
            Work::Estimation { labels } => write!(formatter, "estimation with {labels} of labels"),
            Work::Classification => formatter.write_str("classification"),
            Work::Curves => formatter.write_str("curves"),
            Work::Timing => formatter.write_str("timing"),
        }
    }
}

/// One piece of work.
#[derive(Clone, Copy)]
pub struct Cell {
    /// Which of the data sets.
    pub subject: usize,
    /// The method.
    pub method: &'static dyn Method,
    /// The seed of the split and of everything else.
    pub seed: u64,
    /// What is done.
    pub work: Work,
    /// The most updates of one model, where they are limited.
    pub most_updates: Option<u64>,
}

/// What came of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The data set.
    pub dataset: String,
    /// The method.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// The share of nodes whose labels were shown.
    pub labels: f64,
    /// Metrics on the test rows, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Numbers in a row, by name: curves and timings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub series: BTreeMap<String, Vec<f64>>,
    /// The chosen parameters.
    pub parameters: Parameters,
    /// The card that was used; none where it was the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// Whether a limit ended training before it was done.
    pub ended_early: bool,
}

/// Why a cell has no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It needs more memory than there is.
    Memory(String),
    /// The method does not do such tables.
    Refused(String),
    /// Something else.
    Other(String),
}

impl Failure {
    /// The reason, in words.
    pub fn reason(&self) -> &str {
        match self {
            Failure::Memory(reason) | Failure::Refused(reason) | Failure::Other(reason) => reason,
        }
    }
}
