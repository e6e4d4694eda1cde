//! What a caller may say about training, whatever the method.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use graphfill_engine::{Device, MemoryLimit};

/// Limits and checkpoints. By default there are none, and methods train until they get no better.
#[derive(Debug, Clone, Default)]
pub struct TrainingOptions {
    /// The most updates of one model.
    pub most_updates: Option<u64>,
    /// When training ends, whatever was reached.
    pub deadline: Option<Deadline>,
    /// Where the state of the training is kept.
    pub checkpoint: Option<CheckpointOptions>,
    /// Where models are trained.
    pub device: Device,
    /// Where their scores on validation cells are computed.
    pub validation: ValidationPlace,
    /// The most memory that a model may take.
    pub memory: Option<MemoryLimit>,
    /// The name of the data set, if it is one whose published settings are known.
    pub preset: Option<String>,
}

impl TrainingOptions {
    /// No limits and no checkpoints.
    pub const NONE: &'static TrainingOptions = &TrainingOptions {
        most_updates: None,
        deadline: None,
        checkpoint: None,
        device: Device::cpu(),
        validation: ValidationPlace::Automatic,
        memory: None,
        preset: None,
    };
}

/// Where the scores of a model on validation cells are computed. They are the same up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationPlace {
    /// On a card if the model is trained there, else on the host.
    #[default]
    Automatic,
    /// On the host, from latents and weights that are read from the device.
    Host,
    /// On the device that the model is trained on, as far as the method allows it.
    Device,
}

/// When training ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    begin: Instant,
    limit: Duration,
}

impl Deadline {
    /// So long from now on.
    pub fn after(limit: Duration) -> Self {
        Deadline { begin: Instant::now(), limit }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.begin.elapsed() >= self.limit
    }

    /// How long there is left.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.begin.elapsed())
    }

    /// How long there was at the beginning.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// As long as it was, from now on.
    #[must_use]
    pub fn anew(&self) -> Self {
        Deadline::after(self.limit)
    }
}

/// Where and how often the state of a training is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// The file. A training that finds its own state in it goes on from there.
    pub path: PathBuf,
    /// After how many updates it is written again.
    pub every: u64,
}
