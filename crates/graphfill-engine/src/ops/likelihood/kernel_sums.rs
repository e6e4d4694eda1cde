//! Sums on a CUDA card: what thread blocks leave and what becomes of it, sums of columns.

use super::kernels::{KERNELS, Offset, Scores};
use super::offsets::MOST_OFFSETS;
use crate::cuda::{Address, Call, Dense, Grid, Kernel, THREADS};

const SUM_COLUMNS: Kernel = KERNELS.kernel("sum_columns");
const FINISH: Kernel = KERNELS.kernel("finish");
const SCALE_ROWS: Kernel = KERNELS.kernel("scale_rows");

/// Thread blocks that summing columns should have.
const COLUMN_BLOCKS: usize = 1056;
/// Threads of a block that ends sums.
const FINISH_THREADS: u32 = 512;

/// Sums of a slot: the loss, and the derivative by the one scale of each offset. And sums of a
/// column: the derivative by its bias, and by its scale of each offset.
pub(super) const SUMS: usize = 1 + MOST_OFFSETS;

/// Where thread blocks leave their sums: `SUMS` times as many doubles as there are slots.
#[derive(Debug)]
pub(super) struct Partial {
    at: Address,
    pub(super) slots: usize,
    pub(super) used: usize,
}

impl Partial {
    /// The numbers of four bytes that so many slots take.
    pub(super) fn len(slots: usize) -> usize {
        2 * SUMS * slots
    }

    /// So many slots, none of them in use.
    pub(super) fn new(at: Address, slots: usize) -> Self {
        Partial { at, slots, used: 0 }
    }

    /// Where the first slot is that is not in use.
    pub(super) fn next(&self) -> Address {
        self.at.offset_by(2 * self.used)
    }
}

/// Sums of the columns of a derivative: in how many parts, and of how many rows each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ColumnParts {
    lanes: usize,
    rows: usize,
    parts: usize,
}

impl ColumnParts {
    fn of(rows: usize, columns: usize) -> Self {
        let lanes = columns.next_power_of_two().min(32);
        // Each thread sums several rows.
        let most = rows.div_ceil(8 * THREADS as usize / lanes).max(1);
        let parts = (COLUMN_BLOCKS / columns.div_ceil(lanes)).clamp(1, most);
        let rows_a_part = rows.div_ceil(parts).max(1);
        ColumnParts { lanes, rows: rows_a_part, parts: rows.div_ceil(rows_a_part) }
    }
}

/// How many parts the sums of so many rows have.
pub(super) fn column_parts(rows: usize, columns: usize) -> usize {
    ColumnParts::of(rows, columns).parts
}

/// Σ_i G_i and Σ_i G_i ⊙ O_i of those whose bits in `summed` are set, of the derivative G that is
/// left in place of the scores: `column_parts` rows of `SUMS` · columns sums.
pub(super) fn sum_columns(call: &mut Call<'_>, scores: &Scores, summed: u32, partial: Address) {
    let ColumnParts { lanes, rows, parts } = ColumnParts::of(scores.rows, scores.columns);
    let grid = Grid::blocks(scores.columns.div_ceil(lanes), THREADS).by(parts);
    let arguments = [
        scores.scores.into(),
        scores.stride.into(),
        scores.rows.into(),
        scores.columns.into(),
        rows.into(),
        (lanes as u32).into(),
        summed.into(),
        scores.offset(0),
        scores.offset(1),
        scores.offset(2),
        scores.offset(3),
        partial.into(),
    ];
    call.launch(SUM_COLUMNS, grid, arguments);
}

/// Where sums go.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ends {
    pub(super) loss: Option<Address>,
    pub(super) by_bias: Option<Address>,
    pub(super) by_scale: [Option<Address>; MOST_OFFSETS],
    /// One bit for each scale that has one number for each column.
    pub(super) by_column: u32,
    pub(super) columns: usize,
}

/// Adds up what thread blocks have left, and the sums of columns with the number of their parts.
pub(super) fn finish(
    call: &mut Call<'_>,
    partial: &Partial,
    column_sums: Option<(Address, usize)>,
    ends: Ends,
) {
    let column_blocks = match column_sums {
        Some(_) => ends.columns.div_ceil(FINISH_THREADS as usize),
        None => 0,
    };
    let (column_sums, parts) = column_sums.unzip();
    assert_eq!(partial.used, partial.slots, "every slot has sums");
    let [first, second, third, fourth] = ends.by_scale;
    let arguments = [
        partial.at.into(),
        partial.slots.into(),
        column_sums.into(),
        parts.unwrap_or(0).into(),
        ends.columns.into(),
        ends.by_column.into(),
        ends.loss.into(),
        ends.by_bias.into(),
        first.into(),
        second.into(),
        third.into(),
        fourth.into(),
    ];
    call.launch(FINISH, Grid::blocks(SUMS + column_blocks, FINISH_THREADS), arguments);
}

/// to = scale ⊙ from, `columns` of each row without room between them, zeros behind those that
/// `from` has.
pub(super) fn scale_rows(
    call: &mut Call<'_>,
    from: Dense,
    scale: Option<Offset>,
    to: Address,
    columns: usize,
) {
    if from.rows * columns == 0 {
        return;
    }
    let threads = columns.next_multiple_of(32).min(THREADS as usize);
    let grid = Grid::blocks(from.rows, threads as u32).by(columns.div_ceil(threads));
    let by_column = u32::from(scale.is_some_and(|scale| scale.by_column));
    let arguments = [
        from.at.into(),
        from.stride.into(),
        from.columns.into(),
        scale.map(|scale| scale.scale).into(),
        by_column.into(),
        to.into(),
        columns.into(),
    ];
    call.launch(SCALE_ROWS, grid, arguments);
}
