//! What can be set about ARWMF, and which settings validation compares.

use crate::error::Result;
use crate::learning::Standing;
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters};

pub(super) const NAME: &str = "arwmf";

const WINDOW: &str = "window";
const NEGATIVES: &str = "negatives";
const RANK: &str = "rank";
const ATTRIBUTE_WEIGHT: &str = "attribute_weight";

pub(super) const PARAMETERS: &[ParameterInfo] = &[
    ParameterInfo {
        name: WINDOW,
        about: "steps of a walk within which two places belong together",
        default: "5 or 10, by validation",
        allowed: Allowed::Whole { least: 1.0, most: 100.0 },
    },
    ParameterInfo {
        name: NEGATIVES,
        about: "negative samples: how much more often than by chance places must meet",
        default: "published: 5; else 1 or 5, by validation",
        allowed: Allowed::Number { least: 1e-3, most: 1e3 },
    },
    ParameterInfo {
        name: RANK,
        about: "length of the vectors of nodes and attributes",
        default: "64, 32 or 16, by validation",
        allowed: Allowed::Whole { least: 1.0, most: 4096.0 },
    },
    ParameterInfo {
        name: ATTRIBUTE_WEIGHT,
        about: "weight of a node's link to an attribute; one to a neighbour has 1",
        default: "1",
        allowed: Allowed::Number { least: 1e-6, most: 1e6 },
    },
];

/// What is compared where the caller leaves it open, the default first.
const WINDOWS: &[usize] = &[5, 10];
const ALL_NEGATIVES: &[f64] = &[1.0, 5.0];
/// With which the reported figures are met.
const PUBLISHED_NEGATIVES: f64 = 5.0;
const RANKS: &[usize] = &[64, 32, 16];

/// The candidates of a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) windows: Vec<usize>,
    /// Ascending.
    pub(super) negatives: Vec<f64>,
    /// Descending.
    pub(super) ranks: Vec<usize>,
    pub(super) attribute_weight: f64,
}

impl Settings {
    pub(super) fn of(task: &Task<'_>) -> Result<Self> {
        let fixed = task.fixed.of(NAME);
        fixed.check(NAME, PARAMETERS)?;
        // Without validation there is nothing to compare.
        let compared = if task.validation.is_empty() { 1 } else { usize::MAX };
        let whole = |name: &str, open: &[usize]| match fixed.get(name) {
            Some(number) => vec![number as usize],
            None => open.iter().copied().take(compared).collect(),
        };
        let negatives = match fixed.get(NEGATIVES) {
            Some(number) => vec![number],
            None if Standing::of(task) == Standing::Published => vec![PUBLISHED_NEGATIVES],
            None => ALL_NEGATIVES.iter().copied().take(compared).collect(),
        };
        Ok(Settings {
            windows: whole(WINDOW, WINDOWS),
            negatives,
            ranks: whole(RANK, RANKS),
            attribute_weight: fixed.get(ATTRIBUTE_WEIGHT).unwrap_or(1.0),
        })
    }

    /// The largest rank.
    pub(super) fn most_rank(&self) -> usize {
        self.ranks.iter().copied().max().unwrap_or(1)
    }
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Setting {
    pub(super) window: usize,
    pub(super) negatives: f64,
    pub(super) rank: usize,
    pub(super) attribute_weight: f64,
}

impl Setting {
    /// By name.
    pub(super) fn parameters(&self) -> Parameters {
        Parameters::default()
            .with(WINDOW, self.window as f64)
            .with(NEGATIVES, self.negatives)
            .with(RANK, self.rank as f64)
            .with(ATTRIBUTE_WEIGHT, self.attribute_weight)
    }
}
