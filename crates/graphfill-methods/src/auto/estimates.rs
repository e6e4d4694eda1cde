//! Estimates of two models, each for the groups that it was chosen for, and how the choice is saved.

use std::collections::BTreeMap;
use std::path::Path;

use graphfill_engine::TensorStore;
use serde::{Deserialize, Serialize};

use crate::error::{MethodError, Result};
use crate::learning::{Ended, History, METHOD};
use crate::method::{Choice, EstimateSink, Estimates, Fitted, Task};
use crate::parameters::Parameters;
use crate::propagation::Chosen;
use crate::registry;

/// A propagation method for each group, and a model that has learnt for some.
pub(super) struct AutoFitted<'a> {
    propagation: Chosen<'a>,
    learnt: Option<Box<dyn Fitted + 'a>>,
    is_learnt: Vec<bool>,
    choices: Vec<Choice>,
}

impl<'a> AutoFitted<'a> {
    pub(super) fn new(
        propagation: Chosen<'a>,
        learnt: Box<dyn Fitted + 'a>,
        is_learnt: Vec<bool>,
    ) -> Self {
        let pairs = propagation.choices().iter().zip(learnt.choices()).zip(&is_learnt);
        let choices = pairs.map(|((own, other), learnt)| if *learnt { other } else { own }.clone());
        let choices = choices.collect();
        AutoFitted { propagation, learnt: Some(learnt), is_learnt, choices }
    }

    /// With the choices of the groups that the learnt model has.
    pub(super) fn weighed(
        propagation: Chosen<'a>,
        learnt: Box<dyn Fitted + 'a>,
        chosen: Vec<Option<Choice>>,
    ) -> Self {
        let is_learnt = chosen.iter().map(Option::is_some).collect();
        let mut fitted = AutoFitted::new(propagation, learnt, is_learnt);
        for (choice, chosen) in fitted.choices.iter_mut().zip(chosen) {
            if let Some(chosen) = chosen {
                *choice = chosen;
            }
        }
        fitted
    }

    /// Propagation alone, with a reason why.
    pub(super) fn of_propagation(propagation: Chosen<'a>, reason: Option<&str>) -> Self {
        let mut choices = propagation.choices().to_vec();
        for choice in &mut choices {
            let reasons = [choice.reason.take(), reason.map(str::to_owned)];
            choice.reason = Some(reasons.into_iter().flatten().collect::<Vec<_>>().join("; "));
        }
        let is_learnt = vec![false; choices.len()];
        AutoFitted { propagation, learnt: None, is_learnt, choices }
    }
}

impl Fitted for AutoFitted<'_> {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        if self.is_learnt.contains(&false) {
            let mut own = Selected { task, wanted: &self.is_learnt, is: false, sink };
            self.propagation.estimate(task, &mut own)?;
        }
        match &self.learnt {
            Some(learnt) if self.is_learnt.contains(&true) => {
                let mut own = Selected { task, wanted: &self.is_learnt, is: true, sink };
                learnt.estimate(task, &mut own)
            }
            _ => Ok(()),
        }
    }

    fn validated(&self, task: &Task<'_>) -> usize {
        self.learnt.as_ref().map_or(task.validation.len(), |learnt| learnt.validated(task))
    }

    fn estimate_validation(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        let mut own = Selected { task, wanted: &self.is_learnt, is: false, sink };
        self.propagation.estimate_validation(task, set, &mut own)?;
        match &self.learnt {
            Some(learnt) => {
                let mut own = Selected { task, wanted: &self.is_learnt, is: true, sink };
                learnt.estimate_validation(task, set, &mut own)
            }
            None => Ok(()),
        }
    }

    fn labels(&self) -> Option<&[u32]> {
        self.learnt.as_ref().and_then(|learnt| learnt.labels())
    }

    fn history(&self) -> Option<&History> {
        self.learnt.as_ref().and_then(|learnt| learnt.history())
    }

    fn ended_early(&self) -> Option<Ended> {
        self.learnt.as_ref().and_then(|learnt| learnt.ended_early())
    }
}

/// Passes on the estimates of some groups.
struct Selected<'a, 'b> {
    task: &'b Task<'a>,
    wanted: &'b [bool],
    is: bool,
    sink: &'b mut dyn EstimateSink,
}

impl EstimateSink for Selected<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let range = estimates.features();
        for (group, _, inside) in self.task.features.groups_in(range.clone()) {
            if self.wanted[group] != self.is {
                continue;
            }
            let column = inside.start - range.start;
            self.sink.accept(&Estimates {
                features: (inside.start, inside.end),
                width: estimates.width,
                values: &estimates.values[column..],
                offsets: &estimates.offsets[column..],
            })?;
        }
        Ok(())
    }
}

/// The text that holds the choices.
const CHOICES: &str = "choices";

#[derive(Serialize, Deserialize)]
struct SavedChoice {
    method: String,
    parameters: Parameters,
    is_learnt: bool,
}

/// Adds the choices to the file of a model that has learnt, which becomes one of `auto`.
pub(super) fn save_choices(path: &Path, fitted: &AutoFitted<'_>) -> Result<()> {
    if fitted.learnt.is_none() || fitted.ended_early().is_some() {
        return Ok(());
    }
    let pairs = fitted.propagation.choices().iter().zip(&fitted.is_learnt);
    let saved: Vec<SavedChoice> = pairs
        .map(|(choice, &is_learnt)| SavedChoice {
            method: choice.method.to_owned(),
            parameters: choice.parameters.clone(),
            is_learnt,
        })
        .collect();
    let texts = BTreeMap::from([
        (METHOD.to_owned(), "auto".to_owned()),
        (CHOICES.to_owned(), serde_json::to_string(&saved).unwrap_or_default()),
    ]);
    Ok(TensorStore::add_beside_session(path, &texts)?)
}

/// What was chosen when a model was saved.
pub(super) struct SavedChoices {
    pub(super) propagation: Vec<Choice>,
    pub(super) is_learnt: Vec<bool>,
}

pub(super) fn read_choices(saved: &TensorStore, task: &Task<'_>) -> Result<SavedChoices> {
    let text = saved.texts.get(CHOICES).map(String::as_str).unwrap_or_default();
    let choices: Vec<SavedChoice> = serde_json::from_str(text)
        .map_err(|error| MethodError::Table(format!("the model's choices: {error}")))?;
    let mut propagation = Vec::new();
    for (group, choice) in task.features.groups().iter().zip(&choices) {
        propagation.push(Choice {
            group: group.name.clone(),
            method: registry::propagation(&choice.method)?.info().name,
            parameters: choice.parameters.clone(),
            validation: None,
            reason: None,
        });
    }
    let is_learnt = choices.iter().map(|choice| choice.is_learnt).collect();
    Ok(SavedChoices { propagation, is_learnt })
}
