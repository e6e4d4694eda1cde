//! A few features of all nodes, dense: the unit in which methods work.
//!
//! At most 64 columns, so that one machine word a row says which cells are known, and a wide
//! table is never dense all at once. A panel never holds a value that the method may not see.

use std::ops::Range;

use graphfill_data::CellMask;
use graphfill_engine::Device;
use graphfill_engine::cpu::{PANEL_WIDTHS, panel_width};
use rayon::prelude::*;

use super::{Features, Values};

/// The memory that the panels of one method may take together, at the least.
const PANEL_BUDGET: usize = 1 << 30;

/// How a table's features are cut into panels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panels(Vec<Range<usize>>);

impl Panels {
    /// Panels for the CPU of the groups that are wanted, as wide as the budget allows, none
    /// across the border of a ranking group.
    pub fn of(features: &Features<'_>, wanted: &[bool]) -> Self {
        Panels::on(&Device::cpu(), features, wanted)
    }

    /// The same for a device.
    pub fn on(device: &Device, features: &Features<'_>, wanted: &[bool]) -> Self {
        let (a_column, budget) = (features.rows().max(1) * size_of::<f32>() * 3, budget(device));
        let most = PANEL_WIDTHS.into_iter().rev().find(|width| width * a_column <= budget);
        let most = most.unwrap_or(PANEL_WIDTHS[0]);
        let mut panels: Vec<Range<usize>> = Vec::new();
        let mut ranking_before = false;
        for (group, _) in features.groups().iter().zip(wanted).filter(|(_, wanted)| **wanted) {
            let mut rest = group.features.clone();
            if let Some(last) = panels.last_mut()
                && !group.is_ranking()
                && !ranking_before
                && last.end == rest.start
            {
                let taken = rest.len().min(most - last.len());
                last.end += taken;
                rest.start += taken;
            }
            while !rest.is_empty() {
                let end = rest.end.min(rest.start + most);
                panels.push(rest.start..end);
                rest.start = end;
            }
            ranking_before = group.is_ranking();
        }
        Panels(panels)
    }

    /// The feature ranges, one a panel.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.iter().cloned()
    }

    /// The number of panels.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The memory that the panels of one method may take together. On a GPU narrow rows are slow to
/// fetch: there, a quarter of what both it and the host have free.
fn budget(device: &Device) -> usize {
    if !device.is_cuda() {
        return PANEL_BUDGET;
    }
    let free = [device.available_memory(), Device::cpu().available_memory()];
    let quarter = free.into_iter().flatten().min().unwrap_or(0) / 4;
    usize::try_from(quarter).unwrap_or(usize::MAX).max(PANEL_BUDGET)
}

/// Features `features` of all nodes: `rows × width`, unused columns at the end zero.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Which features stand in its columns.
    pub features: Range<usize>,
    /// The length of a row; one of the kernel's widths, at least `features.len()`.
    pub width: usize,
    /// The values less their offsets; zero where a cell is unknown.
    pub values: Vec<f32>,
    /// One bit a column and row: whether the cell is known.
    pub known: Vec<u64>,
    /// What was subtracted from each column.
    pub offsets: Vec<f64>,
}

impl Panel {
    /// Loads features, cells of `unknown` left out.
    pub fn load(
        table: &Features<'_>,
        features: Range<usize>,
        unknown: &CellMask,
        offsets: &[f64],
    ) -> Panel {
        let width = panel_width(features.len());
        let mut values = vec![0.0f32; table.rows() * width];
        let mut known = vec![0u64; table.rows()];
        let parts: Vec<Part> = parts(table, &features);
        values.par_chunks_mut(width).zip(&mut known).enumerate().for_each(
            |(row, (values, known))| {
                if unknown.is_whole(row) {
                    return;
                }
                let holes = unknown.cells(row);
                for part in &parts {
                    part.load(table, row, holes, offsets, values, known);
                }
            },
        );
        let offsets = offsets[features.clone()].to_vec();
        Panel { features, width, values, known, offsets }
    }

    /// The word of a row whose cells are all known.
    pub fn all_known(&self) -> u64 {
        u64::MAX >> (64 - self.features.len() as u32)
    }

    /// One where a cell is known, zero elsewhere: `rows × width`.
    pub fn known_as_numbers(&self) -> Vec<f32> {
        let mut numbers = vec![0.0f32; self.values.len()];
        for (row, &known) in numbers.chunks_exact_mut(self.width).zip(&self.known) {
            for (column, number) in row.iter_mut().enumerate() {
                *number = f32::from(u8::from(known >> column & 1 == 1));
            }
        }
        numbers
    }

    /// The mean of each column over its known cells; zero in unused columns.
    pub fn known_means(&self) -> Vec<f32> {
        let mut sums = vec![0.0f64; self.width];
        let mut counts = vec![0u64; self.width];
        for (values, &known) in self.values.chunks_exact(self.width).zip(&self.known) {
            for column in 0..self.features.len() {
                if known >> column & 1 == 1 {
                    sums[column] += f64::from(values[column]);
                    counts[column] += 1;
                }
            }
        }
        let mean = |(sum, &count): (&f64, &u64)| if count == 0 { 0.0 } else { sum / count as f64 };
        sums.iter().zip(&counts).map(mean).map(|mean| mean as f32).collect()
    }
}

/// The part of one group that a panel holds.
struct Part {
    group: usize,
    features: Range<usize>,
    /// The panel column of the first of these features.
    column: usize,
}

fn parts(table: &Features<'_>, features: &Range<usize>) -> Vec<Part> {
    let inside = table.groups_in(features.clone());
    inside
        .map(|(group, _, part)| Part { group, column: part.start - features.start, features: part })
        .collect()
}

impl Part {
    fn load(
        &self,
        table: &Features<'_>,
        row: usize,
        holes: &[u32],
        offsets: &[f64],
        values: &mut [f32],
        known: &mut u64,
    ) {
        let group = &table.groups()[self.group];
        let count = self.features.len();
        let bits = (u64::MAX >> (64 - count as u32)) << self.column;
        let cell = group.cells.start as u32;
        match &table.values[self.group] {
            Values::Numbers(numbers) => {
                if !numbers[row].is_nan() && holes.binary_search(&cell).is_err() {
                    *known |= bits;
                    values[self.column] = (numbers[row] - offsets[self.features.start]) as f32;
                }
            }
            Values::Levels(levels) => {
                if let (Some(level), Err(_)) = (levels[row], holes.binary_search(&cell)) {
                    *known |= bits;
                    for (at, feature) in self.features.clone().enumerate() {
                        let own = feature - group.features.start == level as usize;
                        let value = f64::from(u8::from(own)) - offsets[feature];
                        values[self.column + at] = value as f32;
                    }
                }
            }
            Values::Block(block) => {
                *known |= bits;
                let first = self.features.start - group.features.start;
                for (at, feature) in self.features.clone().enumerate() {
                    values[self.column + at] = -offsets[feature] as f32;
                }
                for (column, value) in block.cells_between(row, first..first + count) {
                    let at = column as usize - first;
                    values[self.column + at] = (value - offsets[self.features.start + at]) as f32;
                }
                let range = cell + first as u32..cell + (first + count) as u32;
                let from = holes.partition_point(|&hole| hole < range.start);
                for &hole in holes[from..].iter().take_while(|&&hole| hole < range.end) {
                    let at = self.column + (hole - range.start) as usize;
                    *known &= !(1 << at);
                    values[at] = 0.0;
                }
            }
        }
    }
}
