//! Where a competitor's parameters come from: the published run, or tuning on validation cells.
//!
//! Published parameters are in `protocols.toml`, by data set and method. Only the paper's experiments and
//! the benchmarks that are named after its data sets read them.

use std::sync::LazyLock;

use graphfill_methods::{Method, Parameters};
use serde::{Deserialize, Serialize};

/// Where parameters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The parameters of the published run; the method's defaults where none are published.
    #[default]
    Published,
    /// The best of a number of settings on validation cells; the same number for every method.
    Tuned,
    /// Both at once, for a method with nothing published and nothing to tune.
    Both,
}

impl Protocol {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Published => "published",
            Protocol::Tuned => "tuned",
            Protocol::Both => "both",
        }
    }

    /// Whether a result under this protocol counts as one under `other`.
    pub fn includes(self, other: Protocol) -> bool {
        self == other || self == Protocol::Both
    }

    /// Whether a method has the same parameters under both protocols on a data set.
    pub fn are_equal(method: &dyn Method, dataset: &str) -> bool {
        let name = method.info().name;
        !method.info().is_tunable() && published_parameters(dataset, name).is_empty()
    }
}

/// The contents of `protocols.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Protocols {
    run: Vec<Run>,
}

/// Parameters of each of some methods on each of some data sets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    datasets: Vec<String>,
    methods: Vec<String>,
    parameters: Parameters,
}

static PROTOCOLS: LazyLock<Protocols> = LazyLock::new(|| {
    toml::from_str(include_str!("protocols.toml")).expect("protocols.toml is checked by a test")
});

/// The parameters of the published run of a method on a data set; empty where none are published.
pub fn published_parameters(dataset: &str, method: &str) -> Parameters {
    let has = |names: &[String], name: &str| names.iter().any(|own| own == name);
    let mut parameters = Parameters::default();
    for run in &PROTOCOLS.run {
        if has(&run.datasets, dataset) && has(&run.methods, method) {
            for (name, value) in run.parameters.iter() {
                parameters.set(name, value.clone());
            }
        }
    }
    parameters
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::experiments::find_method;

    use super::*;
    use crate::experiments::published;

    #[test]
    fn every_entry_names_parameters_that_its_methods_have() {
        let known: BTreeSet<&str> =
            published::RANKED.iter().chain(&published::CONTINUOUS).copied().collect();
        let mut set = BTreeSet::new();
        for run in &PROTOCOLS.run {
            for method in &run.methods {
                let info = find_method(method).expect("a method").info();
                run.parameters.check(method, info.parameters).expect("its parameters");
                for dataset in &run.datasets {
                    assert!(known.contains(dataset.as_str()), "{dataset}");
                    for (name, _) in run.parameters.iter() {
                        let is_new = set.insert((dataset, method, name));
                        assert!(is_new, "{method}.{name} is set twice for {dataset}");
                    }
                }
            }
        }
        for dataset in known {
            assert!(published_parameters(dataset, "svga").has("lambda"), "{dataset}");
        }
        assert_eq!(published_parameters("pubmed", "sat").get("cross"), Some(50.0));
        assert!(published_parameters("town", "svga").is_empty());
    }

    #[test]
    fn protocols_differ_where_something_is_published_or_can_be_tuned() {
        let are_equal = |method: &str, dataset: &str| {
            Protocol::are_equal(find_method(method).expect("a method"), dataset)
        };
        assert!(are_equal("column-mean", "cora"));
        assert!(!are_equal("svga", "town"), "it has a grid");
        assert!(!are_equal("arwmf", "cora"), "its negatives are published");
        assert!(are_equal("arwmf", "town"));
    }
}
