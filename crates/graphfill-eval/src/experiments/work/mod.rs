//! What is done in a cell.

mod curves;
mod estimation;
mod timing;

use std::path::Path;

use graphfill_data::Progress;
use graphfill_methods::learning::{CheckpointOptions, Deadline, TrainingOptions};
use graphfill_methods::{DeviceUse, Result};

use super::cell::{Cell, Outcome, Work};
use super::grid::GridOptions;
use super::subject::Subject;

/// The updates after which the state of a training is saved.
const SAVED_EVERY: u64 = 100;

/// Does a cell's work. The last outcome is the cell's own; those before it came on the way.
pub(super) fn run(
    cell: &Cell,
    subject: &Subject,
    options: &GridOptions<'_>,
    checkpoint: &Path,
    progress: &dyn Progress,
) -> Result<Vec<(Work, Outcome)>> {
    let training = TrainingOptions {
        deadline: options.training.deadline.as_ref().map(Deadline::anew),
        checkpoint: Some(CheckpointOptions { path: checkpoint.to_path_buf(), every: SAVED_EVERY }),
        most_updates: cell.most_updates,
        preset: Some(subject.name.clone()),
        ..options.training.clone()
    };
    let place = Place { cell, subject, fixed: options.fixed, training: &training, progress };
    match cell.work {
        Work::Estimation { labels } => place.estimation(labels),
        Work::Classification => place.classification(),
        Work::Curves => place.curves(),
        Work::Timing => place.timing(),
    }
}

/// A cell with all that it needs.
struct Place<'a> {
    cell: &'a Cell,
    subject: &'a Subject,
    fixed: &'a graphfill_methods::FixedParameters,
    training: &'a TrainingOptions,
    progress: &'a dyn Progress,
}

impl Place<'_> {
    /// The card that such work uses, if it uses any.
    fn card(&self, work: Work) -> Option<String> {
        let device = &self.training.device;
        let is_used = match work {
            Work::Estimation { .. } | Work::Curves => {
                self.cell.method.device_use() != DeviceUse::Ignored
            }
            Work::Classification | Work::Timing => true,
        };
        (is_used && device.is_cuda()).then(|| device.describe())
    }

    /// An outcome in which nothing is filled in yet but whose it is.
    fn blank(&self, work: Work) -> Outcome {
        Outcome {
            dataset: self.subject.name.clone(),
            method: self.cell.method.info().name.to_owned(),
            seed: self.cell.seed,
            labels: 0.0,
            metrics: Default::default(),
            series: Default::default(),
            parameters: Default::default(),
            card: self.card(work),
            seconds: 0.0,
            ended_early: false,
        }
    }
}
