//! Attributed graphs that look like the real thing, by seed: a town's people, whom they know, and
//! a table about them with holes.
//!
//! A [`GeneratorConfig`] gives communities, then a graph, then a latent vector a node that neighbours
//! share in part, then columns that follow the latents, and last the holes. Every part draws from
//! a stream of its own, so that changing the columns leaves the graph as it was.

mod columns;
mod communities;
mod config;
mod draws;
mod graph;
mod holes;
mod latents;
mod people;
mod topics;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::StringArray;

pub use config::{ColumnSet, GeneratorConfig};

use crate::column::Column;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::ids::NodeIds;
use crate::kind::{Kind, Unused};
use crate::labels::Labels;
use crate::table::{IdColumn, NodeTable};
use communities::Communities;
use latents::Latents;

/// The name of the labels and of the column that holds them.
const LABEL: &str = "community";

/// What a config gives.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The graph, and the table with its holes.
    pub dataset: Dataset,
    /// The same table with nothing missing.
    pub truth: NodeTable,
}

/// Makes the graph and the table of a config: the same for the same config, on every platform and
/// with any number of threads.
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
    let communities = Communities::draw(config);
    let graph = graph::draw(config, &communities);
    let latents = Latents::draw(config, &communities, &graph);

    let mut columns = match config.columns {
        ColumnSet::Mixed => people::draw(config, &communities, &latents),
        ColumnSet::Numbers(count) => columns::numbers(config, count, &latents),
        ColumnSet::None => Vec::new(),
    };
    columns.push(label_column(&communities));
    if config.topics > 0 {
        columns.push(topics::draw(config, &latents));
    }

    let ids = StringArray::from_iter_values((0..config.nodes).map(|row| format!("n{row}")));
    let labels = Labels {
        name: LABEL.to_owned(),
        codes: communities.codes.iter().copied().map(Some).collect(),
        classes: (0..communities.count()).map(class_name).collect(),
    };
    let truth = NodeTable::new(IdColumn::default(), NodeIds::Strings(ids), columns, Some(labels));
    let table = truth.with_hidden(&holes::draw(config, &truth));
    let dataset = Dataset::new("town", "generated example", table, graph);
    Ok(Generated { dataset, truth })
}

fn class_name(community: usize) -> String {
    format!("c{community}")
}

/// The labels as a column, so that they go wherever the table is written.
fn label_column(communities: &Communities) -> Column {
    let names: Vec<String> = (0..communities.count()).map(class_name).collect();
    let cells = communities.codes.iter().map(|&community| &names[community as usize]);
    let cells = StringArray::from_iter_values(cells);
    Column::new(LABEL, Kind::Unused(Unused::Label), Arc::new(cells))
}
