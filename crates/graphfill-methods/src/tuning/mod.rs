//! The search for parameters of a method that learns: settings of a grid, in a random order that the
//! seed decides, each trained and scored on validation cells; the best one wins.
//!
//! What was tried is handed out trial by trial and can be handed in again, so that a search goes on
//! where it was stopped.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{MethodError, Result};
use crate::learning::{Deadline, HIDDEN_SETS, TrainingOptions};
use crate::method::{Method, Task};
use crate::parameters::{FixedParameters, Parameters, Value};

/// A parameter and the values that are worth trying.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// The parameter.
    pub name: &'static str,
    /// Its values.
    pub values: AxisValues,
}

/// Values of one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisValues {
    /// Numbers.
    Numbers(&'static [f64]),
    /// Words.
    Words(&'static [&'static str]),
}

impl AxisValues {
    fn len(&self) -> usize {
        match self {
            AxisValues::Numbers(numbers) => numbers.len(),
            AxisValues::Words(words) => words.len(),
        }
    }

    fn value(&self, at: usize) -> Value {
        match self {
            AxisValues::Numbers(numbers) => numbers[at].into(),
            AxisValues::Words(words) => words[at].into(),
        }
    }
}

/// A setting that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// How good it was on the validation cells; more is better.
    pub score: f64,
    /// How long it took.
    pub seconds: f64,
    /// The setting.
    pub parameters: Parameters,
}

/// Tries settings until `trials` were tried, those of `known` among them. `each` sees every new
/// trial. Parameters that the caller fixed stay as they are.
pub fn search(
    method: &dyn Method,
    task: &Task<'_>,
    trials: usize,
    known: Vec<Trial>,
    each: &mut dyn FnMut(&[Trial]) -> Result<()>,
) -> Result<Vec<Trial>> {
    let name = method.info().name;
    let fixed = task.fixed.of(name);
    let axes: Vec<Axis> =
        method.grid().iter().filter(|axis| !fixed.has(axis.name)).copied().collect();
    if axes.is_empty() {
        return Err(MethodError::Parameter(format!(
            "method '{name}' has nothing to tune: what it has is fixed, or chosen by validation already"
        )));
    }
    if task.validation.is_empty() {
        return Err(MethodError::Table(
            "there are too few known rows to compare settings on".to_owned(),
        ));
    }
    let settings = shuffled_grid(&axes, task.seed);
    // Cells that a trial is scored on stay unknown: nothing is trained on them afterwards.
    let validation = &task.validation[..task.validation.len().min(HIDDEN_SETS)];
    let unknown = validation.iter().fold(task.unknown.clone(), |all, set| all.union(set));
    let mut tried = known;
    let wanted = trials.min(settings.len());
    task.progress.begin(&format!("{name}: settings"), Some(wanted as u64));
    let is_new = |setting: &Parameters, tried: &[Trial]| {
        tried.iter().all(|trial| trial.parameters != *setting)
    };
    for setting in settings {
        if tried.len() >= wanted {
            break;
        }
        if !is_new(&setting, &tried) {
            continue;
        }
        let started = Instant::now();
        let mut fixed: FixedParameters = task.fixed.clone();
        setting.iter().for_each(|(parameter, value)| fixed.fix(name, parameter, value.clone()));
        // A trial has no state of its own to keep, and the same time as all others.
        let deadline = task.training.deadline.as_ref().map(Deadline::anew);
        let training = TrainingOptions { checkpoint: None, deadline, ..task.training.clone() };
        let silent = Trials { outer: task.progress };
        let trial = Task {
            unknown: &unknown,
            validation,
            fixed: &fixed,
            training: &training,
            progress: &silent,
            ..*task
        };
        let score = method.trial(&trial)?;
        task.progress.check()?;
        let seconds = started.elapsed().as_secs_f64();
        tried.push(Trial { score, seconds, parameters: setting });
        each(&tried)?;
        let best = best(&tried).map_or(f64::NAN, |best| best.score);
        task.progress.advance(1);
        task.progress.set_message(&format!("score {score:.4} (best {best:.4})"));
    }
    task.progress.end();
    Ok(tried)
}

/// The best of some trials.
pub fn best(trials: &[Trial]) -> Option<&Trial> {
    trials.iter().max_by(|one, other| one.score.total_cmp(&other.score))
}

/// Every combination, in an order that the seed decides.
fn shuffled_grid(axes: &[Axis], seed: u64) -> Vec<Parameters> {
    let all: usize = axes.iter().map(|axis| axis.values.len()).product();
    let order: Vec<u32> = (0..all as u32).collect();
    let setting = |at: u32| {
        let mut rest = at as usize;
        let mut parameters = Parameters::default();
        for axis in axes {
            parameters.set(axis.name, axis.values.value(rest % axis.values.len()));
            rest /= axis.values.len();
        }
        parameters
    };
    graphfill_data::splits::shuffled(&order, seed).into_iter().map(setting).collect()
}

/// Shows trials, not what happens within one.
struct Trials<'a> {
    outer: &'a dyn graphfill_data::Progress,
}

impl graphfill_data::Progress for Trials<'_> {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn is_cancelled(&self) -> bool {
        self.outer.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_whole_and_its_order_the_seeds() {
        let axes = [
            Axis { name: "lambda", values: AxisValues::Numbers(&[0.1, 1.0]) },
            Axis { name: "normalisation", values: AxisValues::Words(&["unit", "none", "some"]) },
        ];
        let grid = shuffled_grid(&axes, 3);
        assert_eq!(grid.len(), 6);
        for setting in &grid {
            assert_eq!(grid.iter().filter(|other| *other == setting).count(), 1);
        }
        assert_eq!(grid, shuffled_grid(&axes, 3));
        assert_ne!(grid, shuffled_grid(&axes, 4));
    }
}
