//! A small table of several kinds of columns, and the losses of scores against it.
//!
//!   squared error  mean over known cells of (s − x)²
//!   Bernoulli      mean over known cells of  on · x · ln(1 + e⁻ˢ) + off · (1 − x) · ln(1 + eˢ)
//!                  with on = off = 1, or on = 1/(2p) and off = 1/(2(1 − p)), p the share of ones
//!   categorical    mean over rows with a known level of −ln softmax(s)_level
//!   multinomial    mean over rows with ones of −Σ_k x_k/|x| · ln softmax(s)_k
//!
//! Blocks are weighted and added. Cells may weigh something: the sum is then weighted, and divided by
//! the same count; a row's loss has the weight in the first column of its block.

use std::sync::Arc;

use graphfill_engine::{Likelihood, MISSING_CATEGORY, Targets};

use super::{Dense, numbers};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    SquaredError,
    Bernoulli,
    BalancedBernoulli,
    Categorical,
    Multinomial,
}

/// Some columns, rows × width, NaN where unknown. A category has a one in the column of its level.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) weight: f64,
    pub(crate) cells: Dense,
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) blocks: Vec<Block>,
}

impl Table {
    /// Two numbers with a hole, a truth value, a category of three levels and four words; of weights
    /// that differ. Words are judged as `words` says.
    pub(crate) fn mixed(rows: usize, words: Kind) -> Self {
        let drawn = numbers(3, rows * 8);
        let at = |row: usize, column: usize| f64::from(drawn[row * 8 + column]);
        let number = |row: usize, column: usize| match (row, column) {
            (1, 0) => f64::NAN,
            _ => 1.5 * at(row, column),
        };
        let is_one = |one: bool| if one { 1.0 } else { 0.0 };
        let level = |row: usize| ((at(row, 3) + 1.0) * 1.5) as usize;
        let category = |row: usize, column: usize| match row {
            2 => f64::NAN,
            _ => is_one(level(row) == column),
        };
        // The first row has no words.
        let word = |row: usize, column: usize| is_one(row > 0 && at(row, 4 + column) > 0.0);
        let block = |kind, weight, cells| Block { kind, weight, cells };
        Table {
            blocks: vec![
                block(Kind::SquaredError, 0.25, Dense::new(rows, 2, number)),
                block(
                    Kind::Bernoulli,
                    0.125,
                    Dense::new(rows, 1, |row, _| is_one(at(row, 2) > 0.2)),
                ),
                block(Kind::Categorical, 0.5, Dense::new(rows, 3, category)),
                block(words, 0.75, Dense::new(rows, 4, word)),
            ],
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.blocks[0].cells.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.blocks.iter().map(|block| block.cells.columns).sum()
    }

    /// The cell of each column: a category has one.
    pub(crate) fn cells(&self) -> Vec<u32> {
        let mut cells = Vec::new();
        let mut next = 0;
        for block in &self.blocks {
            for _ in 0..block.cells.columns {
                cells.push(next);
                next += u32::from(block.kind != Kind::Categorical);
            }
            next += u32::from(block.kind == Kind::Categorical);
        }
        cells
    }

    /// All known cells side by side, zero where unknown.
    pub(crate) fn known_cells(&self) -> Dense {
        let cells = self.blocks.iter().map(|block| block.cells.clone());
        let all = cells.reduce(|left, right| super::beside(&left, &right)).expect("a block");
        all.map(|x| if x.is_nan() { 0.0 } else { x })
    }

    /// One where a cell is known.
    pub(crate) fn known(&self) -> Dense {
        let cells = self.blocks.iter().map(|block| block.cells.clone());
        let all = cells.reduce(|left, right| super::beside(&left, &right)).expect("a block");
        all.map(|x| if x.is_nan() { 0.0 } else { 1.0 })
    }

    /// The same for the engine.
    pub(crate) fn likelihood(&self) -> Arc<Likelihood> {
        let mut likelihood = Likelihood::new(self.rows());
        for Block { kind, weight, cells } in &self.blocks {
            let weight = *weight as f32;
            let values: Vec<f32> = cells.values().iter().map(|&x| x as f32).collect();
            let targets = Targets::dense([cells.rows, cells.columns], values);
            let added = match kind {
                Kind::SquaredError => likelihood.squared_error(targets, weight),
                Kind::Bernoulli => likelihood.bernoulli(targets, weight),
                Kind::BalancedBernoulli => likelihood.balanced_bernoulli(targets, weight),
                Kind::Multinomial => likelihood.multinomial(targets, weight),
                Kind::Categorical => {
                    let level = |row: usize| cells.row(row).iter().position(|&x| x == 1.0);
                    let level = |row| level(row).map_or(MISSING_CATEGORY, |level| level as u32);
                    let levels = (0..cells.rows).map(level).collect();
                    likelihood.categorical(cells.columns, levels, weight)
                }
            };
            likelihood = added.expect("a likelihood");
        }
        Arc::new(likelihood)
    }

    /// The loss of scores, rows × columns.
    pub(crate) fn loss(&self, scores: &Dense) -> f64 {
        self.weighted_loss(scores, &scores.map(|_| 1.0))
    }

    /// The loss where each cell weighs something.
    pub(crate) fn weighted_loss(&self, scores: &Dense, weights: &Dense) -> f64 {
        assert_eq!((scores.rows, scores.columns), (self.rows(), self.columns()));
        let (mut sum, mut first) = (0.0, 0);
        for Block { kind, weight, cells } in &self.blocks {
            let of_block = |matrix: &Dense| {
                Dense::new(cells.rows, cells.columns, |i, k| matrix.at(i, first + k))
            };
            let (scores, weights) = (of_block(scores), of_block(weights));
            sum += weight
                * match kind {
                    Kind::SquaredError => {
                        mean_over_cells(cells, &scores, &weights, |x, s| (s - x).powi(2))
                    }
                    Kind::Bernoulli => bernoulli(cells, &scores, &weights, [1.0, 1.0]),
                    Kind::BalancedBernoulli => {
                        let known = || cells.values().iter().filter(|x| !x.is_nan());
                        let share = known().sum::<f64>() / known().count() as f64;
                        let balance = [0.5 / share, 0.5 / (1.0 - share)];
                        bernoulli(cells, &scores, &weights, balance)
                    }
                    Kind::Categorical | Kind::Multinomial => {
                        mean_over_rows(cells, &scores, &weights)
                    }
                };
            first += cells.columns;
        }
        sum
    }
}

fn bernoulli(cells: &Dense, scores: &Dense, weights: &Dense, [on, off]: [f64; 2]) -> f64 {
    mean_over_cells(cells, scores, weights, |x, s| {
        on * x * (-s).exp().ln_1p() + off * (1.0 - x) * s.exp().ln_1p()
    })
}

fn mean_over_cells(
    cells: &Dense,
    scores: &Dense,
    weights: &Dense,
    loss: impl Fn(f64, f64) -> f64,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for row in 0..cells.rows {
        for column in 0..cells.columns {
            let x = cells.at(row, column);
            if !x.is_nan() {
                sum += weights.at(row, column) * loss(x, scores.at(row, column));
                count += 1.0;
            }
        }
    }
    sum / count
}

/// Of one distribution per row.
fn mean_over_rows(cells: &Dense, scores: &Dense, weights: &Dense) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for row in 0..cells.rows {
        let known = |column: &usize| !cells.at(row, *column).is_nan();
        let total: f64 = (0..cells.columns).filter(known).map(|k| cells.at(row, k)).sum();
        if total > 0.0 {
            let log_total = scores.row(row).iter().map(|s| s.exp()).sum::<f64>().ln();
            let terms = (0..cells.columns).filter(known);
            let loss = terms.map(|k| cells.at(row, k) / total * (log_total - scores.at(row, k)));
            sum += weights.at(row, 0) * loss.sum::<f64>();
            count += 1.0;
        }
    }
    sum / count
}
