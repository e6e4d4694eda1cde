//! Generated towns survive: every kind of column, a block, missing rows and cells, labels.

use graphfill_data::generator::{ColumnSet, GeneratorConfig, generate};

use crate::assert_survives;

#[test]
fn a_town_survives_every_chain() {
    let config = GeneratorConfig { nodes: 300, seed: 3, ..GeneratorConfig::default() };
    assert_survives(&generate(&config).expect("a good config").dataset, "town");
}

#[test]
fn a_town_with_a_wide_block_survives() {
    let config = GeneratorConfig {
        nodes: 120,
        topics: 150,
        missing_rows: 0.4,
        ..GeneratorConfig::default()
    };
    assert_survives(&generate(&config).expect("a good config").dataset, "wide block");
}

#[test]
fn a_block_alone_survives() {
    let columns = ColumnSet::None;
    let config =
        GeneratorConfig { nodes: 100, columns, missing_cells: 0.0, ..GeneratorConfig::default() };
    assert_survives(&generate(&config).expect("a good config").dataset, "block alone");
}

#[test]
fn numbers_alone_survive() {
    let columns = ColumnSet::Numbers(7);
    let config = GeneratorConfig {
        nodes: 100,
        columns,
        topics: 0,
        missing_cells: 0.5,
        ..GeneratorConfig::default()
    };
    assert_survives(&generate(&config).expect("a good config").dataset, "numbers");
}
