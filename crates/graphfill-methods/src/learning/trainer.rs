//! One prepared model that is trained again and again, from other seeds.

use graphfill_engine::{Session, Tensors};

use super::course::{Course, Stage};
use super::decoded::{Decoded, TrainedModel};
use super::fit::{Learner, Outlet, Prepared, TrainingConfig};
use super::judges::Judges;
use super::training::{Schedule, Validation};
use super::trust::Trust;
use crate::error::Result;
use crate::method::Task;

/// What training on some of the known cells has shown.
pub(super) struct Selected {
    /// After how many updates to end.
    pub(super) updates: u64,
    /// The models that were stopped by the others.
    pub(super) models: Decoded,
    pub(super) trust: Trust,
    pub(super) classes: Option<Vec<u32>>,
}

/// One prepared model that is trained again and again.
pub(super) struct Trainer<'l, 't, 'a> {
    learner: &'l dyn Learner,
    task: &'t Task<'a>,
    pub(super) session: Session,
    pub(super) outlet: Outlet,
    pub(super) models: Vec<TrainedModel>,
    judges: Judges<'l, 'a>,
}

impl<'l, 't, 'a> Trainer<'l, 't, 'a> {
    pub(super) fn new(
        learner: &'l dyn Learner,
        task: &'t Task<'a>,
        prepared: Prepared,
        judges: Judges<'l, 'a>,
    ) -> Result<Self> {
        let Prepared { plan, inputs, outlet } = prepared;
        let mut session = Session::new(plan, task.seed)?;
        for (name, values) in inputs {
            session.write(&name, &values)?;
        }
        Ok(Trainer { learner, task, session, outlet, models: Vec::new(), judges })
    }

    /// Trains models until they become no better on the validation cells.
    pub(super) fn select(
        mut self,
        course: &mut Course<'_>,
        config: &TrainingConfig,
        models: usize,
    ) -> Result<Selected> {
        let validator = self.judges.validator();
        let mut schedule = config.schedule;
        if validator.is_none() {
            schedule.most_updates = config.unvalidated_updates;
        }
        let name = self.learner.name();
        let mut updates = Vec::new();
        for model in 0..models {
            let purpose = match (models == config.models, models) {
                (false, _) => format!("{name}: how long to train"),
                (true, 1) => format!("{name}: training"),
                (true, _) => format!("{name}: model {} of {models}", model + 1),
            };
            updates.push(self.train(course, model, purpose, schedule)?);
            if course.is_over() {
                break;
            }
        }
        let mut models = self.decoded();
        let trust = match (validator, self.learner.untrained(&self.outlet)) {
            (Some(validator), Some(untrained)) => Trust::weigh(validator, &models, untrained)?,
            _ => Trust::Full,
        };
        trust.apply(&mut models, self.task.features);
        let classes = self.learner.classes(&mut self.session)?;
        let updates = updates.iter().sum::<u64>() / updates.len().max(1) as u64;
        Ok(Selected { updates, models, trust, classes })
    }

    /// Trains one more model; says after how many updates it was taken.
    pub(super) fn train(
        &mut self,
        course: &mut Course<'_>,
        model: usize,
        purpose: String,
        schedule: Schedule,
    ) -> Result<u64> {
        let Trainer { learner, task, session, outlet, judges, .. } = self;
        session.restart(seed_of(task.seed, model))?;
        let losses = outlet.losses.clone();
        let update = |number| learner.update(number);
        let stage = Stage { purpose, update: &update, losses, schedule };
        let mut score = |session: &mut Session| judges.validate(*learner, task, outlet, session);
        let validation = judges.validator().map(|_| &mut score as Validation<'_>);
        let mut watch = |session: &mut Session| judges.watch(*learner, task, outlet, session);
        let updates = course.train(session, &stage, validation, &mut watch)?.updates;
        self.models.push(learner.trained(session)?);
        Ok(updates)
    }

    /// Takes the parameters of a model that was trained before.
    pub(super) fn take(&mut self, parameters: &Tensors) -> Result<()> {
        self.session.restore(&self.session.snapshot_of(parameters)?)?;
        self.models.push(self.learner.trained(&mut self.session)?);
        Ok(())
    }

    pub(super) fn decoded(&self) -> Decoded {
        Decoded::of(self.task, &self.outlet, self.models.clone())
    }
}

/// Models of one run differ in their seed; the first has the run's own.
fn seed_of(seed: u64, model: usize) -> u64 {
    seed.wrapping_add((model as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
