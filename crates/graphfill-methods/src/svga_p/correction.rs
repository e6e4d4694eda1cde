//! Trees that correct the blend where it is not linear ([`crate::boosting`]).
//!
//! Every number, boolean and category, and every column of a numeric block, has trees of its own on top of o:
//!
//! | inputs | of a row |
//! |---|---|
//! | known cells | z of numbers, 0 or 1; missing where a cell is unknown, and in the target's own group |
//! | context | arb and one hop of all features |
//! | own | o and the other components of the target |
//! | neighbours | degree, number of known neighbours; mean square, smallest and largest value among them |
//!
//! Where rows have known cells of their own, the network on top weighs what trees add by a factor that it
//! learns: what is smooth it finds itself, with less noise.
//!
//! Rows of which nothing is known have trees of their own, which see no cells: known rows show them what such
//! rows look like. As everywhere in the prior, no input has seen the target's cell.

use graphfill_data::splits;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::blend::Parts;
use super::components::{ONE_HOP, USUAL};
use super::evidence::RowTable;
use crate::boosting::{Boosted, Examples, Target};
use crate::features::{Features, GroupKind};

/// Tables of more features, whose other columns say more than bins of one, do without trees.
const MAX_FEATURES: usize = 300;
/// Categories of more levels do, too: every level has its own trees.
const MAX_LEVELS: usize = 24;
/// Rows that the trees of a target are grown from, and rows of all targets together.
const MAX_ROWS: usize = 24_000;
const MIN_MAX_ROWS: usize = 1500;
const MAX_ROWS_OF_ALL: usize = 600_000;
/// Folds of the rows.
const FOLDS: u8 = 4;
/// Inputs that say something of a target's neighbours.
const NEIGHBOURS: usize = 5;

/// The trees of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Correction {
    seed: u64,
    /// Of rows with known cells; empty where rows are known or unknown as a whole.
    seen: Vec<TargetTrees>,
    /// Of rows of which nothing is known.
    blank: Vec<TargetTrees>,
}

/// A target that has trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TargetTrees {
    group: usize,
    /// Its first feature.
    feature: usize,
    trees: Boosted,
}

/// What is estimated at once: a number, a boolean, or all levels of a category.
#[derive(Debug, Clone, Copy)]
struct Goal {
    group: usize,
    feature: usize,
    target: Target,
    outputs: usize,
}

/// Which rows trees are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// Their known cells are inputs.
    Cells,
    /// Nothing of them is known.
    Nothing,
}

/// A table as trees see it.
pub(super) struct View<'a> {
    pub(super) parts: &'a Parts<'a>,
    pub(super) table: &'a RowTable,
    /// o as rows with known cells have it, nodes × features; empty where there are none.
    pub(super) seen: &'a [f32],
    /// o as if nothing of a row were known; empty where no such row is estimated.
    pub(super) blank: &'a [f32],
    pub(super) seed: u64,
}

impl View<'_> {
    fn scores(&self, sight: Sight) -> &[f32] {
        match sight {
            Sight::Cells => self.seen,
            Sight::Nothing => self.blank,
        }
    }

    /// The fold of each row; rows of which nothing is known have none.
    fn folds(&self) -> Vec<Option<u8>> {
        let rows = self.table.rows();
        let known: Vec<u32> =
            (0..rows as u32).filter(|&row| !self.table.is_blank(row as usize)).collect();
        let mut folds = vec![None; rows];
        let order = splits::shuffled(&known, self.seed.wrapping_add(2));
        for (at, row) in order.into_iter().enumerate() {
            folds[row as usize] = Some((at % usize::from(FOLDS)) as u8);
        }
        folds
    }

    /// The components of a goal beside those of the context, and o.
    fn own_columns(&self, goal: &Goal) -> usize {
        goal.outputs * (self.parts.ways(goal.group) - 1)
    }

    fn columns(&self, goal: &Goal, sight: Sight) -> usize {
        let width = self.table.columns();
        let cells = if sight == Sight::Cells { width } else { 0 };
        cells + 2 * width + self.own_columns(goal) + NEIGHBOURS
    }

    /// The inputs of a row.
    fn inputs(&self, goal: &Goal, sight: Sight, row: usize, out: &mut Vec<f32>) {
        out.clear();
        let width = self.table.columns();
        let group = &self.parts.task.features.groups()[goal.group].features;
        if sight == Sight::Cells {
            out.extend(self.table.cells_of_row(row).map(|(value, known)| match known {
                true => value,
                false => f32::NAN,
            }));
            out[group.clone()].fill(f32::NAN);
        }
        out.extend_from_slice(self.table.context_of_row(row));
        let own = goal.feature..goal.feature + goal.outputs;
        out.extend_from_slice(&self.scores(sight)[row * width..][own.clone()]);
        for part in
            (0..self.parts.ways(goal.group)).filter(|&part| part != USUAL && part != ONE_HOP)
        {
            for panel in self.parts.panels {
                let inside = own.start.max(panel.features.start)..own.end.min(panel.features.end);
                if !inside.is_empty() {
                    let values = panel.row(part, row);
                    let first = panel.features.start;
                    out.extend_from_slice(&values[inside.start - first..inside.end - first]);
                }
            }
        }
        out.extend(self.neighbours(goal, row));
    }

    /// Degree, known neighbours, and the mean square, the smallest and the largest of their values (of
    /// categories, of the largest shares).
    fn neighbours(&self, goal: &Goal, row: usize) -> [f32; NEIGHBOURS] {
        let graph = self.parts.task.graph;
        let (mut count, mut squares) = (0.0f32, 0.0f32);
        let (mut smallest, mut largest) = (f32::INFINITY, f32::NEG_INFINITY);
        for &other in graph.neighbours(row) {
            if let Some(value) = self.table.known_value(other as usize, goal.feature) {
                count += 1.0;
                squares += value * value;
                smallest = smallest.min(value);
                largest = largest.max(value);
            }
        }
        let or_missing = |value: f32| if count > 0.0 { value } else { f32::NAN };
        [
            graph.degree(row) as f32,
            count,
            or_missing(squares / count),
            or_missing(smallest),
            or_missing(largest),
        ]
    }
}

impl Correction {
    /// Grows trees where known cells show that they help.
    pub(super) fn fit(view: &View<'_>) -> Self {
        let folds = view.folds();
        let fit = |sight: Sight| match view.scores(sight).is_empty() {
            true => Vec::new(),
            false => {
                let task = view.parts.task;
                let mut goals = goals(task.features);
                goals.retain(|goal| task.groups.is_none_or(|groups| groups[goal.group]));
                let rows = (MAX_ROWS_OF_ALL / goals.len().max(1)).clamp(MIN_MAX_ROWS, MAX_ROWS);
                let grown = goals.par_iter().map(|goal| fit_goal(view, goal, sight, &folds, rows));
                let grown: Vec<TargetTrees> = grown.collect();
                grown.into_iter().filter(|target| target.trees.is_there()).collect()
            }
        };
        Correction { seed: view.seed, seen: fit(Sight::Cells), blank: fit(Sight::Nothing) }
    }

    /// Whether any target has trees.
    pub(super) fn has_trees(&self) -> bool {
        !self.seen.is_empty() || !self.blank.is_empty()
    }

    /// Adds to o what the trees say, `scores` being those of rows that have or lack known cells.
    pub(super) fn apply(&self, view: &View<'_>, sight: Sight, scores: &mut [f32]) {
        let own = if sight == Sight::Cells { &self.seen } else { &self.blank };
        if own.is_empty() {
            return;
        }
        let view = &View { seed: self.seed, ..*view };
        let folds = view.folds();
        let features = view.parts.task.features;
        let width = features.width();
        for target in own {
            let about = &features.groups()[target.group];
            let goal = goal_of(target.group, target.feature, &about.kind);
            let rows = scores.par_chunks_mut(width).zip(&folds).enumerate();
            rows.for_each_init(Vec::new, |inputs, (row, (scores, fold))| {
                let cell = about.cell_of(target.feature);
                let fold = fold.filter(|_| !view.parts.unknown.contains(row, cell));
                view.inputs(&goal, sight, row, inputs);
                let own = goal.feature..goal.feature + goal.outputs;
                target.trees.add(inputs, fold, &mut scores[own]);
            });
        }
    }
}

/// Whether a table is narrow enough for trees, and has a column for them.
pub(super) fn is_possible(features: &Features<'_>) -> bool {
    features.width() <= MAX_FEATURES && !goals(features).is_empty()
}

/// About how long trees take on one core, in seconds: to grow them, and to apply them to all rows. Of tables
/// with more features those of single columns count, since blocks get none.
pub(super) fn core_seconds(features: &Features<'_>) -> f64 {
    const PER_GROWN_CELL: f64 = 8e-6;
    const PER_CELL: f64 = 8e-6;
    let is_wide = features.width() > MAX_FEATURES;
    let is_block = |goal: &&Goal| features.groups()[goal.group].kind == GroupKind::NumericBlock;
    let goals = goals(features);
    let grown = goals.iter().filter(|goal| !is_wide || !is_block(goal));
    let outputs: usize = grown.map(|goal| goal.outputs).sum();
    let (rows, outputs) = (features.rows() as f64, outputs as f64);
    outputs * (rows.min(MAX_ROWS as f64) * PER_GROWN_CELL + rows * PER_CELL)
}

fn goal_of(group: usize, feature: usize, kind: &GroupKind) -> Goal {
    let (target, outputs) = match kind {
        GroupKind::Boolean => (Target::Boolean, 1),
        GroupKind::Category(levels) => (Target::Level(levels.len()), levels.len()),
        _ => (Target::Number, 1),
    };
    Goal { group, feature, target, outputs }
}

fn goals(features: &Features<'_>) -> Vec<Goal> {
    let groups = features.groups().iter().enumerate();
    groups
        .flat_map(|(group, about)| {
            let first = about.features.start;
            let starts: Vec<usize> = match &about.kind {
                GroupKind::BinaryBlock => Vec::new(),
                GroupKind::Category(levels) if levels.len() > MAX_LEVELS => Vec::new(),
                GroupKind::NumericBlock => about.features.clone().collect(),
                _ => vec![first],
            };
            starts.into_iter().map(move |feature| goal_of(group, feature, &about.kind))
        })
        .collect()
}

/// The trees of one goal, from some of the rows that know it.
fn fit_goal(
    view: &View<'_>,
    goal: &Goal,
    sight: Sight,
    folds: &[Option<u8>],
    max_rows: usize,
) -> TargetTrees {
    let features = view.parts.task.features;
    let about = &features.groups()[goal.group];
    let cell = about.cell_of(goal.feature);
    let known = (0..features.rows() as u32).filter(|&row| {
        folds[row as usize].is_some() && !view.parts.unknown.contains(row as usize, cell)
    });
    let mut rows: Vec<u32> = known.collect();
    if rows.len() > max_rows {
        rows = splits::shuffled(&rows, view.seed.wrapping_add(3));
        rows.truncate(max_rows);
        rows.sort_unstable();
    }
    let columns = view.columns(goal, sight);
    let mut inputs = vec![0.0f32; rows.len() * columns];
    let by_row = inputs.par_chunks_mut(columns.max(1)).zip(&rows);
    by_row.for_each_init(Vec::new, |own, (to, &row)| {
        view.inputs(goal, sight, row as usize, own);
        to.copy_from_slice(own);
    });
    let width = features.width();
    let scores = view.scores(sight);
    let given = rows.iter().flat_map(|&row| {
        let own = row as usize * width + goal.feature;
        &scores[own..own + goal.outputs]
    });
    let given: Vec<f32> = given.copied().collect();
    let target = |&row: &u32| match goal.target {
        Target::Level(_) => features.level(goal.group, row as usize).unwrap_or(0) as f32,
        _ => {
            let value = features.value(goal.group, row as usize, goal.feature);
            view.parts.likelihoods.logit(goal.group, goal.feature - about.features.start, value)
        }
    };
    let targets: Vec<f32> = rows.iter().map(target).collect();
    let folds: Vec<u8> = rows.iter().map(|&row| folds[row as usize].unwrap_or(0)).collect();
    let examples = Examples {
        inputs: &inputs,
        columns,
        given: &given,
        targets: &targets,
        folds: &folds,
        fold_count: FOLDS,
        seed: view.seed.wrapping_add(goal.feature as u64),
    };
    let trees = Boosted::fit(goal.target, &examples);
    TargetTrees { group: goal.group, feature: goal.feature, trees }
}
