//! The common job from one end to the other: read files, fill, look at the uncertainty, write.

use std::path::Path;
use std::sync::Arc;

use graphfill_data::formats::{ReadOptions, write_nodes};
use graphfill_data::{
    Column, DataError, Dataset, Kind, NoProgress, NodeTable, Note, UndirectedGraph,
};
use graphfill_datasets::Source;
use graphfill_methods::features::Features;
use graphfill_methods::fill::{self, Filled, WithUncertainty};
use graphfill_methods::learning::{History, StopReason};
use graphfill_methods::schema::Schema;
use graphfill_methods::uncertainty::{CellSource, CoverageCheck, Uncertainty};
use graphfill_methods::{Choice, Context, Method, MethodError, Model, Registry};
use graphfill_report::page::{FillPage, FillSource, RunInfo};

/// The coverage that people ask for most.
const USUAL_COVERAGE: f64 = 0.9;

/// Reads a table of nodes and the edges between them. Formats, ids and column types are inferred;
/// [`Data::notes`] says what was guessed.
pub fn read(nodes: impl AsRef<Path>, edges: impl AsRef<Path>) -> Result<Data, DataError> {
    read_with(nodes, edges, &ReadOptions::default())
}

/// Reads a table of nodes and the edges between them, with options.
pub fn read_with(
    nodes: impl AsRef<Path>,
    edges: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<Data, DataError> {
    let source = Source::detect(nodes.as_ref(), Some(edges.as_ref()))?;
    Ok(Data { dataset: source.read(options, &NoProgress)? })
}

/// A graph with a table of its nodes.
#[derive(Debug, Clone)]
pub struct Data {
    dataset: Dataset,
}

impl Data {
    /// A graph and a table from elsewhere.
    pub fn new(dataset: Dataset) -> Self {
        Data { dataset }
    }

    /// The graph and the table.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// What the reader guessed.
    pub fn notes(&self) -> &[Note] {
        &self.dataset.notes
    }

    /// Estimates every missing cell with `auto`, seed 0, on the CPU.
    pub fn fill(self) -> Result<FilledData, MethodError> {
        let auto = Registry::with_defaults().find("auto")?;
        self.fill_with(&auto, &Context::default(), WithUncertainty::No)
    }

    /// Estimates every missing cell with a method and a context. How sure the estimates are can be found
    /// out now or [later](FilledData::calibrate).
    pub fn fill_with(
        self,
        method: &Arc<dyn Method>,
        context: &Context<'_>,
        uncertainty: WithUncertainty,
    ) -> Result<FilledData, MethodError> {
        let graph = self.dataset.graph.undirected();
        let (filled, model) =
            fill::fill_with(method, &self.dataset.table, &graph, context, uncertainty)?;
        Ok(FilledData::new(self.dataset, graph, filled, model, None))
    }

    /// Estimates every missing cell with a model that was fitted before, without training.
    pub fn fill_with_model(
        self,
        model: &Model,
        context: &Context<'_>,
    ) -> Result<FilledData, MethodError> {
        let graph = self.dataset.graph.undirected();
        let filled = model.transform(&self.dataset.table, &graph, context)?;
        let table = model.schema().apply(&self.dataset.table)?.0;
        let before = Dataset { table, ..self.dataset };
        Ok(FilledData::new(before, graph, filled, None, Some(model.schema().clone())))
    }
}

/// A graph with a complete table.
pub struct FilledData {
    before: Dataset,
    dataset: Dataset,
    graph: UndirectedGraph,
    estimated: usize,
    estimated_labels: usize,
    choices: Vec<Choice>,
    history: Option<History>,
    stopped_early: Option<StopReason>,
    notes: Vec<Note>,
    uncertainty: Option<Uncertainty>,
    /// The model that was fitted to this table.
    model: Option<Model>,
    /// The columns of the model that was fitted to another table.
    schema: Option<Schema>,
}

impl FilledData {
    fn new(
        before: Dataset,
        graph: UndirectedGraph,
        filled: Filled,
        model: Option<Model>,
        schema: Option<Schema>,
    ) -> Self {
        FilledData {
            dataset: Dataset { table: filled.table, ..before.clone() },
            before,
            graph,
            estimated: filled.estimated,
            estimated_labels: filled.estimated_labels,
            choices: filled.choices,
            history: filled.history,
            stopped_early: filled.stopped_early,
            notes: filled.notes,
            uncertainty: filled.uncertainty,
            model,
            schema,
        }
    }

    /// The graph and the table before it was filled, its columns typed as the model has them.
    pub fn before(&self) -> &Dataset {
        &self.before
    }

    /// The graph and the completed table.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The edges that the methods used.
    pub fn graph(&self) -> &UndirectedGraph {
        &self.graph
    }

    /// How many cells were estimated.
    pub fn estimated(&self) -> usize {
        self.estimated
    }

    /// How many missing labels were estimated, where the method learns from labels.
    pub fn estimated_labels(&self) -> usize {
        self.estimated_labels
    }

    /// The method of each column, and why it was chosen.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Losses and scores of the training, where there was any.
    pub fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// Why training ended early, if it did: the estimates are the best so far.
    pub fn stopped_early(&self) -> Option<StopReason> {
        self.stopped_early
    }

    /// What differs between the table and the one that a model was trained on.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The model that was fitted; none where nothing was missing or the model came from elsewhere.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// How sure the estimates are, where that is known.
    pub fn uncertainty(&self) -> Option<&Uncertainty> {
        self.uncertainty.as_ref()
    }

    /// Finds out how sure the estimates are, by a second run of the method; nothing to do where that is
    /// known. False where the run was cancelled, or a model from elsewhere does not know it.
    pub fn calibrate(&mut self, context: &Context<'_>) -> Result<bool, MethodError> {
        if self.uncertainty.is_none()
            && let Some(model) = &mut self.model
        {
            let table = &self.before.table;
            self.uncertainty = fill::uncertainty_of(model, table, &self.graph, context)?;
        }
        Ok(self.uncertainty.is_some())
    }

    /// The features of the table before it was filled.
    pub fn features(&self) -> Features<'_> {
        match &self.schema {
            Some(schema) => Features::with_schema(&self.before.table, schema),
            None => Features::of(&self.before.table),
        }
    }

    /// One row per estimated cell: estimate, intervals, probability, set, method. None where how sure the
    /// estimates are is not known.
    pub fn cells(&self, coverages: &[f64]) -> Result<Option<NodeTable>, MethodError> {
        let Some(uncertainty) = &self.uncertainty else { return Ok(None) };
        let features = self.features();
        let source = CellSource {
            table: &self.before.table,
            filled: &self.dataset.table,
            features: &features,
            graph: &self.graph,
            choices: &self.choices,
        };
        uncertainty.cells(&source, coverages).map(Some)
    }

    /// The completed table, with columns of intervals and sets behind each estimated column where these
    /// are known.
    pub fn with_intervals(&self, coverages: &[f64]) -> Result<NodeTable, MethodError> {
        let (before, filled) = (&self.before.table, &self.dataset.table);
        match &self.uncertainty {
            None => Ok(filled.clone()),
            Some(uncertainty) => uncertainty.beside(before, filled, &self.features(), coverages),
        }
    }

    /// A completed table that is drawn from the distributions of the estimates; draws differ by their
    /// number. None where the distributions are not known.
    pub fn draw(&self, number: u32) -> Result<Option<NodeTable>, MethodError> {
        let Some(uncertainty) = &self.uncertainty else { return Ok(None) };
        let (before, filled) = (&self.before.table, &self.dataset.table);
        uncertainty.draw(before, filled, &self.features(), number).map(Some)
    }

    /// How often intervals of these coverages covered values that were hidden to calibrate them.
    pub fn coverage(&self, coverages: &[f64]) -> Option<CoverageCheck> {
        let hidden = self.model.as_ref().and_then(Model::hidden_cells)?;
        Some(hidden.check(coverages))
    }

    /// Columns that were left as they are though cells are missing: the column, how many cells, why.
    pub fn left_columns(&self) -> impl Iterator<Item = (&Column, usize, String)> {
        let columns = self.before.table.columns().iter();
        columns.filter_map(|column| match column.kind() {
            Kind::Unused(reason) => {
                let filled = self.dataset.table.column(column.name());
                let missing = filled.map_or(0, Column::missing_count);
                (missing > 0).then(|| (column, missing, reason.to_string()))
            }
            _ => None,
        })
    }

    /// The report: one page about what was missing, what was estimated, and how sure it is. `warnings`
    /// are shown on it.
    pub fn report(&self, coverages: &[f64], warnings: Vec<String>, run: RunInfo) -> FillPage {
        let usual = coverages.iter().find(|level| **level == USUAL_COVERAGE);
        let level = usual.or(coverages.last()).copied().unwrap_or(USUAL_COVERAGE);
        FillPage::new(&FillSource {
            title: self.before.name.clone(),
            table: &self.before.table,
            filled: &self.dataset.table,
            graph: &self.graph,
            features: &self.features(),
            choices: &self.choices,
            hidden: self.model.as_ref().and_then(Model::hidden_cells),
            level,
            estimated: self.estimated,
            warnings,
            run,
        })
    }

    /// Writes the completed table, in the format of the name's extension.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), DataError> {
        write_nodes(&self.dataset, path.as_ref())
    }
}
