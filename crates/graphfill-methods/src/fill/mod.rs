//! From a table with holes to one without.
//!
//! Some observed rows are hidden from the method so that it can choose its parameters on them;
//! then it estimates the missing cells from everything that is observed. Estimates come back in
//! each column's own scale and type; observed cells are not touched.

mod collect;
mod folds;
mod ones;

use graphfill_data::{NodeTable, Progress, UndirectedGraph};

use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::method::{Choice, Method, Task};
use crate::parameters::FixedParameters;

pub use folds::validation_sets;

/// How many of the best-ranked columns count when rankings are compared.
pub const RANKING_DEPTH: usize = 10;

/// What [`fill`] needs to know beside the data.
pub struct FillOptions<'a> {
    /// The method.
    pub method: &'static dyn Method,
    /// Parameters that the caller fixed.
    pub fixed: &'a FixedParameters,
    /// The seed of everything random.
    pub seed: u64,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

/// A filled table.
#[derive(Debug, Clone)]
pub struct Filled {
    /// The table, its used columns complete.
    pub table: NodeTable,
    /// How many cells were estimated.
    pub estimated: usize,
    /// What was chosen for each column.
    pub choices: Vec<Choice>,
}

/// Estimates every missing cell of the used columns.
pub fn fill(
    table: &NodeTable,
    graph: &UndirectedGraph,
    options: &FillOptions<'_>,
) -> Result<Filled> {
    if table.used_columns().next().is_none() {
        return Err(MethodError::Table(
            "no column of the table can be estimated\n  graphfill inspect says why; declare types with --type NAME=KIND".to_owned(),
        ));
    }
    if graph.nodes() != table.rows() {
        return Err(MethodError::Table(format!(
            "the graph has {} nodes and the table {} rows",
            graph.nodes(),
            table.rows()
        )));
    }
    let holed = table.columns().iter().filter(|c| c.kind().is_used() && c.missing_count() > 0);
    let holed = table.with_columns(holed.cloned().collect());
    if holed.columns().is_empty() {
        return Ok(Filled { table: table.clone(), estimated: 0, choices: Vec::new() });
    }
    // Propagation takes each column by itself: complete ones need no fitting.
    let features = Features::of(&holed);
    let missing = features.missing();
    let validation = validation_sets(&features, &missing, options.seed);
    let task = Task {
        graph,
        features: &features,
        unknown: &missing,
        validation: &validation,
        ranking_depth: RANKING_DEPTH,
        fixed: options.fixed,
        seed: options.seed,
        progress: options.progress,
    };
    let fitted = options.method.fit(&task)?;
    let mut collected = collect::Collected::new(&features, &missing, graph);
    fitted.estimate(&task, &mut collected)?;
    let completed = collected.complete(&holed);
    let columns = table
        .columns()
        .iter()
        .map(|column| completed.column(column.name()).unwrap_or(column).clone());
    let table = table.with_columns(columns.collect());
    Ok(Filled { table, estimated: missing.count(), choices: fitted.choices().to_vec() })
}
