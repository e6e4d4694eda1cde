//! Generated towns survive: every kind of column, a block, missing rows and cells, labels.

use graphfill_data::generator::{ColumnSet, Recipe, generate};

use crate::assert_survives;

#[test]
fn a_town_survives_every_chain() {
    let recipe = Recipe { nodes: 300, seed: 3, ..Recipe::default() };
    assert_survives(&generate(&recipe).expect("a good recipe").dataset, "town");
}

#[test]
fn a_town_with_a_wide_block_survives() {
    let recipe = Recipe { nodes: 120, topics: 150, missing_rows: 0.4, ..Recipe::default() };
    assert_survives(&generate(&recipe).expect("a good recipe").dataset, "wide block");
}

#[test]
fn a_block_alone_survives() {
    let columns = ColumnSet::None;
    let recipe = Recipe { nodes: 100, columns, missing_cells: 0.0, ..Recipe::default() };
    assert_survives(&generate(&recipe).expect("a good recipe").dataset, "block alone");
}

#[test]
fn numbers_alone_survive() {
    let columns = ColumnSet::Numbers(7);
    let recipe = Recipe { nodes: 100, columns, topics: 0, missing_cells: 0.5, ..Recipe::default() };
    assert_survives(&generate(&recipe).expect("a good recipe").dataset, "numbers");
}
