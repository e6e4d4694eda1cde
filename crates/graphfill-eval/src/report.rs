//! What an evaluation found, as the command line prints it and as JSON.

use std::collections::BTreeMap;

use graphfill_methods::learning::History;
use graphfill_methods::{Choice, Parameters};
use serde::Serialize;

use crate::comparison::Comparison;
use crate::score::Metrics;

/// Methods side by side on one data set.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluation {
    /// The name of the data set.
    pub dataset: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of undirected edges.
    pub edges: usize,
    /// The number of feature columns.
    pub features: usize,
    /// How values were hidden, in words.
    pub hidden: String,
    /// The metric by which methods are ordered.
    pub primary: String,
    /// What each method reached.
    pub methods: Vec<MethodEvaluation>,
    /// Whether the best method is really better than each of the others.
    pub comparisons: Vec<Comparison>,
}

/// One method over all seeds.
#[derive(Debug, Clone, Serialize)]
pub struct MethodEvaluation {
    /// Its name.
    pub method: String,
    /// Parameters that were the same for every seed.
    pub parameters: Parameters,
    /// Every seed.
    pub seeds: Vec<SeedEvaluation>,
    /// The mean of the test metrics over the seeds.
    pub mean: Metrics,
    /// Their standard deviation; absent with one seed.
    pub sd: Metrics,
}

/// One method, one seed.
#[derive(Debug, Clone, Serialize)]
pub struct SeedEvaluation {
    /// The seed.
    pub seed: u64,
    /// The chosen parameters.
    pub parameters: ChosenParameters,
    /// Metrics on the validation cells.
    pub validation: Metrics,
    /// Metrics on the test cells.
    pub test: Metrics,
    /// How long choosing and estimating took.
    pub seconds: f64,
    /// The most memory that the process held meanwhile, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// The primary metric of every test row, for comparisons within a seed.
    #[serde(skip)]
    pub by_row: Vec<f64>,
    /// What happened in training, where there was any.
    #[serde(skip)]
    pub history: Option<History>,
}

/// What a method settled on: once for a table that is one block, by column otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ChosenParameters {
    /// For the whole table.
    Table(ChosenMethod),
    /// By column.
    Columns(BTreeMap<String, ChosenMethod>),
}

/// A method and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenMethod {
    /// The method, where another one chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its parameters.
    #[serde(flatten)]
    pub parameters: Parameters,
}

impl ChosenParameters {
    /// What `method` settled on.
    pub fn of(method: &str, choices: &[Choice]) -> Self {
        let chosen = |choice: &Choice| ChosenMethod {
            method: (choice.method != method).then(|| choice.method.clone()),
            parameters: choice.parameters.clone(),
        };
        match choices {
            [one] => ChosenParameters::Table(chosen(one)),
            several => ChosenParameters::Columns(
                several.iter().map(|choice| (choice.group.clone(), chosen(choice))).collect(),
            ),
        }
    }
}
