//! The components of propagation blended into one prior, by what known cells say of them.
//!
//! Shares (binary blocks, categories, booleans) are a mixture: with Q_j the components as
//! distributions over a row's features, the last one that of all rows,
//!
//!   o = ln(c Σ_j w_j Q_j + ε),   w ≥ 0, Σ w = 1, c the mean number of ones in a row
//!
//! and w makes the ones of known rows likeliest (expectation maximisation). Every row weighs one,
//! however many ones it has, in w as in the distribution of all rows: recall counts so, too.
//! Values (numbers, counts, numeric blocks) are a sum with weights of their own in each column
//! ([`super::value_blend`]).
//!
//! Components of known cells have not seen the cell, so that neither has the blend.

use graphfill_data::CellMask;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{DIRECTED_WAYS, PanelComponents, WAYS, is_value};
use super::value_blend::{ValueWeights, fit_values};
use crate::features::{Features, GroupKind};
use crate::learning::Likelihoods;
use crate::method::Task;

/// What is added to shares before anything is divided or its logarithm taken.
const MIN_SHARE: f64 = 1e-4;
/// Rounds of expectation maximisation, and rows that are enough for it.
const ROUNDS: usize = 60;
pub(super) const ENOUGH_ROWS: usize = 4000;
/// The numbers that φ has.
pub(super) const CONTEXT: usize = 3;
/// All components, the row's own estimates and the distribution of all rows.
const MAX_COMPONENTS: usize = WAYS + DIRECTED_WAYS + MAX_OWN + 1;
/// What a row says of itself, on one or two scales.
pub(super) const MAX_OWN: usize = 2;
/// Rows that one task sums up: fixed, so that sums do not depend on the number of threads.
const BLOCK_ROWS: usize = 128;

/// The weights of all groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Blend {
    groups: Vec<GroupBlend>,
    /// Those of rows of which nothing is known, where others have the estimates of their own cells.
    blank: Option<Vec<GroupBlend>>,
    /// Mean and deviation of ln(1 + k).
    neighbours: (f64, f64),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum GroupBlend {
    /// w, and the distribution of all rows.
    Shares { weights: Vec<f64>, overall: Vec<f64>, ones: f64 },
    /// w_cj for each φ.
    Values(ValueWeights),
}

/// What a blend is made of.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) unknown: &'a CellMask,
    pub(super) likelihoods: &'a Likelihoods,
    pub(super) panels: &'a [PanelComponents],
    /// What rows say of themselves, nodes × features each: further components.
    pub(super) own: Option<Own<'a>>,
}

/// What a row's known cells say about its other cells.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub(super) estimates: &'a [Vec<f32>],
    /// As if nothing of the row were known; empty where there are no such rows.
    pub(super) blank: &'a [Vec<f32>],
    /// Which rows nothing is known of.
    pub(super) is_blank: &'a [bool],
}

/// Which estimates of its own a row is blended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Seen,
    Blank,
}

impl Parts<'_> {
    pub(super) fn features(&self) -> &Features<'_> {
        self.task.features
    }

    /// The panels that hold a group's features.
    fn panels_of(&self, group: usize) -> impl Iterator<Item = &PanelComponents> {
        let range = self.features().groups()[group].features.clone();
        self.panels.iter().filter(move |panel| {
            panel.features.start < range.end && range.start < panel.features.end
        })
    }

    /// How many components propagation gives of a group.
    pub(super) fn ways(&self, group: usize) -> usize {
        let is_value = is_value(&self.features().groups()[group].kind);
        let ways =
            |panel: &PanelComponents| if is_value { panel.parts.len() } else { panel.shared };
        self.panels_of(group).next().map_or(WAYS, ways)
    }

    /// How many components there are of a group.
    pub(super) fn count(&self, group: usize) -> usize {
        self.ways(group) + self.own.map_or(0, |own| own.estimates.len())
    }

    /// The components of one row of a group, features × components; the overall one last where
    /// there is one.
    pub(super) fn row(
        &self,
        group: usize,
        row: usize,
        rows: Rows,
        overall: Option<&[f64]>,
        out: &mut Vec<f64>,
    ) {
        let width = self.features().width();
        let own = self.own.map_or(&[][..], |own| match rows {
            Rows::Seen => own.estimates,
            Rows::Blank => own.blank,
        });
        let range = self.features().groups()[group].features.clone();
        let (ways, count) = (self.ways(group), self.count(group) + usize::from(overall.is_some()));
        out.clear();
        out.resize(range.len() * count, 0.0);
        for panel in self.panels_of(group) {
            let inside = range.start.max(panel.features.start)..range.end.min(panel.features.end);
            let cells = &mut out[(inside.start - range.start) * count..];
            for part in 0..ways {
                let values = &panel.row(part, row)[inside.start - panel.features.start..];
                for (cell, &value) in cells.chunks_exact_mut(count).zip(&values[..inside.len()]) {
                    cell[part] = f64::from(value);
                }
            }
        }
        for (at, own) in own.iter().enumerate() {
            let own = &own[row * width..][range.clone()];
            for (cell, &value) in out.chunks_exact_mut(count).zip(own) {
                cell[ways + at] = f64::from(value);
            }
        }
        if let Some(overall) = overall {
            for (cell, &value) in out.chunks_exact_mut(count).zip(overall) {
                cell[count - 1] = value;
            }
        }
    }

    /// Known neighbours of every node, as ln(1 + k).
    fn neighbours(&self) -> Vec<f64> {
        let graph = self.task.graph;
        let known = |node: &&u32| !self.unknown.is_whole(**node as usize);
        let count = |node: usize| graph.neighbours(node).iter().filter(known).count();
        (0..graph.nodes()).into_par_iter().map(|node| (count(node) as f64).ln_1p()).collect()
    }
}

impl Blend {
    /// The weights that known cells speak for.
    pub(super) fn fit(parts: &Parts<'_>) -> Self {
        let neighbours = parts.neighbours();
        let mean = neighbours.iter().sum::<f64>() / neighbours.len().max(1) as f64;
        let variance = neighbours.iter().map(|k| (k - mean).powi(2)).sum::<f64>();
        let deviation = (variance / neighbours.len().max(1) as f64).sqrt().max(1e-9);
        let mut blend = Blend { groups: Vec::new(), blank: None, neighbours: (mean, deviation) };
        blend.groups = blend.fit_rows(parts, Rows::Seen, &neighbours);
        if parts.own.is_some_and(|own| own.is_blank.contains(&true)) {
            blend.blank = Some(blend.fit_rows(parts, Rows::Blank, &neighbours));
        }
        blend
    }

    fn fit_rows(&self, parts: &Parts<'_>, rows: Rows, neighbours: &[f64]) -> Vec<GroupBlend> {
        let context = |row: usize| self.context(neighbours[row]);
        let mut values = fit_values(parts, rows, &context).into_iter();
        let groups = parts.features().groups().iter().enumerate();
        groups
            .map(|(group, about)| match is_value(&about.kind) {
                true => GroupBlend::Values(values.next().unwrap_or_default()),
                false => fit_shares(parts, group, rows),
            })
            .collect()
    }

    /// o, nodes × features; of all rows in the same way where one is named, else of each in its own.
    pub(super) fn prior(&self, parts: &Parts<'_>, all: Option<Rows>) -> Vec<f32> {
        let features = parts.features();
        let width = features.width();
        let neighbours = parts.neighbours();
        let mut prior = vec![0.0f32; features.rows() * width];
        let rows = prior.par_chunks_mut(width.max(1)).zip(&neighbours).enumerate();
        rows.for_each_init(Vec::new, |components, (row, (prior, &neighbours))| {
            let is_blank = match all {
                Some(all) => all == Rows::Blank,
                None => parts.own.is_some_and(|own| own.is_blank[row]),
            };
            let (rows, blends) = match &self.blank {
                Some(blank) if is_blank => (Rows::Blank, blank),
                _ => (Rows::Seen, &self.groups),
            };
            for (group, (about, blend)) in features.groups().iter().zip(blends).enumerate() {
                let prior = &mut prior[about.features.clone()];
                match blend {
                    GroupBlend::Shares { weights, overall, ones } => {
                        parts.row(group, row, rows, Some(overall), components);
                        match about.kind {
                            GroupKind::Boolean => prior[0] = log_odds(components, weights) as f32,
                            _ => log_shares(components, weights, *ones, prior),
                        }
                    }
                    GroupBlend::Values(weights) => {
                        parts.row(group, row, rows, None, components);
                        weights.blend(components, self.context(neighbours), prior);
                    }
                }
            }
        });
        prior
    }

    /// φ of a node with so many known neighbours, as ln(1 + k).
    fn context(&self, neighbours: f64) -> [f64; CONTEXT] {
        let (mean, deviation) = self.neighbours;
        [1.0, (neighbours - mean) / deviation, f64::from(u8::from(neighbours == 0.0))]
    }
}

/// The log odds of Σ_j w_j Q_j for a boolean: one feature, and all that is not it.
fn log_odds(components: &[f64], weights: &[f64]) -> f64 {
    let shares = components.iter().zip(weights).map(|(p, w)| p.clamp(0.0, 1.0) * w);
    let share = shares.sum::<f64>().clamp(MIN_SHARE, 1.0 - MIN_SHARE);
    (share / (1.0 - share)).ln()
}

/// ln(c Σ_j w_j Q_j + ε) of one row, from its components, features × (components and the overall one).
fn log_shares(components: &[f64], weights: &[f64], ones: f64, out: &mut [f32]) {
    let count = weights.len();
    let sums = sums(components, count);
    let mut factors = [0.0; MAX_COMPONENTS];
    for ((factor, weight), sum) in factors.iter_mut().zip(weights).zip(sums) {
        *factor = weight / sum;
    }
    for (out, cell) in out.iter_mut().zip(components.chunks_exact(count)) {
        let shares = cell.iter().zip(&factors).map(|(p, f)| (p.max(0.0) + MIN_SHARE) * f);
        *out = (ones * shares.sum::<f64>() + MIN_SHARE).ln() as f32;
    }
}

/// The sum of each component of a row, features × count.
fn sums(components: &[f64], count: usize) -> [f64; MAX_COMPONENTS] {
    let mut sums = [0.0; MAX_COMPONENTS];
    for cell in components.chunks_exact(count) {
        for (sum, share) in sums.iter_mut().zip(cell) {
            *sum += share.max(0.0) + MIN_SHARE;
        }
    }
    sums
}

/// The rows whose cells of a group are all known, or some of them if there are many.
fn known_rows(parts: &Parts<'_>, group: usize) -> Vec<usize> {
    let about = &parts.features().groups()[group];
    let known = |row: &usize| {
        !parts.unknown.is_whole(*row)
            && about.cells.clone().all(|cell| !parts.unknown.contains(*row, cell))
    };
    let rows: Vec<usize> = (0..parts.features().rows()).filter(known).collect();
    let step = rows.len().div_ceil(ENOUGH_ROWS).max(1);
    rows.into_iter().step_by(step).collect()
}

fn fit_shares(parts: &Parts<'_>, group: usize, which: Rows) -> GroupBlend {
    let features = parts.features();
    let about = &features.groups()[group];
    let boolean = about.kind == GroupKind::Boolean;
    let rows = known_rows(parts, group);
    let mut overall = vec![0.0; about.features.len()];
    let mut ones_of_rows: Vec<Vec<usize>> = Vec::new();
    for &row in &rows {
        let ones = ones(parts, group, row);
        for &one in &ones {
            overall[one] += 1.0 / ones.len() as f64;
        }
        ones_of_rows.push(ones);
    }
    let with_any = ones_of_rows.iter().filter(|ones| !ones.is_empty()).count().max(1) as f64;
    let mean_ones = match about.is_ranking() {
        true => ones_of_rows.iter().map(Vec::len).sum::<usize>() as f64 / with_any,
        false => 1.0,
    };
    let rows_with_any = if boolean { rows.len().max(1) as f64 } else { with_any };
    overall.iter_mut().for_each(|share| *share *= mean_ones / rows_with_any);
    let count = parts.count(group) + 1;
    // For every row, the share that each component gives to each one.
    let shares_of_row = |components: &mut Vec<f64>, (&row, ones): (&usize, &Vec<usize>)| {
        parts.row(group, row, which, Some(&overall), components);
        if boolean {
            let share = |p: &f64| p.clamp(MIN_SHARE, 1.0 - MIN_SHARE);
            let likely = |p: &f64| if ones.is_empty() { 1.0 - share(p) } else { share(p) };
            return components.iter().map(likely).collect::<Vec<f64>>();
        }
        let sums = sums(components, count);
        let cells = ones.iter().flat_map(|&one| {
            let cell = &components[one * count..(one + 1) * count];
            cell.iter().zip(&sums).map(|(p, sum)| (p.max(0.0) + MIN_SHARE) / sum)
        });
        cells.collect()
    };
    let rows = rows.par_iter().zip(&ones_of_rows);
    let shares: Vec<Vec<f64>> = rows.map_init(Vec::new, shares_of_row).collect();
    let weights = maximise(&shares, count);
    GroupBlend::Shares { weights, overall, ones: mean_ones }
}

/// The mixture under which what was seen is likeliest, from the shares of each row's ones, ones ×
/// count. A row weighs one, however many it has.
fn maximise(shares: &[Vec<f64>], count: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / count as f64; count];
    let total = shares.iter().filter(|shares| !shares.is_empty()).count() as f64;
    if total == 0.0 {
        return weights;
    }
    for _ in 0..ROUNDS {
        let sums_of_block = |rows: &[Vec<f64>]| {
            let mut sums = [0.0; MAX_COMPONENTS];
            for shares in rows {
                let weight_of_one = count as f64 / shares.len() as f64;
                for shares in shares.chunks_exact(count) {
                    let mixed: f64 = shares.iter().zip(&weights).map(|(p, w)| p * w).sum();
                    let factor = weight_of_one / mixed;
                    for ((sum, share), weight) in sums.iter_mut().zip(shares).zip(&weights) {
                        *sum += factor * share * weight;
                    }
                }
            }
            sums
        };
        let blocks: Vec<_> = shares.par_chunks(BLOCK_ROWS).map(sums_of_block).collect();
        let sum = |at: usize| blocks.iter().map(|sums| sums[at]).sum::<f64>() / total;
        weights = (0..count).map(sum).collect();
    }
    weights
}

/// The features of a group that are one in a row.
fn ones(parts: &Parts<'_>, group: usize, row: usize) -> Vec<usize> {
    let features = parts.features();
    let about = &features.groups()[group];
    match about.kind {
        GroupKind::Boolean => {
            let one = features.value(group, row, about.features.start) > 0.5;
            if one { vec![0] } else { Vec::new() }
        }
        GroupKind::Category(_) => {
            features.level(group, row).map(|level| level as usize).into_iter().collect()
        }
        _ => {
            let block = features.block(group);
            let columns = block.map(|block| block.columns(row)).unwrap_or_default();
            columns.iter().map(|&column| column as usize).collect()
        }
    }
}
