//! What is not known: all of some nodes, and single cells of the others.

use rand::seq::SliceRandom;

use super::GeneratorConfig;
use crate::cell_mask::CellMask;
use crate::random_stream::{self, Purpose};
use crate::splits::choose_cells;
use crate::table::NodeTable;

/// The cells that a config leaves out of the truth; columns count as in [`NodeTable::missing`].
pub(super) fn draw(config: &GeneratorConfig, truth: &NodeTable) -> CellMask {
    let rows = truth.rows();
    let unknown = (config.missing_rows * rows as f64).round() as usize;
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.shuffle(&mut random_stream::open(config.seed, Purpose::MissingRows));
    // One row always stays, or there would be nothing to learn from.
    let unknown = order[..unknown.min(rows - 1)].iter().map(|&row| row as usize);
    let whole_rows = CellMask::of_rows(rows, truth.features(), unknown);

    let mut random = random_stream::open(config.seed, Purpose::MissingCells);
    let cells = choose_cells(&whole_rows, config.missing_cells, &mut random);
    whole_rows.union(&cells)
}
