//! How a CUDA card judges scores: which blocks of columns in which launch, and what kernels are told.
//!
//! All cells with dense targets are judged in one launch, as are all rows that are judged as a whole
//! (wide ones in a launch of their own): a table of mixed columns has hundreds of blocks.

use std::array::from_fn;
use std::sync::Arc;

use super::kernel_sums::Partial;
use super::kernel_tables::{
    Judging, Numbered, cell_targets, column_table, dense_targets, row_table, width,
};
use super::offsets::MOST_OFFSETS;
use super::{Likelihood, MISSING_CATEGORY, Targets};
use crate::Shape;
use crate::cuda::{Address, Argument, Call, Define, Grid, Kernel, Source, THREADS};

pub(super) const KERNELS: Source =
    Source::new("likelihood.cu", include_str!("likelihood.cu")).with(&[DEFINES]);
const DEFINES: &[Define] = &[
    Define::count("OFFSETS", MOST_OFFSETS),
    Define::count("MISSING_CATEGORY", MISSING_CATEGORY as usize),
    Define::count("BERNOULLI", Judging::BERNOULLI as usize),
    Define::count("SQUARED_ERROR", Judging::SQUARED_ERROR as usize),
    Define::count("TILE_THREADS", TILE_THREADS),
    Define::count("CELLS", CELLS),
];
const JUDGE_CELLS: Kernel = KERNELS.kernel("judge_cells");
const JUDGE_NARROW_ROWS: Kernel = KERNELS.kernel("judge_narrow_rows");
const JUDGE_WIDE_ROWS: Kernel = KERNELS.kernel("judge_wide_rows");

/// Thread blocks that a launch has at most: more leave more sums than they keep a card busier.
const MOST_BLOCKS: usize = 4096;
/// Threads of a block that judges a tile of cells, and cells of a tile; as in the file of kernels.
const TILE_THREADS: usize = 128;
const TILE: usize = CELLS * TILE_THREADS;
/// Cells of a thread.
const CELLS: usize = 4;
/// Columns up to which a row is narrow: lanes of one warp judge it.
const NARROW: usize = 256;
/// Scores that a block judging wide rows keeps at hand: 40 KiB of them.
const ROOM: usize = 10 * 1024;
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

    pub(super) fn offset(&self, at: usize) -> Argument {
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

/// Arguments after others. (`ALL` is their number together.)
fn join<const FIRST: usize, const SECOND: usize, const ALL: usize>(
    first: [Argument; FIRST],
    second: [Argument; SECOND],
) -> [Argument; ALL] {
    const { assert!(FIRST + SECOND == ALL) };
    from_fn(|at| if at < FIRST { first[at] } else { second[at - FIRST] })
}
