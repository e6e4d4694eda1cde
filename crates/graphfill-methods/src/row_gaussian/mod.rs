//! A Gaussian for the rows of a table, given what is known of each row and a context.
//!
//! A row x of p standardised numbers, some of them known, with a context g of q numbers, always
//! known, is taken as
//!
//! > x | g ~ N(μ + gB, Σ),  μ \[p\], B \[q × p\], Σ \[p × p\],
//!
//! so that an unknown cell is estimated as μᵤ + gBᵤ + Σᵤₒ(Σₒₒ + λI)⁻¹(xₒ − μₒ − gBₒ) from the known
//! cells o. Moments are found once by expectation maximisation, with a fixed penalty; then every
//! column's own penalties λ (on Σ) and λg (on B) are chosen by how well known cells are predicted
//! when they are left out. Where rows are few for so many columns, those predictions come from
//! moments of other rows (five folds), else they would flatter.

mod cells;
mod choice;
mod completion;
pub(crate) mod dense;
mod estimate;
mod left_out;
mod moments;
#[cfg(test)]
mod tests;

pub use cells::Cells;

use graphfill_data::splits::shuffled;
use serde::{Deserialize, Serialize};

use cells::{ContextScale, Data};
use choice::{CONTEXT_PENALTIES, Choices, PENALTIES};
use moments::{Distribution, Moments, Regression};

/// Folds of the rows, and rounds of expectation maximisation without one of them.
const FOLDS: usize = 5;
const FOLD_ROUNDS: usize = 7;
/// Rounds of expectation maximisation with all rows.
const ROUNDS: usize = 10;
/// With fewer rows a column than this there are folds.
const ROWS_A_COLUMN: usize = 100;

/// What was learned from some rows: one distribution for each λg that any column has chosen.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Fit {
    distributions: Vec<Distribution>,
    /// Where nothing of a row is known: every column by its own λg.
    blank: Regression,
}

/// The penalties of a column: which of the [`Fit`]'s distributions, and λ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Penalties {
    distribution: usize,
    penalty: f64,
}

/// A fitted Gaussian.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RowGaussian {
    seed: u64,
    scale: ContextScale,
    /// Of every column.
    penalties: Vec<Penalties>,
    full: Fit,
    /// Without the rows of each fold; empty where all rows are many enough.
    folds: Vec<Fit>,
}

impl RowGaussian {
    /// Fits a Gaussian to the known cells. The context is rows × any number of columns, none
    /// included; it is standardised here. The seed decides which rows are looked at where there are
    /// many, and what the folds are.
    pub fn fit(cells: &Cells<'_>, context: &[f32], seed: u64) -> RowGaussian {
        let scale = ContextScale::new(context, cells.rows);
        let data = Data { cells, context, scale: &scale };
        let order = row_order(cells.rows, seed);
        let context_penalty = 4.0 * cells.columns as f64 / cells.rows.max(1) as f64;
        let full = Moments::fit(data, &order, context_penalty, ROUNDS);
        let has_folds = cells.rows < ROWS_A_COLUMN * cells.columns;
        let folds: Vec<Moments> = (0..if has_folds { FOLDS } else { 0 })
            .map(|fold| {
                let others = (0..order.len()).filter(|at| at % FOLDS != fold).map(|at| order[at]);
                Moments::fit(data, &others.collect::<Vec<_>>(), context_penalty, FOLD_ROUNDS)
            })
            .collect();

        // The last rows of the order, since moments were found from the first.
        let judged = order.len().saturating_sub(choice::MAX_ROWS)..order.len();
        let sets: Vec<(&Moments, Vec<usize>)> = if has_folds {
            let of_fold = |fold| judged.clone().filter(move |at| at % FOLDS == fold);
            let rows = |fold| of_fold(fold).map(|at| order[at]).collect();
            folds.iter().enumerate().map(|(fold, moments)| (moments, rows(fold))).collect()
        } else {
            vec![(&full, order[judged].to_vec())]
        };
        let choices = Choices::new(data, &sets);

        let mut used: Vec<usize> = choices.penalties.iter().map(|pair| pair.0).collect();
        used.sort_unstable();
        used.dedup();
        let mut penalties = Vec::with_capacity(cells.columns);
        for (block, &(context_penalty, penalty)) in cells.blocks.iter().zip(&choices.penalties) {
            let distribution = used.partition_point(|&other| other < context_penalty);
            let chosen = Penalties { distribution, penalty: PENALTIES[penalty] };
            penalties.extend(block.clone().map(|_| chosen));
        }
        let fit = |moments: &Moments| Fit::new(moments, cells, &used, &choices.blank);
        let (full, folds) = (fit(&full), folds.iter().map(fit).collect());
        RowGaussian { seed, scale, penalties, full, folds }
    }
}

impl Fit {
    fn new(moments: &Moments, cells: &Cells<'_>, used: &[usize], blank: &[usize]) -> Self {
        let all = CONTEXT_PENALTIES.map(|context_penalty| moments.distribution(context_penalty));
        let mut regression = Regression::default();
        for (block, &context_penalty) in cells.blocks.iter().zip(blank) {
            let chosen = &all[context_penalty].regression;
            let width = chosen.slopes.len().checked_div(cells.columns).unwrap_or(0);
            regression.offsets.extend(&chosen.offsets[block.clone()]);
            regression.slopes.extend(&chosen.slopes[block.start * width..block.end * width]);
        }
        let distributions = used.iter().map(|&context_penalty| all[context_penalty].clone());
        Fit { distributions: distributions.collect(), blank: regression }
    }
}

/// The rows in the order that the seed decides. Every fifth belongs to the same fold.
fn row_order(rows: usize, seed: u64) -> Vec<usize> {
    let rows: Vec<u32> = (0..rows as u32).collect();
    shuffled(&rows, seed).into_iter().map(|row| row as usize).collect()
}
