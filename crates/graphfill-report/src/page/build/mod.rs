//! Builds the report of a filled table: aggregates hidden cells, distributions and missingness.

mod columns;
mod groups;
mod missing;

use graphfill_data::{NodeTable, UndirectedGraph};
use graphfill_methods::Choice;
use graphfill_methods::features::Features;
use graphfill_methods::uncertainty::{CoverageCheck, HiddenCells};

use super::data::{FillPage, RunInfo};

/// The coverages of the calibration plot.
const COVERAGES: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// What a report is made of.
pub struct FillSource<'a> {
    /// The data set's name.
    pub title: String,
    /// The table before it was filled.
    pub table: &'a NodeTable,
    /// The filled table.
    pub filled: &'a NodeTable,
    /// The graph.
    pub graph: &'a UndirectedGraph,
    /// The features of the table.
    pub features: &'a Features<'a>,
    /// What was chosen for each column.
    pub choices: &'a [Choice],
    /// Observed cells that were hidden for calibration.
    pub hidden: Option<&'a HiddenCells>,
    /// The nominal coverage of the intervals that are shown.
    pub level: f64,
    /// How many cells were estimated.
    pub estimated: usize,
    /// What the reader of the files and the method warned about.
    pub warnings: Vec<String>,
    /// The command, the version, the seed and the time.
    pub run: RunInfo,
}

impl FillPage {
    /// The report of a filled table.
    pub fn new(source: &FillSource<'_>) -> FillPage {
        let mut coverages = COVERAGES.to_vec();
        if !coverages.contains(&source.level) {
            coverages.push(source.level);
            coverages.sort_by(f64::total_cmp);
        }
        let level = coverages.iter().position(|coverage| *coverage == source.level).unwrap_or(0);
        let check = source.hidden.map(|hidden| hidden.check(&coverages));
        let checked = check.as_ref().map(|check| Checked { check, coverages: &coverages, level });
        let mut warnings = source.warnings.clone();
        warnings.extend(graph_warnings(source));
        warnings.extend(columns::warnings(source.table));
        let (by_hops, by_degree) = match &checked {
            Some(checked) => groups::errors(source, checked),
            None => Default::default(),
        };
        FillPage {
            title: source.title.clone(),
            run: source.run.clone(),
            nodes: source.table.rows(),
            edges: source.graph.edges(),
            estimated: source.estimated,
            level: checked.is_some().then_some(source.level),
            warnings,
            columns: columns::pages(source, checked.as_ref()),
            missing: missing::of(source.table),
            by_hops,
            by_degree,
        }
    }
}

/// Hidden cells with their intervals and sets.
struct Checked<'a> {
    check: &'a CoverageCheck,
    coverages: &'a [f64],
    /// The position of the level that is shown.
    level: usize,
}

/// Nodes that no neighbour can say anything about.
fn graph_warnings(source: &FillSource<'_>) -> Option<String> {
    let missing = source.table.missing();
    let (components, count) = source.graph.components();
    let mut has_observed = vec![false; count];
    for (node, component) in components.iter().enumerate() {
        has_observed[*component as usize] |= !missing.is_whole(node);
    }
    let is_unreachable =
        |node: &usize| missing.is_whole(*node) && !has_observed[components[*node] as usize];
    match (0..components.len()).filter(is_unreachable).count() {
        0 => None,
        1 => Some("1 node has no observed cell and no path to a node that has one: its estimates are those of the columns".to_owned()),
        nodes => Some(format!("{nodes} nodes have no observed cell and no path to a node that has one: their estimates are those of the columns")),
    }
}
