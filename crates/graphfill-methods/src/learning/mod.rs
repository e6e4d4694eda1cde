//! Models trained by gradient descent: likelihoods of a typed table, the trainer with early stopping
//! and checkpoints, and estimates from latents.
//!
//! A method brings a [`TrainableModel`]: programs for a table with unknown cells, and a [`DecoderSpec`]
//! that says how estimates follow from them. [`TrainedImputer::fit`] does the rest.

mod checkpoint;
mod decoded;
mod decoder;
mod evaluators;
mod history;
mod imputer;
mod known_rows;
mod likelihood;
mod network;
mod shrinkage;
mod targets;
mod trainer;
mod validation_program;
mod validator;

pub use checkpoint::{FinishedModel, RunState, SavedModel};
pub(crate) use checkpoint::{graph_fingerprint, read_state};
pub use decoded::Decoded;
pub use decoder::{Bias, DecoderSpec, LATENT, TrainedModel, Weight};
pub(crate) use decoder::{LABEL_BIAS, LABEL_WEIGHT, add_bias, has_parameter, parameter_of};
pub use history::{History, HistoryLine};
pub use imputer::{
    HIDDEN_SETS, Prepared, Purpose, TrainableModel, TrainedImputer, TrainingConfig,
    hidden_held_out_sets,
};
pub use known_rows::known_rows;
pub use likelihood::{
    BinaryLoss, Counts, GroupLikelihood, LikelihoodOptions, Likelihoods, NumericBlocks, Observed,
};
pub use network::{Network, default_dropout, only_binary_blocks, published_likelihoods};
pub use shrinkage::Shrinkage;
pub use trainer::{BestScore, EarlyStopping, StopReason, TrainingState};
pub use validator::{Criterion, Validator};
