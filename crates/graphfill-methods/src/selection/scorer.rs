//! Scores of estimates on validation cells, group by group:
//!
//!   binary block:    recall@k   = mean over rows of |best k ∩ ones| / |ones|
//!   numeric block:   RMSE       = mean over rows of √(mean over columns of (x̂ − x)²)
//!   single columns:  RMSE       = √(mean over cells of (x̂ − x)²)
//!
//! Categories count the squared error of all their one-hot features.

use std::ops::Range;

use graphfill_data::CellMask;

use super::TopRanked;
use crate::features::{Features, GroupKind};
use crate::method::{Estimates, Measure, Score};

/// More rows than this don't sharpen a comparison of rankings, but cost memory.
const MOST_RANKED_ROWS: usize = 2048;

/// Which rows of a set of cells are scored, for rankings and for everything else.
#[derive(Debug, Clone)]
pub struct RankingRows {
    touched: Vec<u32>,
    ranked: usize,
}

impl RankingRows {
    /// The rows that `cells` touches; of many, rankings are scored on evenly spaced ones.
    pub fn of(cells: &CellMask) -> Self {
        let touched = cells.touched_rows();
        let ranked = touched.len().min(MOST_RANKED_ROWS);
        RankingRows { touched, ranked }
    }

    fn rows(&self) -> &[u32] {
        &self.touched
    }

    /// The position of a touched row among the ranked ones, if it is one of them.
    fn ranked(&self, at: usize) -> Option<usize> {
        let all = self.touched.len();
        let position = (at * self.ranked).div_ceil(all.max(1));
        (position < self.ranked && position * all / self.ranked == at).then_some(position)
    }
}

/// The true values of a panel's validation cells, taken out once and compared many times.
pub struct ScoredCells<'a> {
    features: &'a Features<'a>,
    rows: &'a RankingRows,
    range: Range<usize>,
    /// Touched rows × features of the panel; NaN where there is nothing to compare.
    truth: Vec<f32>,
}

impl<'a> ScoredCells<'a> {
    /// The cells of `cells` in the features `range`.
    pub fn new(
        features: &'a Features<'a>,
        rows: &'a RankingRows,
        cells: &CellMask,
        range: Range<usize>,
    ) -> Self {
        let width = range.len();
        let mut truth = vec![f32::NAN; rows.rows().len() * width];
        for (group, about) in features.groups().iter().enumerate() {
            let inside = about.features.start.max(range.start)..about.features.end.min(range.end);
            for (at, &row) in rows.rows().iter().enumerate() {
                for feature in inside.clone() {
                    if cells.contains(row as usize, about.cell_of(feature)) {
                        let value = features.value(group, row as usize, feature);
                        truth[at * width + feature - range.start] = value as f32;
                    }
                }
            }
        }
        ScoredCells { features, rows, range, truth }
    }
}

/// Running scores of one candidate.
#[derive(Debug, Clone)]
pub struct Scores {
    depth: usize,
    groups: Vec<Running>,
}

#[derive(Debug, Clone)]
enum Running {
    Ranking { tops: Vec<TopRanked>, ones: Vec<Vec<u32>> },
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

/// How much a [`Scores`] remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What the scores need: little, for thousands of candidates at once.
    Totals,
    /// The loss of every row too.
    Losses,
}

impl Scores {
    /// Nothing scored yet; `sets` are the rows of all sets of cells that will be scored.
    pub fn new(
        features: &Features<'_>,
        sets: &[RankingRows],
        depth: usize,
        detail: Detail,
    ) -> Self {
        let ranked: usize = sets.iter().map(|rows| rows.ranked).sum();
        let touched: usize = sets.iter().map(|rows| rows.touched.len()).sum();
        let running = |kind: &GroupKind| match kind {
            GroupKind::BinaryBlock => Running::Ranking {
                tops: vec![TopRanked::new(depth); ranked],
                ones: vec![Vec::new(); ranked],
            },
            GroupKind::NumericBlock => Running::rows(touched, Average::RootByRow),
            _ if detail == Detail::Losses => Running::rows(touched, Average::RootOfAll),
            _ => Running::Cells { sum: 0.0, count: 0 },
        };
        let groups = features.groups().iter().map(|group| running(&group.kind)).collect();
        Scores { depth, groups }
    }

    /// Adds a panel's estimates of the set that starts behind `before`.
    pub fn add(
        &mut self,
        cells: &ScoredCells<'_>,
        before: &[RankingRows],
        estimates: &Estimates<'_>,
    ) {
        let ranked_before: usize = before.iter().map(|rows| rows.ranked).sum();
        let touched_before: usize = before.iter().map(|rows| rows.touched.len()).sum();
        let width = cells.range.len();
        for (group, about) in cells.features.groups().iter().enumerate() {
            let start = about.features.start.max(cells.range.start);
            let end = about.features.end.min(cells.range.end);
            if start >= end {
                continue;
            }
            let running = &mut self.groups[group];
            for (at, &row) in cells.rows.rows().iter().enumerate() {
                let ranked = cells.rows.ranked(at);
                for feature in start..end {
                    let truth = cells.truth[at * width + feature - cells.range.start];
                    if truth.is_nan() {
                        continue;
                    }
                    let estimate = estimates.value(row as usize, feature);
                    match running {
                        Running::Ranking { tops, ones } => {
                            let Some(position) = ranked else { break };
                            let position = ranked_before + position;
                            let column = (feature - about.features.start) as u32;
                            tops[position].offer(estimate as f32, column);
                            if truth == 1.0 {
                                ones[position].push(column);
                            }
                        }
                        Running::Rows { sums, counts, .. } => {
                            sums[touched_before + at] += (estimate - f64::from(truth)).powi(2);
                            counts[touched_before + at] += 1;
                        }
                        Running::Cells { sum, count } => {
                            *sum += (estimate - f64::from(truth)).powi(2);
                            *count += 1;
                        }
                    }
                }
            }
        }
    }

    /// The score of each group; none where no cell was scored.
    pub fn finish(&self) -> Vec<Option<Score>> {
        self.groups.iter().map(|running| running.score(self.depth)).collect()
    }

    /// The loss of every scored row of a group, in an order that depends on the cells alone:
    /// one less recall, or the mean squared error. Needs [`Detail::Losses`].
    pub fn losses(&self, group: usize) -> Vec<f64> {
        match &self.groups[group] {
            Running::Ranking { tops, ones } => {
                let scored = tops.iter().zip(ones).filter(|(_, ones)| !ones.is_empty());
                scored.map(|(top, ones)| 1.0 - recall(top, ones)).collect()
            }
            Running::Rows { sums, counts, .. } => sums
                .iter()
                .zip(counts)
                .filter(|&(_, &count)| count > 0)
                .map(|(sum, &count)| sum / f64::from(count))
                .collect(),
            Running::Cells { .. } => Vec::new(),
        }
    }
}

fn recall(top: &TopRanked, ones: &[u32]) -> f64 {
    let found = top.columns().filter(|column| ones.contains(column)).count();
    found as f64 / ones.len() as f64
}

impl Running {
    fn rows(touched: usize, average: Average) -> Running {
        Running::Rows { sums: vec![0.0; touched], counts: vec![0; touched], average }
    }

    fn score(&self, depth: usize) -> Option<Score> {
        match self {
            Running::Ranking { tops, ones } => {
                let scored = tops.iter().zip(ones).filter(|(_, ones)| !ones.is_empty());
                let recalls: Vec<f64> = scored.map(|(top, ones)| recall(top, ones)).collect();
                let measure = Measure::Recall { at: depth };
                mean(&recalls).map(|value| Score { measure, value })
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
                value.map(|value| Score { measure: Measure::RootMeanSquaredError, value })
            }
            Running::Cells { sum, count } => (*count > 0).then(|| Score {
                measure: Measure::RootMeanSquaredError,
                value: (sum / *count as f64).sqrt(),
            }),
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
