//! How a CUDA card judges scores: what it is told of a likelihood, and what is launched.
//!
//! All cells with dense targets are judged in one launch, as are all rows that are judged as a whole
//! (wide ones in a launch of their own): a table of mixed columns has hundreds of blocks.

use std::array::from_fn;
use std::sync::Arc;

use super::offsets::MOST_OFFSETS;
use super::squared_error::SquaredError;
use super::{Block, Kind, Likelihood, Targets};
use crate::Shape;
use crate::cuda::{Address, Argument, Call, Dense, Grid, Kernel, Source, THREADS};

const KERNELS: Source = Source::new("likelihood.cu", include_str!("likelihood.cu"));
const JUDGE_CELLS: Kernel = KERNELS.kernel("judge_cells");
const JUDGE_NARROW_ROWS: Kernel = KERNELS.kernel("judge_narrow_rows");
const JUDGE_WIDE_ROWS: Kernel = KERNELS.kernel("judge_wide_rows");
const SUM_COLUMNS: Kernel = KERNELS.kernel("sum_columns");
const FINISH: Kernel = KERNELS.kernel("finish");
const SCALE_ROWS: Kernel = KERNELS.kernel("scale_rows");

/// Thread blocks that a launch has at most: more leave more sums than they keep a card busier.
const MOST_BLOCKS: usize = 4096;
/// Threads of a block that judges a tile of cells, and cells of a tile; as in the file of kernels.
const TILE_THREADS: usize = 128;
const TILE: usize = 4 * TILE_THREADS;
/// Columns up to which a row is narrow: lanes of one warp judge it.
const NARROW: usize = 256;
/// Scores that a block judging wide rows keeps at hand: 40 KiB of them.
const ROOM: usize = 10 * 1024;
/// Thread blocks that summing columns should have.
const COLUMN_BLOCKS: usize = 1056;
/// Threads of a block that ends sums.
const FINISH_THREADS: u32 = 512;

/// Sums of a slot: the loss, and the derivative by the one scale of each offset. And sums of a
/// column: the derivative by its bias, and by its scale of each offset.
pub(super) const SUMS: usize = 1 + MOST_OFFSETS;

/// An offset and its scale, as the kernels see them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offset {
    pub(super) values: Address,
    pub(super) scale: Address,
    /// Whether the scale has one number for each column.
    pub(super) by_column: bool,
}

/// Some rows of scores and what is added to them, as the kernels see them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scores {
    pub(super) scores: Address,
    /// Where the derivative goes; where anything is added to the scores, that is where they are.
    pub(super) derivative: Option<Address>,
    /// The first of these rows among those of the likelihood.
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// From one row of scores, or of the derivative, to the next.
    pub(super) stride: usize,
    /// As the scores, without room between rows.
    pub(super) weights: Option<Address>,
    pub(super) bias: Option<Address>,
    /// Their values from the first of these rows on.
    pub(super) offsets: [Option<Offset>; MOST_OFFSETS],
    /// Which sums are computed, one bit each.
    pub(super) summed: u32,
}

impl Scores {
    /// All scores of a matrix, without anything to add to them.
    pub(super) fn whole(scores: Address, derivative: Option<Address>, shape: Shape) -> Self {
        let Shape { rows, columns } = shape;
        Scores {
            scores,
            derivative,
            first: 0,
            rows,
            columns,
            stride: columns,
            weights: None,
            bias: None,
            offsets: [None; MOST_OFFSETS],
            summed: 0,
        }
    }

    fn offset(&self, at: usize) -> Argument {
        self.offsets[at].map(|offset| offset.values).into()
    }

    fn scale(&self, at: usize) -> Argument {
        self.offsets[at].map(|offset| offset.scale).into()
    }

    /// One bit for each offset whose scale has one number for each column.
    fn by_column(&self) -> u32 {
        let by_column = |at: usize| self.offsets[at].is_some_and(|offset| offset.by_column);
        bits((0..MOST_OFFSETS).map(by_column))
    }

    /// What every kernel that judges is told first.
    fn arguments(&self, partial: &Partial) -> [Argument; 19] {
        [
            self.scores.into(),
            self.derivative.into(),
            self.stride.into(),
            self.rows.into(),
            self.columns.into(),
            self.weights.into(),
            self.bias.into(),
            self.offset(0),
            self.offset(1),
            self.offset(2),
            self.offset(3),
            self.scale(0),
            self.scale(1),
            self.scale(2),
            self.scale(3),
            self.by_column().into(),
            self.summed.into(),
            partial.next().into(),
            partial.slots.into(),
        ]
    }
}

/// One bit for each that holds, the first the lowest.
pub(super) fn bits(holds: impl Iterator<Item = bool>) -> u32 {
    holds.enumerate().fold(0, |bits, (at, holds)| bits | u32::from(holds) << at)
}

/// Where thread blocks leave their sums: `SUMS` times as many doubles as there are slots.
#[derive(Debug)]
pub(super) struct Partial {
    at: Address,
    slots: usize,
    used: usize,
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
    fn next(&self) -> Address {
        self.at.offset_by(2 * self.used)
    }
}

/// A block and its number.
type Numbered<'a> = (usize, &'a Block);

/// What is judged in one launch.
enum Part<'a> {
    /// Single cells: one block with sparse targets, or all with dense ones.
    Cells(Vec<Numbered<'a>>),
    NarrowRows(Vec<Numbered<'a>>),
    WideRows(Vec<Numbered<'a>>),
}

fn parts(likelihood: &Likelihood) -> Vec<Part<'_>> {
    let (mut parts, mut dense) = (Vec::new(), Vec::new());
    let (mut narrow, mut wide) = (Vec::new(), Vec::new());
    for (at, block) in likelihood.blocks.iter().enumerate().filter(|(_, block)| block.width > 0) {
        match (cell_targets(block), block.width) {
            (Some(Targets::Sparse(_)), _) => parts.push(Part::Cells(vec![(at, block)])),
            (Some(Targets::Dense { .. }), _) => dense.push((at, block)),
            (None, 0..=NARROW) => narrow.push((at, block)),
            (None, _) => wide.push((at, block)),
        }
    }
    parts.extend((!dense.is_empty()).then_some(Part::Cells(dense)));
    parts.extend((!narrow.is_empty()).then_some(Part::NarrowRows(narrow)));
    parts.extend((!wide.is_empty()).then_some(Part::WideRows(wide)));
    parts
}

/// The targets of a block whose cells are judged one by one.
fn cell_targets(block: &Block) -> Option<&Targets> {
    match &block.kind {
        Kind::Bernoulli(bernoulli) => Some(&bernoulli.targets),
        Kind::SquaredError(SquaredError(targets)) => Some(targets),
        Kind::Multinomial(_) | Kind::Categorical(_) => None,
    }
}

/// The slots that judging so many rows fills.
pub(super) fn slots(likelihood: &Likelihood, rows: usize) -> usize {
    parts(likelihood).iter().map(|part| blocks(part.grid(rows))).sum()
}

fn blocks(grid: Grid) -> usize {
    grid.blocks[0] as usize * grid.blocks[1] as usize
}

/// Judges some scores, of which there are any.
pub(super) fn judge(
    likelihood: &Arc<Likelihood>,
    call: &mut Call<'_>,
    scores: &Scores,
    partial: &mut Partial,
) -> Result<(), String> {
    let of = Arc::as_ptr(likelihood).addr();
    for part in parts(likelihood) {
        let grid = part.grid(scores.rows);
        let told = scores.arguments(partial);
        partial.used += blocks(grid);
        match &part {
            Part::Cells(cells) => judge_cells(of, cells, call, scores, told, grid)?,
            Part::NarrowRows(rows) => {
                let table = row_table(of, "narrow rows", rows, call)?;
                let more = [table.into(), scores.first.into(), lanes(rows).into()];
                call.launch(JUDGE_NARROW_ROWS, grid, join::<19, 3, 22>(told, more));
            }
            Part::WideRows(rows) => {
                let table = row_table(of, "wide rows", rows, call)?;
                let more = [table.into(), scores.first.into(), ROOM.into()];
                call.launch(JUDGE_WIDE_ROWS, grid, join::<19, 3, 22>(told, more));
            }
        }
    }
    Ok(())
}

impl Part<'_> {
    /// By the number of rows that are judged.
    fn grid(&self, rows: usize) -> Grid {
        let grid = |tasks: usize, second: usize, threads: usize| {
            let blocks = tasks.clamp(1, (MOST_BLOCKS / second).max(1));
            Grid::blocks(blocks, threads as u32).by(second)
        };
        match self {
            Part::Cells(cells) => {
                let tile = Tile::of(width(cells));
                grid(rows.div_ceil(tile.rows), tile.second, TILE_THREADS)
            }
            Part::NarrowRows(blocks) => {
                let teams = (THREADS / lanes(blocks)) as usize;
                grid(rows.div_ceil(teams), blocks.len(), THREADS as usize)
            }
            Part::WideRows(blocks) => {
                let at_hand = blocks.iter().map(|(_, block)| block.width);
                let at_hand = at_hand.filter(|&width| width <= ROOM).max().unwrap_or(0);
                grid(rows, blocks.len(), THREADS as usize).with_shared(4 * at_hand)
            }
        }
    }
}

fn width(blocks: &[Numbered<'_>]) -> usize {
    blocks.iter().map(|(_, block)| block.width).sum()
}

/// How many lanes judge a narrow row.
fn lanes(blocks: &[Numbered<'_>]) -> u32 {
    let widest = blocks.iter().map(|(_, block)| block.width).max().unwrap_or(1);
    widest.next_power_of_two().min(32) as u32
}

/// Cells that a thread block judges at a time: a part of a row, or several whole rows.
struct Tile {
    rows: usize,
    columns: usize,
    /// How many tiles are side by side.
    second: usize,
}

impl Tile {
    fn of(width: usize) -> Self {
        if width <= TILE {
            return Tile { rows: TILE / width, columns: width, second: 1 };
        }
        let columns = width.div_ceil(width.div_ceil(TILE)).next_multiple_of(32);
        Tile { rows: 1, columns, second: width.div_ceil(columns) }
    }

    /// Threads that read the targets of one row.
    fn lanes(&self) -> u32 {
        1 << (TILE_THREADS / self.rows).max(1).ilog2()
    }
}

fn judge_cells(
    of: usize,
    cells: &[Numbered<'_>],
    call: &mut Call<'_>,
    scores: &Scores,
    told: [Argument; 19],
    grid: Grid,
) -> Result<(), String> {
    let (number, block) = cells[0];
    let width = width(cells);
    let tile = Tile::of(width);
    let table = match cells.len() {
        1 => None,
        _ => Some(call.constant(of, "cells.columns", || column_table(cells))?),
    };
    let (offsets, entries, values) = match cell_targets(block) {
        Some(Targets::Sparse(rows)) => {
            let rows = call.sparse(of, &format!("block {number}"), rows.view())?;
            (Some(rows.offsets.offset_by(scores.first)), Some(rows.columns), rows.values)
        }
        _ => {
            let values = call.constant(of, "cells.targets", || dense_targets(cells, width))?;
            (None, None, Some(values.offset_by(scores.first * width)))
        }
    };
    let Judging { kind, on, off } = Judging::of(block);
    let more = [
        kind.into(),
        block.scale.into(),
        on.into(),
        off.into(),
        (block.first as u32).into(),
        (width as u32).into(),
        table.into(),
        (tile.rows as u32).into(),
        (tile.columns as u32).into(),
        tile.lanes().into(),
        offsets.into(),
        entries.into(),
        values.into(),
    ];
    call.launch(JUDGE_CELLS, grid, join::<19, 13, 32>(told, more));
    Ok(())
}

/// How the cells of a block are judged: the kind by its number, and what ones and zeros weigh.
struct Judging {
    kind: u32,
    on: f32,
    off: f32,
}

impl Judging {
    fn of(block: &Block) -> Self {
        match &block.kind {
            Kind::Bernoulli(bernoulli) => Judging { kind: 0, on: bernoulli.on, off: bernoulli.off },
            _ => Judging { kind: 1, on: 0.0, off: 0.0 },
        }
    }
}

/// `Column` of the kernels for each column of some blocks.
fn column_table(cells: &[Numbered<'_>]) -> Vec<[u32; 8]> {
    let column = |block: &Block, at: usize| {
        let Judging { kind, on, off } = Judging::of(block);
        let column = (block.first + at) as u32;
        [column, kind, block.scale.to_bits(), on.to_bits(), off.to_bits(), 0, 0, 0]
    };
    let columns =
        |&(_, block): &Numbered<'_>| (0..block.width).map(|at| column(block, at)).collect();
    cells.iter().flat_map::<Vec<_>, _>(columns).collect()
}

/// The targets of some blocks side by side, row after row.
fn dense_targets(cells: &[Numbered<'_>], width: usize) -> Vec<f32> {
    let mut first = 0;
    let mut targets = Vec::new();
    for (_, block) in cells {
        let Some(Targets::Dense { values, .. }) = cell_targets(block) else { continue };
        if cells.len() == 1 {
            return values.clone();
        }
        targets.resize(values.len() / block.width * width, 0.0);
        for (to, from) in targets.chunks_mut(width).zip(values.chunks(block.width)) {
            to[first..first + block.width].copy_from_slice(from);
        }
        first += block.width;
    }
    targets
}

/// `RowBlock` of the kernels for each of some blocks.
fn row_table(
    of: usize,
    name: &str,
    blocks: &[Numbered<'_>],
    call: &mut Call<'_>,
) -> Result<Address, String> {
    let mut table = Vec::new();
    for &(number, block) in blocks {
        let part = |what: &str| format!("block {number}.{what}");
        let told: [Option<Address>; 4] = match &block.kind {
            Kind::Multinomial(multinomial) => {
                let shares = call.constant(of, &part("shares"), || multinomial.shares.clone())?;
                match &multinomial.targets {
                    Targets::Sparse(rows) => {
                        let rows = call.sparse(of, &format!("block {number}"), rows.view())?;
                        [Some(rows.offsets), Some(rows.columns), rows.values, Some(shares)]
                    }
                    Targets::Dense { values, .. } => {
                        let cells = call.constant(of, &part("targets"), || values.clone())?;
                        [None, None, Some(cells), Some(shares)]
                    }
                }
            }
            Kind::Categorical(categorical) => {
                let categories = || categorical.0.clone();
                let categories = call.constant(of, &part("categories"), categories)?;
                [None, Some(categories), None, None]
            }
            Kind::Bernoulli(_) | Kind::SquaredError(_) => [None; 4],
        };
        let [offsets, entries, values, shares] =
            told.map(|address| address.map_or(0, |address| address.0));
        let (first, width) = (block.first as u64, block.width as u64);
        let scale = u64::from(block.scale.to_bits());
        table.push([offsets, entries, values, shares, first, width, scale]);
    }
    call.constant(of, name, || table.clone())
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

/// Arguments after others. (`ALL` is their number together.)
fn join<const FIRST: usize, const SECOND: usize, const ALL: usize>(
    first: [Argument; FIRST],
    second: [Argument; SECOND],
) -> [Argument; ALL] {
    const { assert!(FIRST + SECOND == ALL) };
    from_fn(|at| if at < FIRST { first[at] } else { second[at - FIRST] })
}
