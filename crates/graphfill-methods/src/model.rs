//! A fitted model: an owned value that fills tables, can be saved and loaded, and knows its columns.

use std::path::Path;
use std::sync::Arc;

use graphfill_data::{CellMask, DataError, NodeTable, Note, UndirectedGraph};
use graphfill_engine::TensorStore;
use serde::{Deserialize, Serialize};

use crate::context::{Context, IgnoreCancel, LabelledProgress};
use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::fill::{self, Filled};
use crate::learning::{History, StopReason, graph_fingerprint, read_state};
use crate::method::{Choice, Fitted, LabelUse, Method, Score, Task};
use crate::parameters::Parameters;
use crate::registry::Registry;
use crate::schema::Schema;
use crate::uncertainty::{
    self, Both, Calibration, CellEstimates, HiddenCells, MAX_DRAWN_CELLS, Uncertainty,
};

/// The text of a model file that has its [`Header`].
pub(crate) const METHOD: &str = "model";

/// A fitted method with the columns that it was fitted to.
///
/// A model is free of the table and the graph that it was fitted to: [`Model::transform`] fills any
/// table with its columns. What it can do with new nodes depends on the method: svga-p and the
/// propagation methods estimate them from their neighbours; svga has parameters for every node and
/// refuses another graph.
///
/// A clone shares what was fitted.
#[derive(Clone)]
pub struct Model {
    method: Arc<dyn Method>,
    header: Header,
    state: Arc<TensorStore>,
    /// What was fitted to the table, until the model is loaded again.
    fitted: Option<Arc<dyn Fitted>>,
    stopped_early: Option<StopReason>,
    history: Option<History>,
    /// Observed cells that were hidden to calibrate the model, until it is loaded again.
    hidden: Option<Arc<HiddenCells>>,
}

/// What a model file says beside the state of its method.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Header {
    method: String,
    parameters: Parameters,
    schema: Schema,
    choices: Vec<Choice>,
    graph: String,
    nodes: usize,
    /// Edges per node.
    degree: f64,
    seed: u64,
    /// How sure its estimates are, where that was asked for.
    #[serde(default)]
    calibration: Option<Calibration>,
}

impl Model {
    /// Fits a method to the known cells of a table. Some of them are hidden for validation, as the
    /// missing cells are missing.
    pub fn fit(
        method: Arc<dyn Method>,
        table: &NodeTable,
        graph: &UndirectedGraph,
        context: &Context<'_>,
    ) -> Result<Model> {
        fill::check(table, graph)?;
        let features = Features::of(table);
        let missing = features.missing();
        let validation = fill::validation_sets(&features, &missing, context.seed);
        let labels = table.labels().filter(|_| method.label_use() == LabelUse::Learned);
        let task = Task {
            validation: &validation,
            labels,
            ..Task::new(graph, &features, &missing, context)
        };
        let fitted: Arc<dyn Fitted> = Arc::from(method.fit_task(&task)?);
        let header = Header {
            method: method.info().name.to_owned(),
            parameters: method.parameters(),
            schema: Schema::of(table),
            choices: fitted.choices().to_vec(),
            graph: graph_fingerprint(graph),
            nodes: graph.nodes(),
            degree: mean_degree(graph),
            seed: context.seed,
            calibration: None,
        };
        Ok(Model {
            state: Arc::new(fitted.state()?),
            stopped_early: fitted.stopped_early(),
            history: fitted.history().cloned(),
            method,
            header,
            fitted: Some(fitted),
            hidden: None,
        })
    }

    /// Learns how sure its estimates are: the method is run once more on the table that the model was
    /// fitted to, with observed cells hidden as the missing ones are missing.
    ///
    /// False where the run was cancelled. Where the table is too small to hide any cells, no column is
    /// calibrated: estimates then come without intervals.
    pub fn calibrate(
        &mut self,
        table: &NodeTable,
        graph: &UndirectedGraph,
        context: &Context<'_>,
    ) -> Result<bool> {
        let features = Features::of(table);
        let missing = features.missing();
        let labels = table.labels().filter(|_| self.method.label_use() == LabelUse::Learned);
        let labelled = LabelledProgress { stage: "calibrating", progress: context.progress };
        let context = Context { seed: self.header.seed, progress: &labelled, ..context.clone() };
        let task = Task { labels, ..Task::new(graph, &features, &missing, &context) };
        let validation =
            |unknown: &CellMask| fill::validation_sets(&features, unknown, context.seed);
        self.hidden =
            match uncertainty::hide_and_estimate(&*self.method, &task, &missing, &validation) {
                Err(MethodError::Data(DataError::Cancelled)) => None,
                hidden => hidden?.map(Arc::new),
            };
        let calibrated = self.hidden.as_ref().map(|hidden| hidden.calibrate(&|_| true));
        self.header.calibration = calibrated;
        Ok(self.header.calibration.is_some())
    }

    /// Fills the missing cells of a table: that of the fit, or a later one with the same columns, in
    /// any order. New nodes, and a table of a single row, are fine where the method can estimate them.
    pub fn transform(
        &self,
        table: &NodeTable,
        graph: &UndirectedGraph,
        context: &Context<'_>,
    ) -> Result<Filled> {
        let (table, mut notes) = self.header.schema.apply(table)?;
        fill::check(&table, graph)?;
        let features = Features::with_schema(&table, &self.header.schema);
        let unknown = features.missing();
        let labels = table.labels().filter(|_| self.method.label_use() == LabelUse::Learned);
        let context = Context { seed: self.header.seed, ..context.clone() };
        let task = Task { labels, ..Task::new(graph, &features, &unknown, &context) };
        let restored = self.method.restore(&task, &self.state)?;
        notes.extend(self.graph_note(graph));
        self.complete(&table, &task, restored.as_ref(), Some(&self.header.schema), notes)
    }

    /// Fills the table that the model was just fitted to, without preparing inference anew.
    pub(crate) fn fill_fitted(
        &self,
        table: &NodeTable,
        graph: &UndirectedGraph,
        context: &Context<'_>,
    ) -> Result<Filled> {
        let Some(fitted) = &self.fitted else { return self.transform(table, graph, context) };
        let features = Features::of(table);
        let missing = features.missing();
        // A caller who cancelled wants the best estimates so far.
        let ignored = IgnoreCancel(context.progress);
        let finishing = Context { progress: &ignored, ..context.clone() };
        let context = if self.stopped_early.is_some() { &finishing } else { context };
        let task = Task::new(graph, &features, &missing, context);
        self.complete(table, &task, fitted.as_ref(), None, Vec::new())
    }

    fn complete(
        &self,
        table: &NodeTable,
        task: &Task<'_>,
        fitted: &dyn Fitted,
        schema: Option<&Schema>,
        notes: Vec<Note>,
    ) -> Result<Filled> {
        let missing: &CellMask = task.unknown;
        let mut collected = fill::Collected::new(task.features, missing, task.graph, schema);
        let uncertainty = match &self.header.calibration {
            None => {
                fitted.estimate(task, &mut collected)?;
                None
            }
            Some(calibration) => {
                let mut cells = CellEstimates::new(task.features, missing, MAX_DRAWN_CELLS);
                fitted.estimate(task, &mut Both(&mut collected, &mut cells))?;
                let trained_range =
                    |group: usize| schema.and_then(|schema| schema.columns[group].range);
                let ones = collected.estimated_ones();
                Some(Uncertainty::new(
                    calibration,
                    task,
                    cells,
                    // A later table was not there when cells were hidden.
                    self.hidden.as_deref().filter(|_| schema.is_none()),
                    &ones,
                    &trained_range,
                ))
            }
        };
        // Cells with a level that the model does not know are no evidence, and not missing either.
        let estimated = table.missing().count();
        let wanted = task.wanted();
        let choices = self.header.choices.iter().zip(&wanted).filter(|(_, wanted)| **wanted);
        let (table, estimated_labels) =
            fill::with_labels(collected.complete(table)?, fitted.labels())?;
        Ok(Filled {
            estimated,
            table,
            estimated_labels,
            choices: choices.map(|(choice, _)| choice.clone()).collect(),
            history: self.history.clone(),
            stopped_early: self.stopped_early,
            notes,
            uncertainty,
        })
    }

    /// Observed cells that were hidden to calibrate the model, with their estimates; none in a model that
    /// was loaded or is not calibrated.
    pub fn hidden_cells(&self) -> Option<&HiddenCells> {
        self.hidden.as_deref().filter(|hidden| !hidden.is_empty())
    }

    /// How sure its estimates are, where the model is calibrated.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.header.calibration.as_ref()
    }

    /// The method, with its parameters.
    pub fn method(&self) -> &Arc<dyn Method> {
        &self.method
    }

    /// The columns that it was trained on.
    pub fn schema(&self) -> &Schema {
        &self.header.schema
    }

    /// What was chosen for each column.
    pub fn choices(&self) -> &[Choice] {
        &self.header.choices
    }

    /// The score of each column on validation cells, where there were any.
    pub fn scores(&self) -> impl Iterator<Item = (&str, Score)> {
        let choices = self.header.choices.iter();
        choices.filter_map(|choice| Some((choice.group.as_str(), choice.validation?)))
    }

    /// Losses and scores of the training, where there was any.
    pub fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// Why training ended early, if it did.
    pub fn stopped_early(&self) -> Option<StopReason> {
        self.stopped_early
    }

    /// Writes the model to a file, which appears whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut store = TensorStore::clone(&self.state);
        let header = serde_json::to_string(&self.header)
            .map_err(|error| MethodError::Model(error.to_string()))?;
        store.texts.insert(METHOD.to_owned(), header);
        Ok(store.write(path)?)
    }

    /// Reads a model that [`Model::save`] wrote. Its method is looked up in the registry.
    pub fn load(path: impl AsRef<Path>, registry: &Registry) -> Result<Model> {
        let path = path.as_ref();
        let refuse = |problem: String| MethodError::Checkpoint { path: path.to_owned(), problem };
        let state = read_state(path)?;
        let Some(text) = state.texts.get(METHOD) else {
            return Err(refuse(
                "a training that was not finished: run the command that began it again to go on"
                    .to_owned(),
            ));
        };
        let header: Header = serde_json::from_str(text).map_err(|error| {
            refuse(format!("no model of graphfill, or of another version: {error}"))
        })?;
        let method = registry.find(&header.method)?.with_parameters(&header.parameters)?;
        Ok(Model {
            method,
            header,
            state: Arc::new(state),
            fitted: None,
            stopped_early: None,
            history: None,
            hidden: None,
        })
    }

    /// What has changed about the graph since the model was fitted.
    fn graph_note(&self, graph: &UndirectedGraph) -> Option<Note> {
        if self.header.graph == graph_fingerprint(graph) {
            return None;
        }
        let (degree, trained) = (mean_degree(graph), self.header.degree);
        if degree > 0.0 && degree < FEWER_EDGES * trained {
            return Some(Note::warning(format!(
                "nodes have {degree:.1} edges on average here, and {trained:.1} where the model was trained: estimates from so few neighbours are rough; give the new nodes together with the table and the edges that the model was trained on"
            )));
        }
        let arrived = graph.nodes().saturating_sub(self.header.nodes);
        Some(Note::warning(match arrived {
            0 => "the graph is not the one that the model was trained on: estimates follow its edges as they are now, without training".to_owned(),
            1 => "1 node arrived since the model was trained: it is estimated from its neighbours, without training".to_owned(),
            _ => format!("{arrived} nodes arrived since the model was trained: they are estimated from their neighbours, without training"),
        }))
    }
}

/// A later graph with this share of the edges per node is another kind of graph.
const FEWER_EDGES: f64 = 0.5;

/// Edges per node, counted at both ends.
fn mean_degree(graph: &UndirectedGraph) -> f64 {
    graph.all_neighbours().len() as f64 / graph.nodes().max(1) as f64
}
