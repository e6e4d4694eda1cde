//! From a task to trained models: hide validation cells, train until they are estimated no better, then
//! train on everything that is known.
//!
//! Where the validation cells are unknown anyway (as in an evaluation), the models that were stopped
//! by them are the result. Where they are known (as when a table is filled), new models are trained
//! on all known cells for as many updates as the first one took.

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, Session, TensorStore, Tensors};

use super::checkpoint::{RunState, SavedModel, TrainingRun, graph_fingerprint, model_tensors};
use super::decoded::Decoded;
use super::decoder::{DecoderSpec, TrainedModel};
use super::evaluators::{Evaluators, watched_validators};
use super::history::History;
use super::shrinkage::Shrinkage;
use super::trainer::{EarlyStopping, StopReason, Trainer};
use super::validator::{Criterion, Validator};
use crate::error::{MethodError, Result};
use crate::features::GroupKind;
use crate::method::{Choice, EstimateSink, Fitted, Measure, Score, Task};
use crate::parameters::Parameters;

/// How many validation sets one training hides where there are several.
pub const HIDDEN_SETS: usize = 2;

/// Updates that classes of nodes need at least, where some are to be estimated: the validation cells, which
/// say when to end, know nothing of classes.
const MIN_LABEL_UPDATES: u64 = 100;

/// The share of the known cells that held-out sets may take from a training.
const MAX_HELD_OUT_SHARE: f64 = 0.2;

/// How many held-out sets, from the first on, one training hides: one, and more as long as they are a
/// small share of the known cells.
pub fn hidden_held_out_sets(task: &Task<'_>) -> usize {
    let cells = task.features.rows() * task.features.cells();
    let known = cells.saturating_sub(task.unknown.count());
    let mut taken = 0;
    let fits = |set: &&CellMask| {
        taken += set.count();
        taken as f64 <= MAX_HELD_OUT_SHARE * known as f64
    };
    task.held_out.iter().take_while(fits).count().max(task.held_out.len().min(1))
}

/// The programs of a model for a table with unknown cells.
pub struct Prepared {
    /// The programs: those that predict and, for training, those of an update.
    pub plan: Plan,
    /// The inputs of the programs.
    pub inputs: Vec<(String, Vec<f32>)>,
    /// How estimates follow from what the programs compute.
    pub spec: DecoderSpec,
}

/// What programs are prepared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Updates and predictions.
    Training,
    /// Predictions alone.
    Inference,
}

/// A model trained by gradient descent.
pub trait TrainableModel {
    /// The name of its method.
    fn name(&self) -> &'static str;
    /// All parameters, the open ones resolved.
    fn parameters(&self) -> Parameters;
    /// The programs of one update, in their order; the losses are outputs of the last one. Updates are
    /// numbered from 0.
    fn update(&self, number: u64) -> Vec<&str>;
    /// The parameter to lower where memory does not suffice.
    fn memory_parameter(&self) -> Lower;
    /// The programs for a table of which `unknown` must not be read.
    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared>;
    /// Reads the model that a session has, or that `saved` parameters are. Where `rows` are named, the
    /// latents of others may be anything.
    fn read(
        &self,
        spec: &DecoderSpec,
        session: &mut Session,
        saved: Option<&Tensors>,
        rows: Option<&[u32]>,
    ) -> Result<TrainedModel> {
        let _ = rows;
        spec.read(session, saved)
    }
}

/// How many models are trained, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingConfig {
    /// How long a model trains.
    pub stopping: EarlyStopping,
    /// How many models are averaged.
    pub models: usize,
    /// The number of updates where nothing can be validated.
    pub unvalidated_updates: u64,
    /// What is compared.
    pub criterion: Criterion,
}

/// Trained models that estimate missing cells.
pub struct TrainedImputer {
    choices: Vec<Choice>,
    models: Decoded,
    /// The models that have not seen the first held-out sets, and how many sets.
    held_out: Option<(Decoded, usize)>,
    score: Option<f64>,
    classes: Option<Vec<u32>>,
    history: History,
    stopped_early: Option<StopReason>,
    state: TensorStore,
}

impl TrainedImputer {
    /// Trains.
    pub fn fit(
        model: &dyn TrainableModel,
        config: &TrainingConfig,
        task: &Task<'_>,
    ) -> Result<Self> {
        let nothing = CellMask::none(task.features.rows(), task.features.cells());
        let union = |sets: &[CellMask], count: usize| {
            let sets = sets.iter().take(count);
            sets.fold(nothing.clone(), |all, set| all.union(set))
        };
        let validation = union(task.validation, HIDDEN_SETS);
        let held_out = hidden_held_out_sets(task);
        let unknown = task.unknown.union(&validation).union(&union(task.held_out, held_out));
        let is_refitted = unknown != *task.unknown;
        let prepared = model.prepare(task, &unknown, Purpose::Training)?;
        let validator = (!task.validation.is_empty())
            .then(|| Validator::new(task, validation, &unknown, config.criterion));
        let watched = watched_validators(task);
        let planned = config.models + usize::from(is_refitted);
        let saved = description(model, config, task, &prepared.spec, planned);
        let (identity, found) = (identity(model, task, &prepared), prepared.spec.found.clone());
        let mut run = TrainingRun::begin(task.context, identity, saved.clone(), found.clone())?;
        let evaluators = Evaluators::new(validator.as_ref(), &watched);
        let mut trainer = Trainer::new(model, task, prepared, evaluators)?;
        let mut selected = Selected::train(
            &mut trainer,
            &mut run,
            model,
            config,
            validator.as_ref(),
            is_refitted,
        )?;
        drop(trainer);
        let rows = task.features.rows();
        if task.labels.is_some_and(|labels| labels.known() > 0 && labels.known() < rows) {
            let enough = MIN_LABEL_UPDATES.min(config.stopping.max_updates);
            selected.updates = selected.updates.max(enough);
        }
        let refitted = match is_refitted && !run.is_over() {
            true => refit(model, config, task, &mut run, &selected, &watched)?,
            false => None,
        };
        let stops: Vec<StopReason> = run.state.finished.iter().map(|one| one.stop).collect();
        if refitted.is_none() {
            // The models of the selection are the result, and what is saved describes them.
            let shrinkage = selected.shrinkage.clone();
            run.describe(SavedModel { shrinkage, ..saved }, found);
            run.keep_first(selected.models.models.len());
        }
        let (mut models, classes) =
            refitted.unwrap_or_else(|| (selected.models.clone(), selected.classes.clone()));
        run.set_used(models.models.len());
        let group_scores = match &validator {
            Some(validator) => validator.scores(&selected.models)?,
            None => vec![None; task.features.groups().len()],
        };
        models.residuals = validator.is_some().then(|| residuals(task, &group_scores));
        let parameters = model.parameters().with("updates", selected.updates as f64);
        Ok(TrainedImputer {
            choices: choices(model, task, &parameters, &group_scores),
            models,
            score: validator.as_ref().map(|one| one.score(&selected.models)).transpose()?,
            held_out: (held_out > 0).then_some((selected.models, held_out)),
            classes,
            history: run.history().clone(),
            stopped_early: stops.into_iter().find(|stop| stop.is_early()),
            state: run.store(None),
        })
    }

    /// Takes saved models instead of training: inference programs are prepared for the task's nodes.
    pub fn restore(
        model: &dyn TrainableModel,
        task: &Task<'_>,
        state: &TensorStore,
    ) -> Result<Self> {
        let run = RunState::read(state)?;
        let saved = SavedModel::read(state, task)?;
        let (count, planned) = (run.finished.len(), saved.planned.max(saved.models));
        if count < planned {
            return Err(MethodError::Model(format!(
                "its training was not finished: {count} of {planned} models are\n  run the command that began it again to go on"
            )));
        }
        let Prepared { plan, inputs, spec } =
            model.prepare(task, task.unknown, Purpose::Inference)?;
        let mut plan = plan.on(&task.context.device);
        plan.check_memory(task.context.memory_limit(), model.memory_parameter())?;
        let mut session = Session::new(plan, task.context.seed)?;
        for (name, values) in inputs {
            session.write(&name, &values)?;
        }
        let mut trained = Vec::new();
        for at in count - saved.models..count {
            let parameters = model_tensors(state, at);
            session.restore(&session.snapshot_of(&parameters)?)?;
            trained.push(model.read(&spec, &mut session, Some(&parameters), None)?);
        }
        let classes = trained.last().and_then(|last| last.classes(saved.classes.len()));
        let mut models = Decoded::of(task, &spec, trained);
        saved.shrinkage.apply(&mut models, task.features);
        let scores = vec![None; task.features.groups().len()];
        Ok(TrainedImputer {
            choices: choices(model, task, &model.parameters(), &scores),
            models,
            held_out: None,
            score: None,
            classes,
            history: History::default(),
            stopped_early: None,
            state: state.clone(),
        })
    }
}

/// What training on some of the known cells has shown.
struct Selected {
    /// After how many updates to end.
    updates: u64,
    /// The models that have not seen the hidden cells.
    models: Decoded,
    shrinkage: Shrinkage,
    classes: Option<Vec<u32>>,
}

impl Selected {
    /// Trains until the score on the validation cells becomes no better: one model where others
    /// follow on all known cells, else all.
    fn train(
        trainer: &mut Trainer<'_, '_>,
        run: &mut TrainingRun<'_>,
        model: &dyn TrainableModel,
        config: &TrainingConfig,
        validator: Option<&Validator<'_>>,
        is_refitted: bool,
    ) -> Result<Self> {
        let mut stopping = config.stopping;
        if validator.is_none() {
            stopping.max_updates = config.unvalidated_updates;
        }
        let name = model.name();
        let models = if is_refitted { 1 } else { config.models };
        let mut updates = Vec::new();
        for number in 1..=models {
            let purpose = match (is_refitted, models) {
                (true, _) => format!("{name}: how long to train"),
                (false, 1) => format!("{name}: training"),
                (false, _) => format!("{name}: model {number} of {models}"),
            };
            updates.push(trainer.train(run, &purpose, stopping)?);
            if run.is_over() {
                break;
            }
        }
        let mut models = trainer.decoded();
        let shrinkage = match (validator, models.models[0].untrained()) {
            (Some(validator), Some(untrained)) => Shrinkage::choose(validator, &models, untrained)?,
            _ => Shrinkage::None,
        };
        run.set_shrinkage(shrinkage.clone());
        let classes = trainer.classes();
        shrinkage.apply(&mut models, trainer.features());
        let updates = updates.iter().sum::<u64>() / updates.len().max(1) as u64;
        Ok(Selected { updates, models, shrinkage, classes })
    }
}

/// New models on everything that is known, for as many updates as were found best, and the classes of
/// nodes; none where the first was stopped early.
fn refit(
    model: &dyn TrainableModel,
    config: &TrainingConfig,
    task: &Task<'_>,
    run: &mut TrainingRun<'_>,
    selected: &Selected,
    watched: &[Validator<'_>],
) -> Result<Option<(Decoded, Option<Vec<u32>>)>> {
    let prepared = model.prepare(task, task.unknown, Purpose::Training)?;
    let mut saved = description(model, config, task, &prepared.spec, config.models + 1);
    saved.shrinkage = selected.shrinkage.clone();
    run.describe(saved, prepared.spec.found.clone());
    let mut trainer = Trainer::new(model, task, prepared, Evaluators::new(None, watched))?;
    let stopping =
        EarlyStopping { max_updates: selected.updates, patience: u64::MAX, ..config.stopping };
    let mut classes = selected.classes.clone();
    let mut half_trained = false;
    for number in 1..=config.models {
        let purpose = format!("{}: model {number} of {}", model.name(), config.models);
        trainer.train(run, &purpose, stopping)?;
        if run.is_over() {
            // Half-trained: the earlier ones are better.
            trainer.trained.pop();
            half_trained = true;
            break;
        }
        classes = trainer.classes();
    }
    if trainer.trained.is_empty() {
        return Ok(None);
    }
    if half_trained {
        run.keep_first(run.state.finished.len() - 1);
    }
    let mut models = trainer.decoded();
    selected.shrinkage.apply(&mut models, task.features);
    Ok(Some((models, classes)))
}

fn description(
    model: &dyn TrainableModel,
    config: &TrainingConfig,
    task: &Task<'_>,
    spec: &DecoderSpec,
    planned: usize,
) -> SavedModel {
    let labels = task.labels.filter(|labels| labels.known() > 0);
    SavedModel {
        parameters: model.parameters(),
        likelihoods: spec.likelihoods.clone(),
        graph: graph_fingerprint(task.graph),
        nodes: task.graph.nodes(),
        classes: labels.map_or_else(Vec::new, |labels| labels.classes.clone()),
        seed: task.context.seed,
        models: config.models,
        planned,
        shrinkage: Shrinkage::None,
    }
}

fn choices(
    model: &dyn TrainableModel,
    task: &Task<'_>,
    parameters: &Parameters,
    scores: &[Option<Score>],
) -> Vec<Choice> {
    let groups = task.features.groups().iter().zip(scores);
    groups
        .map(|(group, score)| Choice {
            group: group.name.clone(),
            method: model.name().to_owned(),
            parameters: parameters.clone(),
            validation: *score,
            reason: None,
        })
        .collect()
}

/// The RMSE on validation cells as the scale of the estimates of numbers and counts.
fn residuals(task: &Task<'_>, scores: &[Option<Score>]) -> Vec<f64> {
    let mut residuals = vec![f64::NAN; task.features.width()];
    for (group, score) in task.features.groups().iter().zip(scores) {
        if let (GroupKind::Number | GroupKind::Count, Some(score)) = (&group.kind, score)
            && score.measure == Measure::RootMeanSquaredError
        {
            residuals[group.features.clone()].fill(score.value);
        }
    }
    residuals
}

/// What tells a run from others: the method, all parameters, the seed, and the programs.
fn identity(model: &dyn TrainableModel, task: &Task<'_>, prepared: &Prepared) -> String {
    let parameters: Vec<String> =
        model.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (seed, fingerprint) = (task.context.seed, prepared.plan.fingerprint());
    // Programs of single rows know the graph through their inputs alone.
    let (graph, depth) = (graph_fingerprint(task.graph), task.ranking_depth);
    let parameters = parameters.join(" ");
    format!("{} {parameters} seed={seed} depth={depth} {graph} {fingerprint:016x}", model.name())
}

impl Fitted for TrainedImputer {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        self.models.estimate(task.features, &task.wanted(), None, sink)
    }

    fn held_out_sets(&self, _task: &Task<'_>) -> usize {
        self.held_out.as_ref().map_or(0, |(_, sets)| *sets)
    }

    fn estimate_held_out(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        let rows = task.held_out[set].touched_rows();
        match &self.held_out {
            Some((models, _)) => models.estimate(task.features, &task.wanted(), Some(&rows), sink),
            None => Ok(()),
        }
    }

    fn state(&self) -> Result<TensorStore> {
        Ok(self.state.clone())
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

    fn stopped_early(&self) -> Option<StopReason> {
        self.stopped_early
    }
}
