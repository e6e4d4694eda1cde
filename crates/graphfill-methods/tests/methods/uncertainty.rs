//! Calibration: hidden cells choose nothing, intervals and sets cover what they promise, draws are draws.

use std::sync::Arc;

use arrow_array::Float64Array;
use graphfill_data::generator::{Generated, GeneratorConfig, generate};
use graphfill_data::{CellMask, Column, Dataset, Kind, NodeTable};
use graphfill_methods::features::Features;
use graphfill_methods::fill::{WithUncertainty, fill, fill_with, validation_sets};
use graphfill_methods::uncertainty::{
    ColumnCalibration, ColumnCells, HiddenCells, HiddenColumn, calibration_folds, hide_and_estimate,
};
use graphfill_methods::{Context, Method, Model, Registry, Task};

use crate::support::{method_with, small_models, updates_of};
use crate::tables::{graph, mixed, table, village};

const ROWS: usize = 480;

/// The cells that a table lacks: whole rows and single cells.
fn is_missing(row: usize, column: usize) -> bool {
    row % 6 == 0 || (row * 3 + column * 5) % 17 == 0
}

/// What a method makes of the cells that it is not shown, and these cells.
fn hidden_of(method: &dyn Method, table: &NodeTable) -> (HiddenCells, CellMask) {
    let features = Features::of(table);
    let graph = village(ROWS).undirected();
    let missing = features.missing();
    let context = updates_of(4);
    let task = Task::new(&graph, &features, &missing, &context);
    let sets = |unknown: &CellMask| validation_sets(&features, unknown, context.seed);
    let hidden = hide_and_estimate(method, &task, &missing, &sets)
        .expect("estimated")
        .expect("large enough");
    let folds = calibration_folds(&features, &graph, &missing, context.seed);
    assert_eq!(folds.len(), 1, "cells of other folds may be read");
    (hidden, folds[0].clone())
}

/// Estimates as bits, and the true values.
fn bits(hidden: &HiddenCells) -> (Vec<u64>, Vec<f64>) {
    let (mut estimates, mut truth) = (Vec::new(), Vec::new());
    for column in &hidden.columns {
        match column {
            HiddenColumn::Numbers(features) => {
                for cell in features.iter().flatten() {
                    estimates.push(cell.estimate.to_bits());
                    truth.push(cell.truth);
                }
            }
            HiddenColumn::Levels(cells) => {
                for cell in cells {
                    estimates.extend(cell.estimates.iter().map(|value| u64::from(value.to_bits())));
                    truth.push(cell.truth as f64);
                }
            }
            HiddenColumn::Ones(cells) => {
                for (rank, is_one, _) in cells {
                    estimates.push(u64::from(rank.to_bits()));
                    truth.push(f64::from(u8::from(*is_one)));
                }
            }
        }
    }
    (estimates, truth)
}

/// Other values in the cells that calibration hides change no estimate of them, whatever the method
/// chooses, trains on and stops by.
#[test]
fn hidden_cells_leak_into_nothing() {
    let registry = Registry::with_defaults().with_overrides(&small_models()).expect("parameters");
    let table = mixed(ROWS, |row, _| row, is_missing);
    for name in ["column-mean", "neighbour-mean", "fp", "arb", "pcfi", "svga", "svga-p", "auto"] {
        let method = registry.find(name).expect("a method");
        let (hidden, fold) = hidden_of(&*method, &table);
        let features = Features::of(&table);
        let is_hidden = |row: usize, column: usize| {
            let group = &features.groups()[column];
            group.cells.clone().all(|cell| fold.contains(row, cell))
        };
        let other = |row: usize, column: usize| match is_hidden(row, column) {
            true => (row + 7) % ROWS,
            false => row,
        };
        let changed = mixed(ROWS, other, is_missing);
        let (again, same_fold) = hidden_of(&*method, &changed);
        assert_eq!(fold, same_fold, "which cells are hidden does not depend on values");
        let ((estimates, truth), (same, others)) = (bits(&hidden), bits(&again));
        assert!(truth != others, "{name}: the hidden values are others");
        assert!(estimates == same, "{name}: hidden cells were read");
    }
}

fn town(seed: u64, nodes: usize) -> Generated {
    generate(&GeneratorConfig { nodes, seed, ..GeneratorConfig::default() }).expect("a town")
}

fn filled_with_uncertainty(
    dataset: &Dataset,
    method: &str,
    context: &Context<'_>,
) -> (graphfill_methods::fill::Filled, Model) {
    let method = method_with(method, &small_models());
    let graph = dataset.graph.undirected();
    let (filled, model) =
        fill_with(&method, &dataset.table, &graph, context, WithUncertainty::Yes).expect("filled");
    (filled, model.expect("a model"))
}

/// On towns whose truth is known, intervals and sets cover what they promise, not less and not more.
#[test]
fn coverage_is_what_was_asked_for() {
    const COVERAGES: [f64; 4] = [0.5, 0.8, 0.9, 0.95];
    let mut numbers = [0usize; 4];
    let mut sets = [0usize; 4];
    let (mut number_cells, mut set_cells) = (0, 0);
    for seed in 0..8 {
        let Generated { dataset, truth } = town(seed, 1200);
        let (filled, _) = filled_with_uncertainty(&dataset, "fp", &Context::with_seed(seed));
        let uncertainty = filled.uncertainty.expect("a large enough town");
        let truth = Features::of(&truth);
        for column in &uncertainty.columns {
            let group = column.group;
            match &column.cells {
                ColumnCells::Numbers(features) => {
                    for cell in features.iter().flatten() {
                        let first = truth.groups()[group].features.start;
                        let value = truth.value(group, cell.row as usize, first);
                        number_cells += 1;
                        for (level, &coverage) in COVERAGES.iter().enumerate() {
                            let interval = uncertainty.interval(group, 0, cell, coverage);
                            let (low, high) = interval.expect("calibrated");
                            numbers[level] += usize::from((low..=high).contains(&value));
                        }
                    }
                }
                ColumnCells::Levels(cells) => {
                    for cell in cells {
                        let Some(level) = truth.level(group, cell.row as usize) else { continue };
                        set_cells += 1;
                        for (at, &coverage) in COVERAGES.iter().enumerate() {
                            let set = uncertainty.set(group, cell, coverage).expect("calibrated");
                            sets[at] += usize::from(set.contains(&(level as usize)));
                        }
                    }
                }
                ColumnCells::Ones(_) => {}
            }
        }
    }
    assert!(number_cells > 5000 && set_cells > 3000, "{number_cells} and {set_cells} cells");
    for (level, coverage) in COVERAGES.into_iter().enumerate() {
        let real = numbers[level] as f64 / number_cells as f64;
        assert!((real - coverage).abs() < 0.02, "intervals of {coverage} cover {real}");
        // A set always has the estimate, which is right more often than half of the time.
        let real = sets[level] as f64 / set_cells as f64;
        assert!(real > coverage - 0.02, "sets of {coverage} cover {real}");
        assert!(coverage < 0.8 || real < coverage + 0.02, "sets of {coverage} cover {real}");
    }
}

#[test]
fn estimates_are_the_same_with_and_without_uncertainty() {
    let dataset = town(3, 400).dataset;
    let graph = dataset.graph.undirected();
    let method = method_with("svga-p", &small_models());
    let context = updates_of(6);
    let (plain, _) = fill(&method, &dataset.table, &graph, &context).expect("filled");
    let (filled, _) = filled_with_uncertainty(&dataset, "svga-p", &context);
    assert!(plain.uncertainty.is_none() && filled.uncertainty.is_some());
    for (one, other) in plain.table.columns().iter().zip(filled.table.columns()) {
        assert_eq!(one.text(), other.text(), "{}", one.name());
    }
    assert_eq!(
        plain.table.to_record_batch().expect("a batch"),
        filled.table.to_record_batch().expect("a batch")
    );
}

#[test]
fn a_saved_model_keeps_its_calibration() {
    let dataset = town(5, 500).dataset;
    let graph = dataset.graph.undirected();
    let context = Context::default();
    let (_, model) = filled_with_uncertainty(&dataset, "arb", &context);
    let filled = model.transform(&dataset.table, &graph, &context).expect("filled");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("town.model");
    model.save(&path).expect("saved");
    let loaded = Model::load(&path, &Registry::with_defaults()).expect("loaded");
    let again = loaded.transform(&dataset.table, &graph, &context).expect("filled");
    let (one, other) = (filled.uncertainty.expect("known"), again.uncertainty.expect("known"));
    let mut intervals = 0;
    for (own, same) in one.columns.iter().zip(&other.columns) {
        let (ColumnCells::Numbers(own_cells), ColumnCells::Numbers(same_cells)) =
            (&own.cells, &same.cells)
        else {
            continue;
        };
        for (cell, other_cell) in own_cells.iter().flatten().zip(same_cells.iter().flatten()) {
            let (low, high) = one.interval(own.group, 0, cell, 0.9).expect("calibrated");
            let same = other.interval(same.group, 0, other_cell, 0.9).expect("calibrated");
            assert!((low - same.0).abs() <= 1e-6 * low.abs().max(1.0), "{low} {}", same.0);
            assert!((high - same.1).abs() <= 1e-6 * high.abs().max(1.0), "{high} {}", same.1);
            intervals += 1;
        }
    }
    assert!(intervals > 100);
}

/// What is not known is not drawn, and draws spread as intervals do.
#[test]
fn draws_keep_what_is_known_and_spread_around_the_estimates() {
    let dataset = town(7, 500).dataset;
    let (filled, _) = filled_with_uncertainty(&dataset, "arb", &Context::default());
    let uncertainty = filled.uncertainty.as_ref().expect("known");
    let features = Features::of(&dataset.table);
    let draw = |number| {
        uncertainty.draw(&dataset.table, &filled.table, &features, number).expect("a draw")
    };
    let draws: Vec<NodeTable> = (1..=40).map(draw).collect();
    assert_eq!(
        draw(3).to_record_batch().expect("a batch"),
        draws[2].to_record_batch().expect("a batch"),
        "the same number draws the same table"
    );
    let holed = dataset.table.missing();
    for table in &draws {
        assert!(table.missing().is_empty());
        let hidden = table.with_hidden(&holed).expect("the same cells");
        let (one, other) = (hidden.to_record_batch(), dataset.table.to_record_batch());
        assert_eq!(one.expect("a batch"), other.expect("a batch"), "known cells stay");
    }
    for column in ["age", "income"] {
        let rows = dataset.table.column(column).expect("a column").missing();
        let values: Vec<Vec<f64>> =
            draws.iter().map(|table| table.column(column).expect("a column").numbers()).collect();
        let estimates = filled.table.column(column).expect("a column").numbers();
        let (mut covered, mut cells) = (0, 0);
        let group = features.groups().iter().position(|group| group.name == column);
        let own = uncertainty.columns.iter().find(|own| Some(own.group) == group).expect("cells");
        let ColumnCells::Numbers(of_features) = &own.cells else { panic!("numbers") };
        for cell in of_features.iter().flatten() {
            let row = cell.row as usize;
            assert!(rows[row]);
            let (low, high) = uncertainty.interval(own.group, 0, cell, 0.8).expect("calibrated");
            let drawn: Vec<f64> = values.iter().map(|draw| draw[row]).collect();
            assert!(drawn.iter().any(|value| *value != drawn[0]), "draws differ");
            covered += drawn.iter().filter(|value| (low..=high).contains(*value)).count();
            cells += drawn.len();
            assert!(estimates[row].is_finite());
        }
        let share = covered as f64 / cells as f64;
        assert!((share - 0.8).abs() < 0.06, "{column}: {share} of the draws lie in 80% intervals");
    }
}

/// A table that cannot spare twenty cells of a column gets no interval for it, and a very small one none
/// at all.
#[test]
fn too_few_cells_are_no_calibration() {
    let small = town(2, 60).dataset;
    let graph = small.graph.undirected();
    let arb: Arc<dyn Method> = Registry::with_defaults().find("arb").expect("a method");
    let hidden_rows = |from: usize| {
        let rows = (from..small.table.rows()).collect::<Vec<_>>();
        CellMask::of_rows(small.table.rows(), small.table.missing().width(), rows)
    };
    let nearly_empty = small.table.with_hidden(&hidden_rows(15)).expect("a mask of its size");
    let context = Context::default();
    let (filled, _) =
        fill_with(&arb, &nearly_empty, &graph, &context, WithUncertainty::Yes).expect("filled");
    let unknown = filled.uncertainty.is_none_or(|uncertainty| {
        let columns = &uncertainty.calibration().columns;
        columns.iter().all(|column| !column.is_calibrated())
    });
    assert!(unknown, "fifteen rows tell nothing");
}

/// Few rows with many columns give up single cells in several folds, each cell in one of them.
#[test]
fn small_wide_tables_are_calibrated() {
    let value = |row: usize, column: usize| {
        ((row * 7 + column * 3) % 5 > 0)
            .then(|| (row / 15) as f64 + ((row * column) % 13) as f64 / 9.0)
    };
    let column = |at: usize| {
        let cells: Float64Array = (0..150).map(|row| value(row, at)).collect();
        Column::new(format!("c{at}"), Kind::Number, Arc::new(cells))
    };
    let wide = table((0..12).map(column).collect());
    let ring =
        graph(150, (0..150).flat_map(|row| [(row, (row + 1) % 150), (row, (row + 2) % 150)]));
    let graph = ring.undirected();
    let features = Features::of(&wide);
    let folds = calibration_folds(&features, &graph, &features.missing(), 0);
    assert!(folds.len() > 1);
    for (at, fold) in folds.iter().enumerate() {
        assert_eq!(fold.without(&features.missing()), *fold, "observed cells alone");
        for other in &folds[..at] {
            assert_eq!(fold.without(other), *fold, "no cell is hidden twice");
        }
    }
    let dataset = Dataset { graph: ring, table: wide, ..town(0, 60).dataset };
    let (filled, _) = filled_with_uncertainty(&dataset, "fp", &Context::default());
    let uncertainty = filled.uncertainty.expect("calibrated");
    assert!(uncertainty.calibration().columns.iter().all(ColumnCalibration::is_calibrated));
}
