//! From a task to trained models: hide validation cells, train until they are estimated no better,
//! then learn from everything that is known.
//!
//! Where the validation cells are unknown anyway (as in an evaluation), the models that were stopped
//! by them are the result. Where they are known (as when a table is filled), new models are trained
//! on all known cells for as many updates as the first one took.

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{MemoryLimit, Plan, Session, TensorStore};

use super::course::{Course, Stage, finished_count, finished_in};
use super::decoded::{Decoded, TrainedModel};
use super::history::History;
use super::saved::MODELS;
use super::scales::Scales;
use super::training::{Ended, Schedule};
use super::trust::Trust;
use super::validator::{Criterion, Validator};
use crate::error::{MethodError, Result};
use crate::method::{Choice, EstimateSink, Fitted, Score, Task};
use crate::parameters::Parameters;

/// The share of the validation sets that one training hides, where there are several.
const HIDDEN_SETS: usize = 2;

/// A model as programs, for a table of which some cells are unknown.
pub struct Prepared {
    /// The programs, among them one of an update and one that predicts.
    pub plan: Plan,
    /// The inputs of the programs.
    pub inputs: Vec<(String, Vec<f32>)>,
    /// What estimates need beside a trained session.
    pub outlet: Outlet,
}

/// The way from latents to values.
#[derive(Debug, Clone)]
pub struct Outlet {
    /// What scores begin with; the models have a factor for each.
    pub offsets: Vec<Arc<Vec<f32>>>,
    /// Between scores and values.
    pub scales: Scales,
    /// The outputs of the update that are watched.
    pub losses: Vec<String>,
    /// What else was found out about the table, to be saved with the model.
    pub found: TensorStore,
}

/// A method that learns.
pub trait Learner {
    /// Its name.
    fn name(&self) -> &'static str;
    /// The program of one update.
    fn program(&self) -> &'static str;
    /// The parameter to lower where memory does not suffice.
    fn memory_parameter(&self) -> String;
    /// The model for a table of which `unknown` may not be seen.
    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared>;
    /// The model that a session has learnt.
    fn trained(&self, session: &mut Session) -> Result<TrainedModel>;
    /// The likeliest class of every node, where the model has learnt labels.
    fn classes(&self, session: &mut Session) -> Result<Option<Vec<u32>>>;
    /// The model before it has learnt anything, where that says something already: groups of
    /// features for which training is of no use keep it.
    fn untrained(&self, _outlet: &Outlet) -> Option<TrainedModel> {
        None
    }
    /// Everything that was chosen.
    fn parameters(&self) -> Parameters;
    /// What is saved with the model, from which it can be made again.
    fn about(&self, task: &Task<'_>, outlet: &Outlet) -> TensorStore;
}

/// How many models there are and how long they train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// How long a model trains.
    pub schedule: Schedule,
    /// How many models are averaged.
    pub models: usize,
    /// The updates where nothing can be validated.
    pub unvalidated_updates: u64,
    /// What is compared.
    pub criterion: Criterion,
}

/// Trained models.
pub struct Learnt {
    choices: Vec<Choice>,
    models: Decoded,
    /// The models that have not seen the first sets of validation cells, and how many sets.
    validated: Option<(Decoded, usize)>,
    score: Option<f64>,
    classes: Option<Vec<u32>>,
    history: History,
    ended_early: Option<Ended>,
}

impl Learnt {
    /// Trains.
    pub fn fit(learner: &dyn Learner, recipe: &Recipe, task: &Task<'_>) -> Result<Learnt> {
        let sets = task.validation.len().min(HIDDEN_SETS);
        let nothing = CellMask::none(task.features.rows(), task.features.cells());
        let hidden = task.validation[..sets].iter().fold(nothing, |all, set| all.union(set));
        let unknown = task.unknown.union(&hidden);
        let is_refitted = unknown != *task.unknown;
        let prepared = learner.prepare(task, &unknown)?;
        check_memory(learner, task, &prepared.plan)?;
        let identity = identity(learner, task, &prepared);
        let about = learner.about(task, &prepared.outlet);
        let mut course = Course::begin(task.training, task.progress, identity, about)?;
        let mut first = Trainer::new(learner, task, prepared)?;
        let mut schedule = recipe.schedule;
        if sets == 0 {
            schedule.most_updates = recipe.unvalidated_updates;
        }
        let validator =
            (sets > 0).then(|| Validator::new(task, hidden, &unknown, recipe.criterion));
        let models = if is_refitted { 1 } else { recipe.models };
        let mut chosen = Vec::new();
        for model in 0..models {
            let purpose = match (is_refitted, models) {
                (true, _) => format!("{}: how long to train", learner.name()),
                (false, 1) => format!("{}: training", learner.name()),
                (false, _) => format!("{}: model {} of {models}", learner.name(), model + 1),
            };
            chosen.push(first.train(&mut course, model, purpose, schedule, validator.as_ref())?);
            if course.is_over() {
                break;
            }
        }
        let mut classes = learner.classes(&mut first.session)?;
        let mut validated = first.decoded();
        let trust = match (&validator, learner.untrained(&first.outlet)) {
            (Some(validator), Some(untrained)) => Trust::weigh(validator, &validated, untrained)?,
            _ => Trust::Full,
        };
        trust.apply(&mut validated, task.features);
        let score = validator.as_ref().map(|one| one.score(&validated)).transpose()?;
        let group_scores = match &validator {
            Some(validator) => validator.scores(&validated)?,
            None => vec![None; task.features.groups().len()],
        };
        let mut models = validated.clone();
        let updates = chosen.iter().sum::<u64>() / chosen.len().max(1) as u64;
        if is_refitted && !course.is_over() {
            drop(first);
            let mut second = Trainer::new(learner, task, learner.prepare(task, task.unknown)?)?;
            let mut about = learner.about(task, &second.outlet);
            about.texts.insert(TRUST.to_owned(), trust.to_text());
            course.describe(about);
            let schedule = Schedule { most_updates: updates, patience: u64::MAX, ..schedule };
            for model in 0..recipe.models {
                let purpose =
                    format!("{}: model {} of {}", learner.name(), model + 1, recipe.models);
                second.train(&mut course, model, purpose, schedule, None)?;
                if course.is_over() {
                    // Half-trained: the earlier ones are better.
                    second.models.pop();
                    break;
                }
                classes = learner.classes(&mut second.session)?;
            }
            if !second.models.is_empty() {
                models = second.decoded();
                trust.apply(&mut models, task.features);
            }
        }
        let ended_early = course.finished().iter().map(|one| one.ended).find(|end| end.is_early());
        let parameters = learner.parameters().with("updates", updates as f64);
        Ok(Learnt {
            choices: choices(learner, task, &parameters, &group_scores),
            models,
            validated: (sets > 0).then_some((validated, sets)),
            score,
            classes,
            history: course.history().clone(),
            ended_early,
        })
    }

    /// Takes the models of a saved course instead of training.
    pub fn restore(learner: &dyn Learner, task: &Task<'_>, store: &TensorStore) -> Result<Learnt> {
        let mut trainer = Trainer::new(learner, task, learner.prepare(task, task.unknown)?)?;
        let count = finished_count(store)?;
        let saved: usize = store.texts.get(MODELS).and_then(|n| n.parse().ok()).unwrap_or(1);
        if count == 0 || count < saved {
            return Err(MethodError::Table(format!(
                "the training of this model was not finished: {count} of {saved} models are\n  run the command that began it again to go on"
            )));
        }
        for model in count - saved..count {
            let finished = finished_in(store, model)?;
            trainer.take(&finished.parameters)?;
        }
        let classes = learner.classes(&mut trainer.session)?;
        let mut models = trainer.decoded();
        if let Some(text) = store.texts.get(TRUST) {
            Trust::from_text(text)?.apply(&mut models, task.features);
        }
        let groups = vec![None; task.features.groups().len()];
        Ok(Learnt {
            choices: choices(learner, task, &learner.parameters(), &groups),
            models,
            validated: None,
            score: None,
            classes,
            history: History::default(),
            ended_early: None,
        })
    }
}

/// The text that says how far training is trusted.
const TRUST: &str = "trust";

fn choices(
    learner: &dyn Learner,
    task: &Task<'_>,
    parameters: &Parameters,
    scores: &[Option<Score>],
) -> Vec<Choice> {
    let groups = task.features.groups().iter().zip(scores);
    groups
        .map(|(group, score)| Choice {
            group: group.name.clone(),
            method: learner.name(),
            parameters: parameters.clone(),
            validation: *score,
            reason: None,
        })
        .collect()
}

fn check_memory(learner: &dyn Learner, task: &Task<'_>, plan: &Plan) -> Result<()> {
    let limit = task.training.memory.unwrap_or(MemoryLimit::Available);
    Ok(plan.check_memory(limit, &learner.memory_parameter())?)
}

/// What tells a course apart: the method, everything that was chosen, the seed, and all that the
/// programs were recorded from.
fn identity(learner: &dyn Learner, task: &Task<'_>, prepared: &Prepared) -> String {
    let parameters: Vec<String> =
        learner.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let fingerprint = prepared.plan.fingerprint();
    format!("{} {} seed={} {fingerprint:016x}", learner.name(), parameters.join(" "), task.seed)
}

/// One prepared model that is trained again and again.
struct Trainer<'l, 't, 'a> {
    learner: &'l dyn Learner,
    task: &'t Task<'a>,
    session: Session,
    outlet: Outlet,
    models: Vec<TrainedModel>,
}

impl<'l, 't, 'a> Trainer<'l, 't, 'a> {
    fn new(learner: &'l dyn Learner, task: &'t Task<'a>, prepared: Prepared) -> Result<Self> {
        let Prepared { plan, inputs, outlet } = prepared;
        let mut session = Session::new(plan, task.seed);
        for (name, values) in inputs {
            session.write(&name, &values)?;
        }
        Ok(Trainer { learner, task, session, outlet, models: Vec::new() })
    }

    /// Trains one more model; says after how many updates it was taken.
    fn train(
        &mut self,
        course: &mut Course<'_>,
        model: usize,
        purpose: String,
        schedule: Schedule,
        validator: Option<&Validator<'_>>,
    ) -> Result<u64> {
        let Trainer { learner, session, outlet, .. } = self;
        session.restart(seed_of(self.task.seed, model));
        let losses = outlet.losses.clone();
        let stage = Stage { purpose, program: learner.program(), losses, schedule };
        let mut score = |session: &mut Session| -> Result<f64> {
            let models = vec![learner.trained(session)?];
            match validator {
                Some(validator) => validator.score(&decoded(self.task, outlet, models)),
                None => Ok(0.0),
            }
        };
        let validation =
            validator.is_some().then_some(&mut score as super::training::Validation<'_>);
        let updates = course.train(session, &stage, validation)?.updates;
        self.models.push(learner.trained(session)?);
        Ok(updates)
    }

    /// Takes the parameters of a model that was trained before.
    fn take(&mut self, parameters: &graphfill_engine::Tensors) -> Result<()> {
        self.session.restore(&self.session.snapshot_of(parameters)?);
        self.models.push(self.learner.trained(&mut self.session)?);
        Ok(())
    }

    fn decoded(&self) -> Decoded {
        decoded(self.task, &self.outlet, self.models.clone())
    }
}

fn decoded(task: &Task<'_>, outlet: &Outlet, models: Vec<TrainedModel>) -> Decoded {
    Decoded {
        nodes: task.features.rows(),
        models,
        offsets: outlet.offsets.clone(),
        scales: outlet.scales.clone(),
    }
}

/// Models of one run differ in their seed; the first has the run's own.
fn seed_of(seed: u64, model: usize) -> u64 {
    seed.wrapping_add((model as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl Fitted for Learnt {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        self.models.estimate(task.features, &task.wanted(), None, sink)
    }

    fn validated(&self, _task: &Task<'_>) -> usize {
        self.validated.as_ref().map_or(0, |(_, sets)| *sets)
    }

    fn estimate_validation(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        let rows = task.validation[set].touched_rows();
        match &self.validated {
            Some((models, _)) => models.estimate(task.features, &task.wanted(), Some(&rows), sink),
            None => Ok(()),
        }
    }

    fn labels(&self) -> Option<&[u32]> {
        self.classes.as_deref()
    }

    fn validation_score(&self) -> Option<f64> {
        self.score
    }

    fn history(&self) -> Option<&History> {
        Some(&self.history)
    }

    fn ended_early(&self) -> Option<Ended> {
        self.ended_early
    }
}
