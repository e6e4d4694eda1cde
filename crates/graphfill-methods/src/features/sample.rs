//! A table with fewer columns, on which many candidates are compared at a fraction of the cost.
//!
//! Only blocks are sampled. Which of their columns stay depends on known cells alone:
//!
//!   binary block    the columns with the most ones. The best-ranked columns of nearly every row are
//!                   among them, and so is what tells candidates apart.
//!   numeric block   columns at even distances in the order of their variance, so that the mean
//!                   squared error of the sample estimates that of the block.

use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::{Block, CellMask};

use super::{Features, Group, GroupKind, Values};

/// Some columns of a table.
pub struct ColumnSample<'a> {
    table: &'a Features<'a>,
    /// The kind and the smaller block of each group that was sampled.
    blocks: Vec<Option<(GroupKind, Block)>>,
    /// For each cell of a row of the table, the cell of the sample.
    cell_of: Vec<Option<u32>>,
    cells: usize,
}

impl<'a> ColumnSample<'a> {
    /// At most `max_columns` columns of each block; the columns that are no blocks stay.
    pub fn of(table: &'a Features<'a>, unknown: &CellMask, max_columns: usize) -> Self {
        let mut blocks = Vec::new();
        let mut cell_of = vec![None; table.cells()];
        let mut cells = 0u32;
        for (group, values) in table.groups.iter().zip(&table.values) {
            let (kept, sampled) = match values {
                Values::Block(block) if block.width() > max_columns => {
                    let columns = chosen(group, block, unknown, max_columns);
                    let sampled = with_columns(block, &columns);
                    (columns, Some((group.kind.clone(), sampled)))
                }
                _ => ((0..group.cells.len() as u32).collect(), None),
            };
            for column in kept {
                cell_of[group.cells.start + column as usize] = Some(cells);
                cells += 1;
            }
            blocks.push(sampled);
        }
        ColumnSample { table, blocks, cell_of, cells: cells as usize }
    }

    /// The sampled table; its groups are those of the whole one.
    pub fn features(&self) -> Features<'_> {
        self.table.with_blocks(&self.blocks)
    }

    /// The cells of a mask of the whole table that are in the sample.
    pub fn cells(&self, mask: &CellMask) -> CellMask {
        let single = CellMask::build(mask.rows(), self.cells, |row, cells| {
            let own = mask.cells(row).iter();
            cells.extend(own.filter_map(|&cell| self.cell_of[cell as usize]));
        });
        single.with_rows((0..mask.rows()).filter(|&row| mask.is_whole(row)))
    }
}

/// The columns of a block that stay, ascending.
fn chosen(group: &Group, block: &Block, unknown: &CellMask, max_columns: usize) -> Vec<u32> {
    let mut sums = vec![(0.0f64, 0.0f64); block.width()];
    let mut rows = 0usize;
    for row in (0..block.rows()).filter(|&row| !unknown.is_whole(row)) {
        let holes = unknown.cells(row);
        rows += 1;
        for (column, value) in block.cells(row) {
            if holes.binary_search(&(group.cells.start as u32 + column)).is_err() {
                let (sum, squares) = &mut sums[column as usize];
                *sum += value;
                *squares += value * value;
            }
        }
    }
    let mut order: Vec<u32> = (0..block.width() as u32).collect();
    let count = rows.max(1) as f64;
    let weight = |column: &u32| {
        let (sum, squares) = sums[*column as usize];
        match group.kind {
            GroupKind::BinaryBlock => sum,
            _ => squares / count - (sum / count).powi(2),
        }
    };
    order.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    let mut kept: Vec<u32> = match group.kind {
        GroupKind::BinaryBlock => order[..max_columns].to_vec(),
        _ => (0..max_columns).map(|at| order[at * order.len() / max_columns]).collect(),
    };
    kept.sort_unstable();
    kept
}

/// A block of some columns of another, which ascend.
fn with_columns(block: &Block, columns: &[u32]) -> Block {
    let mut place = vec![None; block.width()];
    columns.iter().zip(0u32..).for_each(|(&column, at)| place[column as usize] = Some(at));
    let mut builder = BlockBuilder::new(columns.len(), BlockLayout::List);
    let mut cells: Vec<(u32, f64)> = Vec::new();
    for row in 0..block.rows() {
        cells.clear();
        let own = block.cells(row);
        cells.extend(own.filter_map(|(column, value)| Some((place[column as usize]?, value))));
        builder.push_row(&mut cells);
    }
    let holes = block.missing();
    let missing = CellMask::build(block.rows(), columns.len(), |row, cells| {
        cells.extend(holes.cells(row).iter().filter_map(|&cell| place[cell as usize]));
    });
    let missing = missing.with_rows((0..block.rows()).filter(|&row| holes.is_whole(row)));
    builder.finish(missing)
}

#[cfg(test)]
mod tests {
    use graphfill_data::{Column, IdColumn, Kind, NodeIds, NodeTable};

    use super::*;

    /// 6 nodes: a number, a block whose columns 1 and 3 have most ones, with a hole.
    fn table() -> NodeTable {
        let rows: [&[u32]; 6] = [&[1, 3], &[0, 1, 3], &[1], &[3, 4], &[1, 2, 3], &[0, 0]];
        let mut builder = BlockBuilder::new(5, BlockLayout::List);
        for row in rows {
            builder.push_row(&mut row.iter().map(|&column| (column, 1.0)).collect::<Vec<_>>());
        }
        let block = builder.finish(CellMask::of_cells(6, 5, &[(2, 3)]));
        let numbers = arrow_array::Float64Array::from_iter_values((0..6).map(f64::from));
        let columns = vec![
            Column::new("n", Kind::Number, std::sync::Arc::new(numbers)),
            Column::block("words", block),
        ];
        NodeTable::new(IdColumn::default(), NodeIds::numbered(6), columns, None).expect("a table")
    }

    #[test]
    fn a_sample_has_the_values_and_the_masks_of_its_columns() {
        let table = table();
        let features = Features::of(&table);
        let unknown = CellMask::of_cells(6, 6, &[(0, 0), (1, 2), (1, 3)]).with_rows([5]);
        let sample = ColumnSample::of(&features, &unknown, 2);
        let sampled = sample.features();
        assert_eq!((sampled.width(), sampled.cells(), sampled.groups().len()), (3, 3, 2));
        let kept = [0, 2, 4];
        for row in 0..6 {
            for (at, &from) in kept.iter().enumerate() {
                let group = usize::from(at > 0);
                let (found, expected) =
                    (sampled.value(group, row, at), features.value(group, row, from));
                assert!(found == expected || (found.is_nan() && expected.is_nan()));
            }
        }
        let cells = sample.cells(&unknown);
        assert_eq!(cells.cells(0), [0]);
        assert_eq!(cells.cells(1), [1]);
        assert!(cells.is_whole(5) && cells.is_clear(2));
    }
}
