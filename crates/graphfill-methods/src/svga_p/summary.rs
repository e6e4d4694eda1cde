//! Wide blocks in few columns, as evidence for the other columns of a row:
//!
//!   S = U V                                                                        rows × summary
//!   U   numeric block: (x − mean) / deviation, by column; 0/1 block: rows of x − mean, scaled to length one
//!   V   the leading right singular vectors of U                                 columns × summary
//!
//! Hidden cells of U are zero, and a row whose whole block is hidden has no summary. V, means and deviations
//! are found without any cell that is hidden for whatever purpose, so that one summary serves selection,
//! comparison and the final training.

use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::{Block, CellMask};
use graphfill_engine::{Shape, TensorStore};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::compression::{compressed, leading_space};
use super::evidence::MAX_FEATURES;
use crate::error::{MethodError, Result};
use crate::features::{Features, Group, GroupKind};
use crate::method::Task;

/// Blocks of more columns are wide.
const WIDE: usize = 64;
/// The columns of a summary: at most, and at least.
const MAX_WIDTH: usize = 64;
const MIN_WIDTH: usize = 4;
/// Rows for each column of a summary, at least: with fewer it would tell rows apart rather than alike.
const ROWS_PER_COLUMN: usize = 10;

/// Which groups are wide, and how many columns their summaries have; none where no table of at most 300
/// features would remain, with columns of its own.
pub(super) fn shape(features: &Features<'_>) -> Option<(Vec<bool>, usize)> {
    let is_wide = |group: &Group| {
        let is_block = matches!(group.kind, GroupKind::BinaryBlock | GroupKind::NumericBlock);
        is_block && group.features.len() > WIDE
    };
    let wide: Vec<bool> = features.groups().iter().map(is_wide).collect();
    let of_wide = features.groups().iter().zip(&wide).filter(|(_, wide)| **wide);
    let (count, columns) = of_wide
        .fold((0, 0), |(count, columns), (group, _)| (count + 1, columns + group.features.len()));
    let rest = features.width() - columns;
    if count == 0 || rest == 0 || features.width() <= MAX_FEATURES {
        return None;
    }
    let room = MAX_FEATURES.saturating_sub(rest) / count;
    let width = room.min(MAX_WIDTH).min(features.rows() / ROWS_PER_COLUMN);
    (width >= MIN_WIDTH).then_some((wide, width))
}

/// The space of a wide block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Space {
    is_binary: bool,
    width: usize,
    /// Of the block's columns.
    means: Vec<f32>,
    deviations: Vec<f32>,
    /// V, columns × width.
    #[serde(skip)]
    directions: Vec<f32>,
    /// Of the summary's columns.
    summary_means: Vec<f64>,
}

/// The spaces of the wide blocks of a table, by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Spaces {
    spaces: Vec<Option<Space>>,
}

impl Spaces {
    /// The spaces of a task's wide groups, with summaries of so many columns.
    pub(super) fn fit(task: &Task<'_>, wide: &[bool], width: usize) -> Result<Self> {
        let features = task.features;
        let sets = task.validation.iter().chain(task.held_out).chain(task.watched);
        let hidden = sets.fold(task.unknown.clone(), |all, set| all.union(set));
        let mut spaces = Vec::new();
        for (at, group) in features.groups().iter().enumerate() {
            let space =
                wide[at].then(|| Space::fit(task, at, group, width, &hidden)).transpose()?;
            spaces.push(space);
        }
        Ok(Spaces { spaces })
    }

    /// The table with summaries in place of wide blocks.
    pub(super) fn table(&self, task: &Task<'_>) -> SummaryTable {
        let features = task.features;
        let mut table = SummaryTable {
            blocks: Vec::new(),
            cell_of: vec![None; features.cells()],
            summaries: Vec::new(),
            cells: 0,
            trained_means: features.trained_mean(0).is_some().then(Vec::new),
        };
        for (at, group) in features.groups().iter().enumerate() {
            let first = table.cells;
            match &self.spaces[at] {
                Some(space) => {
                    let block = space.summaries(task, at, group);
                    table.summaries.push((group.cells.clone(), first..first + space.width));
                    table.cells += space.width;
                    table.blocks.push(Some((GroupKind::NumericBlock, block)));
                    table.trained_means.iter_mut().for_each(|m| m.extend(&space.summary_means));
                }
                None => {
                    for cell in group.cells.clone() {
                        table.cell_of[cell] = Some(table.cells as u32);
                        table.cells += 1;
                    }
                    table.blocks.push(None);
                    let means =
                        group.features.clone().map(|feature| features.trained_mean(feature));
                    table
                        .trained_means
                        .iter_mut()
                        .for_each(|own| own.extend(means.clone().flatten()));
                }
            }
        }
        table
    }

    /// As texts and tensors.
    pub(super) fn write(&self, store: &mut TensorStore) {
        store.texts.insert(SPACES.to_owned(), serde_json::to_string(self).unwrap_or_default());
        for (at, space) in self.spaces.iter().enumerate() {
            if let Some(space) = space {
                let shape = Shape::new(space.means.len(), space.width);
                store.tensors.insert(directions_of(at), (shape, space.directions.clone()));
            }
        }
    }

    /// What [`Spaces::write`] wrote, if anything.
    pub(super) fn read(store: &TensorStore) -> Result<Option<Self>> {
        let Some(text) = store.texts.get(SPACES) else { return Ok(None) };
        let broken = || MethodError::Model("its summaries of wide blocks are broken".to_owned());
        let mut spaces: Spaces = serde_json::from_str(text).map_err(|_| broken())?;
        for (at, space) in spaces.spaces.iter_mut().enumerate() {
            if let Some(space) = space {
                let (shape, values) = store.tensors.get(&directions_of(at)).ok_or_else(broken)?;
                if (shape.rows, shape.columns) != (space.means.len(), space.width) {
                    return Err(broken());
                }
                space.directions.clone_from(values);
            }
        }
        Ok(Some(spaces))
    }

    /// Which groups have a summary.
    pub(super) fn wide(&self) -> Vec<bool> {
        self.spaces.iter().map(Option::is_some).collect()
    }
}

const SPACES: &str = "summaries";

fn directions_of(group: usize) -> String {
    format!("summary of group {group}")
}

impl Space {
    fn fit(
        task: &Task<'_>,
        at: usize,
        group: &Group,
        width: usize,
        hidden: &CellMask,
    ) -> Result<Self> {
        let features = task.features;
        let (rows, columns) = (features.rows(), group.features.len());
        // U, its transpose, and its image.
        let needed = (rows * columns * 3 * size_of::<f32>()) as u64;
        let largest = || format!("a block of {rows} × {columns} is summarised");
        let lower = "the number of columns, or take the method arb";
        task.context.memory_limit().check(needed, largest, lower)?;
        let is_binary = group.kind == GroupKind::BinaryBlock;
        let (means, deviations) = moments(features, at, group, hidden);
        let mut space = Space {
            is_binary,
            width,
            means,
            deviations,
            directions: Vec::new(),
            summary_means: Vec::new(),
        };
        let visible = space.matrix(features, at, group, |row, cells| {
            hidden_cells(hidden, row, group, cells);
        });
        space.directions = leading_space(&visible, columns, width);
        let summaries = compressed(&visible, columns, &space.directions, width);
        let seen: Vec<&[f32]> = summaries
            .chunks_exact(width)
            .enumerate()
            .filter(|(row, _)| !is_block_hidden(hidden, *row, group))
            .map(|(_, row)| row)
            .collect();
        let mean = |column: usize| seen.iter().map(|row| f64::from(row[column])).sum::<f64>();
        space.summary_means =
            (0..width).map(|column| mean(column) / seen.len().max(1) as f64).collect();
        Ok(space)
    }

    /// U, hidden cells zero; `list` appends the hidden columns of a row.
    fn matrix(
        &self,
        features: &Features<'_>,
        at: usize,
        group: &Group,
        list: impl Fn(usize, &mut Vec<usize>) + Sync,
    ) -> Vec<f32> {
        let columns = group.features.len();
        let mut matrix = vec![0.0f32; features.rows() * columns];
        let by_row = matrix.par_chunks_mut(columns).enumerate();
        by_row.for_each_init(
            Default::default,
            |(values, holes): &mut (Vec<f64>, Vec<usize>), (row, out)| {
                values.resize(columns, 0.0);
                features.row_of(at, row, values);
                for (column, (out, value)) in out.iter_mut().zip(&*values).enumerate() {
                    let value = (*value as f32 - self.means[column]) / self.deviations[column];
                    *out = if value.is_nan() { 0.0 } else { value };
                }
                holes.clear();
                list(row, holes);
                holes.iter().for_each(|&column| out[column] = 0.0);
                let length = out.iter().map(|value| value * value).sum::<f32>().sqrt();
                if self.is_binary && length > 0.0 {
                    out.iter_mut().for_each(|value| *value /= length);
                }
            },
        );
        matrix
    }

    /// The summaries of all rows that a task knows the block of. Single cells that are hidden for any
    /// purpose stay out of them; a row that is hidden as a whole has its summary hidden by its mask.
    fn summaries(&self, task: &Task<'_>, at: usize, group: &Group) -> Block {
        let sets = task.validation.iter().chain(task.held_out).chain(task.watched);
        let masks: Vec<&CellMask> = sets.chain([task.unknown]).collect();
        let matrix = self.matrix(task.features, at, group, |row, cells| {
            for mask in masks.iter().filter(|mask| !is_block_hidden(mask, row, group)) {
                hidden_cells(mask, row, group, cells);
            }
        });
        let summaries = compressed(&matrix, group.features.len(), &self.directions, self.width);
        let mut builder = BlockBuilder::new(self.width, BlockLayout::List);
        let mut cells: Vec<(u32, f64)> = Vec::new();
        for row in summaries.chunks_exact(self.width) {
            cells.clear();
            cells.extend((0u32..).zip(row.iter().map(|&value| f64::from(value))));
            builder.push_row(&mut cells);
        }
        let rows = task.features.rows();
        let missing = (0..rows).filter(|&row| is_block_hidden(task.unknown, row, group));
        builder.finish(CellMask::of_rows(rows, self.width, missing))
    }
}

/// Means and deviations of a block's columns; of 0/1 blocks the deviations are 1.
fn moments(
    features: &Features<'_>,
    at: usize,
    group: &Group,
    hidden: &CellMask,
) -> (Vec<f32>, Vec<f32>) {
    let columns = group.features.len();
    let mut sums = vec![(0.0f64, 0.0f64, 0u32); columns];
    let (mut values, mut holes) = (vec![0.0f64; columns], Vec::new());
    for row in 0..features.rows() {
        features.row_of(at, row, &mut values);
        holes.clear();
        hidden_cells(hidden, row, group, &mut holes);
        holes.iter().for_each(|&column| values[column] = f64::NAN);
        for ((sum, squares, count), value) in sums.iter_mut().zip(&values) {
            if !value.is_nan() {
                (*sum, *squares, *count) = (*sum + value, *squares + value * value, *count + 1);
            }
        }
    }
    let moments = sums.into_iter().map(|(sum, squares, count)| {
        let count = f64::from(count.max(1));
        let mean = sum / count;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt();
        let is_constant = deviation <= 1e-6 * mean.abs() || deviation < 1e-30;
        let deviation = if is_constant || group.is_ranking() { 1.0 } else { deviation };
        (mean as f32, deviation as f32)
    });
    moments.unzip()
}

/// Whether a mask has all cells of a row's block.
fn is_block_hidden(mask: &CellMask, row: usize, group: &Group) -> bool {
    mask.is_whole(row) || block_cells(mask, row, group).len() == group.cells.len()
}

/// The cells of a row's block that a mask has one by one.
fn block_cells<'m>(mask: &'m CellMask, row: usize, group: &Group) -> &'m [u32] {
    let cells = mask.cells(row);
    let first = cells.partition_point(|&cell| (cell as usize) < group.cells.start);
    let end = cells.partition_point(|&cell| (cell as usize) < group.cells.end);
    &cells[first..end]
}

/// Appends the columns of a row's block that a mask has.
fn hidden_cells(mask: &CellMask, row: usize, group: &Group, columns: &mut Vec<usize>) {
    match mask.is_whole(row) {
        true => columns.extend(0..group.cells.len()),
        false => {
            let cells = block_cells(mask, row, group).iter();
            columns.extend(cells.map(|&cell| cell as usize - group.cells.start));
        }
    }
}

/// A table with summaries in place of its wide blocks.
pub(super) struct SummaryTable {
    blocks: Vec<Option<(GroupKind, Block)>>,
    /// For each cell of the whole table that is no wide block's, the cell here.
    cell_of: Vec<Option<u32>>,
    /// The cells of each wide block, and those of its summary.
    summaries: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)>,
    cells: usize,
    trained_means: Option<Vec<f64>>,
}

impl SummaryTable {
    /// Its features; the groups are those of the whole table.
    pub(super) fn features<'b>(&'b self, whole: &'b Features<'_>) -> Features<'b> {
        whole.with_blocks(&self.blocks).with_trained_means(self.trained_means.clone())
    }

    /// What a mask of the whole table hides here: a summary where it has the whole block of a row.
    pub(super) fn mask(&self, mask: &CellMask) -> CellMask {
        let single = CellMask::build(mask.rows(), self.cells, |row, cells| {
            let own = mask.cells(row);
            cells.extend(own.iter().filter_map(|&cell| self.cell_of[cell as usize]));
            for (block, summary) in &self.summaries {
                let first = own.partition_point(|&cell| (cell as usize) < block.start);
                let end = own.partition_point(|&cell| (cell as usize) < block.end);
                if end - first == block.len() {
                    cells.extend(summary.clone().map(|cell| cell as u32));
                }
            }
        });
        single.with_rows((0..mask.rows()).filter(|&row| mask.is_whole(row)))
    }
}
