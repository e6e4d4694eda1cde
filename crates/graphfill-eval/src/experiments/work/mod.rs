//! What jobs do.

mod curves;
mod estimation;
mod timing;
mod tuning;

use std::path::Path;
use std::sync::Arc;

use graphfill_data::Progress;
use graphfill_methods::{
    CheckpointOptions, Context, Deadline, DeviceUse, Method, ParamOverrides, Registry, Result,
};

use super::benchmark::Benchmark;
use super::grid::GridOptions;
use super::job::{Job, Outcome, Work};

/// The updates between two checkpoints of a training.
const UPDATES_PER_CHECKPOINT: u64 = 100;

/// Runs a job. The last outcome is the job's own; those before it are of other work that it includes.
pub(super) fn run(
    job: &Job,
    benchmark: &Benchmark,
    options: &GridOptions<'_>,
    checkpoint: &Path,
    progress: &dyn Progress,
) -> Result<Vec<(Work, Outcome)>> {
    let path = checkpoint.to_path_buf();
    let context = Context {
        seed: job.seed,
        deadline: options.context.deadline.as_ref().map(Deadline::restarted),
        checkpoint: Some(CheckpointOptions { path, every: UPDATES_PER_CHECKPOINT }),
        max_updates: job.max_updates,
        progress,
        ..options.context.clone()
    };
    let parameters = job.parameters(&benchmark.name, options.fixed);
    let trials = options.trials;
    let job = JobContext { job, benchmark, parameters, trials, context: &context, checkpoint };
    match job.job.work {
        Work::Estimation { labels } => job.estimation(labels),
        Work::Classification => job.classification(),
        Work::Curves => job.curves(),
        Work::Timing => job.timing(),
    }
}

/// A job with all that it needs.
struct JobContext<'a> {
    job: &'a Job,
    benchmark: &'a Benchmark,
    /// The parameters of all methods, before any tuning.
    parameters: ParamOverrides,
    /// The number of settings that tuning compares.
    trials: usize,
    context: &'a Context<'a>,
    checkpoint: &'a Path,
}

impl JobContext<'_> {
    /// The GPU that such work uses, if it uses any.
    fn gpu(&self, work: Work) -> Option<String> {
        let device = &self.context.device;
        let is_used = match work {
            Work::Estimation { .. } | Work::Curves => {
                self.job.competitor.method.device_use() != DeviceUse::Ignored
            }
            Work::Classification | Work::Timing => true,
        };
        (is_used && device.is_cuda()).then(|| device.describe())
    }

    /// The method of the job, with parameters.
    fn method(&self, parameters: &ParamOverrides) -> Result<Arc<dyn Method>> {
        Registry::with_defaults().with_overrides(parameters)?.find(self.job.method_name())
    }

    /// An outcome without results.
    fn empty_outcome(&self, work: Work) -> Outcome {
        Outcome {
            dataset: self.benchmark.name.clone(),
            method: self.job.competitor.label.to_owned(),
            protocol: self.job.protocol,
            seed: self.job.seed,
            labels: 0.0,
            metrics: Default::default(),
            series: Default::default(),
            parameters: Default::default(),
            gpu: self.gpu(work),
            seconds: 0.0,
            ended_early: false,
        }
    }
}
