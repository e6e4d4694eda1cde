//! Scores of estimates on validation cells, group by group:
//!
//!   binary block:    recall@k   = mean over rows of |best k ∩ ones| / |ones|
//!   numeric block:   RMSE       = mean over rows of √(mean over columns of (x̂ − x)²)
//!   single columns:  RMSE       = √(mean over cells of (x̂ − x)²)
//!
//! Categories count the squared error of all their one-hot features. That is what candidates are compared
//! by; for readers, scores of booleans and categories can have a hit rate, too ([`super::hits`]).

use std::ops::Range;

use rayon::prelude::*;

use super::hits::Hits;
use super::{ScoredCells, TopRanked, ValidationRows};
use crate::features::{ColumnMeans, Features, Group, GroupKind};
use crate::method::{Estimates, Measure, Score};

/// Rows that one thread scores at the least.
const MIN_PARALLEL_ROWS: usize = 64;
/// A ranking is scored at no more than a tenth of its columns.
const NARROW: usize = 10;

/// The depth at which a block of so many columns is scored: of a narrow one every method has most
/// columns among its best ten.
pub(crate) fn depth_in_block(depth: usize, columns: usize) -> usize {
    depth.min((columns / NARROW).max(1))
}

/// Running scores of one candidate.
#[derive(Debug, Clone)]
pub struct Scores {
    groups: Vec<Running>,
    /// The hits of each boolean and category, where they are counted.
    hits: Vec<Option<Hits>>,
}

#[derive(Debug, Clone)]
enum Running {
    Ranking { tops: Vec<TopRanked>, depth: usize },
    Rows { sums: Vec<f64>, counts: Vec<u32>, average: Average },
    Cells { sum: f64, count: u64 },
}

/// Where the root of squared errors is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Average {
    /// Of every row, then the mean over rows.
    RootByRow,
    /// Of the mean over all cells.
    RootOfAll,
}

/// How many rows of earlier sets are scored.
struct Before {
    ranked: usize,
    summed: usize,
}

/// How much a [`Scores`] remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What the scores need: little, for thousands of candidates at once.
    Totals,
    /// The loss of every row too, and rankings five times as deep.
    Losses,
}

/// Depths at which [`Scores::ranking_quality`] looks, in units of the first.
pub(crate) const DEPTHS: [usize; 3] = [1, 2, 5];

impl Scores {
    /// Nothing scored yet; `sets` are the rows of all sets of cells that will be scored.
    pub fn new(
        features: &Features<'_>,
        sets: &[ValidationRows],
        depth: usize,
        detail: Detail,
    ) -> Self {
        let ranked: usize = sets.iter().map(ValidationRows::ranked_count).sum();
        let summed: usize = sets.iter().map(ValidationRows::summed_count).sum();
        let running = |group: &Group| match group.kind {
            GroupKind::BinaryBlock => {
                let depth = depth_in_block(depth, group.features.len());
                let kept = if detail == Detail::Losses { DEPTHS[2] * depth } else { depth };
                Running::Ranking { tops: vec![TopRanked::new(kept); ranked], depth }
            }
            GroupKind::NumericBlock => Running::rows(summed, Average::RootByRow),
            _ if detail == Detail::Losses => Running::rows(summed, Average::RootOfAll),
            _ => Running::Cells { sum: 0.0, count: 0 },
        };
        let groups: Vec<Running> = features.groups().iter().map(running).collect();
        let hits = vec![None; groups.len()];
        Scores { groups, hits }
    }

    /// Counts hits, too: scores of booleans and categories get a hit rate. `known` are the means of the
    /// cells that a method may read, which have the most frequent level. Memory for every row.
    #[must_use]
    pub fn with_hit_rates(
        mut self,
        features: &Features<'_>,
        sets: &[ValidationRows],
        known: &ColumnMeans,
    ) -> Self {
        let rows: usize = sets.iter().map(ValidationRows::summed_count).sum();
        let of_group = |group: &Group| Hits::new(group, &known.means[group.features.clone()], rows);
        self.hits = features.groups().iter().map(of_group).collect();
        self
    }

    /// Adds a panel's estimates of the set whose predecessors are `before`.
    pub fn add(
        &mut self,
        cells: &ScoredCells<'_>,
        before: &[ValidationRows],
        estimates: &Estimates<'_>,
    ) {
        let before = Before {
            ranked: before.iter().map(ValidationRows::ranked_count).sum(),
            summed: before.iter().map(ValidationRows::summed_count).sum(),
        };
        let inside: Vec<_> = cells.features.groups_in(cells.range.clone()).collect();
        let Some(first) = inside.first().map(|(group, ..)| *group) else { return };
        let groups = self.groups[first..].par_iter_mut().zip(&mut self.hits[first..]).zip(inside);
        groups.for_each(|((running, hits), (_, about, features))| {
            if let Some(hits) = hits {
                hits.add(cells, before.summed, estimates, about, features.clone());
            }
            running.add(cells, &before, estimates, about, features);
        });
    }

    /// The score of each group; none where no cell was scored.
    pub fn finish(&self, sets: &[ValidationRows]) -> Vec<Option<Score>> {
        let groups = self.groups.iter().zip(&self.hits).enumerate();
        groups
            .map(|(group, (running, hits))| {
                let hit_rate = hits.as_ref().and_then(Hits::rate);
                running.score(group, sets).map(|score| Score { hit_rate, ..score })
            })
            .collect()
    }

    /// The mean of recall and nDCG at one, two and five times the depth, over the rows of each
    /// ranking group. Needs [`Detail::Losses`].
    pub fn ranking_quality(&self, sets: &[ValidationRows]) -> Vec<Option<f64>> {
        let groups = self.groups.iter().enumerate();
        groups
            .map(|(group, running)| {
                let Running::Ranking { tops, depth } = running else { return None };
                let ones = sets.iter().flat_map(|rows| rows.ones(group));
                let scored = tops.iter().zip(ones).filter(|(_, ones)| !ones.is_empty());
                mean(&scored.map(|(top, ones)| quality(top, ones, *depth)).collect::<Vec<f64>>())
            })
            .collect()
    }

    /// The loss of every scored row of a group, in an order that depends on the cells alone:
    /// one less the mean of recall and nDCG at several depths, or the root mean squared error of the
    /// row (which a few wild rows sway less than its square would). Needs [`Detail::Losses`].
    pub fn losses(&self, group: usize, sets: &[ValidationRows]) -> Vec<f64> {
        match &self.groups[group] {
            Running::Ranking { tops, depth } => {
                let ones = sets.iter().flat_map(|rows| rows.ones(group));
                let scored = tops.iter().zip(ones).filter(|(_, ones)| !ones.is_empty());
                scored.map(|(top, ones)| 1.0 - quality(top, ones, *depth)).collect()
            }
            Running::Rows { sums, counts, .. } => sums
                .iter()
                .zip(counts)
                .filter(|&(_, &count)| count > 0)
                .map(|(sum, &count)| (sum / f64::from(count)).sqrt())
                .collect(),
            Running::Cells { .. } => Vec::new(),
        }
    }
}

/// The mean of recall and nDCG of one row at one, two and five times the depth.
fn quality(top: &TopRanked, ones: &[u32], depth: usize) -> f64 {
    let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let ideal: f64 = (0..ones.len()).map(gain).sum();
    let (mut hits, mut gained, mut sum) = (0.0, 0.0, 0.0);
    let mut columns = top.columns();
    for place in 0..DEPTHS[2] * depth {
        if columns.next().is_some_and(|column| ones.binary_search(&column).is_ok()) {
            hits += 1.0;
            gained += gain(place);
        }
        if DEPTHS.iter().any(|times| times * depth == place + 1) {
            sum += hits / ones.len() as f64 + gained / ideal;
        }
    }
    sum / (2 * DEPTHS.len()) as f64
}

/// The recall of every ranked row that has a hidden one.
fn recalls(tops: &[TopRanked], depth: usize, group: usize, sets: &[ValidationRows]) -> Vec<f64> {
    let ones = sets.iter().flat_map(|rows| rows.ones(group));
    let scored = tops.iter().zip(ones).filter(|(_, ones)| !ones.is_empty());
    scored
        .map(|(top, ones)| {
            let found = top
                .columns()
                .take(depth)
                .filter(|column| ones.binary_search(column).is_ok())
                .count();
            found as f64 / ones.len() as f64
        })
        .collect()
}

impl Running {
    fn rows(summed: usize, average: Average) -> Running {
        Running::Rows { sums: vec![0.0; summed], counts: vec![0; summed], average }
    }

    /// Adds the estimates of some features of a group.
    fn add(
        &mut self,
        cells: &ScoredCells<'_>,
        before: &Before,
        estimates: &Estimates<'_>,
        group: &Group,
        features: Range<usize>,
    ) {
        let (width, first) = (cells.range.len(), features.start - cells.range.start);
        let first_column = (features.start - group.features.start) as u32;
        let estimates_of = |at: usize| {
            let row = cells.rows.rows()[at] as usize;
            (first_column..).zip(estimates.row(row, features.clone()))
        };
        // Columns, estimates and the truth of what is compared in the row at that place.
        let pairs = |at: usize| {
            let from = at * width + first;
            let truth = &cells.truth[from..from + features.len()];
            estimates_of(at).zip(truth).filter(|(_, truth)| !truth.is_nan())
        };
        match self {
            Running::Ranking { tops, .. } => {
                let ranked: Vec<usize> = cells.rows.ranked().collect();
                let rows = tops[before.ranked..].par_iter_mut().zip(ranked);
                rows.with_min_len(MIN_PARALLEL_ROWS).for_each(|(top, at)| {
                    if cells.complete[at] {
                        for (column, guess) in estimates_of(at) {
                            top.offer(guess as f32, column);
                        }
                    } else {
                        for ((column, guess), _) in pairs(at) {
                            top.offer(guess as f32, column);
                        }
                    }
                });
            }
            Running::Rows { sums, counts, .. } => {
                let summed: Vec<usize> = cells.rows.summed().collect();
                let running = sums[before.summed..].par_iter_mut();
                let rows = running.zip(&mut counts[before.summed..]).zip(summed);
                rows.with_min_len(MIN_PARALLEL_ROWS).for_each(|((sum, count), at)| {
                    for ((_, guess), truth) in pairs(at) {
                        *sum += (guess - truth).powi(2);
                        *count += 1;
                    }
                });
            }
            Running::Cells { sum, count } => {
                for at in 0..cells.rows.rows().len() {
                    for ((_, guess), truth) in pairs(at) {
                        *sum += (guess - truth).powi(2);
                        *count += 1;
                    }
                }
            }
        }
    }

    fn score(&self, group: usize, sets: &[ValidationRows]) -> Option<Score> {
        match self {
            Running::Ranking { tops, depth } => {
                let measure = Measure::Recall { at: *depth };
                mean(&recalls(tops, *depth, group, sets)).map(|value| Score::new(measure, value))
            }
            Running::Rows { sums, counts, average } => {
                let scored = || sums.iter().zip(counts).filter(|&(_, &count)| count > 0);
                let value = match average {
                    Average::RootByRow => {
                        let root = |(sum, &count): (&f64, &u32)| (sum / f64::from(count)).sqrt();
                        mean(&scored().map(root).collect::<Vec<f64>>())
                    }
                    Average::RootOfAll => {
                        let count: u32 = counts.iter().sum();
                        let sum: f64 = sums.iter().sum();
                        (count > 0).then(|| (sum / f64::from(count)).sqrt())
                    }
                };
                value.map(|value| Score::new(Measure::RootMeanSquaredError, value))
            }
            Running::Cells { sum, count } => (*count > 0)
                .then(|| Score::new(Measure::RootMeanSquaredError, (sum / *count as f64).sqrt())),
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
