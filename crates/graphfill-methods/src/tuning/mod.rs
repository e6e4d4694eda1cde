//! Random search for the parameters of a method: settings of the grid that its declarations span, in
//! an order that the seed decides, each trained and scored on validation cells; the best one wins.
//!
//! Trials are passed out one by one and can be passed in again, so that a search goes on where it was
//! stopped.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::context::{Context, Deadline};
use crate::error::{MethodError, Result};
use crate::learning::HIDDEN_SETS;
use crate::method::{Method, Task};
use crate::parameters::{ParameterInfo, Parameters};

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
/// trial. The parameters `fixed` stay as the
/// method has them.
pub fn search(
    method: &dyn Method,
    fixed: &Parameters,
    task: &Task<'_>,
    trials: usize,
    known: Vec<Trial>,
    each: &mut dyn FnMut(&[Trial]) -> Result<()>,
) -> Result<Vec<Trial>> {
    let name = method.info().name;
    let parameters = method.info().parameters.iter();
    let axes: Vec<ParameterInfo> = parameters
        .filter(|info| !info.tuning.is_empty() && !fixed.has(info.name))
        .copied()
        .collect();
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
    let context = task.context;
    let settings = shuffled_grid(&axes, task.context.seed);
    // Cells that a trial is scored on stay unknown: nothing is trained on them afterwards.
    let validation = &task.validation[..task.validation.len().min(HIDDEN_SETS)];
    let unknown = validation.iter().fold(task.unknown.clone(), |all, set| all.union(set));
    let mut tried = known;
    let wanted = trials.min(settings.len());
    context.progress.begin(&format!("{name}: settings"), Some(wanted as u64));
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
        // A trial has no state of its own to keep, and the same time as all others.
        let own = Context {
            checkpoint: None,
            deadline: context.deadline.as_ref().map(Deadline::restarted),
            progress: &CancelOnly { outer: context.progress },
            ..context.clone()
        };
        let trial = Task { unknown: &unknown, validation, context: &own, ..*task };
        let score = method.with_parameters(&setting)?.trial(&trial)?;
        context.progress.check()?;
        let seconds = started.elapsed().as_secs_f64();
        tried.push(Trial { score, seconds, parameters: setting });
        each(&tried)?;
        let best = best(&tried).map_or(f64::NAN, |best| best.score);
        context.progress.advance(1);
        context.progress.set_message(&format!("score {score:.4} (best {best:.4})"));
    }
    context.progress.end();
    Ok(tried)
}

/// The best of some trials.
pub fn best(trials: &[Trial]) -> Option<&Trial> {
    let scored = trials.iter().filter(|trial| !trial.score.is_nan());
    scored.max_by(|one, other| one.score.total_cmp(&other.score))
}

/// Every combination, in an order that the seed decides.
fn shuffled_grid(axes: &[ParameterInfo], seed: u64) -> Vec<Parameters> {
    let all: usize = axes.iter().map(|axis| axis.tuning.len()).product();
    let order: Vec<u32> = (0..all as u32).collect();
    let setting = |at: u32| {
        let mut rest = at as usize;
        let mut parameters = Parameters::default();
        for axis in axes {
            if let Some(value) = axis.tuning.value(rest % axis.tuning.len()) {
                parameters.set(axis.name, value);
            }
            rest /= axis.tuning.len();
        }
        parameters
    };
    graphfill_data::splits::shuffled(&order, seed).into_iter().map(setting).collect()
}

/// Passes on cancellation, and no progress: a trial is one unit of the search.
struct CancelOnly<'a> {
    outer: &'a dyn graphfill_data::Progress,
}

impl graphfill_data::Progress for CancelOnly<'_> {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn is_cancelled(&self) -> bool {
        self.outer.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{Allowed, Tuning};

    #[test]
    fn the_grid_is_whole_and_its_order_the_seeds() {
        let axis = |name, tuning| {
            let allowed = Allowed::WEIGHT;
            ParameterInfo { name, about: "", default: "", allowed, tuning }
        };
        let axes = [
            axis("lambda", Tuning::Numbers(&[0.1, 1.0])),
            axis("normalisation", Tuning::Words(&["unit", "none", "some"])),
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
