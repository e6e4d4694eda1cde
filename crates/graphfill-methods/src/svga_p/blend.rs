//! The components of propagation blended into one prior, by what known cells say of them.
//!
//! Shares (binary blocks, categories, booleans) are a mixture: with Q_j the components as
//! distributions over a row's features, the last one that of all rows,
//!
//!   o = ln(c Σ_j w_j Q_j + ε),   w ≥ 0, Σ w = 1, c the mean number of ones in a row
//!
//! and w makes the ones of known rows likeliest (expectation maximisation). Every row weighs one,
//! however many ones it has, in w as in the distribution of all rows: recall counts so, too.
//! Values (numbers, counts, numeric blocks) are a sum whose weights depend on k, the number of known
//! neighbours, by least squares held near the first component:
//!
//!   o = Σ_j (φ·w_j) P_j,   φ = (1, standardised ln(1 + k), 1 if k = 0)
//!
//! Components of known cells have not seen the cell, so that neither has the blend.

use graphfill_data::CellMask;
use serde::{Deserialize, Serialize};

use super::components::{PanelComponents, WAYS};
use super::least_squares::NormalEquations;
use crate::features::{Features, GroupKind};
use crate::learning::Scales;
use crate::method::Task;

/// What is added to shares before anything is divided or its logarithm taken.
const LEAST_SHARE: f64 = 1e-4;
/// Rounds of expectation maximisation, and rows that are enough for it.
const ROUNDS: usize = 60;
const ENOUGH_ROWS: usize = 4000;
/// How strongly least squares is held near the first component alone.
const PULL: f64 = 1e-3;
/// The numbers that φ has.
const CONTEXT: usize = 3;
/// All components times φ.
const MOST_TERMS: usize = (WAYS + 1) * CONTEXT;

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
    /// w_j for each φ.
    Values { weights: Vec<f64> },
}

/// What a blend is made of.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) unknown: &'a CellMask,
    pub(super) scales: &'a Scales,
    pub(super) panels: &'a [PanelComponents],
    /// What rows say of themselves, nodes × features: one more component.
    pub(super) own: Option<Own<'a>>,
}

/// What a row's known cells say about its other cells.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub(super) estimates: &'a [f32],
    /// As if nothing of the row were known.
    pub(super) blank: &'a [f32],
    /// Which rows nothing is known of.
    pub(super) is_blank: &'a [bool],
}

/// Which estimates of its own a row is blended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Seen,
    Blank,
}

impl Parts<'_> {
    fn features(&self) -> &Features<'_> {
        self.task.features
    }

    /// The panels that hold a group's features.
    fn panels_of(&self, group: usize) -> impl Iterator<Item = &PanelComponents> {
        let range = self.features().groups()[group].features.clone();
        self.panels.iter().filter(move |panel| {
            panel.features.start < range.end && range.start < panel.features.end
        })
    }

    /// How many components there are.
    fn count(&self) -> usize {
        WAYS + usize::from(self.own.is_some())
    }

    /// The components of one row of a group, features × components; the overall one last where
    /// there is one.
    fn row(
        &self,
        group: usize,
        row: usize,
        rows: Rows,
        overall: Option<&[f64]>,
        out: &mut Vec<f64>,
    ) {
        let width = self.features().width();
        let own = self.own.map(|own| match rows {
            Rows::Seen => &own.estimates[row * width..(row + 1) * width],
            Rows::Blank => &own.blank[row * width..(row + 1) * width],
        });
        let range = self.features().groups()[group].features.clone();
        out.clear();
        for panel in self.panels_of(group) {
            let from = range.start.max(panel.features.start);
            for feature in from..range.end.min(panel.features.end) {
                out.extend((0..WAYS).map(|part| panel.value(part, row, feature)));
                out.extend(own.map(|own| f64::from(own[feature])));
                out.extend(overall.map(|overall| overall[feature - range.start]));
            }
        }
    }

    /// Known neighbours of every node, as ln(1 + k).
    fn neighbours(&self) -> Vec<f64> {
        let graph = self.task.graph;
        let known = |node: &&u32| !self.unknown.is_whole(**node as usize);
        let count = |node: usize| graph.neighbours(node).iter().filter(known).count();
        (0..graph.nodes()).map(|node| (count(node) as f64).ln_1p()).collect()
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
        let groups = parts.features().groups().iter().enumerate();
        groups
            .map(|(group, about)| match about.kind {
                GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock => {
                    let weights = fit_values(parts, group, rows, self, neighbours);
                    GroupBlend::Values { weights }
                }
                _ => fit_shares(parts, group, rows),
            })
            .collect()
    }

    /// o, nodes × features.
    pub(super) fn prior(&self, parts: &Parts<'_>) -> Vec<f32> {
        let features = parts.features();
        let width = features.width();
        let neighbours = parts.neighbours();
        let mut prior = vec![0.0f32; features.rows() * width];
        let mut components = Vec::new();
        for (group, about) in features.groups().iter().enumerate() {
            for (row, prior) in prior.chunks_exact_mut(width.max(1)).enumerate() {
                let prior = &mut prior[about.features.clone()];
                let (rows, blends) = match (&self.blank, parts.own) {
                    (Some(blank), Some(own)) if own.is_blank[row] => (Rows::Blank, blank),
                    _ => (Rows::Seen, &self.groups),
                };
                match &blends[group] {
                    GroupBlend::Shares { weights, overall, ones } => {
                        parts.row(group, row, rows, Some(overall), &mut components);
                        let shares = mixed(&components, weights, about.kind == GroupKind::Boolean);
                        for (prior, share) in prior.iter_mut().zip(shares) {
                            *prior = match about.kind {
                                GroupKind::Boolean => (share / (1.0 - share)).ln() as f32,
                                _ => (ones * share + LEAST_SHARE).ln() as f32,
                            };
                        }
                    }
                    GroupBlend::Values { weights } => {
                        parts.row(group, row, rows, None, &mut components);
                        let context = self.context(neighbours[row]);
                        let cells = components.chunks_exact(parts.count());
                        for (prior, parts) in prior.iter_mut().zip(cells) {
                            let terms = terms(parts, context);
                            let sum: f64 = terms.iter().zip(weights).map(|(x, w)| x * w).sum();
                            *prior = sum as f32;
                        }
                    }
                }
            }
        }
        prior
    }

    /// φ of a node with so many known neighbours, as ln(1 + k).
    fn context(&self, neighbours: f64) -> [f64; CONTEXT] {
        let (mean, deviation) = self.neighbours;
        [1.0, (neighbours - mean) / deviation, f64::from(u8::from(neighbours == 0.0))]
    }
}

/// φ ⊗ the components of one cell.
fn terms(components: &[f64], context: [f64; CONTEXT]) -> [f64; MOST_TERMS] {
    let mut terms = [0.0; MOST_TERMS];
    for (part, component) in components.iter().enumerate() {
        for (at, context) in context.iter().enumerate() {
            terms[part * CONTEXT + at] = component * context;
        }
    }
    terms
}

/// Σ_j w_j Q_j of one row, from its components, features × (components and the overall one).
fn mixed(components: &[f64], weights: &[f64], boolean: bool) -> Vec<f64> {
    let count = weights.len();
    let bounded = |share: f64| share.clamp(0.0, 1.0);
    if boolean {
        // One feature, and all that is not it.
        let share: f64 = components.iter().zip(weights).map(|(p, w)| bounded(*p) * w).sum();
        return vec![share.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE)];
    }
    let mut sums = vec![0.0; count];
    for row in components.chunks_exact(count) {
        for (sum, share) in sums.iter_mut().zip(row) {
            *sum += share.max(0.0) + LEAST_SHARE;
        }
    }
    let factors: Vec<f64> = weights.iter().zip(&sums).map(|(weight, sum)| weight / sum).collect();
    components
        .chunks_exact(count)
        .map(|row| row.iter().zip(&factors).map(|(p, f)| (p.max(0.0) + LEAST_SHARE) * f).sum())
        .collect()
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
    let count = parts.count() + 1;
    // The share that each component gives to each one, and what a one weighs.
    let mut shares: Vec<f64> = Vec::new();
    let mut weighs: Vec<f64> = Vec::new();
    let mut components = Vec::new();
    for (&row, ones) in rows.iter().zip(&ones_of_rows) {
        parts.row(group, row, which, Some(&overall), &mut components);
        if boolean {
            let share = |p: &f64| p.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
            let likely = |p: &f64| if ones.is_empty() { 1.0 - share(p) } else { share(p) };
            shares.extend(components.iter().map(likely));
            weighs.push(1.0);
            continue;
        }
        let mut sums = vec![0.0; count];
        for feature in components.chunks_exact(count) {
            for (sum, share) in sums.iter_mut().zip(feature) {
                *sum += share.max(0.0) + LEAST_SHARE;
            }
        }
        for &one in ones {
            let own = &components[one * count..(one + 1) * count];
            shares.extend(own.iter().zip(&sums).map(|(p, sum)| (p.max(0.0) + LEAST_SHARE) / sum));
            weighs.push(1.0 / ones.len() as f64);
        }
    }
    let weights = maximise(&shares, &weighs, count);
    GroupBlend::Shares { weights, overall, ones: mean_ones }
}

/// The mixture under which what was seen is likeliest.
fn maximise(shares: &[f64], weighs: &[f64], count: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / count as f64; count];
    let total: f64 = weighs.iter().sum();
    if total == 0.0 {
        return weights;
    }
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; count];
        for (shares, weigh) in shares.chunks_exact(count).zip(weighs) {
            let mixed: f64 =
                shares.iter().zip(&weights).map(|(share, weight)| share * weight).sum();
            for ((next, share), weight) in next.iter_mut().zip(shares).zip(&weights) {
                *next += weigh * share * weight / mixed;
            }
        }
        weights = next.into_iter().map(|weight| weight / total).collect();
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

fn fit_values(
    parts: &Parts<'_>,
    group: usize,
    which: Rows,
    blend: &Blend,
    neighbours: &[f64],
) -> Vec<f64> {
    let features = parts.features();
    let about = &features.groups()[group];
    let count = parts.count();
    let mut equations = NormalEquations::new(count * CONTEXT);
    let mut components = Vec::new();
    let rows: Vec<usize> =
        (0..features.rows()).filter(|&row| !parts.unknown.is_whole(row)).collect();
    let step = rows.len().div_ceil(ENOUGH_ROWS).max(1);
    for row in rows.into_iter().step_by(step) {
        parts.row(group, row, which, None, &mut components);
        let context = blend.context(neighbours[row]);
        for (column, feature) in about.features.clone().enumerate() {
            if parts.unknown.contains(row, about.cell_of(feature)) {
                continue;
            }
            let value = features.value(group, row, feature);
            let target = f64::from(parts.scales.score(group, column, value));
            let terms = terms(&components[column * count..(column + 1) * count], context);
            equations.add(&terms[..count * CONTEXT], target);
        }
    }
    // Without data, the row's own estimate where there is one, else the first.
    let mut near = vec![0.0; count * CONTEXT];
    near[if parts.own.is_some() { WAYS * CONTEXT } else { 0 }] = 1.0;
    equations.solve(PULL, &near)
}
