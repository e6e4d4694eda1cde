//! The fitted methods of `auto`, each for the groups that it was chosen for.

use std::collections::BTreeMap;
use std::sync::Arc;

use graphfill_engine::TensorStore;
use serde::{Deserialize, Serialize};

use crate::error::{MethodError, Result};
use crate::learning::{History, StopReason};
use crate::method::{Choice, EstimateSink, Estimates, Fitted, Method, Task};
use crate::parameters::Parameters;

type Fit = (Arc<dyn Method>, Box<dyn Fitted>);

/// Propagation methods, a trained method, and which of them each group has.
pub(super) struct AutoFitted {
    fits: Vec<Fit>,
    trained: Option<Fit>,
    choices: Vec<Choice>,
}

/// The text of a state that has the choices.
const AUTO: &str = "auto";

#[derive(Serialize, Deserialize)]
struct Saved {
    choices: Vec<Choice>,
    /// Name, parameters and state of the propagation methods that are used.
    fits: Vec<(String, Parameters, BTreeMap<String, String>)>,
    /// Name and parameters of the trained method; its state is that of the whole file.
    trained: Option<(String, Parameters)>,
}

impl AutoFitted {
    pub(super) fn new(fits: Vec<Fit>, trained: Option<Fit>, choices: Vec<Choice>) -> Self {
        AutoFitted { fits, trained, choices }
    }

    /// The propagation methods.
    pub(super) fn fits(&self) -> &[Fit] {
        &self.fits
    }

    /// The position of the propagation method that a group has.
    pub(super) fn assigned(&self, group: usize) -> usize {
        let is_own = |(method, _): &Fit| method.info().name == self.choices[group].method;
        self.fits.iter().position(is_own).unwrap_or(0)
    }

    /// Adds the trained method and the choices of the groups that it gets.
    pub(super) fn add_trained(
        &mut self,
        method: Arc<dyn Method>,
        fitted: Box<dyn Fitted>,
        chosen: Vec<Option<Choice>>,
    ) {
        for (choice, chosen) in self.choices.iter_mut().zip(chosen) {
            if let Some(chosen) = chosen {
                *choice = chosen;
            }
        }
        self.trained = Some((method, fitted));
    }

    /// Adds a reason to every choice.
    pub(super) fn add_reason(&mut self, reason: &str) {
        for choice in &mut self.choices {
            let reasons = [choice.reason.take(), Some(reason.to_owned())];
            choice.reason = Some(reasons.into_iter().flatten().collect::<Vec<_>>().join("; "));
        }
    }

    /// The fitted methods of a saved state.
    pub(super) fn read(
        methods: &[Arc<dyn Method>],
        task: &Task<'_>,
        state: &TensorStore,
    ) -> Result<Self> {
        let text = state.texts.get(AUTO).map(String::as_str).unwrap_or_default();
        let saved: Saved = serde_json::from_str(text)
            .map_err(|error| MethodError::Model(format!("its choices: {error}")))?;
        let find = |name: &str, parameters: &Parameters| {
            let found = methods.iter().find(|method| method.info().name == name);
            let found = found.ok_or_else(|| {
                MethodError::Model(format!("it uses '{name}', which auto does not compare here"))
            })?;
            found.with_parameters(parameters)
        };
        let mut fits = Vec::new();
        for (name, parameters, texts) in &saved.fits {
            let method = find(name, parameters)?;
            let own = TensorStore { texts: texts.clone(), ..TensorStore::default() };
            let fitted = method.restore(task, &own)?;
            fits.push((method, fitted));
        }
        let trained = match &saved.trained {
            None => None,
            Some((name, parameters)) => {
                let method = find(name, parameters)?;
                let fitted = method.restore(task, state)?;
                Some((method, fitted))
            }
        };
        Ok(AutoFitted { fits, trained, choices: saved.choices })
    }

    /// Which groups a method has.
    fn groups_of(&self, name: &str) -> Vec<bool> {
        self.choices.iter().map(|choice| choice.method == name).collect()
    }
}

impl Fitted for AutoFitted {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Every method estimates the groups that it was chosen for.
    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        for (method, fitted) in self.fits.iter().chain(&self.trained) {
            let mut groups = self.groups_of(method.info().name);
            if let Some(asked) = task.groups {
                groups.iter_mut().zip(asked).for_each(|(own, asked)| *own &= asked);
            }
            if groups.contains(&true) {
                let own = Task { groups: Some(&groups), ..*task };
                fitted.estimate(&own, &mut GroupSink { task, groups: &groups, sink })?;
            }
        }
        Ok(())
    }

    /// None: the comparison has read the cells that it was made on.
    fn held_out_sets(&self, _task: &Task<'_>) -> usize {
        0
    }

    fn state(&self) -> Result<TensorStore> {
        let mut store = match &self.trained {
            Some((_, fitted)) => fitted.state()?,
            None => TensorStore::default(),
        };
        let mut fits = Vec::new();
        for (method, fitted) in &self.fits {
            if self.groups_of(method.info().name).contains(&true) {
                let texts = fitted.state()?.texts;
                fits.push((method.info().name.to_owned(), method.parameters(), texts));
            }
        }
        let trained = self.trained.as_ref();
        let trained =
            trained.map(|(method, _)| (method.info().name.to_owned(), method.parameters()));
        let saved = Saved { choices: self.choices.clone(), fits, trained };
        let text =
            serde_json::to_string(&saved).map_err(|error| MethodError::Model(error.to_string()))?;
        store.texts.insert(AUTO.to_owned(), text);
        Ok(store)
    }

    fn labels(&self) -> Option<&[u32]> {
        self.trained.as_ref().and_then(|(_, fitted)| fitted.labels())
    }

    fn history(&self) -> Option<&History> {
        self.trained.as_ref().and_then(|(_, fitted)| fitted.history())
    }

    fn stopped_early(&self) -> Option<StopReason> {
        self.trained.as_ref().and_then(|(_, fitted)| fitted.stopped_early())
    }
}

/// Passes on the estimates of some groups.
struct GroupSink<'a, 'b> {
    task: &'b Task<'a>,
    groups: &'b [bool],
    sink: &'b mut dyn EstimateSink,
}

impl EstimateSink for GroupSink<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        for (group, _, inside) in self.task.features.groups_in(estimates.features()) {
            if self.groups[group] {
                self.sink.accept(&estimates.part(inside))?;
            }
        }
        Ok(())
    }
}
