//! Everything that can be set about SVGA-P. The defaults are the same for every table but for one: the
//! dropout before the decoders helps where columns are ranked and harms where values are met.

use crate::error::Result;
use crate::features::GroupKind;
use crate::learning::{Criterion, Schedule, TrainingConfig};
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters, plain};

const HIDDEN: &str = "hidden";
const LAMBDA: &str = "lambda";
const BETA: &str = "beta";
const LEARNING_RATE: &str = "learning_rate";
const DROPOUT: &str = "dropout";
const MODELS: &str = "models";
const PATIENCE: &str = "patience";

/// Updates between two looks at validation, the most of them, and those where there is none.
const UPDATES_AN_EPOCH: u64 = 10;
const MOST_UPDATES: u64 = 600;
const UNVALIDATED_UPDATES: u64 = 60;

pub(super) const PARAMETERS: &[ParameterInfo] = &[
    ParameterInfo {
        name: HIDDEN,
        about: "width of hidden and latent rows",
        default: "256; 128 where single cells are missing",
        allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
    },
    ParameterInfo {
        name: LAMBDA,
        about: "weight of the field that keeps neighbours alike",
        default: "0.1",
        allowed: Allowed::Number { least: 0.0, most: 1e6 },
    },
    ParameterInfo {
        name: BETA,
        about: "how free latents are of the field",
        default: "0.1",
        allowed: Allowed::Number { least: 1e-6, most: 1e6 },
    },
    ParameterInfo {
        name: LEARNING_RATE,
        about: "of Adam",
        default: "0.002; 0.003 where single cells are missing",
        allowed: Allowed::Number { least: 1e-7, most: 1.0 },
    },
    ParameterInfo {
        name: DROPOUT,
        about: "share of latents dropped before the decoders",
        default: "0.5 for 0/1 blocks, 0 for other tables",
        allowed: Allowed::Number { least: 0.0, most: 0.95 },
    },
    ParameterInfo {
        name: MODELS,
        about: "models that are averaged",
        default: "3",
        allowed: Allowed::Whole { least: 1.0, most: 100.0 },
    },
    ParameterInfo {
        name: PATIENCE,
        about: "updates without a better validation score before training ends",
        default: "50",
        allowed: Allowed::Whole { least: 1.0, most: 1e9 },
    },
];

/// Which network corrects the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// A graph network, where rows are known or unknown as a whole.
    Graph,
    /// A network of single rows, where they have known cells of their own.
    Rows,
}

/// What SVGA-P is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub(super) width: usize,
    /// Of the network of rows, which has less to say.
    pub(super) row_width: usize,
    pub(super) lambda: f32,
    pub(super) beta: f32,
    pub(super) learning_rate: f32,
    pub(super) row_learning_rate: f32,
    pub(super) dropout: f32,
    pub(super) config: TrainingConfig,
}

impl Settings {
    /// What a task is to be trained with.
    pub(super) fn of(task: &Task<'_>) -> Result<Self> {
        let fixed = task.fixed.of("svga-p");
        fixed.check("svga-p", PARAMETERS)?;
        let number = |name: &str, value: f64| fixed.get(name).unwrap_or(value);
        let ranked = task.features.groups().iter().all(|g| g.kind == GroupKind::BinaryBlock);
        let schedule = Schedule {
            epoch: UPDATES_AN_EPOCH,
            most_updates: MOST_UPDATES,
            patience: number(PATIENCE, 50.0) as u64,
        };
        Ok(Settings {
            width: number(HIDDEN, 256.0) as usize,
            row_width: number(HIDDEN, 128.0) as usize,
            lambda: number(LAMBDA, 0.1) as f32,
            beta: number(BETA, 0.1) as f32,
            learning_rate: number(LEARNING_RATE, 2e-3) as f32,
            row_learning_rate: number(LEARNING_RATE, 3e-3) as f32,
            dropout: number(DROPOUT, if ranked { 0.5 } else { 0.0 }) as f32,
            config: TrainingConfig {
                schedule,
                models: number(MODELS, 3.0) as usize,
                unvalidated_updates: UNVALIDATED_UPDATES,
                criterion: Criterion::AllMetrics,
            },
        })
    }

    /// What was chosen, by name.
    pub(super) fn parameters(&self, network: Network) -> Parameters {
        let models = Parameters::default().with(MODELS, self.config.models as f64);
        match network {
            Network::Graph => models
                .with(HIDDEN, self.width as f64)
                .with(LAMBDA, plain(self.lambda))
                .with(BETA, plain(self.beta))
                .with(LEARNING_RATE, plain(self.learning_rate))
                .with(DROPOUT, plain(self.dropout)),
            Network::Rows => models
                .with(HIDDEN, self.row_width as f64)
                .with(LEARNING_RATE, plain(self.row_learning_rate)),
        }
    }
}
