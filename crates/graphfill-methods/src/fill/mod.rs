//! From a table with missing cells to a complete one.
//!
//! Some known cells are hidden from the method so that it can choose its parameters on them; then it
//! estimates the missing cells from everything that is known. Estimates have the scale and type of
//! their column; observed cells are not changed.

mod collect;
mod folds;
mod ones;

use std::sync::Arc;

use graphfill_data::{Column, Kind, NodeTable, Note, UndirectedGraph, Unused};

use crate::context::{Context, Deadline, IgnoreCancel};
use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::learning::{History, StopReason};
use crate::method::{Choice, LabelUse, Method, Task};
use crate::model::Model;
use crate::parameters::Parameters;
use crate::tuning::{self, Trial};
use crate::uncertainty::Uncertainty;

pub(crate) use collect::Collected;
pub use folds::validation_sets;

/// A filled table.
#[derive(Debug, Clone)]
pub struct Filled {
    /// The table, its used columns complete.
    pub table: NodeTable,
    /// How many cells were estimated.
    pub estimated: usize,
    /// How many missing labels were estimated, where the method learns from labels.
    pub estimated_labels: usize,
    /// What was chosen for each column.
    pub choices: Vec<Choice>,
    /// Losses and scores of the training, where there was any.
    pub history: Option<History>,
    /// Why training ended early, if it did: the estimates are the best so far.
    pub stopped_early: Option<StopReason>,
    /// What differs between the table and the one that a model was trained on.
    pub notes: Vec<Note>,
    /// How sure the estimates are, where the model is calibrated.
    pub uncertainty: Option<Uncertainty>,
}

/// Fits a method and estimates every missing cell of the used columns. The model is none where nothing
/// had to be estimated.
pub fn fill(
    method: &Arc<dyn Method>,
    table: &NodeTable,
    graph: &UndirectedGraph,
    context: &Context<'_>,
) -> Result<(Filled, Option<Model>)> {
    fill_with(method, table, graph, context, WithUncertainty::No)
}

/// Whether a filled table says how sure its estimates are. That takes a second run of the method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WithUncertainty {
    /// Estimates alone.
    #[default]
    No,
    /// Estimates with [`Filled::uncertainty`].
    Yes,
}

/// [`fill`], with uncertainty where it is asked for. The estimates are the same.
pub fn fill_with(
    method: &Arc<dyn Method>,
    table: &NodeTable,
    graph: &UndirectedGraph,
    context: &Context<'_>,
    uncertainty: WithUncertainty,
) -> Result<(Filled, Option<Model>)> {
    let (table, constant_cells) = constants_filled(table)?;
    if constant_cells == 0 || table.used_columns().next().is_some() {
        check(&table, graph)?;
    }
    // Classes can be estimated by methods that learn them, even where nothing else is missing.
    let labels_wanted = table.labels().is_some_and(|labels| labels.known() < table.rows())
        && method.label_use() == LabelUse::Learned;
    if Features::of(&table).missing().is_empty() && !labels_wanted {
        let filled = Filled {
            table,
            estimated: constant_cells,
            estimated_labels: 0,
            choices: Vec::new(),
            history: None,
            stopped_early: None,
            notes: Vec::new(),
            uncertainty: (uncertainty == WithUncertainty::Yes)
                .then(|| Uncertainty::of_nothing(context.seed)),
        };
        return Ok((filled, None));
    }
    let first = match (uncertainty, &context.deadline) {
        // Fitting and calibrating have half of the time each.
        (WithUncertainty::Yes, Some(deadline)) => {
            Context { deadline: Some(Deadline::after(deadline.left() / 2)), ..context.clone() }
        }
        _ => context.clone(),
    };
    let mut model = Model::fit(Arc::clone(method), &table, graph, &first)?;
    let is_calibrated = uncertainty == WithUncertainty::Yes
        && model.stopped_early() != Some(StopReason::Cancelled)
        && model.calibrate(&table, graph, context)?;
    let is_cancelled = context.progress.is_cancelled();
    let ignored = IgnoreCancel(context.progress);
    let finishing = Context { progress: &ignored, ..context.clone() };
    // A caller who cancels the calibration wants the estimates, which are finished.
    let is_finishing = uncertainty == WithUncertainty::Yes && is_cancelled;
    let context = if is_finishing { &finishing } else { context };
    let mut filled = model.fill_fitted(&table, graph, context)?;
    if is_finishing && !is_calibrated {
        filled.stopped_early = Some(StopReason::Cancelled);
    }
    filled.estimated += constant_cells;
    Ok((filled, Some(model)))
}

/// How sure the estimates of the table are that [`fill`] filled with this model: calibrates the model, as
/// [`fill_with`] does. None where the run was cancelled.
pub fn uncertainty_of(
    model: &mut Model,
    table: &NodeTable,
    graph: &UndirectedGraph,
    context: &Context<'_>,
) -> Result<Option<Uncertainty>> {
    let (table, _) = constants_filled(table)?;
    match model.calibrate(&table, graph, context)? {
        true => Ok(model.fill_fitted(&table, graph, context)?.uncertainty),
        false => Ok(None),
    }
}

/// The table with the missing cells of constant columns filled with the constant, and their number.
fn constants_filled(table: &NodeTable) -> Result<(NodeTable, usize)> {
    let constant = |column: &Column| *column.kind() == Kind::Unused(Unused::Constant);
    let mut cells = 0;
    let mut columns = Vec::new();
    for column in table.columns() {
        let missing = if constant(column) { column.missing_count() } else { 0 };
        cells += missing;
        columns.push(if missing > 0 { column.completed_with_constant()? } else { column.clone() });
    }
    Ok((if cells > 0 { table.with_columns(columns)? } else { table.clone() }, cells))
}

/// Searches for parameters on the cells that [`fill`] validates on; see [`tuning::search`].
#[allow(clippy::too_many_arguments)]
pub fn tune(
    method: &dyn Method,
    fixed: &Parameters,
    table: &NodeTable,
    graph: &UndirectedGraph,
    context: &Context<'_>,
    trials: usize,
    known: Vec<Trial>,
    each: &mut dyn FnMut(&[Trial]) -> Result<()>,
) -> Result<Vec<Trial>> {
    check(table, graph)?;
    let features = Features::of(table);
    let missing = features.missing();
    let validation = validation_sets(&features, &missing, context.seed);
    let labels = table.labels().filter(|_| method.label_use() == LabelUse::Learned);
    let task =
        Task { validation: &validation, labels, ..Task::new(graph, &features, &missing, context) };
    tuning::search(method, fixed, &task, trials, known, each)
}

pub(crate) fn check(table: &NodeTable, graph: &UndirectedGraph) -> Result<()> {
    if table.used_columns().next().is_none() {
        return Err(MethodError::NoFeatures);
    }
    if graph.nodes() != table.rows() {
        return Err(MethodError::Table(format!(
            "the graph has {} nodes and the table {} rows",
            graph.nodes(),
            table.rows()
        )));
    }
    Ok(())
}

/// The column of labels, its missing cells filled with the likeliest class.
pub(crate) fn with_labels(table: NodeTable, classes: Option<&[u32]>) -> Result<(NodeTable, usize)> {
    let (Some(classes), Some(labels)) = (classes, table.labels()) else {
        return Ok((table, 0));
    };
    let Some(column) = table.column(&labels.name) else { return Ok((table, 0)) };
    let missing = column.missing_count();
    if missing == 0 {
        return Ok((table, 0));
    }
    let filled = column.completed_with_levels(&labels.classes, classes)?;
    let replace = |column: &Column| match column.name() == filled.name() {
        true => filled.clone(),
        false => column.clone(),
    };
    let columns = table.columns().iter().map(replace).collect();
    Ok((table.with_columns(columns)?, missing))
}
