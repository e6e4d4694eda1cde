//! The trainer: updates, validation, early stopping, checkpoints.
//!
//! A model is scored on its validation cells every epoch, and the session keeps the best parameters.
//! Training ends when the score has not become better for `patience` updates, after `max_updates`, at
//! the deadline, or when the caller cancels.

use std::fmt::Write;

use graphfill_engine::Session;
use serde::{Deserialize, Serialize};

use super::checkpoint::{FinishedModel, TrainingRun};
use super::decoded::Decoded;
use super::decoder::{DecoderSpec, TrainedModel};
use super::evaluators::Evaluators;
use super::history::HistoryLine;
use super::imputer::{Prepared, TrainableModel};
use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::method::Task;

/// When a model is scored, and when its training ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyStopping {
    /// Updates between two scores.
    pub epoch: u64,
    /// The maximum number of updates.
    pub max_updates: u64,
    /// Updates without a better score after which training ends.
    pub patience: u64,
}

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// The maximum number of updates was reached.
    MaxUpdates,
    /// Validation did not become better.
    Patience,
    /// The deadline had passed.
    Deadline,
    /// The caller cancelled.
    Cancelled,
}

impl StopReason {
    /// Whether training would have gone on.
    pub fn is_early(self) -> bool {
        matches!(self, StopReason::Deadline | StopReason::Cancelled)
    }
}

/// The state of the model in training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingState {
    /// The number of updates so far.
    pub updates: u64,
    /// The best score so far. The session keeps its parameters.
    pub best: Option<BestScore>,
}

/// The best score so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BestScore {
    /// After how many updates.
    pub updates: u64,
    /// The score on the validation cells.
    pub score: f64,
}

/// One prepared model, trained several times from different seeds.
pub(super) struct Trainer<'m, 'a> {
    model: &'m dyn TrainableModel,
    task: &'m Task<'a>,
    session: Session,
    pub(super) spec: DecoderSpec,
    evaluators: Evaluators<'m, 'a>,
    pub(super) trained: Vec<TrainedModel>,
}

impl<'m, 'a> Trainer<'m, 'a> {
    /// Allocates a session for the prepared programs, on the device of the task.
    pub(super) fn new(
        model: &'m dyn TrainableModel,
        task: &'m Task<'a>,
        prepared: Prepared,
        evaluators: Evaluators<'m, 'a>,
    ) -> Result<Self> {
        let (prepared, evaluators) = evaluators.recorded(task, prepared)?;
        let Prepared { mut plan, inputs, spec } = prepared;
        plan.check_memory(task.context.memory_limit(), model.memory_parameter())?;
        let mut session = Session::new(plan, task.context.seed)?;
        for (name, values) in inputs {
            session.write(&name, &values)?;
        }
        Ok(Trainer { model, task, session, spec, evaluators, trained: Vec::new() })
    }

    /// Trains one more model, or takes what an earlier run left of it. Returns the number of updates
    /// after which its parameters were taken.
    pub(super) fn train(
        &mut self,
        run: &mut TrainingRun<'_>,
        purpose: &str,
        mut stopping: EarlyStopping,
    ) -> Result<u64> {
        let (context, at) = (self.task.context, self.trained.len());
        self.session.restart(model_seed(context.seed, at))?;
        run.begin_model(purpose, &self.spec.losses);
        let updates = match run.found_finished(&mut self.session)? {
            Some(finished) => finished.updates,
            None => {
                if let Some(max) = context.max_updates {
                    stopping.max_updates = stopping.max_updates.min(max);
                }
                self.train_new(run, purpose, stopping)?
            }
        };
        self.trained.push(self.model.read(&self.spec, &mut self.session, None, None)?);
        Ok(updates)
    }

    fn train_new(
        &mut self,
        run: &mut TrainingRun<'_>,
        purpose: &str,
        stopping: EarlyStopping,
    ) -> Result<u64> {
        let progress = self.task.context.progress;
        let mut state = run.resume(&mut self.session)?;
        progress.begin(purpose, Some(stopping.max_updates));
        progress.advance(state.updates);
        if state.updates == 0 && self.evaluators.has_validation() {
            // A model with a good prior may be best before its first update.
            self.keep_if_better(&mut state)?;
        }
        let mut saved_at = state.updates;
        // A training that was resumed at its end has nothing left to do.
        let mut stop = self.stop_reason(&state, stopping);
        while stop.is_none() {
            let updates = stopping.epoch.min(stopping.max_updates - state.updates);
            let losses = self.run_updates(state.updates..state.updates + updates)?;
            state.updates += updates;
            if losses.iter().any(|loss| !loss.is_finite()) {
                return Err(MethodError::Diverged { updates: state.updates });
            }
            let validation = match self.evaluators.has_validation() {
                true => Some(self.keep_if_better(&mut state)?),
                false => None,
            };
            stop = self.stop_reason(&state, stopping);
            let watched =
                self.evaluators.watched(self.model, self.task, &self.spec, &mut self.session)?;
            progress.advance(updates);
            let line = HistoryLine { model: 0, update: state.updates, losses, validation, watched };
            progress.set_message(&self.message(&line, &state));
            run.record(&self.session, &state, line, stop, &mut saved_at)?;
        }
        progress.end();
        let stop = stop.unwrap_or(StopReason::MaxUpdates);
        tracing::debug!(updates = state.updates, ?stop, "training ended");
        let (updates, score) = match &state.best {
            Some(best) => {
                self.session.restore_kept()?;
                (best.updates, Some(best.score))
            }
            None => (state.updates, None),
        };
        run.finish(&self.session, FinishedModel { updates, score, stop })?;
        Ok(updates)
    }

    /// Runs updates; returns the losses of the last one.
    fn run_updates(&mut self, numbers: std::ops::Range<u64>) -> Result<Vec<f32>> {
        let mut last = "";
        for number in numbers {
            for program in self.model.update(number) {
                self.session.run(program)?;
                last = program;
            }
        }
        let losses = self.spec.losses.iter().map(|name| self.session.scalar(last, name));
        Ok(losses.collect::<Result<Vec<f32>, _>>()?)
    }

    /// Scores the model, and keeps its parameters if they are the best so far.
    fn keep_if_better(&mut self, state: &mut TrainingState) -> Result<f64> {
        let score =
            self.evaluators.validation(self.model, self.task, &self.spec, &mut self.session)?;
        if state.best.is_none_or(|best| score > best.score || best.score.is_nan()) {
            self.session.keep()?;
            state.best = Some(BestScore { updates: state.updates, score });
        }
        Ok(score)
    }

    fn stop_reason(&self, state: &TrainingState, stopping: EarlyStopping) -> Option<StopReason> {
        let context = self.task.context;
        let since_best = state.best.as_ref().map_or(0, |best| state.updates - best.updates);
        if state.updates >= stopping.max_updates {
            Some(StopReason::MaxUpdates)
        } else if state.best.is_some() && since_best >= stopping.patience {
            Some(StopReason::Patience)
        } else if context.progress.is_cancelled() && state.updates > 0 {
            Some(StopReason::Cancelled)
        } else if context.deadline.is_some_and(|deadline| deadline.is_over()) && state.updates > 0 {
            Some(StopReason::Deadline)
        } else {
            None
        }
    }

    /// Losses, validation and the best score so far, for the progress bar.
    fn message(&self, line: &HistoryLine, state: &TrainingState) -> String {
        let mut text = String::new();
        for (name, loss) in self.spec.losses.iter().zip(&line.losses) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{name} {loss:.4}  ");
        }
        if let (Some(score), Some(best)) = (line.validation, &state.best) {
            let _ =
                write!(text, "validation {score:.4} (best {:.4} at {})", best.score, best.updates);
        }
        text.trim_end().to_owned()
    }

    /// The likeliest class of every node, by the last model.
    pub(super) fn classes(&self) -> Option<Vec<u32>> {
        let labels = self.task.labels?;
        self.trained.last()?.classes(labels.classes.len())
    }

    /// The features of the table.
    pub(super) fn features(&self) -> &'a Features<'a> {
        self.task.features
    }

    /// The models so far, ready to estimate.
    pub(super) fn decoded(&self) -> Decoded {
        Decoded::of(self.task, &self.spec, self.trained.clone())
    }
}

/// The seed of one of several models; the first has the seed of the run.
fn model_seed(seed: u64, model: usize) -> u64 {
    seed.wrapping_add((model as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
