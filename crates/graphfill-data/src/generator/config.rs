//! What a generated graph should be like, and which wishes make no sense.

use std::ops::RangeInclusive;

use crate::error::{DataError, Result};

/// Below this, communities and shares mean nothing.
const MIN_NODES: usize = 10;
/// The free text of a table must fit the two gigabytes of one text column.
const MAX_NODES: usize = 20_000_000;
/// More columns than anyone means to ask for.
const MAX_COLUMNS: usize = 100_000;
/// Above this, one node would hold most of the edges.
const MAX_SKEW: f64 = 0.9;

/// The wishes for a generated graph. `GeneratorConfig::default()` is a town of 2,000 people; change what
/// matters with `GeneratorConfig { nodes: 10_000, ..GeneratorConfig::default() }`.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorConfig {
    /// How many nodes, from 10 to 20,000,000.
    pub nodes: usize,
    /// How many neighbours a node has on average; met as well as the communities allow.
    pub mean_degree: f64,
    /// How many communities the nodes fall into.
    pub communities: usize,
    /// The share of edges that leave their community, from 0 to 1.
    pub mixing: f64,
    /// How unlike the degrees are, from 0 (all expect the same) to 0.9: expected degrees follow
    /// a Pareto law with tail index `1 / degree_skew`.
    pub degree_skew: f64,
    /// How many tags the binary block `interests` has; no block at 0.
    pub topics: usize,
    /// How many tags a node has on average, at most half of `topics`.
    pub words_per_node: f64,
    /// Which single columns there are.
    pub columns: ColumnSet,
    /// The share of nodes about which nothing is known, from 0 to below 1.
    pub missing_rows: f64,
    /// The share of cells missing at random in the other rows, from 0 to below 1.
    pub missing_cells: f64,
    /// What everything random follows from.
    pub seed: u64,
}

/// Which single columns a generated table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnSet {
    /// People of a town: age, income, member, district, occupation, visits, and a free note.
    Mixed,
    /// So many columns of numbers, `x1`, `x2`, …
    Numbers(usize),
    /// None, only the block.
    None,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        GeneratorConfig {
            nodes: 2000,
            mean_degree: 6.0,
            communities: 8,
            mixing: 0.15,
            degree_skew: 0.4,
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
    /// Refuses wishes that make no sense, naming the wish and what would.
    pub fn check(&self) -> Result<()> {
        let GeneratorConfig { nodes, communities, topics, .. } = *self;
        if !(MIN_NODES..=MAX_NODES).contains(&nodes) {
            return refuse(format!(
                "nodes is {nodes}; from {MIN_NODES} to {MAX_NODES} can be made"
            ));
        }
        // Half of all pairs: denser graphs have no communities left to speak of.
        within("mean_degree", self.mean_degree, 0.0..=(nodes - 1) as f64 / 2.0)?;
        if !(1..=nodes).contains(&communities) {
            return refuse(format!(
                "communities is {communities}; with {nodes} nodes it must be from 1 to {nodes}"
            ));
        }
        within("mixing", self.mixing, 0.0..=1.0)?;
        within("degree_skew", self.degree_skew, 0.0..=MAX_SKEW)?;
        at_most("topics", topics)?;
        if topics > 0 {
            within("words_per_node", self.words_per_node, 0.0..=topics as f64 / 2.0)?;
        }
        match self.columns {
            ColumnSet::Numbers(0) => {
                return refuse("columns asks for 0 numbers; ask for 1 or more, or for none".into());
            }
            ColumnSet::Numbers(count) => at_most("columns", count)?,
            ColumnSet::None if topics == 0 => {
                return refuse(
                    "the table would have no column; ask for columns or for topics".into(),
                );
            }
            ColumnSet::Mixed | ColumnSet::None => {}
        }
        below_one("missing_rows", self.missing_rows)?;
        below_one("missing_cells", self.missing_cells)
    }

    /// How many edges make the mean degree.
    pub(super) fn edges(&self) -> usize {
        (self.nodes as f64 * self.mean_degree / 2.0).round() as usize
    }
}

fn refuse(message: String) -> Result<()> {
    Err(DataError::request(message, ""))
}

fn within(name: &str, value: f64, range: RangeInclusive<f64>) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    refuse(format!("{name} is {value}; it must be from {} to {}", range.start(), range.end()))
}

fn at_most(name: &str, count: usize) -> Result<()> {
    if count <= MAX_COLUMNS {
        return Ok(());
    }
    refuse(format!("{name} asks for {count} columns; at most {MAX_COLUMNS} can be made"))
}

fn below_one(name: &str, share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    refuse(format!("{name} is {share}; it is a share, from 0 to below 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senseless_wishes_are_named() {
        let good = GeneratorConfig::default();
        assert!(good.check().is_ok());
        let senseless = [
            ("nodes", GeneratorConfig { nodes: 9, ..good.clone() }),
            ("nodes", GeneratorConfig { nodes: usize::MAX, ..good.clone() }),
            ("mean_degree", GeneratorConfig { mean_degree: -1.0, ..good.clone() }),
            ("mean_degree", GeneratorConfig { mean_degree: 1999.0, ..good.clone() }),
            ("communities", GeneratorConfig { communities: 0, ..good.clone() }),
            ("communities", GeneratorConfig { communities: 2001, ..good.clone() }),
            ("mixing", GeneratorConfig { mixing: 1.5, ..good.clone() }),
            ("degree_skew", GeneratorConfig { degree_skew: f64::NAN, ..good.clone() }),
            ("words_per_node", GeneratorConfig { words_per_node: 30.0, ..good.clone() }),
            ("topics", GeneratorConfig { topics: usize::MAX, ..good.clone() }),
            (
                "columns",
                GeneratorConfig { columns: ColumnSet::Numbers(usize::MAX), ..good.clone() },
            ),
            ("0 numbers", GeneratorConfig { columns: ColumnSet::Numbers(0), ..good.clone() }),
            ("no column", GeneratorConfig { columns: ColumnSet::None, topics: 0, ..good.clone() }),
            ("missing_rows", GeneratorConfig { missing_rows: 1.0, ..good.clone() }),
            ("missing_cells", GeneratorConfig { missing_cells: -0.1, ..good.clone() }),
        ];
        for (told, config) in senseless {
            let error = config.check().expect_err(told);
            assert!(matches!(error, DataError::Request { .. }));
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
