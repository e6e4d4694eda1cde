//! From a table with holes to one without.
//!
//! Some known cells are hidden from the method so that it can choose its parameters on them; then it
//! estimates the missing cells from everything that is known. Estimates come back in each column's own
//! scale and type; observed cells are not touched.

mod collect;
mod folds;
mod ones;

use graphfill_data::{Column, Kind, NoProgress, NodeTable, Progress, UndirectedGraph, Unused};
use graphfill_engine::TensorStore;

use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::learning::{Ended, History, TrainingOptions, Undisturbed};
use crate::method::{Choice, Fitted, LabelUse, Method, Task};
use crate::parameters::FixedParameters;
use crate::tuning::{self, Trial};

pub use folds::validation_sets;

/// What [`fill`] needs to know beside the data.
#[derive(Clone, Copy)]
pub struct FillOptions<'a> {
    /// The method.
    pub method: &'static dyn Method,
    /// Parameters that the caller fixed.
    pub fixed: &'a FixedParameters,
    /// Limits and checkpoints of methods that learn.
    pub training: &'a TrainingOptions,
    /// A model that was saved: nothing is trained.
    pub saved: Option<&'a TensorStore>,
    /// The seed of everything random.
    pub seed: u64,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

impl FillOptions<'_> {
    /// A method with nothing fixed, seed 0, and nobody who watches.
    pub fn new(method: &'static dyn Method) -> Self {
        FillOptions {
            method,
            fixed: FixedParameters::NONE,
            training: TrainingOptions::NONE,
            saved: None,
            seed: 0,
            progress: &NoProgress,
        }
    }
}

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
    /// What happened in training, where there was any.
    pub history: Option<History>,
    /// Why training ended before it was done, if it did: the estimates are of the best so far.
    pub ended_early: Option<Ended>,
}

/// Estimates every missing cell of the used columns.
pub fn fill(
    table: &NodeTable,
    graph: &UndirectedGraph,
    options: &FillOptions<'_>,
) -> Result<Filled> {
    let constants = constants_filled(table)?;
    let (table, constant_cells) = (&constants.0, constants.1);
    check(table, graph)?;
    // Complete columns are evidence: what they say of a row helps to fill the rest of it.
    let features = Features::of(table);
    let missing = features.missing();
    // Classes can be estimated by methods that learn, even where nothing else is missing.
    let labels_wanted = table.labels().is_some_and(|labels| labels.known() < table.rows())
        && options.method.label_use() == LabelUse::Learnt;
    if missing.is_empty() && !labels_wanted {
        return Ok(Filled {
            table: table.clone(),
            estimated: constant_cells,
            estimated_labels: 0,
            choices: Vec::new(),
            history: None,
            ended_early: None,
        });
    }
    let validation = match options.saved {
        None => validation_sets(&features, &missing, options.seed),
        Some(_) => Vec::new(),
    };
    let task = Task { validation: &validation, ..task(table, graph, &features, &missing, options) };
    let fitted = match options.saved {
        None => options.method.fit(&task)?,
        Some(saved) => options.method.restore(&task, saved)?,
    };
    let ended_early = fitted.ended_early();
    // Who asked to stop wants what there is.
    let undisturbed = Undisturbed(options.progress);
    let progress: &dyn Progress =
        if ended_early.is_some() { &undisturbed } else { options.progress };
    let task = Task { progress, ..task };
    let mut collected = collect::Collected::new(&features, &missing, graph);
    fitted.estimate(&task, &mut collected)?;
    let choices = fitted.choices().iter().zip(task.wanted()).filter(|(_, wanted)| *wanted);
    let choices = choices.map(|(choice, _)| choice.clone()).collect();
    let (table, estimated_labels) = with_labels(collected.complete(table)?, fitted.as_ref())?;
    let history = fitted.history().cloned();
    let estimated = missing.count() + constant_cells;
    Ok(Filled { table, estimated, estimated_labels, choices, history, ended_early })
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
pub fn tune(
    table: &NodeTable,
    graph: &UndirectedGraph,
    options: &FillOptions<'_>,
    trials: usize,
    known: Vec<Trial>,
    each: &mut dyn FnMut(&[Trial]) -> Result<()>,
) -> Result<Vec<Trial>> {
    check(table, graph)?;
    let features = Features::of(table);
    let missing = features.missing();
    let validation = validation_sets(&features, &missing, options.seed);
    let task = Task { validation: &validation, ..task(table, graph, &features, &missing, options) };
    tuning::search(options.method, &task, trials, known, each)
}

fn check(table: &NodeTable, graph: &UndirectedGraph) -> Result<()> {
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

fn task<'a>(
    table: &'a NodeTable,
    graph: &'a UndirectedGraph,
    features: &'a Features<'a>,
    missing: &'a graphfill_data::CellMask,
    options: &FillOptions<'a>,
) -> Task<'a> {
    Task {
        labels: table.labels().filter(|_| options.method.label_use() == LabelUse::Learnt),
        fixed: options.fixed,
        training: options.training,
        seed: options.seed,
        progress: options.progress,
        ..Task::new(graph, features, missing)
    }
}

/// The column of labels, its missing cells filled with the likeliest class.
fn with_labels(table: NodeTable, fitted: &dyn Fitted) -> Result<(NodeTable, usize)> {
    let (Some(classes), Some(labels)) = (fitted.labels(), table.labels()) else {
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
