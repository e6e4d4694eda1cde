//! Rows in half the memory, for sparse products that gather more than a card can keep close:
//!
//!   half[i, :] = x[i, :] / scale_i  in 16 bits,   scale_i = a power of two, so that the largest fits
//!
//! Sixteen bits hold a number to 11 bits, as TF32 does, unless it is less than a billionth of the
//! largest in its row. Products in TF32 round their factors to that; sparse products do the same where
//! it makes them faster. In single precision they don't.

use super::sparse::Dealt;
use super::{Address, Call, Dense, Grid, Precision, Source};
use crate::SparseView;

const HALVE: super::Kernel =
    Source::new("halves.cu", include_str!("halves.cu")).kernel("halve_rows");

/// Bytes of gathered rows from which on halving them is worth another pass over them. Tests halve
/// small ones too.
const MUCH: usize = if cfg!(test) { 256 } else { 64 << 20 };

/// How often each row must be gathered.
const TIMES: usize = if cfg!(test) { 1 } else { 4 };

/// Rows in 16 bits on a card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Halves {
    pub(crate) numbers: Address,
    /// One for each row.
    pub(crate) scales: Address,
}

/// Whether the rows that a product of this matrix gathers are worth halving: many, and each of them
/// several times.
pub(crate) fn are_worth_it(view: SparseView<'_>, columns: usize) -> bool {
    let (inner, entries) = (view.width(), view.all_columns().len());
    columns % 8 == 0 && inner * columns * 4 >= MUCH && entries >= TIMES * inner
}

/// Temporary numbers that halving needs.
pub(crate) fn halves_scratch(view: SparseView<'_>, columns: usize) -> usize {
    let inner = view.width();
    if are_worth_it(view, columns) { Call::scratch_len([inner * columns / 2, inner]) } else { 0 }
}

/// Halves the rows of a matrix, where that is worth it and the caller's precision allows it.
pub(crate) fn halve(call: &mut Call<'_>, view: SparseView<'_>, dense: Dense) -> Option<Halves> {
    if !are_worth_it(view, dense.columns) || call.precision() == Precision::F32 {
        return None;
    }
    let numbers = call.scratch(dense.rows * dense.columns / 2);
    let scales = call.scratch(dense.rows);
    let arguments = [
        dense.at.into(),
        dense.rows.into(),
        (dense.columns as u32).into(),
        (dense.stride as u32).into(),
        numbers.into(),
        scales.into(),
    ];
    call.launch(HALVE, Grid::warps(dense.rows), arguments);
    Some(Halves { numbers, scales })
}

impl Dealt {
    /// For sums of halved rows, of which a lane takes eight numbers.
    pub(crate) fn of_halves(view: SparseView<'_>, columns: usize) -> Self {
        let width = columns / 8;
        Dealt { vectors: true, width, lanes: Dealt::lanes(view.width(), width) }
    }
}
