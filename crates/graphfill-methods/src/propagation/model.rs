//! A fitted propagation model: a method and parameters for every group of features.

use std::sync::Arc;

use graphfill_engine::TensorStore;

use super::{Operators, Propagation, ROUNDS};
use crate::error::{MethodError, Result};
use crate::features::{ColumnMeans, GroupKind, Panel, Panels};
use crate::method::{Choice, EstimateSink, Estimates, Fitted, Measure, Task};
use crate::parameters::Parameters;

/// The text of a state that has the choices.
const CHOICES: &str = "choices";

/// A propagation method with parameters for every group. It owns all of that: nothing of the task that
/// it was fitted to is kept.
pub struct PropagationModel {
    method: Arc<dyn Propagation>,
    choices: Vec<Choice>,
}

impl PropagationModel {
    /// A method with parameters for every group.
    pub fn new(method: Arc<dyn Propagation>, choices: Vec<Choice>) -> Self {
        PropagationModel { method, choices }
    }

    /// The model of a saved state.
    pub(super) fn read(
        method: Arc<dyn Propagation>,
        task: &Task<'_>,
        state: &TensorStore,
    ) -> Result<Self> {
        let text = state.texts.get(CHOICES).map(String::as_str).unwrap_or_default();
        let choices: Vec<Choice> = serde_json::from_str(text)
            .map_err(|error| MethodError::Model(format!("its choices: {error}")))?;
        if choices.len() != task.features.groups().len() {
            return Err(MethodError::Model("it has another number of columns".to_owned()));
        }
        Ok(PropagationModel { method, choices })
    }
}

impl Fitted for PropagationModel {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn state(&self) -> Result<TensorStore> {
        let mut store = TensorStore::default();
        let choices = serde_json::to_string(&self.choices)
            .map_err(|error| MethodError::Model(error.to_string()))?;
        store.texts.insert(CHOICES.to_owned(), choices);
        Ok(store)
    }

    /// A panel is propagated once for every different choice among its groups.
    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        let features = task.features;
        let offsets = ColumnMeans::of(features, task.unknown).offsets(features);
        let operators = Operators::of(task);
        let scales = self.scales(task);
        let panels = Panels::on(&task.context.device, features, &task.wanted());
        task.context.progress.begin("estimating", Some(panels.len() as u64));
        for range in panels.iter() {
            let panel = Panel::load(features, range.clone(), task.unknown, &offsets);
            let loaded = operators.load(&panel);
            let parts = || {
                let inside = features.groups_in(range.clone());
                inside.map(|(group, _, part)| (part, &self.choices[group]))
            };
            let mut done: Vec<&Parameters> = Vec::new();
            for (_, choice) in parts() {
                let own = &choice.parameters;
                if done.contains(&own) {
                    continue;
                }
                done.push(own);
                let alike = |other: &Choice| other.parameters == *own;
                let mut pass_on = |values: &[f32]| {
                    parts().filter(|(_, other)| alike(other)).try_for_each(|(part, _)| {
                        let whole = Estimates {
                            features: (range.start, range.end),
                            width: panel.width,
                            values,
                            column_means: &panel.offsets,
                            scales: Some(&scales[range.clone()]),
                        };
                        sink.accept(&whole.part(part))
                    })
                };
                let rounds = choice.parameters.get(ROUNDS).map_or(1, |rounds| rounds as usize);
                let mut accepted = Ok(());
                self.method.run(&loaded, &choice.parameters, &[rounds], &mut |_, values| {
                    accepted = pass_on(values);
                })?;
                accepted?;
            }
            task.context.progress.advance(1);
            task.context.progress.check()?;
        }
        task.context.progress.end();
        Ok(())
    }
}

impl PropagationModel {
    /// The RMSE on validation cells as the scale of numbers and counts; NaN elsewhere.
    fn scales(&self, task: &Task<'_>) -> Vec<f64> {
        let mut scales = vec![f64::NAN; task.features.width()];
        for (group, choice) in task.features.groups().iter().zip(&self.choices) {
            if let (GroupKind::Number | GroupKind::Count, Some(score)) =
                (&group.kind, choice.validation)
                && score.measure == Measure::RootMeanSquaredError
            {
                scales[group.features.clone()].fill(score.value);
            }
        }
        scales
    }
}
