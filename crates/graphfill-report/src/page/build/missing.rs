//! What was missing: shares by column, patterns of columns that are missing together, correlations.

use std::collections::HashMap;

use graphfill_data::{Column, ColumnData, NodeTable};

use super::super::data::{MissingCells, Pattern};

/// The largest number of patterns, of correlated pairs, and of columns among which pairs are looked for.
const MAX_PATTERNS: usize = 20;
const MAX_PAIRS: usize = 30;
const MAX_COLUMNS: usize = 200;
/// Correlations below this are not worth showing.
const MIN_CORRELATION: f64 = 0.1;

/// What a table lacks in its used columns; a block counts as missing where half of its cells are.
pub(super) fn of(table: &NodeTable) -> MissingCells {
    let used: Vec<&Column> = table.used_columns().collect();
    let is_missing: Vec<Vec<bool>> = used.iter().map(|column| missing_rows(column)).collect();
    let rows = table.rows().max(1) as f64;
    let share = |column: &&Column| match column.data() {
        ColumnData::Array(_) => column.missing_count() as f64 / rows,
        ColumnData::Block(block) => {
            column.missing_count() as f64 / (rows * block.width().max(1) as f64)
        }
    };
    let columns = used.iter().map(|column| (column.name().to_owned(), share(column))).collect();
    let (patterns, other_rows) = patterns(&is_missing, table.rows());
    MissingCells { columns, patterns, other_rows, together: together(&is_missing) }
}

fn missing_rows(column: &Column) -> Vec<bool> {
    match column.data() {
        ColumnData::Array(_) => column.missing(),
        ColumnData::Block(block) => {
            let missing = block.missing();
            let half =
                |row: usize| missing.is_whole(row) || 2 * missing.cells(row).len() > block.width();
            (0..block.rows()).map(half).collect()
        }
    }
}

/// The commonest patterns, complete rows among them, and how many rows have others.
fn patterns(is_missing: &[Vec<bool>], rows: usize) -> (Vec<Pattern>, usize) {
    let mut counts: HashMap<Vec<bool>, usize> = HashMap::new();
    for row in 0..rows {
        let pattern = is_missing.iter().map(|column| column[row]).collect();
        *counts.entry(pattern).or_default() += 1;
    }
    let mut counts: Vec<(Vec<bool>, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let other_rows = counts.iter().skip(MAX_PATTERNS).map(|(_, rows)| rows).sum();
    counts.truncate(MAX_PATTERNS);
    let pattern = |(missing, rows)| Pattern { missing, rows };
    (counts.into_iter().map(pattern).collect(), other_rows)
}

/// Pairs of columns by the correlation of their missingness.
fn together(is_missing: &[Vec<bool>]) -> Vec<(usize, usize, f64)> {
    let share = |column: &Vec<bool>| {
        column.iter().filter(|missing| **missing).count() as f64 / column.len().max(1) as f64
    };
    let varied = is_missing.iter().enumerate().map(|(at, column)| (at, column, share(column)));
    let varied: Vec<_> =
        varied.filter(|(_, _, share)| *share > 0.0 && *share < 1.0).take(MAX_COLUMNS).collect();
    let mut pairs = Vec::new();
    for (position, (at, column, p)) in varied.iter().enumerate() {
        for (other, others, q) in &varied[position + 1..] {
            let both = column.iter().zip(*others).filter(|(a, b)| **a && **b).count() as f64;
            let both = both / column.len() as f64;
            let correlation = (both - p * q) / (p * (1.0 - p) * q * (1.0 - q)).sqrt();
            if correlation.abs() >= MIN_CORRELATION {
                pairs.push((*at, *other, correlation));
            }
        }
    }
    pairs.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    pairs.truncate(MAX_PAIRS);
    pairs
}
