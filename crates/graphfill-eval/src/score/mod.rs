//! Metrics of estimates on hidden cells, gathered as the estimates come.

mod group;

use std::collections::BTreeMap;

use graphfill_data::CellMask;
use graphfill_methods::features::{Features, GroupKind};
use graphfill_methods::{EstimateSink, Estimates, Result};
use serde::Serialize;

use crate::summary::mean;
use group::GroupScore;

/// Every metric of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// Of the table as a whole, by name.
    #[serde(flatten)]
    pub table: BTreeMap<String, f64>,
    /// Of each column, by column and name; left out where the table is one block.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Metrics {
    /// Adds other metrics of the same run; a table without metrics of its columns gets none.
    pub(crate) fn add(&mut self, other: Metrics) {
        self.table.extend(other.table);
        for (column, metrics) in other.columns {
            if let Some(own) = self.columns.get_mut(&column) {
                own.extend(metrics);
            }
        }
    }
}

/// The k of recall@k and nDCG@k that suit the widest block: 10, 20, 50 from a hundred columns on,
/// 3, 5, 10 from twenty on, else 1, 2, 3.
pub fn default_depths(features: &Features<'_>) -> [usize; 3] {
    let blocks = features.groups().iter().filter(|group| group.kind == GroupKind::BinaryBlock);
    match blocks.map(|group| group.features.len()).max() {
        Some(100..) => [10, 20, 50],
        Some(20..) => [3, 5, 10],
        _ => [1, 2, 3],
    }
}

/// Scores estimates of one set of cells.
pub struct Scorer<'a> {
    features: &'a Features<'a>,
    cells: &'a CellMask,
    rows: Vec<u32>,
    depths: Vec<usize>,
    groups: Vec<GroupScore>,
}

impl<'a> Scorer<'a> {
    /// A scorer of the cells in `cells`, whose values the table has.
    pub fn new(features: &'a Features<'a>, cells: &'a CellMask, depths: &[usize]) -> Self {
        let rows = cells.touched_rows();
        let groups =
            features.groups().iter().map(|group| GroupScore::new(group, rows.len(), depths));
        Scorer { groups: groups.collect(), features, cells, rows, depths: depths.to_vec() }
    }

    /// The metrics of everything accepted so far.
    pub fn finish(&self) -> Metrics {
        let mut metrics = Metrics::default();
        let groups = self.features.groups();
        for (group, score) in groups.iter().zip(&self.groups) {
            let own = score.metrics(&self.depths);
            if !own.is_empty() {
                metrics.columns.insert(group.name.clone(), own);
            }
        }
        let blocks: Vec<_> = groups.iter().filter(|group| is_block(&group.kind)).collect();
        metrics.table = mean_of_blocks(blocks.iter().filter_map(|b| metrics.columns.get(&b.name)));
        if groups.len() == 1 && blocks.len() == 1 {
            metrics.columns.clear();
        }
        let single = groups.iter().zip(&self.groups).filter(|(group, _)| !is_block(&group.kind));
        let single: Vec<&GroupScore> = single.map(|(_, score)| score).collect();
        group::add_table_metrics(&single, blocks.is_empty(), &mut metrics.table);
        metrics
    }

    /// The metric by which methods are compared, if there is one: of the first binary block, else
    /// of the first numeric one, else of the single columns.
    pub fn primary(&self) -> Option<String> {
        let groups = self.features.groups();
        let has = |wanted: &GroupKind| groups.iter().any(|group| group.kind == *wanted);
        let metrics = self.finish().table;
        let candidates = [
            has(&GroupKind::BinaryBlock).then(|| format!("recall@{}", self.depths[0])),
            has(&GroupKind::NumericBlock).then(|| "rmse".to_owned()),
            Some("nrmse".to_owned()),
            Some("accuracy".to_owned()),
        ];
        candidates.into_iter().flatten().find(|name| metrics.contains_key(name))
    }

    /// The value of the primary metric in each tested row, for paired comparisons; empty where
    /// the metric has no value per row: only a table's one block has.
    pub fn primary_by_row(&self) -> Vec<f64> {
        let blocks: Vec<usize> = (0..self.groups.len())
            .filter(|&group| is_block(&self.features.groups()[group].kind))
            .collect();
        match blocks.as_slice() {
            [block] => self.groups[*block].by_row(self.depths[0]),
            _ => Vec::new(),
        }
    }
}

/// Each metric of the blocks, averaged over those that have it.
fn mean_of_blocks<'a>(
    blocks: impl Iterator<Item = &'a BTreeMap<String, f64>>,
) -> BTreeMap<String, f64> {
    let mut gathered: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, value) in blocks.flatten() {
        gathered.entry(name.clone()).or_default().push(*value);
    }
    gathered.into_iter().map(|(name, values)| (name, mean(&values))).collect()
}

fn is_block(kind: &GroupKind) -> bool {
    matches!(kind, GroupKind::BinaryBlock | GroupKind::NumericBlock)
}

impl EstimateSink for Scorer<'_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let range = estimates.features();
        for (group, about, inside) in self.features.groups_in(range) {
            let score = &mut self.groups[group];
            for (at, &row) in self.rows.iter().enumerate() {
                let row = row as usize;
                for feature in inside.clone() {
                    if self.cells.contains(row, about.cell_of(feature)) {
                        let truth = self.features.value(group, row, feature);
                        let column = feature - about.features.start;
                        score.add(at, column, estimates.mean(row, feature), truth);
                    }
                }
            }
        }
        Ok(())
    }
}
