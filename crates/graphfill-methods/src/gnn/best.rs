//! The best of the three networks on the validation cells.
//!
//! Each has a checkpoint of its own beside the one that was asked for, so that a search that was
//! killed goes on where it was; when all are trained, the file of the best one takes its place, and
//! the others go.

use std::fs;
use std::path::{Path, PathBuf};

use graphfill_engine::TensorStore;

use super::method::{GRID, fit, restore};
use super::settings::{BEST_PARAMETERS, NETWORK, Settings};
use crate::encoder::EncoderKind;
use crate::error::{MethodError, Result};
use crate::learning::{
    CheckpointOptions, Deadline, Ended, History, HistoryLine, Learnt, Saved, TrainingOptions,
};
use crate::method::{Choice, EstimateSink, Fitted, LabelUse, Method, MethodInfo, Task};
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
        if let Some(kind) = chosen(task) {
            return Ok(Box::new(fit(settings(kind)?, task)?));
        }
        if task.validation.is_empty() {
            let learnt = fit(of_all[0], task)?;
            let reason = "too few observed rows to compare networks on".to_owned();
            return Ok(Box::new(Best::new(learnt, Vec::new(), reason)));
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
        let best = best_of(candidates);
        if let Some(checkpoint) = task.training.checkpoint.as_ref().filter(|_| !best.is_early()) {
            keep_best(&checkpoint.path, best.kind())?;
        }
        Ok(Box::new(best))
    }

    fn grid(&self) -> &'static [Axis] {
        GRID
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Ignored
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
        let word = saved.and_then(|saved| Some(saved.fixed.of(NAME).word(NETWORK)?.parse().ok()?));
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

/// Of equals the first wins.
fn best_of(candidates: Vec<(EncoderKind, Learnt)>) -> Best {
    let score = |learnt: &Learnt| learnt.validation_score().unwrap_or(f64::NEG_INFINITY);
    let scores: Vec<String> =
        candidates.iter().map(|(kind, learnt)| format!("{kind} {:.4}", score(learnt))).collect();
    let reason = format!("validation scores: {}", scores.join(", "));
    let mut best: Option<usize> = None;
    for (at, (_, learnt)) in candidates.iter().enumerate() {
        if best.is_none_or(|best| score(learnt) > score(&candidates[best].1)) {
            best = Some(at);
        }
    }
    let best = best.unwrap_or(0);
    let mut candidates = candidates;
    let mut histories = Vec::new();
    let mut ended_early = None;
    for (kind, learnt) in &candidates {
        histories.extend(learnt.history().map(|history| (*kind, history.clone())));
        ended_early = ended_early.or(learnt.ended_early());
    }
    let (kind, learnt) = candidates.swap_remove(best);
    Best { ended_early, kind, ..Best::new(learnt, histories, reason) }
}

/// The best network, and what the others have shown.
struct Best {
    kind: EncoderKind,
    learnt: Learnt,
    choices: Vec<Choice>,
    history: History,
    ended_early: Option<Ended>,
}

impl Best {
    fn new(learnt: Learnt, histories: Vec<(EncoderKind, History)>, reason: String) -> Self {
        let choices = learnt.choices().iter();
        let choices = choices
            .map(|choice| Choice { reason: Some(reason.clone()), ..choice.clone() })
            .collect();
        let ended_early = learnt.ended_early();
        let history = match histories.is_empty() {
            true => learnt.history().cloned().unwrap_or_default(),
            false => joined(histories),
        };
        Best { kind: KINDS[0], learnt, choices, history, ended_early }
    }

    fn kind(&self) -> EncoderKind {
        self.kind
    }

    fn is_early(&self) -> bool {
        self.ended_early.is_some()
    }
}

/// One history of all networks, one after the other.
fn joined(histories: Vec<(EncoderKind, History)>) -> History {
    let mut all = History::default();
    for (kind, history) in histories {
        let before = all.models.len();
        all.losses = history.losses;
        all.models.extend(history.models.iter().map(|purpose| format!("{purpose} ({kind})")));
        let later = |line: HistoryLine| HistoryLine { model: before + line.model, ..line };
        all.lines.extend(history.lines.into_iter().map(later));
    }
    all
}

impl Fitted for Best {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        self.learnt.estimate(task, sink)
    }

    fn validated(&self, task: &Task<'_>) -> usize {
        self.learnt.validated(task)
    }

    fn estimate_validation(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        self.learnt.estimate_validation(task, set, sink)
    }

    fn validation_score(&self) -> Option<f64> {
        self.learnt.validation_score()
    }

    fn history(&self) -> Option<&History> {
        Some(&self.history)
    }

    fn ended_early(&self) -> Option<Ended> {
        self.ended_early
    }
}
