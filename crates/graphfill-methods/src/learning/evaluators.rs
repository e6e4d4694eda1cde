//! Scores of a model during training: on validation cells for early stopping, and on watched cells for
//! the history. Where the model is trained on a GPU, programs compute them there.

use graphfill_engine::Session;

use super::decoded::Decoded;
use super::decoder::DecoderSpec;
use super::imputer::{Prepared, TrainableModel};
use super::validation_program::ValidationProgram;
use super::validator::{Criterion, Validator};
use crate::context::ValidationDevice;
use crate::error::Result;
use crate::method::Task;

/// The validators of one training.
pub(super) struct Evaluators<'v, 'a> {
    validation: Option<Evaluator<'v, 'a>>,
    watched: Vec<Evaluator<'v, 'a>>,
}

struct Evaluator<'v, 'a> {
    validator: &'v Validator<'a>,
    /// The program that computes the score on the device; without one, the CPU computes it.
    program: Option<ValidationProgram>,
}

/// The validators of cells that are scored for the history alone.
pub(super) fn watched_validators<'a>(task: &Task<'a>) -> Vec<Validator<'a>> {
    let validator =
        |cells: &_| Validator::new(task, Clone::clone(cells), task.unknown, Criterion::Published);
    task.watched.iter().map(validator).collect()
}

impl<'v, 'a> Evaluators<'v, 'a> {
    /// Evaluators on the CPU.
    pub(super) fn new(validation: Option<&'v Validator<'a>>, watched: &'v [Validator<'a>]) -> Self {
        let evaluator = |validator: &'v Validator<'a>| Evaluator { validator, program: None };
        let watched = watched.iter().map(evaluator).collect();
        Evaluators { validation: validation.map(evaluator), watched }
    }

    /// Places the plan on the device of the task. Scores that can be computed there become auxiliary
    /// programs of the plan, which are not part of its fingerprint or checkpoints.
    pub(super) fn recorded(
        mut self,
        task: &Task<'_>,
        prepared: Prepared,
    ) -> Result<(Prepared, Self)> {
        let Prepared { plan, mut inputs, spec } = prepared;
        let mut plan = plan.on(&task.context.device);
        let is_wanted = match task.context.validation_device {
            ValidationDevice::Automatic => task.context.device.is_cuda(),
            ValidationDevice::Cpu => false,
            ValidationDevice::Training => true,
        };
        if is_wanted && spec.is_on_device() {
            let watched = self.watched.iter_mut().enumerate();
            let watched = watched.map(|(at, evaluator)| (format!("watched {at}"), evaluator));
            let validation = self.validation.iter_mut();
            let validation = validation.map(|evaluator| ("validation".to_owned(), evaluator));
            let mut programs = Vec::new();
            for (name, evaluator) in validation.chain(watched) {
                let recorded = ValidationProgram::record(evaluator.validator, &plan, &name, &spec)?;
                if let Some((recorded, mut program)) = recorded {
                    inputs.append(&mut program.inputs);
                    programs.push(recorded);
                    evaluator.program = Some(program);
                }
            }
            plan = plan.with_auxiliary(programs)?;
        }
        Ok((Prepared { plan, inputs, spec }, self))
    }

    /// Whether there are validation cells.
    pub(super) fn has_validation(&self) -> bool {
        self.validation.is_some()
    }

    /// The score on the validation cells; higher is better.
    pub(super) fn validation(
        &self,
        model: &dyn TrainableModel,
        task: &Task<'_>,
        spec: &DecoderSpec,
        session: &mut Session,
    ) -> Result<f64> {
        match &self.validation {
            Some(evaluator) => evaluator.score(model, task, spec, session),
            None => Ok(0.0),
        }
    }

    /// The score on each of the watched sets.
    pub(super) fn watched(
        &self,
        model: &dyn TrainableModel,
        task: &Task<'_>,
        spec: &DecoderSpec,
        session: &mut Session,
    ) -> Result<Vec<f64>> {
        let evaluators = self.watched.iter();
        evaluators.map(|evaluator| evaluator.score(model, task, spec, session)).collect()
    }
}

impl Evaluator<'_, '_> {
    /// The score of what a session has learned.
    fn score(
        &self,
        model: &dyn TrainableModel,
        task: &Task<'_>,
        spec: &DecoderSpec,
        session: &mut Session,
    ) -> Result<f64> {
        if let Some(program) = &self.program {
            return program.score(session);
        }
        let trained = model.read(spec, session, None, Some(self.validator.rows[0].rows()))?;
        self.validator.score(&Decoded::of(task, spec, vec![trained]))
    }
}
