//! What a row's own known cells say about its other cells.
//!
//! Every feature is standardised, z = (x − mean) / deviation, and a row is a Gaussian given its
//! [components](super::components): x | g ~ N(μ + gB, Σ), g = (arb, one hop). Its conditional mean is
//! one more component of the prior, linear in the known cells. What is left for a network to find is
//! what is not linear; it sees, for every row,
//!
//!   (z where known, else its conditional mean | unknown or not | z of arb | z of one hop | ln(1 + degree))
//!
//! and learns from cells that are hidden from it in one of several [`View`]s of the table.

use std::ops::Range;

use graphfill_data::{CellMask, splits};
use graphfill_engine::random::{Key, uniforms};
use serde::{Deserialize, Serialize};

use super::components::{ONE_HOP, PanelComponents, USUAL};
use crate::features::{Features, GroupKind};
use crate::learning::Scales;
use crate::method::Task;
use crate::row_gaussian::{Cells, RowGaussian};

/// Wider tables are left to propagation: a row's Gaussian has as many rows and columns as it.
const MOST_FEATURES: usize = 300;
/// Rows of all views together, and the most views.
const VIEWED_ROWS: usize = 24_000;
const MOST_VIEWS: usize = 4;
/// The share of known cells that a view hides, and of whole rows, at least and at most.
const HIDDEN_SHARE: f32 = 0.2;
const HIDDEN_ROWS: (f64, f64) = (0.1, 0.6);
/// Inputs of the network stay within this.
const LARGEST_INPUT: f32 = 4.0;

/// Whether rows have known and unknown cells side by side, in a table that is narrow enough.
pub(super) fn is_there(task: &Task<'_>, unknown: &CellMask) -> bool {
    let partly = |row: usize| !unknown.is_whole(row) && !unknown.cells(row).is_empty();
    let narrow = (2..=MOST_FEATURES).contains(&task.features.width());
    narrow && (0..task.features.rows()).any(partly)
}

/// How features are standardised, and the Gaussian of a row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Evidence {
    gaussian: RowGaussian,
    features: Vec<Moments>,
    context: Vec<Moments>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Moments {
    mean: f32,
    deviation: f32,
}

impl Moments {
    fn of(values: impl Iterator<Item = f32>) -> Self {
        let (mut count, mut mean, mut squares) = (0.0f64, 0.0f64, 0.0f64);
        for value in values {
            count += 1.0;
            let difference = f64::from(value) - mean;
            mean += difference / count;
            squares += difference * (f64::from(value) - mean);
        }
        let deviation = (squares / count.max(1.0)).sqrt();
        let deviation = if deviation > 1e-9 { deviation as f32 } else { 1.0 };
        Moments { mean: mean as f32, deviation }
    }

    fn standardised(self, value: f32) -> f32 {
        (value - self.mean) / self.deviation
    }
}

/// The table as a row's Gaussian sees it.
pub(super) struct RowTable {
    rows: usize,
    columns: usize,
    /// Known values as components have them: scores of numbers, zeros and ones.
    values: Vec<f32>,
    known: Vec<bool>,
    /// arb and one hop, side by side.
    context: Vec<f32>,
    degrees: Vec<f32>,
    blocks: Vec<Range<usize>>,
    is_number: Vec<bool>,
}

/// A part of the rows with further cells hidden.
pub(super) struct View {
    pub(super) rows: Vec<u32>,
    /// Everything but the hidden cells: what may not be learnt from.
    pub(super) not_hidden: CellMask,
    pub(super) known: Vec<bool>,
}

impl RowTable {
    pub(super) fn new(
        task: &Task<'_>,
        unknown: &CellMask,
        scales: &Scales,
        panels: &[PanelComponents],
    ) -> Self {
        let features = task.features;
        let (rows, columns) = (features.rows(), features.width());
        let mut values = vec![0.0f32; rows * columns];
        let mut known = vec![false; rows * columns];
        for (group, about) in features.groups().iter().enumerate() {
            for row in 0..rows {
                for (column, feature) in about.features.clone().enumerate() {
                    if !unknown.contains(row, about.cell_of(feature)) {
                        let value = features.value(group, row, feature);
                        values[row * columns + feature] = scales.score(group, column, value);
                        known[row * columns + feature] = true;
                    }
                }
            }
        }
        let mut context = vec![0.0f32; rows * 2 * columns];
        for panel in panels {
            for row in 0..rows {
                for feature in panel.features.clone() {
                    let at = row * 2 * columns + feature;
                    context[at] = panel.value(USUAL, row, feature) as f32;
                    context[at + columns] = panel.value(ONE_HOP, row, feature) as f32;
                }
            }
        }
        let degree = |node: usize| (task.graph.degree(node) as f32).ln_1p();
        RowTable {
            rows,
            columns,
            values,
            known,
            context,
            degrees: (0..rows).map(degree).collect(),
            blocks: blocks(features),
            is_number: is_number(features),
        }
    }

    /// Parts of the rows with cells hidden as the unknown ones are.
    pub(super) fn views(&self, task: &Task<'_>, unknown: &CellMask) -> Vec<View> {
        let seen: Vec<u32> =
            (0..self.rows as u32).filter(|&row| !unknown.is_whole(row as usize)).collect();
        let count = (VIEWED_ROWS / seen.len().max(1)).clamp(1, MOST_VIEWS);
        let blank = unknown.whole_rows() * task.features.cells();
        let blank_share = blank as f64 / unknown.count().max(1) as f64;
        let whole_rows = (HIDDEN_ROWS.0 + HIDDEN_ROWS.1 * blank_share) as f32;
        let view = |view: usize| {
            let mut rows = splits::shuffled(&seen, task.seed.wrapping_add(view as u64));
            rows.truncate(VIEWED_ROWS);
            rows.sort_unstable();
            self.view(task.features, rows, whole_rows, Key::new(task.seed, 0, view as u64))
        };
        (0..count).map(view).collect()
    }

    fn view(&self, features: &Features<'_>, rows: Vec<u32>, whole: f32, key: Key) -> View {
        let cells = features.cells();
        let mut draws = vec![0.0f32; rows.len() * (cells + 1)];
        uniforms(key, &mut draws);
        let mut known = self.known.clone();
        let mut hidden_cells: Vec<Vec<u32>> = vec![Vec::new(); self.rows];
        for (&row, draws) in rows.iter().zip(draws.chunks_exact(cells + 1)) {
            let row = row as usize;
            let all = draws[cells] < whole;
            for about in features.groups() {
                for feature in about.features.clone() {
                    let cell = about.cell_of(feature);
                    let at = row * self.columns + feature;
                    if self.known[at] && (all || draws[cell] < HIDDEN_SHARE) {
                        known[at] = false;
                        hidden_cells[row].push(cell as u32);
                    }
                }
            }
        }
        let not_hidden = CellMask::build(self.rows, cells, |row, list| {
            let hidden = &hidden_cells[row];
            list.extend((0..cells as u32).filter(|cell| !hidden.contains(cell)));
        });
        View { rows, not_hidden, known }
    }

    fn cells<'a>(&'a self, values: &'a [f32], known: &'a [bool]) -> Cells<'a> {
        Cells {
            rows: self.rows,
            columns: self.columns,
            values,
            known,
            blocks: &self.blocks,
            is_number: &self.is_number,
        }
    }
}

impl Evidence {
    /// The Gaussian of the known cells.
    pub(super) fn fit(table: &RowTable, seed: u64) -> Self {
        let columns = table.columns;
        let known = |feature: usize| {
            let cells = (0..table.rows).map(move |row| row * columns + feature);
            cells.filter(|&at| table.known[at]).map(|at| table.values[at])
        };
        let features: Vec<Moments> = (0..columns).map(|f| Moments::of(known(f))).collect();
        let context = (0..2 * columns)
            .map(|at| Moments::of(table.context.iter().skip(at).step_by(2 * columns).copied()));
        let context: Vec<Moments> = context.collect();
        let values = standardised(&table.values, &features);
        let cells = table.cells(&values, &table.known);
        let gaussian = RowGaussian::fit(&cells, &table.context, seed);
        Evidence { gaussian, features, context }
    }

    /// The conditional mean of every cell given the known ones, as components have it; a known cell
    /// is left out of its own.
    pub(super) fn estimates(&self, table: &RowTable, known: &[bool]) -> Vec<f32> {
        let values = standardised(&table.values, &self.features);
        self.restored(self.gaussian.estimate(&table.cells(&values, known), &table.context))
    }

    /// The mean of every cell as if nothing of its row were known.
    pub(super) fn blank_estimates(&self, table: &RowTable) -> Vec<f32> {
        self.restored(self.gaussian.estimate_blank_left_out(table.rows, &table.context))
    }

    /// How many numbers the network sees of a row.
    pub(super) fn inputs(&self) -> usize {
        4 * self.features.len() + 1
    }

    /// What the network sees of some rows, of which these cells are known.
    pub(super) fn input(
        &self,
        table: &RowTable,
        known: &[bool],
        estimates: &[f32],
        rows: impl Iterator<Item = usize>,
    ) -> Vec<f32> {
        let columns = table.columns;
        let bounded = |value: f32| value.clamp(-LARGEST_INPUT, LARGEST_INPUT);
        let mut input = Vec::new();
        for row in rows {
            let cells = row * columns..(row + 1) * columns;
            for (at, moments) in cells.clone().zip(&self.features) {
                let value = if known[at] { table.values[at] } else { estimates[at] };
                input.push(bounded(moments.standardised(value)));
            }
            input.extend(known[cells].iter().map(|known| f32::from(u8::from(!known))));
            let context = &table.context[row * 2 * columns..(row + 1) * 2 * columns];
            let standardised = context.iter().zip(&self.context);
            input.extend(standardised.map(|(value, moments)| bounded(moments.standardised(*value))));
            input.push(table.degrees[row] - 1.0);
        }
        input
    }

    fn restored(&self, mut values: Vec<f32>) -> Vec<f32> {
        for row in values.chunks_exact_mut(self.features.len()) {
            for (value, moments) in row.iter_mut().zip(&self.features) {
                *value = moments.mean + moments.deviation * *value;
            }
        }
        values
    }
}

impl RowTable {
    /// Which cells are known.
    pub(super) fn known(&self) -> &[bool] {
        &self.known
    }

    /// The rows of which something is known.
    pub(super) fn is_blank(&self, row: usize) -> bool {
        !self.known[row * self.columns..(row + 1) * self.columns].contains(&true)
    }
}

fn standardised(values: &[f32], moments: &[Moments]) -> Vec<f32> {
    let mut out = values.to_vec();
    for row in out.chunks_exact_mut(moments.len()) {
        for (value, moments) in row.iter_mut().zip(moments) {
            *value = moments.standardised(*value);
        }
    }
    out
}

/// Features that are known or unknown together.
fn blocks(features: &Features<'_>) -> Vec<Range<usize>> {
    let groups = features.groups().iter();
    groups
        .flat_map(|group| match group.kind {
            GroupKind::Category(_) => vec![group.features.clone()],
            _ => group.features.clone().map(|feature| feature..feature + 1).collect(),
        })
        .filter(|block| !block.is_empty())
        .collect()
}

fn is_number(features: &Features<'_>) -> Vec<bool> {
    let mut is_number = vec![false; features.width()];
    for group in features.groups() {
        let number =
            matches!(group.kind, GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock);
        is_number[group.features.clone()].fill(number);
    }
    is_number
}
