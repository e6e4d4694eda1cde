//! A course of trainings, one model after the other, that survives being killed.
//!
//! With a checkpoint file, its state is saved every so many updates, and the parameters of finished
//! models with it. The same course on the same data finds the file, skips what is finished and goes
//! on within the model that was being trained, to the bit as if it had never been interrupted. After
//! the last model the file is the trained model.

use std::fmt::Write;

use graphfill_data::Progress;
use graphfill_engine::{Session, Shape, Snapshot, TensorStore, Tensors};

use super::history::{History, HistoryLine};
use super::options::{CheckpointOptions, TrainingOptions};
use super::training::{Best, Ended, Loop, Schedule, State, Update, Validation, Watch};
use crate::error::{MethodError, Result};

/// A model that was trained.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The updates after which its parameters were taken.
    pub updates: u64,
    /// Its score on the validation cells, where there were any.
    pub score: Option<f64>,
    /// Why its training ended.
    pub ended: Ended,
    /// Its parameters.
    pub parameters: Tensors,
}

/// Trainings in order.
pub struct Course<'a> {
    options: &'a TrainingOptions,
    progress: &'a dyn Progress,
    /// What the file must be of.
    identity: String,
    /// What makes the file a model.
    about: TensorStore,
    found: Option<TensorStore>,
    finished: Vec<Finished>,
    history: History,
}

/// One training of a course.
pub struct Stage<'a> {
    /// What the model is for, in a few words.
    pub purpose: String,
    /// The programs of an update.
    pub update: Update<'a>,
    /// The outputs of the last of them that are watched.
    pub losses: Vec<String>,
    /// When to look and when to end.
    pub schedule: Schedule,
}

impl<'a> Course<'a> {
    /// A course that is told apart from others by `identity`; `about` is saved with its models.
    pub fn begin(
        options: &'a TrainingOptions,
        progress: &'a dyn Progress,
        identity: String,
        about: TensorStore,
    ) -> Result<Self> {
        let found = match &options.checkpoint {
            Some(CheckpointOptions { path, .. }) if path.exists() => {
                let store = TensorStore::read_beside_session(path)?;
                let of_this = store.texts.get(IDENTITY) == Some(&identity);
                if !of_this {
                    return Err(MethodError::OtherRun { path: path.clone() });
                }
                Some(store)
            }
            _ => None,
        };
        let (finished, history) = (Vec::new(), History::default());
        Ok(Course { options, progress, identity, about, found, finished, history })
    }

    /// Saves this with the models from now on.
    pub fn describe(&mut self, about: TensorStore) {
        self.about = about;
    }

    /// What happened so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The models so far.
    pub fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// Whether the last model was ended early: the next ones would be, too.
    pub fn is_over(&self) -> bool {
        self.finished.last().is_some_and(|finished| finished.ended.is_early())
    }

    /// Trains the next model of the course, or takes up what an earlier run left of it. The session
    /// has its parameters afterwards. `watch` gives the scores that the history wants.
    pub fn train(
        &mut self,
        session: &mut Session,
        stage: &Stage<'_>,
        validation: Option<Validation<'_>>,
        watch: Watch<'_>,
    ) -> Result<&Finished> {
        let model = self.finished.len();
        self.history.losses.clone_from(&stage.losses);
        self.history.models.push(stage.purpose.clone());
        if let Some(finished) = self.found_finished(model)? {
            session.restore(&session.snapshot_of(&finished.parameters)?)?;
            self.history.lines.extend(self.found_history(model));
            self.finished.push(finished);
            return Ok(&self.finished[model]);
        }
        let mut state = self.resume(session, model)?;
        let before = self.found_history(model).into_iter();
        self.history.lines.extend(before.filter(|line| line.update <= state.updates));
        let mut schedule = stage.schedule;
        if let Some(most) = self.options.most_updates {
            schedule.most_updates = schedule.most_updates.min(most);
        }
        let training = Loop {
            update: stage.update,
            losses: &stage.losses,
            schedule,
            deadline: self.options.deadline,
            progress: self.progress,
        };
        self.progress.begin(&stage.purpose, Some(schedule.most_updates));
        self.progress.advance(state.updates);
        let mut saved = state.updates;
        let ended = training.run(
            session,
            &mut state,
            validation,
            watch,
            &mut |session, state, line, ended| {
                self.progress.set_message(&live_line(&stage.losses, &line, state));
                self.history.lines.push(HistoryLine { model, ..line });
                if let Some(checkpoint) = &self.options.checkpoint {
                    let due = state.updates - saved >= checkpoint.every;
                    if due || ended.is_some_and(Ended::is_early) {
                        saved = state.updates;
                        let best = state.best.map(|_| session.kept()).transpose()?.flatten();
                        let contents = self.contents(Some((state, best)));
                        session.save_with(&checkpoint.path, &contents)?;
                    }
                }
                Ok(())
            },
        )?;
        self.progress.end();
        let (updates, score) = match &state.best {
            Some(best) => {
                session.restore_kept()?;
                (best.updates, Some(best.score))
            }
            None => (state.updates, None),
        };
        let parameters = session.snapshot()?.tensors();
        self.finished.push(Finished { updates, score, ended, parameters });
        if let Some(checkpoint) = self.options.checkpoint.as_ref().filter(|_| !ended.is_early()) {
            session.save_with(&checkpoint.path, &self.contents(None))?;
        }
        Ok(&self.finished[model])
    }

    /// What is saved beside the session: with the state and the best parameters of the model that is
    /// being trained, if one is.
    fn contents(&self, training: Option<(&State, Option<Snapshot>)>) -> TensorStore {
        let mut store = self.about.clone();
        let mut text = |name: &str, value: String| store.texts.insert(name.to_owned(), value);
        text(IDENTITY, self.identity.clone());
        text(FINISHED, self.finished.len().to_string());
        for (model, finished) in self.finished.iter().enumerate() {
            text(&format!("{model} updates"), finished.updates.to_string());
            text(&format!("{model} ended"), format!("{:?}", finished.ended));
            if let Some(score) = finished.score {
                text(&format!("{model} score"), bits(score));
            }
        }
        if let Some((state, _)) = &training {
            text(UPDATES, state.updates.to_string());
            if let Some(best) = &state.best {
                text("best updates", best.updates.to_string());
                text("best score", bits(best.score));
            }
        }
        for (model, finished) in self.finished.iter().enumerate() {
            for (name, tensor) in &finished.parameters {
                store.tensors.insert(format!("{model} {name}"), tensor.clone());
            }
        }
        if let Some(best) = training.and_then(|(_, best)| best) {
            for (name, tensor) in best.tensors() {
                store.tensors.insert(format!("best {name}"), tensor);
            }
        }
        store.tensors.insert(HISTORY.to_owned(), self.history_as_tensor());
        store
    }

    /// Sets the session to where an earlier run left this model.
    fn resume(&self, session: &mut Session, model: usize) -> Result<State> {
        let fresh = State { updates: 0, best: None };
        let Some(found) = &self.found else { return Ok(fresh) };
        let being_trained = number(found, FINISHED)?;
        let (Some(updates), true) = (found.texts.get(UPDATES), being_trained == model as u64)
        else {
            return Ok(fresh);
        };
        let Some(checkpoint) = &self.options.checkpoint else { return Ok(fresh) };
        let best = match found.texts.get("best score") {
            None => None,
            Some(score) => {
                session.restore(&session.snapshot_of(&tensors_under(found, "best "))?)?;
                session.keep()?;
                Some(Best { updates: number(found, "best updates")?, score: from_bits(score) })
            }
        };
        session.load(&checkpoint.path)?;
        Ok(State { updates: updates.parse().unwrap_or(0), best })
    }

    fn found_finished(&self, model: usize) -> Result<Option<Finished>> {
        let Some(found) = &self.found else { return Ok(None) };
        if model as u64 >= number(found, FINISHED)? {
            return Ok(None);
        }
        finished_in(found, model).map(Some)
    }

    /// Model, update, validation (NaN where none), the losses and the watched scores, a line a row.
    fn history_as_tensor(&self) -> (Shape, Vec<f32>) {
        let watched = self.history.lines.first().map_or(0, |line| line.watched.len());
        let columns = 4 + self.history.losses.len() + watched;
        let mut values = Vec::with_capacity(self.history.lines.len() * columns);
        for line in &self.history.lines {
            values.extend([line.model as f32, line.update as f32]);
            // A score has twice the digits of a number here.
            let score = line.validation.unwrap_or(f64::NAN);
            let high = score as f32;
            values.extend([high, (score - f64::from(high)) as f32]);
            values.extend(&line.losses);
            values.extend(line.watched.iter().map(|&score| score as f32));
        }
        (Shape::new(self.history.lines.len(), columns), values)
    }

    fn found_history(&self, model: usize) -> Vec<HistoryLine> {
        let tensor = self.found.as_ref().and_then(|found| found.tensors.get(HISTORY));
        let Some((shape, values)) = tensor else { return Vec::new() };
        let watched = (4 + self.history.losses.len()).min(shape.columns);
        let lines = values.chunks_exact(shape.columns.max(4)).map(|line| HistoryLine {
            model: line[0] as usize,
            update: line[1] as u64,
            validation: (!line[2].is_nan()).then(|| f64::from(line[2]) + f64::from(line[3])),
            losses: line[4..watched].to_vec(),
            watched: line[watched..].iter().map(|&score| f64::from(score)).collect(),
        });
        lines.filter(|line| line.model == model).collect()
    }
}

const IDENTITY: &str = "identity";
const FINISHED: &str = "finished models";
const UPDATES: &str = "updates";
const HISTORY: &str = "history";

/// A finished model of a saved course.
pub fn finished_in(store: &TensorStore, model: usize) -> Result<Finished> {
    let ended = match store.texts.get(&format!("{model} ended")).map(String::as_str) {
        Some("Patience") => Ended::Patience,
        Some("Deadline") => Ended::Deadline,
        Some("Stopped") => Ended::Stopped,
        _ => Ended::Enough,
    };
    Ok(Finished {
        updates: number(store, &format!("{model} updates"))?,
        score: store.texts.get(&format!("{model} score")).map(|score| from_bits(score)),
        ended,
        parameters: tensors_under(store, &format!("{model} ")),
    })
}

/// How many models of a saved course are finished.
pub fn finished_count(store: &TensorStore) -> Result<usize> {
    Ok(number(store, FINISHED)? as usize)
}

fn tensors_under(store: &TensorStore, prefix: &str) -> Tensors {
    let own = store.tensors.iter();
    own.filter_map(|(name, tensor)| Some((name.strip_prefix(prefix)?.to_owned(), tensor.clone())))
        .collect()
}

fn number(store: &TensorStore, name: &str) -> Result<u64> {
    let found = store.texts.get(name).and_then(|text| text.parse().ok());
    found.ok_or_else(|| {
        MethodError::Table(format!(
            "the checkpoint is damaged: its `{name}` is missing or no whole number"
        ))
    })
}

/// All digits of a number, to be read back to the bit.
fn bits(number: f64) -> String {
    format!("{:016x}", number.to_bits())
}

fn from_bits(text: &str) -> f64 {
    u64::from_str_radix(text, 16).map_or(f64::NAN, f64::from_bits)
}

/// What the person who waits sees: losses, validation, the best so far.
fn live_line(names: &[String], line: &HistoryLine, state: &State) -> String {
    let mut text = String::new();
    for (name, loss) in names.iter().zip(&line.losses) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{name} {loss:.4}  ");
    }
    if let (Some(score), Some(best)) = (line.validation, &state.best) {
        let _ = write!(text, "validation {score:.4} (best {:.4} at {})", best.score, best.updates);
    }
    text.trim_end().to_owned()
}
