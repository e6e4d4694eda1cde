//! Everything that can be set about GRAPE.

use super::model::Model;
use crate::error::Result;
use crate::learning::{Criterion, PATIENCE_INFO, Schedule, TrainingConfig, learning_rate_info};
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters, plain};

const HIDDEN: &str = "hidden";
const DEPTH: &str = "depth";
const HIDDEN_SHARE: &str = "hidden_share";
const LEARNING_RATE: &str = "learning_rate";
const PATIENCE: &str = "patience";

/// Updates between two looks at validation, the most of them, and those where there is none.
const UPDATES_AN_EPOCH: u64 = 25;
const MOST_UPDATES: u64 = 20_000;
const UNVALIDATED_UPDATES: u64 = 1000;

pub(super) const PARAMETERS: &[ParameterInfo] = &[
    ParameterInfo {
        name: HIDDEN,
        about: "width of rows, features and cells",
        default: "64",
        allowed: Allowed::Whole { least: 1.0, most: 4096.0 },
    },
    ParameterInfo {
        name: DEPTH,
        about: "number of layers",
        default: "3",
        allowed: Allowed::Whole { least: 1.0, most: 16.0 },
    },
    ParameterInfo {
        name: HIDDEN_SHARE,
        about: "share of known cells that an update hides and learns to tell",
        default: "0.3",
        allowed: Allowed::Number { least: 0.01, most: 0.95 },
    },
    learning_rate_info("0.002"),
    PATIENCE_INFO,
];

/// What GRAPE is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub(super) model: Model,
    pub(super) config: TrainingConfig,
}

impl Settings {
    /// What a task is to be trained with.
    pub(super) fn of(task: &Task<'_>) -> Result<Self> {
        let fixed = task.fixed.of("grape");
        fixed.check("grape", PARAMETERS)?;
        let number = |name: &str, value: f64| fixed.get(name).unwrap_or(value);
        let model = Model {
            width: number(HIDDEN, 64.0) as usize,
            depth: number(DEPTH, 3.0) as usize,
            hidden_share: number(HIDDEN_SHARE, 0.3) as f32,
            learning_rate: number(LEARNING_RATE, 2e-3) as f32,
        };
        let schedule = Schedule {
            epoch: UPDATES_AN_EPOCH,
            most_updates: MOST_UPDATES,
            patience: number(PATIENCE, 300.0) as u64,
        };
        let config = TrainingConfig {
            schedule,
            models: 1,
            unvalidated_updates: UNVALIDATED_UPDATES,
            criterion: Criterion::AllMetrics,
        };
        Ok(Settings { model, config })
    }

    /// What was chosen, by name.
    pub(super) fn parameters(&self) -> Parameters {
        Parameters::default()
            .with(HIDDEN, self.model.width as f64)
            .with(DEPTH, self.model.depth as f64)
            .with(HIDDEN_SHARE, plain(self.model.hidden_share))
            .with(LEARNING_RATE, plain(self.model.learning_rate))
    }
}
