//! Multiple imputation: completed tables drawn from the distributions of the estimated cells.
//!
//! A draw of a number is the quantile of its distribution at a random rank; the ranks of a row's numbers
//! and booleans are correlated as the errors of hidden rows are. A category is drawn by its calibrated
//! probabilities, and every cell of a 0/1 block by its own.

use std::collections::BTreeMap;

use graphfill_data::{Block, Column, ColumnData, NodeTable};
use graphfill_engine::random::{Key, uniforms};

use super::ColumnCalibration;
use super::distributions::{ColumnCells, ColumnDistributions, LevelCell, Uncertainty};
use super::joint::{JointDraws, correlated_columns};
use super::normal;
use crate::error::Result;
use crate::features::{Features, GroupKind};

/// Random streams of the draws: ranks within rows, and single cells.
const RANKS: u32 = 0xd3a_0000;
const CELLS: u32 = 0xd3b_0000;

impl Uncertainty {
    /// The table with its missing cells drawn from their distributions; another number gives another
    /// draw, the same number the same one. Cells of columns that are not calibrated keep the estimate
    /// that `filled` has.
    pub fn draw(
        &self,
        table: &NodeTable,
        filled: &NodeTable,
        features: &Features<'_>,
        number: u32,
    ) -> Result<NodeTable> {
        let ranks = self.ranks(features, number);
        let mut columns: Vec<Column> = filled.columns().to_vec();
        for (at, own) in self.columns.iter().enumerate() {
            let about = &features.groups()[own.group];
            let holed = &table.columns()[about.column];
            let drawn = match &own.cells {
                ColumnCells::Numbers(of_features) => {
                    let mut values = Vec::new();
                    for (feature, cells) in of_features.iter().enumerate() {
                        let calibration = self.number_calibration(own.group, feature);
                        let Some(calibration) = calibration else { continue };
                        values.extend(cells.iter().enumerate().map(|(position, cell)| {
                            let p = ranks[at][feature][position];
                            (cell.row, feature as u32, calibration.value_at(cell, p))
                        }));
                    }
                    with_numbers(holed, &filled.columns()[about.column], values)?
                }
                ColumnCells::Levels(cells) => match &about.kind {
                    GroupKind::Boolean => {
                        let ranks = ranks[at].first();
                        let cells = cells.iter().enumerate().filter_map(|(position, cell)| {
                            let p = cell.probabilities.get(1)?;
                            let rank = ranks?.get(position)?;
                            Some((cell.row, 0, f64::from(u8::from(*rank > 1.0 - p))))
                        });
                        with_numbers(holed, &filled.columns()[about.column], cells.collect())?
                    }
                    GroupKind::Category(names) => {
                        let mut codes: Vec<u32> = vec![u32::MAX; table.rows()];
                        for cell in cells {
                            codes[cell.row as usize] =
                                drawn_level(cell, self.uniform(number, cell.row, at)) as u32;
                        }
                        holed.completed_with_levels(names, &codes)?
                    }
                    _ => continue,
                },
                ColumnCells::Ones(_) => {
                    let ColumnData::Block(block) = holed.data() else { continue };
                    let Some(mut rows) = self.draw_ones(own.group, block, number) else { continue };
                    holed.with_block(block.completed(|row, out| out.append(&mut rows[row])))
                }
            };
            columns[about.column] = drawn;
        }
        Ok(filled.with_columns(columns)?)
    }

    /// Random ranks of all numbers and booleans, correlated within rows: by column of the
    /// distributions, by feature, in the order of the cells.
    fn ranks(&self, features: &Features<'_>, number: u32) -> Vec<Vec<Vec<f64>>> {
        let positions = correlated_columns(features);
        let mut ranks: Vec<Vec<Vec<f64>>> = Vec::new();
        // Row, correlated column, and where the rank belongs.
        let mut cells: Vec<(u32, usize, (usize, usize, usize))> = Vec::new();
        for (at, own) in self.columns.iter().enumerate() {
            let rows: Vec<Vec<u32>> = match &own.cells {
                ColumnCells::Numbers(of_features) => {
                    let rows = of_features.iter().map(|own| own.iter().map(|cell| cell.row));
                    rows.map(Iterator::collect).collect()
                }
                ColumnCells::Levels(own) => vec![own.iter().map(|cell| cell.row).collect()],
                ColumnCells::Ones(_) => Vec::new(),
            };
            ranks.push(rows.iter().map(|rows| vec![0.5; rows.len()]).collect());
            for (feature, (rows, column)) in
                rows.iter().zip(positions[own.group].clone()).enumerate()
            {
                let place = |(cell, &row): (usize, &u32)| (row, column, (at, feature, cell));
                cells.extend(rows.iter().enumerate().map(place));
            }
        }
        cells.sort_unstable();
        let mut joint = JointDraws::new(&self.calibration.correlation);
        for row in cells.chunk_by(|a, b| a.0 == b.0) {
            let columns: Vec<usize> = row.iter().map(|cell| cell.1).collect();
            let key = Key::new(self.calibration.seed, RANKS ^ number, u64::from(row[0].0));
            for ((_, _, (at, feature, cell)), score) in row.iter().zip(joint.draw(&columns, key)) {
                ranks[*at][*feature][*cell] = normal::distribution(score);
            }
        }
        ranks
    }

    fn uniform(&self, number: u32, row: u32, column: usize) -> f64 {
        let step = u64::from(row) << 20 | column as u64 & 0xf_ffff;
        let mut out = [0.0f32];
        uniforms(Key::new(self.calibration.seed, CELLS ^ number, step), &mut out);
        f64::from(out[0])
    }

    /// Draws every missing cell of a 0/1 block: the ones of each row. None where the block is not
    /// calibrated, or too large for all of its cells to be kept.
    fn draw_ones(&self, group: usize, block: &Block, number: u32) -> Option<Vec<Vec<(u32, f64)>>> {
        let own = self.block_cells.get(&group)?;
        let ColumnCalibration::Ones(Some(calibration)) = &self.calibration.columns[group] else {
            return None;
        };
        if own.cells.len() < block.missing().count() {
            return None;
        }
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); block.rows()];
        for row in own.cells.chunk_by(|a, b| a.0 == b.0) {
            let mut uniform = vec![0.0f32; row.len()];
            let step = u64::from(row[0].0) << 20 | group as u64 & 0xf_ffff;
            uniforms(Key::new(self.calibration.seed, CELLS ^ number, step), &mut uniform);
            let is_one = |score: f32, uniform: f32| {
                f64::from(uniform) < calibration.probability(own.ranks.rank(score))
            };
            let drawn = row.iter().zip(uniform).filter(|(cell, uniform)| is_one(cell.2, *uniform));
            rows[row[0].0 as usize].extend(drawn.map(|(cell, _)| (cell.1, 1.0)));
        }
        Some(rows)
    }

    /// The columns whose draws all repeat the estimate: they are not calibrated, or too large.
    pub fn undrawn(&self, table: &NodeTable) -> Vec<&str> {
        let is_drawn = |own: &&ColumnDistributions| {
            let calibration = &self.calibration.columns[own.group];
            let is_kept = match table.column(&own.name).map(Column::data) {
                Some(ColumnData::Block(block)) => self
                    .block_cells
                    .get(&own.group)
                    .is_none_or(|cells| cells.cells.len() >= block.missing().count()),
                _ => true,
            };
            calibration.is_calibrated() && is_kept
        };
        let is_missing = |own: &&ColumnDistributions| {
            table.column(&own.name).is_some_and(|column| column.missing_count() > 0)
        };
        let columns = self.columns.iter().filter(is_missing).filter(|own| !is_drawn(own));
        columns.map(|own| own.name.as_str()).collect()
    }
}

/// A level drawn by its probability; the estimate where there are none.
fn drawn_level(cell: &LevelCell, uniform: f64) -> usize {
    let mut below = 0.0;
    let drawn = cell.probabilities.iter().position(|p| {
        below += p;
        uniform < below
    });
    drawn.unwrap_or(cell.estimate)
}

/// The column with drawn numbers in its missing cells: row, column of a block, value.
fn with_numbers(holed: &Column, filled: &Column, values: Vec<(u32, u32, f64)>) -> Result<Column> {
    match holed.data() {
        ColumnData::Array(_) => {
            let mut numbers = filled.numbers();
            values.iter().for_each(|&(row, _, value)| numbers[row as usize] = value);
            Ok(holed.completed_with_numbers(&numbers)?)
        }
        ColumnData::Block(block) => {
            let ColumnData::Block(whole) = filled.data() else { return Ok(filled.clone()) };
            let is_whole = (0..whole.rows())
                .all(|row| whole.cells(row).all(|(_, value)| value.fract() == 0.0));
            let mut rows: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
            for (row, column, value) in values {
                let value = if is_whole { value.round() } else { f64::from(value as f32) };
                rows.entry(row).or_default().insert(column, value);
            }
            Ok(holed.with_block(block.completed(|row, out| {
                let drawn = rows.get(&(row as u32));
                // Cells of columns that are not calibrated keep their estimate.
                let missing = |column: &u32| block.missing().contains(row, *column as usize);
                let estimates = whole.cells(row).filter(|(column, _)| missing(column));
                let is_drawn = |column: &u32| drawn.is_some_and(|drawn| drawn.contains_key(column));
                out.extend(estimates.filter(|(column, _)| !is_drawn(column)));
                out.extend(drawn.into_iter().flatten().map(|(&column, &value)| (column, value)));
                out.sort_unstable_by_key(|cell| cell.0);
            })))
        }
    }
}
