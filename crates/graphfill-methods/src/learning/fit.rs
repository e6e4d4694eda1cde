//! From a task to trained models: hide validation cells, train until they are estimated no better,
//! then learn from everything that is known.
//!
//! Where the validation cells are unknown anyway (as in an evaluation), the models that were stopped
//! by them are the result. Where they are known (as when a table is filled), new models are trained
//! on all known cells for as many updates as the first one took.

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{Lower, MemoryLimit, Plan, Session, TensorStore};

use super::course::{Course, finished_count, finished_in};
use super::decoded::{Decoded, TrainedModel};
use super::decoding::Decoding;
use super::history::History;
use super::judges::{Judges, watching};
use super::saved::MODELS;
use super::scales::Scales;
use super::trainer::{Selected, Trainer};
use super::training::{Ended, Schedule};
use super::trust::Trust;
use super::validator::{Criterion, Validator};
use crate::error::{MethodError, Result};
use crate::method::{Choice, EstimateSink, Fitted, Score, Task};
use crate::parameters::Parameters;

/// How many of the validation sets one training hides, where there are several.
pub const HIDDEN_SETS: usize = 2;

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
    /// The programs of one update, in their order; the outputs of the last one are watched. Updates
    /// are numbered from 0.
    fn update(&self, number: u64) -> Vec<&str>;
    /// What to lower where memory does not suffice.
    fn memory_parameter(&self) -> Lower;
    /// The model for a table of which `unknown` may not be seen.
    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared>;
    /// The model that a session has learnt.
    fn trained(&self, session: &mut Session) -> Result<TrainedModel>;
    /// Where the parts of [`Learner::trained`] are in the programs: with it, a model that is trained on
    /// a card is validated there, without being read. Without it, it is read.
    fn decoding(&self) -> Option<Decoding> {
        None
    }
    /// The likeliest class of every node, where the model has learnt labels.
    fn classes(&self, _session: &mut Session) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }
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
pub struct TrainingConfig {
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
    pub fn fit(learner: &dyn Learner, config: &TrainingConfig, task: &Task<'_>) -> Result<Learnt> {
        let sets = task.validation.len().min(HIDDEN_SETS);
        let nothing = CellMask::none(task.features.rows(), task.features.cells());
        let hidden = task.validation[..sets].iter().fold(nothing, |all, set| all.union(set));
        let unknown = task.unknown.union(&hidden);
        let is_refitted = unknown != *task.unknown;
        let prepared = learner.prepare(task, &unknown)?;
        let identity = identity(learner, task, &prepared);
        let validator =
            (sets > 0).then(|| Validator::new(task, hidden, &unknown, config.criterion));
        let watched = watching(task);
        let judges = Judges::new(validator.as_ref(), &watched);
        let (mut prepared, judges) = judges.placed(learner, task, prepared)?;
        check_memory(learner, task, &mut prepared.plan)?;
        let mut about = learner.about(task, &prepared.outlet);
        let stages = config.models + usize::from(is_refitted);
        about.texts.insert(STAGES.to_owned(), stages.to_string());
        let mut course = Course::begin(task.training, task.progress, identity, about)?;
        let first = Trainer::new(learner, task, prepared, judges)?;
        let models = if is_refitted { 1 } else { config.models };
        let selected = first.select(&mut course, config, models)?;
        let refitted = match is_refitted && !course.is_over() {
            true => refit(learner, config, task, &mut course, &selected, &watched)?,
            false => None,
        };
        let (models, classes) =
            refitted.unwrap_or_else(|| (selected.models.clone(), selected.classes.clone()));
        let ended_early = course.finished().iter().map(|one| one.ended).find(|end| end.is_early());
        let parameters = learner.parameters().with("updates", selected.updates as f64);
        let group_scores = match &validator {
            Some(validator) => validator.scores(&selected.models)?,
            None => vec![None; task.features.groups().len()],
        };
        Ok(Learnt {
            choices: choices(learner, task, &parameters, &group_scores),
            models,
            score: validator.as_ref().map(|one| one.score(&selected.models)).transpose()?,
            validated: (sets > 0).then_some((selected.models, sets)),
            classes,
            history: course.history().clone(),
            ended_early,
        })
    }

    /// Takes the models of a saved course instead of training.
    pub fn restore(learner: &dyn Learner, task: &Task<'_>, store: &TensorStore) -> Result<Learnt> {
        let (prepared, judges) =
            Judges::new(None, &[]).placed(learner, task, learner.prepare(task, task.unknown)?)?;
        let mut trainer = Trainer::new(learner, task, prepared, judges)?;
        let count = finished_count(store)?;
        let number = |name: &str| store.texts.get(name).and_then(|text| text.parse().ok());
        let (saved, stages): (usize, usize) =
            (number(MODELS).unwrap_or(1), number(STAGES).unwrap_or(1));
        if count < stages.max(saved) {
            return Err(MethodError::Table(format!(
                "the training of this model was not finished: {count} of {stages} models are\n  run the command that began it again to go on"
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

/// The texts that say how far training is trusted, and how many models a course has.
const TRUST: &str = "trust";
const STAGES: &str = "stages";

/// New models on everything that is known, for as many updates as were found best; none where the
/// first was ended early. And the classes of nodes.
fn refit(
    learner: &dyn Learner,
    config: &TrainingConfig,
    task: &Task<'_>,
    course: &mut Course<'_>,
    selected: &Selected,
    watched: &[Validator<'_>],
) -> Result<Option<(Decoded, Option<Vec<u32>>)>> {
    let (prepared, judges) =
        Judges::new(None, watched).placed(learner, task, learner.prepare(task, task.unknown)?)?;
    let mut trainer = Trainer::new(learner, task, prepared, judges)?;
    let mut about = learner.about(task, &trainer.outlet);
    about.texts.insert(TRUST.to_owned(), selected.trust.to_text());
    about.texts.insert(STAGES.to_owned(), (config.models + 1).to_string());
    course.describe(about);
    let schedule =
        Schedule { most_updates: selected.updates, patience: u64::MAX, ..config.schedule };
    let mut classes = selected.classes.clone();
    for model in 0..config.models {
        let purpose = format!("{}: model {} of {}", learner.name(), model + 1, config.models);
        trainer.train(course, model, purpose, schedule)?;
        if course.is_over() {
            // Half-trained: the earlier ones are better.
            trainer.models.pop();
            break;
        }
        classes = learner.classes(&mut trainer.session)?;
    }
    if trainer.models.is_empty() {
        return Ok(None);
    }
    let mut models = trainer.decoded();
    selected.trust.apply(&mut models, task.features);
    Ok(Some((models, classes)))
}

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

fn check_memory(learner: &dyn Learner, task: &Task<'_>, plan: &mut Plan) -> Result<()> {
    let limit = task.training.memory.unwrap_or(MemoryLimit::Available);
    Ok(plan.check_memory(limit, learner.memory_parameter())?)
}

/// What tells a course apart: the method, everything that was chosen, the seed, and all that the
/// programs were recorded from.
fn identity(learner: &dyn Learner, task: &Task<'_>, prepared: &Prepared) -> String {
    let parameters: Vec<String> =
        learner.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let fingerprint = prepared.plan.fingerprint();
    format!("{} {} seed={} {fingerprint:016x}", learner.name(), parameters.join(" "), task.seed)
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
