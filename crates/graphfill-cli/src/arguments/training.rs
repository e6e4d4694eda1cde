//! The arguments of commands that train.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::quantities::{memory_size, time};

/// Limits of training.
#[derive(Args)]
pub(crate) struct Training {
    /// The largest number of updates of a model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Training")]
    pub(crate) max_updates: Option<u64>,
    /// End the training of a method after this time, such as 90s, 10m or 1.5h, and use the best so far
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Training")]
    pub(crate) time_limit: Option<Duration>,
    /// Fail if reading (of the machine) or training (of the device) needs more memory, such as 4GiB or 500MB [default: half of the RAM; what is free on the device]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Training")]
    pub(crate) memory_limit: Option<u64>,
    /// Write losses and validation scores, line by line, to this CSV file
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub(crate) history: Option<PathBuf>,
    /// Parameters from a TOML file with a table for each method; with --tune, what was found is kept in it
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub(crate) params_file: Option<PathBuf>,
    /// Try so many settings on validation before training, and take the best; needs --params-file
    #[arg(long, value_name = "N", requires = "params_file", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Training")]
    pub(crate) tune: Option<u32>,
}

/// Checkpoints and saved models.
#[derive(Args)]
pub(crate) struct Checkpoint {
    /// Keep the state of training in this file; the same command goes on from it, and --model uses it
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Write the checkpoint each time after so many updates
    #[arg(long, value_name = "N", default_value_t = 100, requires = "checkpoint", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Training")]
    pub(crate) checkpoint_every: u64,
    /// Estimate with the model that --checkpoint saved, without training
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "param", "checkpoint", "params_file", "max_updates", "time_limit", "history"], help_heading = "Training")]
    pub(crate) model: Option<PathBuf>,
}
