//! The loop that trains one model: some updates, validation, the best parameters kept.
//!
//! It ends when validation has not become better for `patience` updates, when there were enough
//! updates, at the deadline, or when somebody asks to stop. The session keeps the best parameters.

use graphfill_data::Progress;
use graphfill_engine::Session;

use super::history::HistoryLine;
use super::options::Deadline;
use crate::error::{MethodError, Result};

/// When a model is scored, and when its training ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Updates between two looks at validation.
    pub epoch: u64,
    /// The most updates.
    pub most_updates: u64,
    /// Updates without a better score after which training ends.
    pub patience: u64,
}

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// There were enough updates.
    Enough,
    /// Validation became no better.
    Patience,
    /// The deadline had come.
    Deadline,
    /// Somebody asked to stop.
    Stopped,
}

impl Ended {
    /// Whether training would have gone on.
    pub fn is_early(self) -> bool {
        matches!(self, Ended::Deadline | Ended::Stopped)
    }
}

/// Where a training is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// The updates so far.
    pub updates: u64,
    /// The best so far; its parameters are those that the session keeps.
    pub best: Option<Best>,
}

/// The best so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// After how many updates.
    pub updates: u64,
    /// Its score on the validation cells.
    pub score: f64,
}

/// A model's score on validation cells; more is better.
pub type Validation<'a> = &'a mut dyn FnMut(&mut Session) -> Result<f64>;

/// A model's scores on watched cells.
pub type Watch<'a> = &'a mut dyn FnMut(&mut Session) -> Result<Vec<f64>>;

/// The programs of an update, in their order, by its number.
pub type Update<'a> = &'a dyn Fn(u64) -> Vec<&'a str>;

/// Who sees the state after every epoch, and whether the training ends there.
pub type Each<'a> = &'a mut dyn FnMut(&Session, &State, HistoryLine, Option<Ended>) -> Result<()>;

/// What a training is given beside its session.
pub struct Loop<'a, 'u> {
    /// The programs of an update.
    pub update: Update<'u>,
    /// The outputs of the last of them that are watched.
    pub losses: &'a [String],
    /// When to look and when to end.
    pub schedule: Schedule,
    /// When to end in any case.
    pub deadline: Option<Deadline>,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

impl Loop<'_, '_> {
    /// Trains from a state on. `each` sees the state after every epoch, and whether the training
    /// ends there.
    pub fn run(
        &self,
        session: &mut Session,
        state: &mut State,
        mut validation: Option<Validation<'_>>,
        watch: Watch<'_>,
        each: Each<'_>,
    ) -> Result<Ended> {
        if let (0, Some(validate)) = (state.updates, validation.as_mut()) {
            // What a model says before it has learnt anything may be the best there is.
            let score = validate(session)?;
            keep_better(state, score, session)?;
        }
        // A training that was resumed at its end has nothing left to do.
        if let Some(ended) = self.ended(state) {
            return Ok(ended);
        }
        loop {
            let updates = self.schedule.epoch.min(self.schedule.most_updates - state.updates);
            let mut last = "";
            for number in state.updates..state.updates + updates {
                for program in (self.update)(number) {
                    session.run(program)?;
                    last = program;
                }
            }
            state.updates += updates;
            let losses = self.losses.iter().map(|name| session.scalar(last, name));
            let losses = losses.collect::<Result<Vec<f32>, _>>()?;
            if losses.iter().any(|loss| !loss.is_finite()) {
                return Err(MethodError::Diverged { updates: state.updates });
            }
            let score = validation.as_mut().map(|validate| validate(session)).transpose()?;
            if let Some(score) = score {
                keep_better(state, score, session)?;
            }
            let ended = self.ended(state);
            let watched = watch(session)?;
            let (update, validation) = (state.updates, score);
            let line = HistoryLine { model: 0, update, losses, validation, watched };
            self.progress.advance(updates);
            each(session, state, line, ended)?;
            if let Some(ended) = ended {
                tracing::debug!(updates = state.updates, ?ended, "training ended");
                return Ok(ended);
            }
        }
    }

    fn ended(&self, state: &State) -> Option<Ended> {
        let since = state.best.as_ref().map_or(0, |best| state.updates - best.updates);
        if state.updates >= self.schedule.most_updates {
            Some(Ended::Enough)
        } else if state.best.is_some() && since >= self.schedule.patience {
            Some(Ended::Patience)
        } else if self.progress.is_cancelled() && state.updates > 0 {
            Some(Ended::Stopped)
        } else if self.deadline.is_some_and(|deadline| deadline.is_over()) && state.updates > 0 {
            Some(Ended::Deadline)
        } else {
            None
        }
    }
}

fn keep_better(state: &mut State, score: f64, session: &mut Session) -> Result<()> {
    if state.best.is_none_or(|best| score > best.score) {
        session.keep()?;
        state.best = Some(Best { updates: state.updates, score });
    }
    Ok(())
}
