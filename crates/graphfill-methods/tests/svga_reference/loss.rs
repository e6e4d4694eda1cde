//! The loss of scores s against what was observed, x (NaN where nothing was), and its slope:
//!
//!   Bernoulli      on·x·ln(1 + e⁻ˢ) + off·(1 − x)·ln(1 + eˢ)     slope  off·(1 − x)·σ(s) − on·x·σ(−s)
//!   squared error  (s − x)²                                      slope  2(s − x)
//!   multinomial    −Σ_k x_k/|x| · ln softmax(s)_k                slope  softmax(s) − x/|x|
//!
//! with on = 1/(2p), off = 1/(2(1 − p)), p the share of ones. The first two are means over observed
//! cells, the last over rows that have any. A table may have several blocks of columns side by side;
//! their losses are weighted and added.

use super::Dense;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Binary,
    Continuous,
    Multinomial,
}

/// Some columns of the table, as observed: rows × width.
pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) weight: f64,
    pub(crate) observed: Dense,
}

/// The loss of all blocks, from left to right, and its derivative by the scores.
pub(crate) fn loss(blocks: &[Block], scores: &Dense) -> (f64, Dense) {
    let mut slope = Dense::new(scores.rows, scores.columns, |_, _| f64::NAN);
    let (mut sum, mut first) = (0.0, 0);
    for Block { kind, weight, observed } in blocks {
        let own = Dense::new(scores.rows, observed.columns, |i, k| scores.at(i, first + k));
        let (value, own) = match kind {
            Kind::Binary => binary(observed, &own),
            Kind::Continuous => continuous(observed, &own),
            Kind::Multinomial => multinomial(observed, &own),
        };
        sum += weight * value;
        for row in 0..own.rows {
            (0..own.columns).for_each(|k| slope.set(row, first + k, weight * own.at(row, k)));
        }
        first += observed.columns;
    }
    assert_eq!(first, scores.columns, "the blocks make up the table");
    (sum, slope)
}

fn binary(observed: &Dense, scores: &Dense) -> (f64, Dense) {
    let known = || observed.values().iter().filter(|x| !x.is_nan());
    let share = known().sum::<f64>() / known().count() as f64;
    let (on, off) = (0.5 / share, 0.5 / (1.0 - share));
    // Scores are small here: nothing overflows.
    let cell = |x: f64, s: f64| on * x * (-s).exp().ln_1p() + off * (1.0 - x) * s.exp().ln_1p();
    let sigmoid = |s: f64| 1.0 / (1.0 + (-s).exp());
    let slope = |x: f64, s: f64| off * (1.0 - x) * sigmoid(s) - on * x * sigmoid(-s);
    mean_over_cells(observed, scores, cell, slope)
}

fn continuous(observed: &Dense, scores: &Dense) -> (f64, Dense) {
    mean_over_cells(observed, scores, |x, s| (s - x).powi(2), |x, s| 2.0 * (s - x))
}

fn mean_over_cells(
    observed: &Dense,
    scores: &Dense,
    cell: impl Fn(f64, f64) -> f64,
    slope: impl Fn(f64, f64) -> f64,
) -> (f64, Dense) {
    let count = observed.values().iter().filter(|x| !x.is_nan()).count() as f64;
    let if_known = |x: f64, value: f64| if x.is_nan() { 0.0 } else { value / count };
    let cells = observed.zip(scores, |x, s| if_known(x, cell(x, s)));
    (cells.values().iter().sum(), observed.zip(scores, |x, s| if_known(x, slope(x, s))))
}

fn multinomial(observed: &Dense, scores: &Dense) -> (f64, Dense) {
    let total = |row: usize| observed.row(row).iter().sum::<f64>();
    let count = (0..observed.rows).filter(|&row| total(row) > 0.0).count() as f64;
    let log_total = |row: usize| scores.row(row).iter().map(|s| s.exp()).sum::<f64>().ln();
    let cell = |row: usize, k: usize| match total(row) {
        0.0 => 0.0,
        total => observed.at(row, k) / total * (log_total(row) - scores.at(row, k)) / count,
    };
    let slope = |row: usize, k: usize| match total(row) {
        0.0 => 0.0,
        total => ((scores.at(row, k) - log_total(row)).exp() - observed.at(row, k) / total) / count,
    };
    let cells = Dense::new(observed.rows, observed.columns, cell);
    (cells.values().iter().sum(), Dense::new(observed.rows, observed.columns, slope))
}
