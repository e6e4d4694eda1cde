//! What neural networks are trained with, where the caller says nothing: as their authors did on the
//! data sets that they published figures of, and more gently elsewhere.
//!
//! The published runs draw all weights to zero, by a penalty w/2 · p² in a loss that is a mean over
//! cells. That is a strong penalty: it is what keeps those networks near the column means. Tables that
//! nobody has published figures of have none.

use graphfill_engine::{Adam, Schedule as Rate, WeightDecay};

use super::fit::TrainingConfig;
use super::scales::{Counts, NumericBlocks, ScaleOptions};
use super::training::Schedule;
use super::validator::Criterion;
use crate::features::GroupKind;
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters, plain};

/// The data sets with published figures.
const PUBLISHED: [&str; 8] =
    ["cora", "citeseer", "photo", "computers", "steam", "pubmed", "coauthor", "arxiv"];

/// The published networks' 1,000 updates, each with a look at validation.
const MOST_UPDATES: u64 = 1_000;
/// A look at validation every so many updates is enough.
const EPOCH: u64 = 5;
/// Updates where nothing can be validated.
const UNVALIDATED_UPDATES: u64 = 300;

const LEARNING_RATE: &str = "learning_rate";
const DROPOUT: &str = "dropout";
const WEIGHT_DECAY: &str = "weight_decay";
const PATIENCE: &str = "patience";

/// The parameter `learning_rate`, with its default in words.
pub const fn learning_rate_info(default: &'static str) -> ParameterInfo {
    ParameterInfo {
        name: LEARNING_RATE,
        about: "of Adam",
        default,
        allowed: Allowed::Number { least: 1e-7, most: 1.0 },
    }
}

/// The parameter `dropout`.
pub const DROPOUT_INFO: ParameterInfo = ParameterInfo {
    name: DROPOUT,
    about: "share of hidden numbers dropped in training",
    default: "0.5 for published data sets and 0/1 blocks, 0.2 for other tables",
    allowed: Allowed::Number { least: 0.0, most: 0.95 },
};

/// The parameter `weight_decay`.
pub const WEIGHT_DECAY_INFO: ParameterInfo = ParameterInfo {
    name: WEIGHT_DECAY,
    about: "how strongly weights are drawn to zero",
    default: "published, else 0",
    allowed: Allowed::Number { least: 0.0, most: 1.0 },
};

/// The parameter `patience`.
pub const PATIENCE_INFO: ParameterInfo = ParameterInfo {
    name: PATIENCE,
    about: "updates without a better validation score before training ends",
    default: "300",
    allowed: Allowed::Whole { least: 1.0, most: 1e9 },
};

/// Whether somebody has published figures of a network on a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Trained as published.
    Published,
    /// Of 0/1 blocks alone.
    Binary,
    /// Any other table.
    Other,
}

impl Standing {
    /// That of a task's table.
    pub fn of(task: &Task<'_>) -> Self {
        let preset = task.training.preset.as_deref();
        if preset.is_some_and(|name| PUBLISHED.contains(&name)) {
            return Standing::Published;
        }
        match only_binary_blocks(task) {
            true => Standing::Binary,
            false => Standing::Other,
        }
    }

    /// How columns are scaled: numeric blocks of published data sets are left as they are.
    pub fn scales(self) -> ScaleOptions {
        let blocks = match self {
            Standing::Published => NumericBlocks::AsTheyAre,
            _ => NumericBlocks::Standardised,
        };
        ScaleOptions { blocks, counts: Counts::Logarithmic }
    }
}

/// Whether a table has nothing but 0/1 blocks.
pub fn only_binary_blocks(task: &Task<'_>) -> bool {
    task.features.groups().iter().all(|group| group.kind == GroupKind::BinaryBlock)
}

/// What every network is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkSettings {
    /// The learning rate of Adam.
    pub learning_rate: f32,
    /// The share of hidden numbers that is dropped in training.
    pub dropout: f32,
    /// How strongly weights are drawn to zero.
    pub weight_decay: f32,
    /// Updates without a better validation score before training ends.
    pub patience: u64,
}

impl NetworkSettings {
    /// What the caller fixed, else the defaults for such a table.
    pub fn of(
        fixed: &Parameters,
        standing: Standing,
        learning_rate: f32,
        published_decay: f32,
    ) -> Self {
        let number = |name: &str, value: f32| fixed.get(name).map_or(value, |fixed| fixed as f32);
        let dropout = if standing == Standing::Other { 0.2 } else { 0.5 };
        let weight_decay = if standing == Standing::Published { published_decay } else { 0.0 };
        NetworkSettings {
            learning_rate: number(LEARNING_RATE, learning_rate),
            dropout: number(DROPOUT, dropout),
            weight_decay: number(WEIGHT_DECAY, weight_decay),
            patience: fixed.get(PATIENCE).map_or(300, |patience| patience as u64),
        }
    }

    /// How long one model trains.
    pub fn config(&self) -> TrainingConfig {
        TrainingConfig {
            schedule: Schedule {
                epoch: EPOCH,
                most_updates: MOST_UPDATES,
                patience: self.patience,
            },
            models: 1,
            unvalidated_updates: UNVALIDATED_UPDATES,
            criterion: Criterion::Published,
        }
    }

    /// The optimiser.
    pub fn adam(&self) -> Adam {
        let adam = Adam::new(Rate::Constant(self.learning_rate));
        match self.weight_decay {
            0.0 => adam,
            weight => adam.with_weight_decay(WeightDecay::Coupled(weight)),
        }
    }

    /// What was chosen, by name, beside what else was.
    pub fn added_to(&self, parameters: Parameters) -> Parameters {
        parameters
            .with(LEARNING_RATE, plain(self.learning_rate))
            .with(DROPOUT, plain(self.dropout))
            .with(WEIGHT_DECAY, plain(self.weight_decay))
    }
}
