//! What every method that learns needs: targets and scales of a typed table, the training loop,
//! checkpoints, and estimates from latents.
//!
//! A method brings a [`Learner`]: programs for a table of which some cells are unknown, and the way
//! from a trained session to latents and decoder. [`Learnt::fit`] does the rest.

mod classes;
mod course;
mod decoded;
mod decoding;
mod fit;
mod history;
mod judges;
mod known_rows;
mod network_settings;
mod options;
mod saved;
mod scales;
mod targets;
mod trainer;
mod training;
mod trust;
mod undisturbed;
mod validation_program;
mod validator;

pub use classes::likeliest_classes;
pub use course::{Course, Finished, Stage, finished_count, finished_in};
pub use decoded::{Decoded, TrainedModel};
pub use decoding::{Bias, Decoding};
pub use fit::{HIDDEN_SETS, Learner, Learnt, Outlet, Prepared, TrainingConfig};
pub use history::{History, HistoryLine};
pub use known_rows::known_rows;
pub use network_settings::{
    DROPOUT_INFO, NetworkSettings, PATIENCE_INFO, Standing, WEIGHT_DECAY_INFO, learning_rate_info,
    only_binary_blocks,
};
pub use options::{CheckpointOptions, Deadline, TrainingOptions, ValidationPlace};
pub use saved::{METHOD, MODELS, Saved, changes, texts};
pub use scales::{Counts, NumericBlocks, Scale, ScaleOptions, Scales};
pub use targets::{BinaryLoss, Observed};
pub use training::{Best, Each, Ended, Loop, Schedule, State, Update, Validation, Watch};
pub use trust::Trust;
pub use undisturbed::Undisturbed;
pub use validator::{Criterion, Validator};
