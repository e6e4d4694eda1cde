//! Propagation over a panel, a few columns of all nodes, for as many rounds as one likes:
//!
//!   send        x = factors ∘ values, and 0 where a value is NaN                  nodes × width
//!   propagate   guess = α (A x ⊘ divisors) + (1 − α) · mean over nodes of x       nodes × width
//!               out = guess where nothing is given, else β guess + (1 − β) given
//!
//! Both leave their result in a buffer that stays, so that rounds go to and fro between two buffers
//! and nobody copies. Cells that are not given are NaN in `given`; a divisor of 0 makes a guess of 0.
//! α and β are numbers in a buffer: a round is planned once for all of them.

mod round;
mod send;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::program::Program;
use crate::{Matrix, SparseRows};

use round::Round;
use send::Send;

/// What a round of propagation reads.
#[derive(Debug, Clone, Copy)]
pub struct PropagationRound<'r, 'p> {
    /// A, nodes × nodes.
    pub matrix: &'r Arc<SparseRows>,
    /// x, nodes × width. A panel is as wide as one of [`cpu::PANEL_WIDTHS`](crate::cpu::PANEL_WIDTHS).
    pub from: Matrix<'p>,
    /// What is given, NaN elsewhere: nodes × width. Without it nothing is.
    pub given: Option<Matrix<'p>>,
    /// α and β: 1 × 2. Without them 1 and 0: all from the neighbours, and what is given stays.
    pub shares: Option<Matrix<'p>>,
    /// What sums are divided by: nodes × width.
    pub divisors: Option<Matrix<'p>>,
}

impl Program {
    /// Computes one round of propagation into `into`, a [`Program::state`] other than what it reads.
    #[track_caller]
    pub fn propagate<'p>(&'p self, into: Matrix<'p>, round: &PropagationRound<'_, 'p>) {
        let mut read = vec![round.from];
        let mut add = |matrix: Option<Matrix<'p>>| {
            read.push(matrix?);
            // The buffer that is written comes first.
            Some(read.len())
        };
        let (given, shares, divisors) = (add(round.given), add(round.shares), add(round.divisors));
        let matrix = Arc::clone(round.matrix);
        self.refuse_own_input("propagate", into, &read);
        self.record_update(Round { matrix, given, shares, divisors }, &[into], &read);
    }

    /// Computes what nodes send, their values times `factors`, into `into`, a [`Program::state`]
    /// other than what it reads. A value that is NaN sends 0.
    #[track_caller]
    pub fn send<'p>(&'p self, into: Matrix<'p>, values: Matrix<'p>, factors: Option<Matrix<'p>>) {
        let read: Vec<_> = [values].into_iter().chain(factors).collect();
        self.refuse_own_input("send", into, &read);
        self.record_update(Send, &[into], &read);
    }

    /// Neighbours are read while rows are written: they must not be the same.
    #[track_caller]
    fn refuse_own_input(&self, operation: &'static str, into: Matrix<'_>, read: &[Matrix<'_>]) {
        if read.iter().any(|matrix| matrix.value == into.value) {
            self.fail(operation, "it would write over what it reads; use two buffers".to_owned());
        }
    }
}
