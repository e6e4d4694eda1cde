//! What the tests of methods share: small tables, estimates as a dense matrix, dense references.

use std::sync::Arc;

use graphfill_data::generator::{ColumnSet, GeneratorConfig, generate};
use graphfill_data::{CellMask, ColumnData, Dataset, Graph, NodeTable, UndirectedGraph};
use graphfill_methods::features::Features;
use graphfill_methods::fill::{Filled, fill};
use graphfill_methods::{
    Context, EstimateSink, Estimates, Method, ParamOverrides, Registry, Result, Task,
};

#[path = "../../../graphfill-engine/tests/device/mod.rs"]
#[allow(dead_code)]
pub(crate) mod device;

/// A small town with missing rows and cells.
pub(crate) fn town(seed: u64) -> Dataset {
    let config = GeneratorConfig {
        nodes: 120,
        topics: 70,
        columns: ColumnSet::Mixed,
        missing_rows: 0.25,
        missing_cells: 0.1,
        seed,
        ..GeneratorConfig::default()
    };
    generate(&config).expect("a town").dataset
}

/// The methods that learn.
pub(crate) const LEARNERS: [&str; 10] =
    ["vae", "gcn", "sage", "gat", "gnn", "sat", "svga-r", "svga-u", "svga", "svga-p"];

/// Small models of all methods that learn.
pub(crate) fn small_models() -> ParamOverrides {
    let mut fixed = ParamOverrides::default();
    LEARNERS.into_iter().for_each(|name| fixed.set(name, "hidden", 8.0));
    fixed.set("svga-p", "models", 2.0);
    fixed
}

/// A table filled by a method that trains small models for a few updates.
pub(crate) fn filled_after(
    updates: u64,
    fixed: &ParamOverrides,
    table: &NodeTable,
    graph: &Graph,
    method: &str,
) -> Result<Filled> {
    let context = updates_of(updates);
    Ok(fill(&method_with(method, fixed), table, &graph.undirected(), &context)?.0)
}

/// A context in which models are trained for a few updates.
pub(crate) fn updates_of(updates: u64) -> Context<'static> {
    Context { max_updates: Some(updates), ..Context::default() }
}

/// A method by its name.
pub(crate) fn method(name: &str) -> Arc<dyn Method> {
    Registry::with_defaults().find(name).expect("a method")
}

/// A method with parameters.
pub(crate) fn method_with(name: &str, fixed: &ParamOverrides) -> Arc<dyn Method> {
    let registry = Registry::with_defaults().with_overrides(fixed).expect("parameters");
    registry.find(name).expect("a method")
}

/// Everything that a table says, to the last digit.
pub(crate) fn texts(table: &NodeTable) -> Vec<String> {
    let text = |column: &graphfill_data::Column| match column.data() {
        // Cell by cell: an array's own text leaves out the middle of long columns.
        ColumnData::Array(_) => format!("{:?}", column.text().iter().collect::<Vec<_>>()),
        ColumnData::Block(block) => format!("{block:?}"),
    };
    table.columns().iter().map(text).collect()
}

/// All estimates, `rows × features`.
pub(crate) struct Dense {
    pub(crate) width: usize,
    pub(crate) values: Vec<f64>,
}

impl EstimateSink for Dense {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let rows = self.values.len() / self.width;
        for row in 0..rows {
            for feature in estimates.features() {
                self.values[row * self.width + feature] = estimates.mean(row, feature);
            }
        }
        Ok(())
    }
}

/// Estimates of a method with these parameters fixed, nothing validated.
pub(crate) fn estimate(
    name: &str,
    parameters: &[(&str, f64)],
    features: &Features<'_>,
    graph: &UndirectedGraph,
    unknown: &CellMask,
) -> Dense {
    let mut fixed = ParamOverrides::default();
    for (parameter, value) in parameters {
        fixed.set(name, parameter, *value);
    }
    let context = Context { device: device::device(), ..Context::default() };
    let task = Task { ranking_depth: 5, ..Task::new(graph, features, unknown, &context) };
    let fitted = method_with(name, &fixed).fit_task(&task).expect("fitted");
    let width = features.width();
    let mut dense = Dense { width, values: vec![f64::NAN; features.rows() * width] };
    fitted.estimate(&task, &mut dense).expect("estimated");
    dense
}

/// One feature of all nodes: known values less the offset, and what is known.
pub(crate) struct Column {
    pub(crate) offset: f64,
    pub(crate) values: Vec<f64>,
    pub(crate) known: Vec<bool>,
}

/// The column as a method should see it, by the plain definition.
pub(crate) fn column(features: &Features<'_>, unknown: &CellMask, feature: usize) -> Column {
    let group = features
        .groups()
        .iter()
        .position(|group| group.features.contains(&feature))
        .expect("a group");
    let about = &features.groups()[group];
    let known: Vec<bool> =
        (0..features.rows()).map(|row| !unknown.contains(row, about.cell_of(feature))).collect();
    let value = |row: usize| features.value(group, row, feature);
    let count = known.iter().filter(|&&known| known).count().max(1) as f64;
    let sum: f64 = (0..features.rows()).filter(|&row| known[row]).map(value).sum();
    let offset = if about.is_ranking() { 0.0 } else { sum / count };
    let values = (0..features.rows()).map(|row| if known[row] { value(row) - offset } else { 0.0 });
    Column { offset, values: values.collect(), known }
}

/// S x, by the plain definition.
pub(crate) fn symmetric_product(graph: &UndirectedGraph, x: &[f64]) -> Vec<f64> {
    let degree = |node: usize| graph.degree(node) as f64;
    (0..graph.nodes())
        .map(|node| {
            let sum = graph.neighbours(node).iter().map(|&other| other as usize);
            sum.map(|other| x[other] / (degree(node) * degree(other)).sqrt()).sum()
        })
        .collect()
}
