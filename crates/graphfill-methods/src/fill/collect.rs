//! Collects the estimates of missing cells and completes the table with them.
//!
//! Numbers stay within what their column was observed to be, or a little beyond it where it has heavy
//! [tails](crate::features::reach). A missing row of a binary block becomes its best-ranked columns, as many as
//! [`expected_ones`] says; among single missing cells of a row the best-ranked become ones, as many
//! as the rest of the row has in proportion.

use std::collections::BTreeMap;

use graphfill_data::{Block, CellMask, Column, NodeTable, UndirectedGraph};

use super::ones::expected_ones;
use crate::error::Result;
use crate::features::reach::{has_reach, known_range, reach};
use crate::features::{ColumnMeans, Features, Group, GroupKind};
use crate::method::{EstimateSink, Estimates};
use crate::schema::Schema;
use crate::selection::TopRanked;

/// How much the overall frequency of a column adds to its score: enough to order columns about
/// which the graph says nothing, too little to overrule it.
const FREQUENCY_WEIGHT: f64 = 1e-6;

/// Estimates of the missing cells, by group.
pub(crate) struct Collected<'a> {
    /// The columns of the model, where the table is a later one.
    schema: Option<&'a Schema>,
    features: &'a Features<'a>,
    missing: &'a CellMask,
    means: Vec<f64>,
    groups: Vec<GroupEstimates>,
}

enum GroupEstimates {
    /// One value a row; NaN where nothing is missing.
    Values(Vec<f64>),
    /// The best level so far of each row and its score.
    Levels(Vec<(f32, u32)>),
    Binary {
        top: Vec<Option<TopRanked>>,
        cells: Vec<Vec<(u32, f64)>>,
    },
    Numeric {
        cells: Vec<Vec<(u32, f64)>>,
    },
}

impl<'a> Collected<'a> {
    pub(crate) fn new(
        features: &'a Features<'a>,
        missing: &'a CellMask,
        graph: &UndirectedGraph,
        schema: Option<&'a Schema>,
    ) -> Self {
        let rows = features.rows();
        let groups = features.groups().iter().enumerate().map(|(group, about)| match about.kind {
            GroupKind::Number | GroupKind::Count | GroupKind::Boolean => {
                GroupEstimates::Values(vec![f64::NAN; rows])
            }
            GroupKind::Category(_) => {
                GroupEstimates::Levels(vec![(f32::NEG_INFINITY, u32::MAX); rows])
            }
            GroupKind::BinaryBlock => {
                let usual = schema.map_or(0.0, |schema| schema.columns[group].means.iter().sum());
                let expected =
                    features.block(group).map(|block| expected_ones(block, graph, usual));
                let top = (0..rows).map(|row| {
                    let expected = expected.as_ref().map_or(0, |expected| expected[row]);
                    let whole = whole_row(features, group, missing, row);
                    whole.then(|| TopRanked::new(expected))
                });
                GroupEstimates::Binary { top: top.collect(), cells: vec![Vec::new(); rows] }
            }
            GroupKind::NumericBlock => GroupEstimates::Numeric { cells: vec![Vec::new(); rows] },
        });
        let means = ColumnMeans::of(features, missing).means;
        Collected { schema, features, missing, means, groups: groups.collect() }
    }

    /// The cells of 0/1 blocks that become ones, by group: row, column and score.
    pub(crate) fn estimated_ones(&self) -> BTreeMap<usize, Vec<(u32, u32, f32)>> {
        let mut ones = BTreeMap::new();
        for (group, estimates) in self.groups.iter().enumerate() {
            let GroupEstimates::Binary { top, cells } = estimates else { continue };
            let Some(block) = self.features.block(group) else { continue };
            let mut own = Vec::new();
            for (row, (top, cells)) in top.iter().zip(cells).enumerate() {
                let best;
                let entries = match top {
                    Some(top) => top.entries(),
                    None => {
                        best = best_cells(cells, block.columns(row).len(), block.width());
                        best.entries()
                    }
                };
                own.extend(entries.iter().map(|&(score, column)| (row as u32, column, score)));
            }
            ones.insert(group, own);
        }
        ones
    }

    /// The table with its missing cells filled.
    pub(crate) fn complete(self, table: &NodeTable) -> Result<NodeTable> {
        let mut columns: Vec<Column> = table.columns().to_vec();
        for ((group, about), estimates) in
            self.features.groups().iter().enumerate().zip(self.groups)
        {
            let column = &columns[about.column];
            if column.missing_count() == 0 {
                continue;
            }
            let block = self.features.block(group);
            columns[about.column] = match estimates {
                GroupEstimates::Values(mut values) => {
                    let mut range = Range::of(column, about);
                    let trained = self.schema.and_then(|schema| schema.columns[group].range);
                    for value in trained.into_iter().flat_map(|(min, max)| [min, max]) {
                        range.include(value);
                    }
                    values.iter_mut().for_each(|value| *value = range.nearest(*value * about.unit));
                    column.completed_with_numbers(&values)?
                }
                GroupEstimates::Levels(levels) => {
                    let GroupKind::Category(names) = &about.kind else { continue };
                    let codes: Vec<u32> = levels.iter().map(|&(_, code)| code).collect();
                    column.completed_with_levels(names, &codes)?
                }
                GroupEstimates::Binary { top, cells } => {
                    let Some(block) = block else { continue };
                    let filled = block.completed(|row, out| {
                        if let Some(top) = &top[row] {
                            out.extend(top.columns().map(|column| (column, 1.0)));
                        }
                        let ones = best_cells(&cells[row], block.columns(row).len(), block.width());
                        out.extend(ones.columns().map(|column| (column, 1.0)));
                    });
                    column.with_block(filled)
                }
                GroupEstimates::Numeric { cells } => {
                    let Some(block) = block else { continue };
                    let ranges = ranges_of(block);
                    let whole = is_whole(block) && self.schema.is_none();
                    let filled = block.completed(|row, out| {
                        let settled = cells[row].iter().map(|&(column, value)| {
                            // A later table may show a small part of a column's range.
                            let value = match self.schema {
                                None => ranges[column as usize].nearest(value),
                                Some(_) => value,
                            };
                            // Single precision is all that a propagated value has.
                            (column, if whole { value.round() } else { f64::from(value as f32) })
                        });
                        out.extend(settled);
                    });
                    column.with_block(filled)
                }
            };
        }
        Ok(table.with_columns(columns)?)
    }
}

/// The smallest and the largest known value.
#[derive(Debug, Clone, Copy)]
struct Range {
    min: f64,
    max: f64,
}

impl Range {
    const NOTHING: Range = Range { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// What the estimates of a single column may be.
    fn of(column: &Column, group: &Group) -> Range {
        let numbers = column.numbers().into_iter();
        let (min, max) = if has_reach(group) { reach(numbers) } else { known_range(numbers) };
        Range { min, max }
    }

    fn include(&mut self, value: f64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// The value of the range that is nearest; any value where nothing is known.
    fn nearest(&self, value: f64) -> f64 {
        if self.min <= self.max { value.clamp(self.min, self.max) } else { value }
    }
}

/// The range of each column of a numeric block.
fn ranges_of(block: &Block) -> Vec<Range> {
    let mut ranges = vec![Range::NOTHING; block.width()];
    let mut stored = vec![0usize; block.width()];
    let mut hidden = vec![0usize; block.width()];
    let observed = (0..block.rows()).filter(|&row| !block.missing().is_whole(row));
    let mut rows = 0;
    for row in observed {
        rows += 1;
        for (column, value) in block.cells(row) {
            ranges[column as usize].include(value);
            stored[column as usize] += 1;
        }
        block.missing().cells(row).iter().for_each(|&column| hidden[column as usize] += 1);
    }
    for (column, range) in ranges.iter_mut().enumerate() {
        if stored[column] + hidden[column] < rows {
            range.include(0.0);
        }
    }
    ranges
}

/// Whether every value of a block is whole.
fn is_whole(block: &Block) -> bool {
    (0..block.rows()).all(|row| block.cells(row).all(|(_, value)| value.fract() == 0.0))
}

/// The best-ranked of a row's single missing cells: as many as the row's known cells have ones,
/// in proportion.
fn best_cells(cells: &[(u32, f64)], ones: usize, width: usize) -> TopRanked {
    let known = width - cells.len();
    let expected = (cells.len() * ones) as f64 / known.max(1) as f64;
    let mut top = TopRanked::new((expected.round() as usize).min(cells.len()));
    cells.iter().for_each(|&(column, score)| top.offer(score as f32, column));
    top
}

/// Whether all cells of a group are missing in a row.
fn whole_row(features: &Features<'_>, group: usize, missing: &CellMask, row: usize) -> bool {
    let cells = &features.groups()[group].cells;
    missing.is_whole(row) || {
        let holes = missing.cells(row);
        let from = holes.partition_point(|&hole| (hole as usize) < cells.start);
        let to = holes.partition_point(|&hole| (hole as usize) < cells.end);
        to - from == cells.len()
    }
}

impl EstimateSink for Collected<'_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let range = estimates.features();
        for (group, about, inside) in self.features.groups_in(range) {
            for row in (0..self.features.rows()).filter(|&row| !self.missing.is_clear(row)) {
                for feature in inside.clone() {
                    if !self.missing.contains(row, about.cell_of(feature)) {
                        continue;
                    }
                    let value = estimates.mean(row, feature);
                    let column = (feature - about.features.start) as u32;
                    match &mut self.groups[group] {
                        GroupEstimates::Values(values) => values[row] = value,
                        GroupEstimates::Levels(best) => {
                            if value as f32 > best[row].0 {
                                best[row] = (value as f32, column);
                            }
                        }
                        GroupEstimates::Binary { top, cells } => match &mut top[row] {
                            Some(top) => {
                                let score = value + FREQUENCY_WEIGHT * self.means[feature];
                                top.offer(score as f32, column);
                            }
                            None => cells[row].push((column, value)),
                        },
                        GroupEstimates::Numeric { cells } => cells[row].push((column, value)),
                    }
                }
            }
        }
        Ok(())
    }
}
