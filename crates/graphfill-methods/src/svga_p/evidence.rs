//! What a row's own known cells say about its other cells.
//!
//! Every feature is standardised, z = (x − mean) / deviation, and a row is a Gaussian given its
//! [components](super::components): x | g ~ N(μ + gB, Σ), g = (arb, one hop). Its conditional mean is
//! one more component of the prior, linear in the known cells. What is left for a network to find is
//! what is not linear.

use std::ops::Range;

use graphfill_data::CellMask;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{ONE_HOP, PanelComponents, USUAL};
use super::tails::Tails;
use crate::features::{Features, Group, GroupKind};
use crate::learning::Likelihoods;
use crate::method::Task;
use crate::row_gaussian::{Cells, RowGaussian};

/// A row's Gaussian has as many rows and columns as the table. Of wider tables, blocks are [summarised](super::summary)
/// where other columns remain, and left to propagation otherwise.
pub(super) const MAX_FEATURES: usize = 300;
/// The share of rows that an update hides whole: at least this, and so much more where all missing
/// cells are in whole missing rows.
const HIDDEN_ROWS: (f64, f64) = (0.1, 0.6);
/// Inputs of the network stay within this.
const LARGEST_INPUT: f32 = 4.0;

/// Whether rows have known and unknown cells side by side, in a table that is narrow enough.
pub(super) fn is_there(task: &Task<'_>, unknown: &CellMask) -> bool {
    let partly = |row: usize| !unknown.is_whole(row) && !unknown.cells(row).is_empty();
    let narrow = (2..=MAX_FEATURES).contains(&task.features.width());
    narrow && (0..task.features.rows()).any(partly)
}

/// The share of rows that training hides whole.
pub(super) fn hidden_rows(features: &Features<'_>, unknown: &CellMask) -> f32 {
    let blank = unknown.whole_rows() * features.cells();
    (HIDDEN_ROWS.0 + HIDDEN_ROWS.1 * blank as f64 / unknown.count().max(1) as f64) as f32
}

/// For each feature, the cell with which training hides it. The columns of a 0/1 block are hidden
/// together: their likelihood is one of the whole row, which must not score what the network is shown.
pub(super) fn cells_of(features: &Features<'_>) -> Vec<u32> {
    let cell = |group: &Group, feature: usize| match group.kind {
        GroupKind::BinaryBlock => group.cells.start as u32,
        _ => group.cell_of(feature) as u32,
    };
    let groups = features.groups().iter();
    groups
        .flat_map(|group| group.features.clone().map(move |feature| cell(group, feature)))
        .collect()
}

/// How features are standardised, and the Gaussian of a row.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Evidence {
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

impl RowTable {
    pub(super) fn new(
        task: &Task<'_>,
        unknown: &CellMask,
        likelihoods: &Likelihoods,
        panels: &[PanelComponents],
    ) -> Self {
        let features = task.features;
        let (rows, columns) = (features.rows(), features.width());
        let mut values = vec![0.0f32; rows * columns];
        let mut known = vec![false; rows * columns];
        let by_row = values.par_chunks_mut(columns).zip(known.par_chunks_mut(columns)).enumerate();
        by_row.for_each(|(row, (values, known))| {
            for (group, about) in features.groups().iter().enumerate() {
                for (column, feature) in about.features.clone().enumerate() {
                    if !unknown.contains(row, about.cell_of(feature)) {
                        let value = features.value(group, row, feature);
                        values[feature] = likelihoods.logit(group, column, value);
                        known[feature] = true;
                    }
                }
            }
        });
        let mut context = vec![0.0f32; rows * 2 * columns];
        context.par_chunks_mut(2 * columns).enumerate().for_each(|(row, context)| {
            let (usual, one_hop) = context.split_at_mut(columns);
            for panel in panels {
                usual[panel.features.clone()].copy_from_slice(panel.row(USUAL, row));
                one_hop[panel.features.clone()].copy_from_slice(panel.row(ONE_HOP, row));
            }
        });
        let degree = |node: usize| (task.graph.degree(node) as f32).ln_1p();
        RowTable {
            rows,
            columns,
            values,
            known,
            context,
            degrees: (0..rows).into_par_iter().map(degree).collect(),
            blocks: blocks(features),
            is_number: is_number(features),
        }
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

/// The Gaussian of a row on the columns' own scales and, where columns have [heavy tails](super::tails), on
/// theirs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Scales {
    plain: Evidence,
    scaled: Option<(Tails, Evidence)>,
}

impl Scales {
    pub(super) fn fit(table: &RowTable, seed: u64) -> Self {
        let scaled = Tails::of(table).map(|tails| {
            let evidence = Evidence::fit(&tails.scaled(table), seed);
            (tails, evidence)
        });
        Scales { plain: Evidence::fit(table, seed), scaled }
    }

    /// [`Evidence::estimates`] by each Gaussian.
    pub(super) fn estimates(&self, table: &RowTable) -> Vec<Vec<f32>> {
        self.each(table, Evidence::estimates)
    }

    /// [`Evidence::blank_estimates`] by each Gaussian.
    pub(super) fn blank_estimates(&self, table: &RowTable) -> Vec<Vec<f32>> {
        self.each(table, Evidence::blank_estimates)
    }

    fn each(&self, table: &RowTable, of: fn(&Evidence, &RowTable) -> Vec<f32>) -> Vec<Vec<f32>> {
        let scaled = self.scaled.as_ref().map(|(tails, evidence)| {
            let mut estimates = of(evidence, &tails.scaled(table));
            tails.restore(&mut estimates);
            estimates
        });
        [of(&self.plain, table)].into_iter().chain(scaled).collect()
    }

    /// What the network sees of the known cells and of the context.
    pub(super) fn inputs(&self, table: &RowTable) -> (Vec<f32>, Vec<f32>) {
        match &self.scaled {
            Some((tails, evidence)) => {
                let scaled = tails.scaled(table);
                (evidence.values(&scaled), evidence.context(&scaled))
            }
            None => (self.plain.values(table), self.plain.context(table)),
        }
    }
}

impl Evidence {
    /// The Gaussian of the known cells.
    fn fit(table: &RowTable, seed: u64) -> Self {
        let columns = table.columns;
        let known = |feature: usize| {
            let cells = (0..table.rows).map(move |row| row * columns + feature);
            cells.filter(|&at| table.known[at]).map(|at| table.values[at])
        };
        let features: Vec<Moments> =
            (0..columns).into_par_iter().map(|f| Moments::of(known(f))).collect();
        let context = (0..2 * columns)
            .into_par_iter()
            .map(|at| Moments::of(table.context.iter().skip(at).step_by(2 * columns).copied()));
        let context: Vec<Moments> = context.collect();
        let values = standardised(&table.values, &features);
        let cells = table.cells(&values, &table.known);
        let gaussian = RowGaussian::fit(&cells, &table.context, seed);
        Evidence { gaussian, features, context }
    }

    /// The conditional mean of every cell given the known ones, as components have it; a known cell
    /// is left out of its own.
    fn estimates(&self, table: &RowTable) -> Vec<f32> {
        let values = standardised(&table.values, &self.features);
        let cells = table.cells(&values, &table.known);
        self.restored(self.gaussian.estimate(&cells, &table.context))
    }

    /// The mean of every cell as if nothing of its row were known.
    fn blank_estimates(&self, table: &RowTable) -> Vec<f32> {
        self.restored(self.gaussian.estimate_blank_left_out(table.rows, &table.context))
    }

    /// z of the known cells, zero elsewhere: rows × features.
    fn values(&self, table: &RowTable) -> Vec<f32> {
        let mut values = standardised(&table.values, &self.features);
        for (value, known) in values.iter_mut().zip(&table.known) {
            *value = if *known { bounded(*value) } else { 0.0 };
        }
        values
    }

    /// What else the network sees of a row: the standardised context and ln(1 + degree).
    fn context(&self, table: &RowTable) -> Vec<f32> {
        let columns = self.context.len();
        let mut context = vec![0.0f32; table.rows * (columns + 1)];
        let rows = context.par_chunks_mut(columns + 1).zip(table.context.par_chunks(columns));
        rows.zip(&table.degrees).for_each(|((out, row), degree)| {
            for ((out, value), moments) in out.iter_mut().zip(row).zip(&self.context) {
                *out = bounded(moments.standardised(*value));
            }
            out[columns] = degree - 1.0;
        });
        context
    }

    fn restored(&self, mut values: Vec<f32>) -> Vec<f32> {
        values.par_chunks_mut(self.features.len()).for_each(|row| {
            for (value, moments) in row.iter_mut().zip(&self.features) {
                *value = moments.mean + moments.deviation * *value;
            }
        });
        values
    }
}

impl RowTable {
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The values of a row, and which of them are known.
    pub(super) fn cells_of_row(&self, row: usize) -> impl Iterator<Item = (f32, bool)> {
        let own = row * self.columns..(row + 1) * self.columns;
        self.values[own.clone()].iter().copied().zip(self.known[own].iter().copied())
    }

    /// arb and one hop of a row, side by side.
    pub(super) fn context_of_row(&self, row: usize) -> &[f32] {
        &self.context[row * 2 * self.columns..(row + 1) * 2 * self.columns]
    }

    /// Whether a feature is a number.
    pub(super) fn is_number_at(&self, feature: usize) -> bool {
        self.is_number[feature]
    }

    /// The table with values and contexts mapped, feature by feature.
    pub(super) fn mapped(&self, map: impl Fn(usize, f32) -> f32 + Sync) -> RowTable {
        let mapped = |values: &[f32]| {
            let mut out = values.to_vec();
            out.par_chunks_mut(self.columns.max(1)).for_each(|row| {
                row.iter_mut().enumerate().for_each(|(at, value)| *value = map(at, *value));
            });
            out
        };
        RowTable {
            rows: self.rows,
            columns: self.columns,
            values: mapped(&self.values),
            known: self.known.clone(),
            context: mapped(&self.context),
            degrees: self.degrees.clone(),
            blocks: self.blocks.clone(),
            is_number: self.is_number.clone(),
        }
    }

    /// The value of a cell, if it is known.
    pub(super) fn known_value(&self, row: usize, feature: usize) -> Option<f32> {
        let at = row * self.columns + feature;
        self.known[at].then(|| self.values[at])
    }

    /// One where a cell is known, zero elsewhere.
    pub(super) fn known(&self) -> Vec<f32> {
        self.known.iter().map(|&known| f32::from(u8::from(known))).collect()
    }

    /// Whether nothing of a row is known.
    pub(super) fn is_blank(&self, row: usize) -> bool {
        !self.known[row * self.columns..(row + 1) * self.columns].contains(&true)
    }
}

fn bounded(value: f32) -> f32 {
    value.clamp(-LARGEST_INPUT, LARGEST_INPUT)
}

fn standardised(values: &[f32], moments: &[Moments]) -> Vec<f32> {
    let mut out = values.to_vec();
    out.par_chunks_mut(moments.len()).for_each(|row| {
        for (value, moments) in row.iter_mut().zip(moments) {
            *value = moments.standardised(*value);
        }
    });
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
