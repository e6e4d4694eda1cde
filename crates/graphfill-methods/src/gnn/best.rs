//! The best of the three networks on the validation cells.
//!
//! Each has a checkpoint of its own beside the one that was asked for, so that a search that was
//! killed goes on where it was; when all are trained, the file of the best one takes its place, and
//! the others go.

use std::fs;
use std::path::{Path, PathBuf};

use graphfill_engine::TensorStore;

use super::compared::Compared;
use super::method::{GRID, fit, restore};
use super::settings::{BEST_PARAMETERS, NETWORK, Settings};
use crate::encoder::EncoderKind;
use crate::error::{MethodError, Result};
use crate::learning::{CheckpointOptions, Deadline, Ended, Saved, TrainingOptions};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::tuning::Axis;

const NAME: &str = "gnn";
const KINDS: [EncoderKind; 3] = [EncoderKind::Gcn, EncoderKind::Sage, EncoderKind::Gat];

/// The best of three graph networks.
#[derive(Debug, Clone, Copy)]
pub struct Gnn;

impl Method for Gnn {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: NAME,
            title: "Best of three graph networks",
            about: "Trains gcn, sage and gat, and takes the one that does best on values hidden from it.",
            reference: "",
            parameters: BEST_PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        // Checks all that is fixed before anything is trained.
        let settings = |kind| Settings::of(NAME, BEST_PARAMETERS, kind, task);
        let of_all = KINDS.into_iter().map(settings).collect::<Result<Vec<Settings>>>()?;
        of_all.iter().try_for_each(|settings| settings.model().check())?;
        if let Some(kind) = chosen(task) {
            return Ok(Box::new(fit(settings(kind)?, task)?));
        }
        if task.validation.is_empty() {
            let learnt = fit(of_all[0], task)?;
            return Ok(Box::new(Compared::uncompared(of_all[0].kind, learnt)));
        }
        let mut candidates = Vec::new();
        for (at, settings) in of_all.iter().enumerate() {
            let training = own_training(task.training, settings.kind, of_all.len() - at);
            let learnt = fit(*settings, &Task { training: &training, ..*task })?;
            let stopped = learnt.ended_early() == Some(Ended::Stopped);
            candidates.push((settings.kind, learnt));
            if stopped {
                break;
            }
        }
        let compared = Compared::new(candidates);
        let finished = compared.ended_early().is_none();
        if let Some(checkpoint) = task.training.checkpoint.as_ref().filter(|_| finished) {
            keep_best(&checkpoint.path, compared.best)?;
        }
        Ok(Box::new(compared))
    }

    fn grid(&self) -> &'static [Axis] {
        GRID
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        restore(task, saved, |task| {
            let kind = fixed_kind(task).unwrap_or(KINDS[0]);
            Settings::of(NAME, BEST_PARAMETERS, kind, task)
        })
    }
}

/// The network that the caller fixed.
fn fixed_kind(task: &Task<'_>) -> Option<EncoderKind> {
    task.fixed.of(NAME).word(NETWORK).and_then(|word| word.parse().ok())
}

/// The network that the caller fixed, or that an earlier run has found best and saved. A file that
/// holds anything else is of another run, as training finds out.
fn chosen(task: &Task<'_>) -> Option<EncoderKind> {
    let earlier = || {
        let path = &task.training.checkpoint.as_ref().filter(|options| options.path.exists())?.path;
        let saved = TensorStore::read_beside_session(path).ok();
        let saved = saved.and_then(|store| Saved::read(&store, task).ok());
        let word = saved.and_then(|saved| saved.fixed.of(NAME).word(NETWORK)?.parse().ok());
        Some(word.unwrap_or(KINDS[0]))
    };
    fixed_kind(task).or_else(earlier)
}

/// A checkpoint of its own and its share of the time, where `left` networks are left to train.
fn own_training(training: &TrainingOptions, kind: EncoderKind, left: usize) -> TrainingOptions {
    let checkpoint = training.checkpoint.as_ref();
    TrainingOptions {
        checkpoint: checkpoint.map(|options| CheckpointOptions {
            path: own_path(&options.path, kind),
            ..options.clone()
        }),
        deadline: training.deadline.map(|deadline| Deadline::after(deadline.left() / left as u32)),
        ..training.clone()
    }
}

fn own_path(path: &Path, kind: EncoderKind) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{kind}"));
    PathBuf::from(name)
}

/// The file of the best network becomes the checkpoint; those of the others are removed.
fn keep_best(path: &Path, best: EncoderKind) -> Result<()> {
    let failed = |error: std::io::Error| MethodError::Checkpoint {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    fs::rename(own_path(path, best), path).map_err(failed)?;
    for kind in KINDS.into_iter().filter(|kind| *kind != best) {
        fs::remove_file(own_path(path, kind)).map_err(failed)?;
    }
    Ok(())
}
