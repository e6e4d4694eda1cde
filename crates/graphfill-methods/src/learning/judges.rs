//! Who judges a model while it is trained: validators, and, where the model is trained on a card,
//! programs that compute their scores there.

use graphfill_engine::Session;

use super::decoded::Decoded;
use super::fit::{Learner, Outlet, Prepared};
use super::options::ValidationPlace;
use super::validation_program::ValidationProgram;
use super::validator::{Criterion, Validator};
use crate::error::Result;
use crate::method::Task;

/// The name of the program of validation; those of watched cells are numbered.
const VALIDATION: &str = "validation";
const WATCHED: &str = "watched";

/// The validators of one training.
pub(super) struct Judges<'v, 'a> {
    validation: Option<Judge<'v, 'a>>,
    watched: Vec<Judge<'v, 'a>>,
}

struct Judge<'v, 'a> {
    validator: &'v Validator<'a>,
    /// Where there is none, the host computes the score.
    program: Option<ValidationProgram>,
}

/// The validators of cells that are scored for the history alone.
pub(super) fn watching<'a>(task: &Task<'a>) -> Vec<Validator<'a>> {
    let validator =
        |cells: &_| Validator::new(task, Clone::clone(cells), task.unknown, Criterion::Published);
    task.watched.iter().map(validator).collect()
}

impl<'v, 'a> Judges<'v, 'a> {
    /// All of them on the host.
    pub(super) fn new(validation: Option<&'v Validator<'a>>, watched: &'v [Validator<'a>]) -> Self {
        let judge = |validator: &'v Validator<'a>| Judge { validator, program: None };
        Judges { validation: validation.map(judge), watched: watched.iter().map(judge).collect() }
    }

    /// The model on the device that it is trained on. Judges whose scores can be computed there add
    /// programs to its plan, of which its fingerprint and checkpoints know nothing.
    pub(super) fn placed(
        mut self,
        learner: &dyn Learner,
        task: &Task<'_>,
        prepared: Prepared,
    ) -> Result<(Prepared, Self)> {
        let Prepared { plan, mut inputs, outlet } = prepared;
        let mut plan = plan.on(&task.training.device);
        let is_wanted = match task.training.validation {
            ValidationPlace::Automatic => task.training.device.is_cuda(),
            ValidationPlace::Host => false,
            ValidationPlace::Device => true,
        };
        if let Some(decoding) = learner.decoding().filter(|_| is_wanted) {
            let watched = self.watched.iter_mut().enumerate();
            let watched = watched.map(|(at, judge)| (format!("{WATCHED} {at}"), judge));
            let all = self.validation.iter_mut().map(|judge| (VALIDATION.to_owned(), judge));
            let mut programs = Vec::new();
            for (name, judge) in all.chain(watched) {
                let recorded =
                    ValidationProgram::record(judge.validator, &plan, &name, &decoding, &outlet)?;
                if let Some((recorded, mut program)) = recorded {
                    inputs.append(&mut program.inputs);
                    programs.push(recorded);
                    judge.program = Some(program);
                }
            }
            plan = plan.with_auxiliary(programs)?;
        }
        Ok((Prepared { plan, inputs, outlet }, self))
    }

    /// The validator of the training, if there is one.
    pub(super) fn validator(&self) -> Option<&'v Validator<'a>> {
        self.validation.as_ref().map(|judge| judge.validator)
    }

    /// The score of what a session has learnt on the validation cells; more is better.
    pub(super) fn validate(
        &self,
        learner: &dyn Learner,
        task: &Task<'_>,
        outlet: &Outlet,
        session: &mut Session,
    ) -> Result<f64> {
        match &self.validation {
            Some(Judge { program: Some(program), .. }) => program.score(session),
            Some(Judge { validator, program: None }) => {
                validator.score(&Decoded::of(task, outlet, vec![learner.trained(session)?]))
            }
            None => Ok(0.0),
        }
    }

    /// The scores on each of the watched sets of cells.
    pub(super) fn watch(
        &self,
        learner: &dyn Learner,
        task: &Task<'_>,
        outlet: &Outlet,
        session: &mut Session,
    ) -> Result<Vec<f64>> {
        let mut read: Option<Decoded> = None;
        let mut scores = Vec::new();
        for Judge { validator, program } in &self.watched {
            scores.push(match program {
                Some(program) => program.score(session)?,
                None => {
                    let models = match read.take() {
                        Some(models) => models,
                        None => Decoded::of(task, outlet, vec![learner.trained(session)?]),
                    };
                    validator.score(read.insert(models))?
                }
            });
        }
        Ok(scores)
    }
}
