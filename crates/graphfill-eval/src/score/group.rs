//! The score of one group of features.

use std::collections::BTreeMap;

use graphfill_methods::features::{Group, GroupKind};
use graphfill_methods::selection::TopRanked;

use crate::metrics::{
    ColumnSums, accuracy, balanced_accuracy, mean_absolute_error, ndcg, r2, r2_by_column, recall,
    root_mean_squared_error,
};
use crate::summary::mean;

/// What has been seen of one group.
pub(super) enum GroupScore {
    /// Best-ranked columns and true ones of every row.
    Ranking { top: Vec<TopRanked>, ones: Vec<Vec<u32>> },
    /// Squared errors by row, and sums by column.
    Numeric { rows: Vec<(f64, u32)>, columns: Vec<ColumnSums> },
    /// Estimates and truth, and the scored rows that they belong to.
    Number { rows: Vec<usize>, estimates: Vec<f64>, truth: Vec<f64> },
    /// Estimated and true level of every row: the best score so far and its level, the truth.
    Levels { best: Vec<(f64, u32)>, truth: Vec<Option<u32>> },
    /// Estimated and true value, as levels 0 and 1.
    Boolean { pairs: Vec<(u32, u32)> },
}

impl GroupScore {
    pub(super) fn new(group: &Group, rows: usize, depths: &[usize]) -> Self {
        match group.kind {
            GroupKind::BinaryBlock => {
                let depth = depths.iter().copied().max().unwrap_or(1);
                GroupScore::Ranking {
                    top: vec![TopRanked::new(depth); rows],
                    ones: vec![Vec::new(); rows],
                }
            }
            GroupKind::NumericBlock => GroupScore::Numeric {
                rows: vec![(0.0, 0); rows],
                columns: vec![ColumnSums::default(); group.features.len()],
            },
            GroupKind::Number | GroupKind::Count => {
                GroupScore::Number { rows: Vec::new(), estimates: Vec::new(), truth: Vec::new() }
            }
            GroupKind::Category(_) => GroupScore::Levels {
                best: vec![(f64::NEG_INFINITY, 0); rows],
                truth: vec![None; rows],
            },
            GroupKind::Boolean => GroupScore::Boolean { pairs: Vec::new() },
        }
    }

    /// Takes the estimate of one feature in the scored row `at`.
    pub(super) fn add(&mut self, at: usize, column: usize, estimate: f64, value: f64) {
        match self {
            GroupScore::Ranking { top, ones } => {
                top[at].offer(estimate as f32, column as u32);
                if value == 1.0 {
                    ones[at].push(column as u32);
                }
            }
            GroupScore::Numeric { rows, columns } => {
                rows[at].0 += (estimate - value).powi(2);
                rows[at].1 += 1;
                columns[column].add(estimate, value);
            }
            GroupScore::Number { rows, estimates, truth } => {
                rows.push(at);
                estimates.push(estimate);
                truth.push(value);
            }
            GroupScore::Levels { best, truth } => {
                if estimate > best[at].0 {
                    best[at] = (estimate, column as u32);
                }
                if value == 1.0 {
                    truth[at] = Some(column as u32);
                }
            }
            GroupScore::Boolean { pairs } => {
                pairs.push((u32::from(estimate >= 0.5), u32::from(value == 1.0)));
            }
        }
    }

    /// The value of recall@k, or of the error, in each row that has one.
    pub(super) fn by_row(&self, depth: usize) -> Vec<f64> {
        match self {
            GroupScore::Ranking { top, ones } => {
                ranked_rows(top, ones).map(|(ranked, ones)| recall(&ranked, ones, depth)).collect()
            }
            GroupScore::Numeric { rows, .. } => row_errors(rows),
            _ => Vec::new(),
        }
    }

    fn pairs(&self) -> Vec<(u32, u32)> {
        match self {
            GroupScore::Levels { best, truth } => {
                let known = best.iter().zip(truth);
                known.filter_map(|((_, level), truth)| Some((*level, (*truth)?))).collect()
            }
            GroupScore::Boolean { pairs } => pairs.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn metrics(&self, depths: &[usize]) -> BTreeMap<String, f64> {
        let mut metrics = BTreeMap::new();
        match self {
            GroupScore::Ranking { top, ones } => {
                for &k in depths {
                    let rows: Vec<_> = ranked_rows(top, ones).collect();
                    if rows.is_empty() {
                        continue;
                    }
                    let recalls: Vec<f64> =
                        rows.iter().map(|(r, ones)| recall(r, ones, k)).collect();
                    let gains: Vec<f64> = rows.iter().map(|(r, ones)| ndcg(r, ones, k)).collect();
                    metrics.insert(format!("recall@{k}"), mean(&recalls));
                    metrics.insert(format!("ndcg@{k}"), mean(&gains));
                }
            }
            GroupScore::Numeric { rows, columns } => {
                let errors = row_errors(rows);
                if !errors.is_empty() {
                    metrics.insert("rmse".to_owned(), mean(&errors));
                    insert_r2(columns, &mut metrics);
                }
            }
            GroupScore::Number { estimates, truth, .. } if !truth.is_empty() => {
                let sums = sums_of(estimates, truth);
                metrics.insert("rmse".to_owned(), root_mean_squared_error(estimates, truth));
                metrics.insert("mae".to_owned(), mean_absolute_error(estimates, truth));
                if sums.deviation() > 0.0 {
                    metrics.insert("r2".to_owned(), r2(&[sums]));
                }
            }
            GroupScore::Number { .. } => {}
            GroupScore::Levels { .. } | GroupScore::Boolean { .. } => {
                let pairs = self.pairs();
                if !pairs.is_empty() {
                    metrics.insert("accuracy".to_owned(), accuracy(&pairs));
                    metrics.insert("balanced_accuracy".to_owned(), balanced_accuracy(&pairs));
                }
            }
        }
        metrics
    }
}

fn ranked_rows<'a>(
    top: &'a [TopRanked],
    ones: &'a [Vec<u32>],
) -> impl Iterator<Item = (Vec<u32>, &'a [u32])> {
    let rows = top.iter().zip(ones).filter(|(_, ones)| !ones.is_empty());
    rows.map(|(top, ones)| (top.columns().collect(), ones.as_slice()))
}

fn row_errors(rows: &[(f64, u32)]) -> Vec<f64> {
    let scored = rows.iter().filter(|row| row.1 > 0);
    scored.map(|(sum, count)| (sum / f64::from(*count)).sqrt()).collect()
}

fn sums_of(estimates: &[f64], truth: &[f64]) -> ColumnSums {
    let mut sums = ColumnSums::default();
    for (estimate, truth) in estimates.iter().zip(truth) {
        sums.add(*estimate, *truth);
    }
    sums
}

/// Metrics over all single columns together: `nrmse`, the mean over numeric columns of RMSE over
/// standard deviation; `accuracy` and `balanced_accuracy`, the mean over categories and booleans;
/// and, where the table has nothing but numbers, `rmse`, `r2`, `r2_by_column` of the protocol.
pub(super) fn add_table_metrics(
    single: &[&GroupScore],
    no_block: bool,
    table: &mut BTreeMap<String, f64>,
) {
    let mut columns = Vec::new();
    let (mut right, mut balanced) = (Vec::new(), Vec::new());
    for score in single {
        match score {
            GroupScore::Number { rows, estimates, truth } if !truth.is_empty() => {
                columns.push((sums_of(estimates, truth), rows, estimates, truth));
            }
            GroupScore::Levels { .. } | GroupScore::Boolean { .. } => {
                let pairs = score.pairs();
                if !pairs.is_empty() {
                    right.push(accuracy(&pairs));
                    balanced.push(balanced_accuracy(&pairs));
                }
            }
            _ => {}
        }
    }
    let sums: Vec<ColumnSums> = columns.iter().map(|column| column.0).collect();
    let varying = sums.iter().filter(|sums| sums.deviation() > 0.0);
    let relative: Vec<f64> = varying.map(|sums| sums.rmse() / sums.deviation()).collect();
    if !relative.is_empty() {
        table.insert("nrmse".to_owned(), mean(&relative));
    }
    if !right.is_empty() {
        table.insert("accuracy".to_owned(), mean(&right));
        table.insert("balanced_accuracy".to_owned(), mean(&balanced));
    }
    if no_block && right.is_empty() && !columns.is_empty() {
        let errors = match columns.as_slice() {
            [(sums, ..)] => Some(sums.rmse()),
            // A row's error needs all of its columns.
            [(_, rows, ..), rest @ ..] if rest.iter().all(|column| column.1 == *rows) => {
                let row_error = |at: usize| {
                    let squares = columns.iter().map(|(_, _, e, t)| (e[at] - t[at]).powi(2));
                    (squares.sum::<f64>() / columns.len() as f64).sqrt()
                };
                Some(mean(&(0..rows.len()).map(row_error).collect::<Vec<f64>>()))
            }
            _ => None,
        };
        if let Some(rmse) = errors {
            table.insert("rmse".to_owned(), rmse);
        }
        insert_r2(&sums, table);
    }
}

/// Both R², where the truth varies at all.
fn insert_r2(columns: &[ColumnSums], metrics: &mut BTreeMap<String, f64>) {
    if columns.iter().any(|column| column.deviation() > 0.0) {
        metrics.insert("r2".to_owned(), r2(columns));
        metrics.insert("r2_by_column".to_owned(), r2_by_column(columns));
    }
}
