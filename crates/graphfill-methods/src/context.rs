//! Seed, device, limits, checkpoint, progress and cancellation of a fit.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use graphfill_data::{NoProgress, Progress};
use graphfill_engine::{Device, MemoryLimit};

/// What a fit is given beside the data. By default: seed 0, the CPU, no limits, no checkpoint.
#[derive(Clone)]
pub struct Context<'a> {
    /// The seed of everything random.
    pub seed: u64,
    /// The device on which models are trained and values propagated.
    pub device: Device,
    /// The device on which models are scored during training.
    pub validation_device: ValidationDevice,
    /// The maximum number of updates of one model.
    pub max_updates: Option<u64>,
    /// When training ends, whatever was reached.
    pub deadline: Option<Deadline>,
    /// The maximum memory that a model may take.
    pub memory: Option<MemoryLimit>,
    /// The file that keeps the state of the training.
    pub checkpoint: Option<CheckpointOptions>,
    /// Receives progress updates, and says whether to stop.
    pub progress: &'a dyn Progress,
}

impl Default for Context<'_> {
    fn default() -> Self {
        Context {
            seed: 0,
            device: Device::cpu(),
            validation_device: ValidationDevice::default(),
            max_updates: None,
            deadline: None,
            memory: None,
            checkpoint: None,
            progress: &NoProgress,
        }
    }
}

impl Context<'_> {
    /// A context with another seed.
    pub fn with_seed(seed: u64) -> Self {
        Context { seed, ..Context::default() }
    }

    /// The memory limit: what was set, else what the machine has available.
    pub fn memory_limit(&self) -> MemoryLimit {
        self.memory.unwrap_or(MemoryLimit::Available)
    }
}

/// The device that computes scores on validation cells. They are the same up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationDevice {
    /// The GPU if the model is trained there, else the CPU.
    #[default]
    Automatic,
    /// The CPU, from latents and weights that are downloaded.
    Cpu,
    /// The device that the model is trained on, as far as the method supports it.
    Training,
}

/// When training ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    start: Instant,
    limit: Duration,
}

impl Deadline {
    /// This long from now.
    pub fn after(limit: Duration) -> Self {
        Deadline { start: Instant::now(), limit }
    }

    /// Whether it has passed.
    pub fn is_over(&self) -> bool {
        self.start.elapsed() >= self.limit
    }

    /// The time that is left.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed())
    }

    /// The whole duration.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The same duration, from now.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Deadline::after(self.limit)
    }
}

/// Where and how often the state of a training is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// The file. A training that finds its own state in it goes on from there.
    pub path: PathBuf,
    /// The number of updates after which it is written again.
    pub every: u64,
}

/// Passes progress updates on and ignores cancellation, for work that must finish after a stop.
pub struct IgnoreCancel<'a>(pub &'a dyn Progress);

impl Progress for IgnoreCancel<'_> {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.0.begin(stage, total);
    }

    fn advance(&self, units: u64) {
        self.0.advance(units);
    }

    fn set_message(&self, state: &str) {
        self.0.set_message(state);
    }

    fn end(&self) {
        self.0.end();
    }
}

/// Passes progress on, the names of stages behind that of the work that they belong to.
pub(crate) struct LabelledProgress<'a> {
    pub(crate) stage: &'static str,
    pub(crate) progress: &'a dyn Progress,
}

impl Progress for LabelledProgress<'_> {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.progress.begin(&format!("{}: {stage}", self.stage), total);
    }

    fn advance(&self, units: u64) {
        self.progress.advance(units);
    }

    fn set_message(&self, state: &str) {
        self.progress.set_message(state);
    }

    fn end(&self) {
        self.progress.end();
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }
}
