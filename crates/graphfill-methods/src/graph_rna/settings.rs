//! What can be set about GraphRNA.

use super::model::Model;
use super::walks::{Manner, OwnAttributes};
use crate::error::Result;
use crate::learning::{Criterion, PATIENCE_INFO, Schedule, TrainingConfig, learning_rate_info};
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters, plain};

pub(super) const NAME: &str = "graph-rna";

const HIDDEN: &str = "hidden";
const LENGTH: &str = "length";
const PATHS: &str = "paths";
const ALPHA: &str = "alpha";
const OWN: &str = "own_attributes";
const LEARNING_RATE: &str = "learning_rate";
const DROPOUT: &str = "dropout";
const PATIENCE_NAME: &str = "patience";

/// Updates between two looks at validation.
const EPOCH: u64 = 20;
const MOST_UPDATES: u64 = 4_000;
const PATIENCE: u64 = 300;
/// Updates where nothing can be validated.
const UNVALIDATED_UPDATES: u64 = 400;

pub(super) const PARAMETERS: &[ParameterInfo] = &[
    ParameterInfo {
        name: HIDDEN,
        about: "width of a recurrent state, in each direction",
        default: "32",
        allowed: Allowed::Whole { least: 1.0, most: 4096.0 },
    },
    ParameterInfo {
        name: LENGTH,
        about: "places of a walk",
        default: "5",
        allowed: Allowed::Whole { least: 1.0, most: 100.0 },
    },
    ParameterInfo {
        name: PATHS,
        about: "walks from each node in an update",
        default: "5",
        allowed: Allowed::Whole { least: 1.0, most: 1000.0 },
    },
    ParameterInfo {
        name: ALPHA,
        about: "probability of a step to a neighbour rather than to an attribute",
        default: "0.4",
        allowed: Allowed::Number { least: 0.0, most: 1.0 },
    },
    ParameterInfo {
        name: OWN,
        about: "whether walks see the attributes of the node where they begin",
        default: "hidden",
        allowed: Allowed::Words(&["seen", "hidden"]),
    },
    learning_rate_info("0.005"),
    ParameterInfo {
        name: DROPOUT,
        about: "share of inputs and latents dropped",
        default: "0.5",
        allowed: Allowed::Number { least: 0.0, most: 0.95 },
    },
    PATIENCE_INFO,
];

/// What GraphRNA is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub(super) model: Model,
    pub(super) manner: Manner,
    pub(super) config: TrainingConfig,
}

impl Settings {
    pub(super) fn of(task: &Task<'_>) -> Result<Self> {
        let fixed = task.fixed.of(NAME);
        fixed.check(NAME, PARAMETERS)?;
        let number = |name: &str, value: f64| fixed.get(name).unwrap_or(value);
        let length = number(LENGTH, 5.0) as usize;
        let own = match fixed.word(OWN) {
            Some("seen") => OwnAttributes::Seen,
            _ => OwnAttributes::Hidden,
        };
        let manner = Manner {
            alpha: number(ALPHA, 0.4) as f32,
            paths: number(PATHS, 5.0) as usize,
            length,
            own,
        };
        let model = Model {
            hidden: number(HIDDEN, 32.0) as usize,
            length,
            dropout: number(DROPOUT, 0.5) as f32,
            learning_rate: number(LEARNING_RATE, 5e-3) as f32,
        };
        let schedule = Schedule {
            epoch: EPOCH,
            most_updates: MOST_UPDATES,
            patience: number(PATIENCE_NAME, PATIENCE as f64) as u64,
        };
        let config = TrainingConfig {
            schedule,
            models: 1,
            unvalidated_updates: UNVALIDATED_UPDATES,
            criterion: Criterion::Published,
        };
        Ok(Settings { model, manner, config })
    }

    /// What was chosen, by name.
    pub(super) fn parameters(&self) -> Parameters {
        let own = if self.manner.own == OwnAttributes::Seen { "seen" } else { "hidden" };
        Parameters::default()
            .with(HIDDEN, self.model.hidden as f64)
            .with(LENGTH, self.manner.length as f64)
            .with(PATHS, self.manner.paths as f64)
            .with(ALPHA, plain(self.manner.alpha))
            .with(OWN, own)
            .with(LEARNING_RATE, plain(self.model.learning_rate))
            .with(DROPOUT, plain(self.model.dropout))
    }
}
