//! Checkpoints of a training run: models trained one after the other, whose state survives kill -9.
//!
//! With a checkpoint file, the state of the run ([`RunState`], as JSON), the parameters of finished
//! models and the session of the model in training are saved every so many updates. The same run on
//! the same data finds the file, skips finished models and continues within the one that was being
//! trained, to the same bits as if it had never been interrupted. A file whose bytes have changed is
//! refused: it carries a checksum.

use std::path::Path;

use graphfill_data::UndirectedGraph;
use graphfill_engine::{Session, Snapshot, TensorStore, Tensors};
use serde::{Deserialize, Serialize};

use super::history::{History, HistoryLine};
use super::likelihood::Likelihoods;
use super::shrinkage::Shrinkage;
use super::trainer::{StopReason, TrainingState};
use crate::context::Context;
use crate::error::{MethodError, Result};
use crate::method::Task;
use crate::parameters::Parameters;

/// The text of a file that has the state of its run.
const RUN: &str = "run";

/// What a saved model needs to estimate other nodes, beside its tensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedModel {
    /// The parameters of the method, all of them.
    pub parameters: Parameters,
    /// From logits to estimates.
    pub likelihoods: Likelihoods,
    /// The fingerprint of its graph.
    pub graph: String,
    /// The number of nodes of its graph.
    pub nodes: usize,
    /// The names of the classes that it learned.
    pub classes: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// How many models at the end of the run are averaged.
    pub models: usize,
    /// How many models the whole run trains.
    pub planned: usize,
    /// How much of what was learned is kept.
    pub shrinkage: Shrinkage,
}

impl SavedModel {
    /// Reads the description of a saved model. Its classes must be those of the task: they are
    /// told apart by their position.
    pub fn read(state: &TensorStore, task: &Task<'_>) -> Result<Self> {
        let saved = RunState::read(state)?.model;
        let labels = task.labels.filter(|labels| labels.known() > 0);
        let Some(labels) = labels.filter(|labels| labels.classes != saved.classes) else {
            return Ok(saved);
        };
        let problem = match saved.classes.is_empty() {
            true => "it was trained without labels".to_owned(),
            false => {
                let [own, found] =
                    [&saved.classes, &labels.classes].map(|classes| classes.join(", "));
                format!("it knows the classes {own}; the table has {found}")
            }
        };
        Err(MethodError::OtherLabels { problem, column: labels.name.clone() })
    }

    /// Fails if the graph is another one: the method has parameters for every node.
    pub fn check_same_graph(&self, method: &str, graph: &UndirectedGraph) -> Result<()> {
        match self.graph == graph_fingerprint(graph) {
            true => Ok(()),
            false => Err(MethodError::Table(format!(
                "the model was trained on another graph, of {} nodes: {method} has parameters for every node of its own graph\n  svga-p estimates nodes that arrive later; or train again",
                self.nodes
            ))),
        }
    }
}

/// A model that was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedModel {
    /// The number of updates after which its parameters were taken.
    pub updates: u64,
    /// Its score on the validation cells, where there were any.
    pub score: Option<f64>,
    /// Why its training ended.
    pub stop: StopReason,
}

/// The state of a training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Method, parameters, seed and a fingerprint of the programs.
    identity: String,
    /// What makes the file a model.
    model: SavedModel,
    /// The models that are finished.
    pub(super) finished: Vec<FinishedModel>,
    /// The state of the model in training, if one is.
    current: Option<TrainingState>,
    /// Losses and scores so far.
    history: History,
}

impl RunState {
    pub(super) fn read(store: &TensorStore) -> Result<Self> {
        let text = store.texts.get(RUN);
        let text = text.ok_or_else(|| MethodError::Model("it has no trained model".to_owned()))?;
        serde_json::from_str(text)
            .map_err(|error| MethodError::Model(format!("the state of its training: {error}")))
    }
}

/// A training run and its checkpoint file.
pub(super) struct TrainingRun<'a> {
    context: &'a Context<'a>,
    pub(super) state: RunState,
    /// What the model found out about the table.
    extra: TensorStore,
    /// The parameters of the finished models.
    pub(super) parameters: Vec<Tensors>,
    found: Option<(RunState, TensorStore)>,
}

impl<'a> TrainingRun<'a> {
    /// Starts a run, or continues the one that the checkpoint file has.
    pub(super) fn begin(
        context: &'a Context<'a>,
        identity: String,
        model: SavedModel,
        extra: TensorStore,
    ) -> Result<Self> {
        let path = context.checkpoint.as_ref().map(|options| options.path.as_path());
        let found = match path.filter(|path| path.exists()) {
            None => None,
            Some(path) => {
                let store = read_state(path)?;
                let state = RunState::read(&store).ok().filter(|state| state.identity == identity);
                let state = state.ok_or_else(|| MethodError::OtherRun { path: path.to_owned() })?;
                Some((state, store))
            }
        };
        let state = RunState {
            identity,
            model,
            finished: Vec::new(),
            current: None,
            history: History::default(),
        };
        Ok(TrainingRun { context, state, extra, parameters: Vec::new(), found })
    }

    /// Replaces the description that is saved with the models.
    pub(super) fn describe(&mut self, model: SavedModel, extra: TensorStore) {
        (self.state.model, self.extra) = (model, extra);
    }

    /// Forgets models that are not used, from a position on.
    pub(super) fn keep_first(&mut self, models: usize) {
        self.state.finished.truncate(models);
        self.parameters.truncate(models);
    }

    /// Says how many models, at the end of the run, are averaged: fewer than planned where training was
    /// stopped early.
    pub(super) fn set_used(&mut self, models: usize) {
        self.state.model.models = models;
        self.state.model.planned = self.state.finished.len();
    }

    /// How much of what was learned is kept.
    pub(super) fn set_shrinkage(&mut self, shrinkage: Shrinkage) {
        self.state.model.shrinkage = shrinkage;
    }

    pub(super) fn history(&self) -> &History {
        &self.state.history
    }

    /// Whether the last model was stopped early: the next ones would be, too.
    pub(super) fn is_over(&self) -> bool {
        self.state.finished.last().is_some_and(|finished| finished.stop.is_early())
    }

    /// Announces the next model in the history.
    pub(super) fn begin_model(&mut self, purpose: &str, losses: &[String]) {
        self.state.history.losses = losses.to_vec();
        self.state.history.models.push(purpose.to_owned());
    }

    /// The next model, if an earlier run has finished it: the session gets its parameters.
    pub(super) fn found_finished(
        &mut self,
        session: &mut Session,
    ) -> Result<Option<FinishedModel>> {
        let at = self.state.finished.len();
        let Some((found, store)) = &self.found else { return Ok(None) };
        let Some(finished) = found.finished.get(at).cloned() else { return Ok(None) };
        let parameters = model_tensors(store, at);
        session.restore(&session.snapshot_of(&parameters)?)?;
        let lines = found.history.lines.iter().filter(|line| line.model == at).cloned();
        self.state.history.lines.extend(lines);
        self.state.finished.push(finished.clone());
        self.parameters.push(parameters);
        Ok(Some(finished))
    }

    /// Sets the session to where an earlier run left the next model.
    pub(super) fn resume(&mut self, session: &mut Session) -> Result<TrainingState> {
        let at = self.state.finished.len();
        let (Some((found, store)), Some(options)) = (&self.found, &self.context.checkpoint) else {
            return Ok(TrainingState::default());
        };
        let Some(current) = found.current.clone().filter(|_| found.finished.len() == at) else {
            return Ok(TrainingState::default());
        };
        if current.best.is_some() {
            session.restore(&session.snapshot_of(&tensors_under(store, BEST))?)?;
            session.keep()?;
        }
        session.load(&options.path)?;
        let lines = found.history.lines.iter();
        let lines = lines.filter(|line| line.model == at && line.update <= current.updates);
        self.state.history.lines.extend(lines.cloned());
        Ok(current)
    }

    /// Records the state after an epoch, and saves it where that is due.
    pub(super) fn record(
        &mut self,
        session: &Session,
        current: &TrainingState,
        line: HistoryLine,
        stop: Option<StopReason>,
        saved_at: &mut u64,
    ) -> Result<()> {
        let model = self.state.finished.len();
        self.state.history.lines.push(HistoryLine { model, ..line });
        let Some(options) = &self.context.checkpoint else { return Ok(()) };
        let is_due = current.updates - *saved_at >= options.every;
        if is_due || stop.is_some_and(StopReason::is_early) {
            *saved_at = current.updates;
            let best = current.best.as_ref().map(|_| session.kept()).transpose()?.flatten();
            self.state.current = Some(current.clone());
            session.save_with(&options.path, &self.store(best))?;
            self.state.current = None;
        }
        Ok(())
    }

    /// Takes the parameters of the session as a finished model.
    pub(super) fn finish(&mut self, session: &Session, finished: FinishedModel) -> Result<()> {
        let is_early = finished.stop.is_early();
        self.parameters.push(session.snapshot()?.tensors());
        self.state.finished.push(finished);
        match &self.context.checkpoint {
            Some(options) if !is_early => Ok(session.save_with(&options.path, &self.store(None))?),
            _ => Ok(()),
        }
    }

    /// Everything but the session: the state of the run and the parameters of finished models, with
    /// the best parameters so far of the model in training.
    pub(super) fn store(&self, best: Option<Snapshot>) -> TensorStore {
        let mut store = self.extra.clone();
        // The state has no maps with keys that JSON cannot write.
        let state = serde_json::to_string(&self.state).unwrap_or_default();
        store.texts.insert(RUN.to_owned(), state);
        for (model, parameters) in self.parameters.iter().enumerate() {
            for (name, tensor) in parameters {
                store.tensors.insert(format!("{model} {name}"), tensor.clone());
            }
        }
        for (name, tensor) in best.into_iter().flat_map(|best| best.tensors()) {
            store.tensors.insert(format!("{BEST}{name}"), tensor);
        }
        store
    }
}

const BEST: &str = "best ";

/// The parameters of a finished model.
pub(super) fn model_tensors(store: &TensorStore, model: usize) -> Tensors {
    tensors_under(store, &format!("{model} "))
}

fn tensors_under(store: &TensorStore, prefix: &str) -> Tensors {
    let own = store.tensors.iter();
    own.filter_map(|(name, tensor)| Some((name.strip_prefix(prefix)?.to_owned(), tensor.clone())))
        .collect()
}

/// Reads the state of a checkpoint in training, or of a saved model.
pub(crate) fn read_state(path: &Path) -> Result<TensorStore> {
    let whole = TensorStore::read(path)?;
    match whole.texts.contains_key(RUN) || whole.texts.contains_key(crate::model::METHOD) {
        true => Ok(whole),
        false => Ok(TensorStore::read_beside_session(path)?),
    }
}

/// A number that changes with any edge, weight or direction (FNV-1a over the neighbour lists).
pub(crate) fn graph_fingerprint(graph: &UndirectedGraph) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    graph.indptr().iter().for_each(|&offset| add(offset as u64));
    graph.all_neighbours().iter().for_each(|&node| add(u64::from(node)));
    for &weight in graph.all_weights().unwrap_or_default() {
        add(u64::from(weight.to_bits()));
    }
    for &weight in graph.all_out_weights().unwrap_or_default() {
        add(u64::from(weight.to_bits()));
    }
    format!("{hash:016x}")
}
