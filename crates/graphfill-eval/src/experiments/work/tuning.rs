//! Tuning on the validation cells of a job's own split, with the same number of trials for every method.

use std::ffi::OsString;
use std::path::PathBuf;

use graphfill_data::{DataError, atomic_file};
use graphfill_methods::tuning::{self, Trial};
use graphfill_methods::{Context, ParamOverrides, Parameters, Result, Task};

use super::JobContext;

/// The parameters that tuning chose, and how long it took.
pub(super) struct Tuned {
    pub(super) parameters: ParamOverrides,
    pub(super) seconds: f64,
}

impl JobContext<'_> {
    /// The best of `trials` settings on the validation cells of a task: the defaults, and settings of the
    /// method's grid in a random order. What is fixed stays as it is.
    ///
    /// Trials are kept beside the checkpoint, so that an interrupted job does not repeat them.
    pub(super) fn tuned(&self, task: &Task<'_>) -> Result<Tuned> {
        let method = self.method(&self.parameters)?;
        let info = method.info();
        let name = info.name;
        let fixed = self.parameters.of(name);
        let mut parameters = self.parameters.clone();
        let is_open = |name: &str| !fixed.has(name);
        if !info.parameters.iter().any(|own| !own.tuning.is_empty() && is_open(own.name)) {
            return Ok(Tuned { parameters, seconds: 0.0 });
        }
        let context = Context { checkpoint: None, ..self.context.clone() };
        let task = Task { context: &context, ..*task };
        let mut known = self.known_trials();
        if known.is_empty() {
            let started = std::time::Instant::now();
            let score = method.trial(&task)?;
            self.context.progress.check()?;
            let seconds = started.elapsed().as_secs_f64();
            known.push(Trial { score, seconds, parameters: Parameters::default() });
        }
        let mut save = |trials: &[Trial]| self.save_trials(trials);
        save(&known)?;
        let trials = tuning::search(&*method, &fixed, &task, self.trials, known, &mut save)?;
        let seconds = trials.iter().map(|trial| trial.seconds).sum();
        if let Some(best) = tuning::best(&trials) {
            for (parameter, value) in best.parameters.iter() {
                parameters.set(name, parameter, value.clone());
            }
        }
        Ok(Tuned { parameters, seconds })
    }

    fn trials_path(&self) -> PathBuf {
        let mut path = OsString::from(self.checkpoint);
        path.push(".trials");
        path.into()
    }

    /// The trials of an interrupted job; none where there are none or they cannot be read.
    fn known_trials(&self) -> Vec<Trial> {
        let text = std::fs::read_to_string(self.trials_path()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn save_trials(&self, trials: &[Trial]) -> Result<()> {
        let path = self.trials_path();
        let text =
            serde_json::to_string(trials).map_err(|error| DataError::write(&path, error.into()))?;
        Ok(atomic_file::write(&path, text.as_bytes())?)
    }
}
