//! What neural networks share: optimiser, dropout, and for how long they train.
//!
//! There is no weight decay by default. The competitors' published runs have a penalty w/2 · p² in a
//! loss that is a mean over cells, which keeps those networks near the column means.

use graphfill_engine::{Adam, Schedule, WeightDecay};

use super::imputer::TrainingConfig;
use super::likelihood::{BinaryLoss, Counts, LikelihoodOptions, NumericBlocks};
use super::trainer::EarlyStopping;
use super::validator::Criterion;
use crate::features::GroupKind;
use crate::method::Task;

/// How a network is optimised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// The learning rate of Adam.
    pub learning_rate: f32,
    /// The share of hidden numbers that is dropped in training.
    pub dropout: f32,
    /// The weight of the penalty on squared weights.
    pub weight_decay: f32,
    /// Updates without a better validation score before training ends.
    pub patience: u64,
}

impl Network {
    /// 1,000 updates at most, scored every 5; 300 updates where nothing can be validated.
    pub fn config(&self) -> TrainingConfig {
        TrainingConfig {
            stopping: EarlyStopping { epoch: 5, max_updates: 1_000, patience: self.patience },
            models: 1,
            unvalidated_updates: 300,
            criterion: Criterion::Published,
        }
    }

    /// The optimiser.
    pub fn adam(&self) -> Adam {
        let adam = Adam::new(Schedule::Constant(self.learning_rate));
        match self.weight_decay {
            0.0 => adam,
            weight => adam.with_weight_decay(WeightDecay::Coupled(weight)),
        }
    }
}

/// The likelihoods of networks that follow the paper: balanced Bernoulli, logarithms of counts.
pub fn published_likelihoods(scaling: NumericBlocks) -> LikelihoodOptions {
    LikelihoodOptions {
        blocks: scaling,
        counts: Counts::Logarithmic,
        binary: BinaryLoss::BalancedBernoulli,
    }
}

/// The dropout of a table by default: 0.5 for 0/1 blocks, 0.2 for other tables.
pub fn default_dropout(task: &Task<'_>) -> f32 {
    if only_binary_blocks(task) { 0.5 } else { 0.2 }
}

/// Whether a table has nothing but 0/1 blocks.
pub fn only_binary_blocks(task: &Task<'_>) -> bool {
    task.features.groups().iter().all(|group| group.kind == GroupKind::BinaryBlock)
}
