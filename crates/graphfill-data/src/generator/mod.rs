//! A generated example: the people of a town, who knows whom, and a table about them with missing
//! rows and cells.
//!
//! The steps are communities, a graph, one latent vector per node (similar for neighbours), columns
//! that depend on the latent vectors, and missing cells. Each step draws from its own random stream,
//! so other columns leave the graph unchanged.

mod columns;
mod latents;
mod network;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::StringArray;
use rand::seq::SliceRandom;

use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::dataset::Dataset;
use crate::error::{DataError, Result};
use crate::ids::NodeIds;
use crate::kind::{Kind, Unused};
use crate::labels::Labels;
use crate::random_stream::{self, Purpose};
use crate::splits::choose_cells;
use crate::table::{IdColumn, NodeTable};

const MIN_NODES: f64 = 10.0;
/// The text of one column must fit into the two gigabytes of an Arrow string array.
const MAX_NODES: f64 = 2e7;
const MAX_COLUMNS: f64 = 1e5;
const MAX_MISSING: f64 = 0.99;

/// The name of the labels and of the column that holds them.
const LABEL: &str = "community";

/// The size and shape of a generated example. The default is a town of 2,000 people.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorConfig {
    /// The number of nodes, from 10 to 20,000,000.
    pub nodes: usize,
    /// The mean number of neighbours per node, at most half of all nodes.
    pub mean_degree: f64,
    /// The number of communities.
    pub communities: usize,
    /// The fraction of edges between different communities.
    pub mixing: f64,
    /// The number of columns of the binary block `interests`; no block at 0.
    pub topics: usize,
    /// The mean number of ones per row of `interests`, at most half of `topics`.
    pub words_per_node: f64,
    /// The other columns.
    pub columns: ColumnSet,
    /// The fraction of rows that are missing, from 0 to 0.99.
    pub missing_rows: f64,
    /// The fraction of missing cells in the other rows, from 0 to 0.99.
    pub missing_cells: f64,
    /// The random seed.
    pub seed: u64,
}

/// The single columns of a generated table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnSet {
    /// Age, income, member, district, occupation, visits, and a note (free text).
    Mixed,
    /// This many columns of numbers, `x1`, `x2`, …
    Numbers(usize),
    /// None.
    None,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        GeneratorConfig {
            nodes: 2000,
            mean_degree: 6.0,
            communities: 8,
            mixing: 0.15,
            topics: 40,
            words_per_node: 5.0,
            columns: ColumnSet::Mixed,
            missing_rows: 0.2,
            missing_cells: 0.1,
            seed: 0,
        }
    }
}

impl GeneratorConfig {
    /// Checks that every field is within its range.
    pub fn check(&self) -> Result<()> {
        let (nodes, topics) = (self.nodes as f64, self.topics as f64);
        let words = if self.topics > 0 { self.words_per_node } else { 0.0 };
        let numbers = if let ColumnSet::Numbers(count) = self.columns { count as f64 } else { 1.0 };
        let ranges = [
            ("nodes", nodes, MIN_NODES, MAX_NODES),
            ("mean_degree", self.mean_degree, 0.0, (nodes - 1.0) / 2.0),
            ("communities", self.communities as f64, 1.0, nodes),
            ("mixing", self.mixing, 0.0, 1.0),
            ("topics", topics, 0.0, MAX_COLUMNS),
            ("words_per_node", words, 0.0, topics / 2.0),
            ("columns", numbers, 1.0, MAX_COLUMNS),
            ("missing_rows", self.missing_rows, 0.0, MAX_MISSING),
            ("missing_cells", self.missing_cells, 0.0, MAX_MISSING),
        ];
        for (name, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                let found = format!("{name} is {value}; expected a number from {min} to {max}");
                return Err(DataError::request(found, ""));
            }
        }
        if self.topics == 0 && self.columns == ColumnSet::None {
            let found = "the generated table would have no column";
            return Err(DataError::request(found, "ask for columns or for topics"));
        }
        Ok(())
    }
}

/// What [`generate`] returns.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The graph, and the table with its missing cells.
    pub dataset: Dataset,
    /// The same table with nothing missing.
    pub truth: NodeTable,
}

/// Generates a graph and a table: the same for the same config, on every platform and with any
/// number of threads.
///
/// ```
/// use graphfill_data::generator::{GeneratorConfig, generate};
///
/// let config = GeneratorConfig { nodes: 500, seed: 7, ..GeneratorConfig::default() };
/// let town = generate(&config)?;
/// assert_eq!(town.dataset.table.rows(), 500);
/// assert!(town.truth.missing().is_empty());
/// # Ok::<(), graphfill_data::DataError>(())
/// ```
pub fn generate(config: &GeneratorConfig) -> Result<Generated> {
    config.check()?;
    let communities = network::Communities::draw(config);
    let graph = network::draw(config, &communities)?;
    let latents = latents::draw(config, &communities.codes, &graph);

    let mut columns = match config.columns {
        ColumnSet::Mixed => columns::people(config, &communities.codes, &latents),
        ColumnSet::Numbers(count) => columns::numbers(config, count, &latents),
        ColumnSet::None => Vec::new(),
    };
    let classes: Vec<String> = (0..config.communities).map(|class| format!("c{class}")).collect();
    let label_cells = communities.codes.iter().map(|&class| &classes[class as usize]);
    let label_cells = Arc::new(StringArray::from_iter_values(label_cells));
    columns.push(Column::new(LABEL, Kind::Unused(Unused::Label), label_cells));
    if config.topics > 0 {
        columns.push(columns::interests(config, &latents));
    }

    let ids = StringArray::from_iter_values((0..config.nodes).map(|row| format!("n{row}")));
    let codes = communities.codes.into_iter().map(Some).collect();
    let labels = Labels { name: LABEL.to_owned(), codes, classes };
    let truth = NodeTable::new(IdColumn::default(), NodeIds::Strings(ids), columns, Some(labels))?;
    let table = truth.with_hidden(&missing_cells(config, truth.features()))?;
    let dataset = Dataset::new("town", "generated example", table, graph)?;
    Ok(Generated { dataset, truth })
}

fn missing_cells(config: &GeneratorConfig, width: usize) -> CellMask {
    let mut order: Vec<usize> = (0..config.nodes).collect();
    order.shuffle(&mut random_stream::open(config.seed, Purpose::MissingRows));
    order.truncate((config.missing_rows * config.nodes as f64).round() as usize);
    // One row always stays: there must be something to learn from.
    order.truncate(config.nodes - 1);
    let rows = CellMask::of_rows(config.nodes, width, order);
    let mut random = random_stream::open(config.seed, Purpose::MissingCells);
    rows.union(&choose_cells(&rows, config.missing_cells, &mut random))
}
