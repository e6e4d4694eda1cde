//! A job of an experiment: one piece of work on one data set with one competitor and seed, and its
//! outcome.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use graphfill_methods::{Method, MethodError, ParamOverrides, Parameters, Registry, Result};
use serde::{Deserialize, Serialize};

use crate::protocols::{Protocol, published_parameters};

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work {
    /// Estimates hidden rows and scores them, with the labels of a share of the nodes to learn from.
    Estimation {
        /// The share.
        labels: f64,
    },
    /// Estimates hidden rows and trains classifiers on the estimates.
    Classification,
    /// Trains a model and records its scores on training and test rows.
    Curves,
    /// Times an update and an inference on a growing share of the edges.
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

/// The methods that take part in the paper's experiments.
static METHODS: LazyLock<Registry> = LazyLock::new(Registry::with_defaults);

/// All methods.
pub fn all_methods() -> impl Iterator<Item = &'static dyn Method> {
    METHODS.all().iter().map(|method| &**method)
}

/// The method of a name.
pub fn find_method(name: &str) -> Result<&'static dyn Method> {
    let found = all_methods().find(|method| method.info().name == name);
    found.map_or_else(|| Err(METHODS.find(name).err().unwrap_or(MethodError::NoFeatures)), Ok)
}

/// A row of a table: a method, with the parameters that set it apart from the method's other rows.
#[derive(Clone, Copy)]
pub struct Competitor {
    /// Its name in tables and files.
    pub label: &'static str,
    /// The method.
    pub method: &'static dyn Method,
    /// The parameters that make it what its label says.
    pub parameters: &'static [(&'static str, f64)],
}

/// SVGA-P with one model, as SVGA has: by default it averages three.
const ONE_MODEL: (&str, &str, &[(&str, f64)]) =
    ("svga-p (one model)", "svga-p", &[("models", 1.0)]);

impl Competitor {
    /// A method as it is.
    pub fn new(method: &'static dyn Method) -> Self {
        Competitor { label: method.info().name, method, parameters: &[] }
    }

    /// The competitor with a label.
    pub fn find(label: &str) -> Result<Self> {
        let (one_model, method, parameters) = ONE_MODEL;
        if label == one_model {
            return Ok(Competitor { label: one_model, method: find_method(method)?, parameters });
        }
        find_method(label).map(Competitor::new)
    }

    /// The other rows that a table has for a method, beside the method as it is.
    pub(super) fn variants(method: &dyn Method) -> Result<Vec<Self>> {
        match method.info().name == ONE_MODEL.1 {
            true => Ok(vec![Competitor::find(ONE_MODEL.0)?]),
            false => Ok(Vec::new()),
        }
    }
}

/// One piece of work.
#[derive(Clone, Copy)]
pub struct Job {
    /// Which of the benchmarks.
    pub benchmark: usize,
    /// The method and what sets it apart.
    pub competitor: Competitor,
    /// Where its parameters come from.
    pub protocol: Protocol,
    /// The seed of the split and of everything else.
    pub seed: u64,
    /// What is done.
    pub work: Work,
    /// The largest number of updates of one model, where they are limited.
    pub max_updates: Option<u64>,
}

impl Job {
    /// The name of its method.
    pub fn method_name(&self) -> &'static str {
        self.competitor.method.info().name
    }

    /// What the caller fixed, with the competitor's own parameters and those that its protocol sets
    /// before any tuning. The caller's go before published ones.
    pub(super) fn parameters(&self, dataset: &str, fixed: &ParamOverrides) -> ParamOverrides {
        let method = self.method_name();
        let mut parameters = fixed.clone();
        if self.protocol == Protocol::Published {
            let given = fixed.of(method);
            for (name, value) in published_parameters(dataset, method).iter() {
                if !given.has(name) {
                    parameters.set(method, name, value.clone());
                }
            }
        }
        for &(name, value) in self.competitor.parameters {
            parameters.set(method, name, value);
        }
        parameters
    }

    /// Whether settings are compared on validation cells before its method is fitted.
    pub(super) fn is_tuned(&self) -> bool {
        self.protocol == Protocol::Tuned && self.competitor.method.info().is_tunable()
    }
}

/// What a job found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The data set.
    pub dataset: String,
    /// The label of the competitor.
    pub method: String,
    /// Where its parameters came from.
    #[serde(default)]
    pub protocol: Protocol,
    /// The seed.
    pub seed: u64,
    /// The share of nodes whose labels were observed.
    pub labels: f64,
    /// Metrics on the test rows, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Curves and timings, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub series: BTreeMap<String, Vec<f64>>,
    /// The parameters that were fixed or chosen.
    pub parameters: Parameters,
    /// The GPU that was used; none for a CPU.
    #[serde(default, alias = "card", skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// How long it took, tuning included.
    pub seconds: f64,
    /// Whether a time limit ended training.
    pub ended_early: bool,
}

/// Why a job has no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It needs more memory than there is.
    Memory(String),
    /// The method does not support such tables.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn job(label: &str, protocol: Protocol) -> Job {
        let competitor = Competitor::find(label).expect("a competitor");
        let work = Work::Estimation { labels: 0.0 };
        Job { benchmark: 0, competitor, protocol, seed: 0, work, max_updates: None }
    }

    #[test]
    fn what_the_caller_fixed_goes_before_what_was_published() {
        let mut fixed = ParamOverrides::default();
        fixed.set("svga", "lambda", 7.0);
        let published = job("svga", Protocol::Published).parameters("pubmed", &fixed);
        assert_eq!(published.of("svga").get("lambda"), Some(7.0));
        assert_eq!(published.of("svga").get("hidden"), Some(512.0));
        assert!(published.of("sat").is_empty(), "the parameters of other methods stay out");
        assert_eq!(job("svga", Protocol::Tuned).parameters("pubmed", &fixed), fixed);
    }

    #[test]
    fn a_variant_is_its_method_with_other_parameters() {
        let one = job("svga-p (one model)", Protocol::Published);
        assert_eq!(one.method_name(), "svga-p");
        assert_eq!(
            one.parameters("cora", &ParamOverrides::default()).of("svga-p").get("models"),
            Some(1.0)
        );
        let info = one.competitor.method.info();
        one.parameters("cora", &ParamOverrides::default())
            .of("svga-p")
            .check("svga-p", info.parameters)
            .expect("its parameters");
    }
}
