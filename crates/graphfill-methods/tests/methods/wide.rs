//! SVGA-P on tables that have a block of hundreds of columns beside others: the block tells the other cells
//! of a row, hidden cells stay secret, and a saved model estimates the same.

use std::sync::Arc;

use arrow_array::{BooleanArray, Float64Array};
use graphfill_data::{CellMask, Column, ColumnData, Kind, NodeTable};
use graphfill_methods::features::Features;
use graphfill_methods::fill::fill;
use graphfill_methods::{CheckpointOptions, Context, Fitted, Model, Registry, Task};

use crate::support::{Dense, method_with, small_models, texts, updates_of};
use crate::tables::{block, table, village};

const ROWS: usize = 160;
/// The columns of the block, 40 for each topic.
const WORDS: usize = 320;
const TOPICS: usize = 8;

/// What a row is about; neighbours say nothing of it.
fn topic(row: usize) -> usize {
    row * 37 % 101 % TOPICS
}

/// The words of a row: some of its topic, one of any.
fn words(row: usize) -> Vec<u32> {
    let first = 40 * topic(row);
    let own = (0..12).map(|at| first + (row * 7 + at * at * 3) % 40);
    own.chain([row * 53 % WORDS]).map(|word| word as u32).collect()
}

fn price(row: usize) -> f64 {
    let level = [3.0, 11.0, 5.0, 20.0, 7.0, 14.0, 1.0, 9.0][topic(row)];
    level + 0.1 * (row % 5) as f64
}

/// Words, a number that follows from them, and a truth value; cells are holes where `hole(row, column)`, the
/// words being column 0. Prices of the rows that `other` names are other ones.
fn shop(hole: impl Fn(usize, usize) -> bool, other: impl Fn(usize, usize) -> bool) -> NodeTable {
    let missing = CellMask::of_rows(ROWS, WORDS, (0..ROWS).filter(|&row| hole(row, 0)));
    let source =
        |row: usize, column: usize| if other(row, column) { (row + 3) % ROWS } else { row };
    let prices: Float64Array =
        (0..ROWS).map(|row| (!hole(row, 1)).then(|| price(source(row, 1)))).collect();
    let open: BooleanArray =
        (0..ROWS).map(|row| (!hole(row, 2)).then(|| topic(source(row, 2)) < 4)).collect();
    table(vec![
        block(ROWS, WORDS, |row| words(source(row, 0)), missing),
        Column::new("price", Kind::Number, Arc::new(prices)),
        Column::new("open", Kind::Boolean, Arc::new(open)),
    ])
}

fn nothing(_: usize, _: usize) -> bool {
    false
}

/// Holes in prices and truth values; some rows have no words either.
fn holes(row: usize, column: usize) -> bool {
    match column {
        0 => row % 16 == 5,
        1 => row % 5 == 1,
        _ => row % 5 == 3,
    }
}

#[test]
fn words_tell_the_numbers_of_their_row() {
    let complete_words = |row: usize, column: usize| column > 0 && holes(row, column);
    let shop = shop(complete_words, nothing);
    let graph = village(ROWS).undirected();
    let method = method_with("svga-p", &Default::default());
    let filled = fill(&method, &shop, &graph, &Context::default()).expect("filled").0.table;
    let rows = || (0..ROWS).filter(|&row| complete_words(row, 1));
    let prices = filled.columns()[1].numbers();
    let mean = rows().map(price).sum::<f64>() / rows().count() as f64;
    let squares =
        |of: &dyn Fn(usize) -> f64| rows().map(|r| (of(r) - price(r)).powi(2)).sum::<f64>();
    let ratio = (squares(&|row| prices[row]) / squares(&|_| mean)).sqrt();
    assert!(ratio < 0.4, "words say nothing of prices: {ratio}");
    let rows = (0..ROWS).filter(|&row| complete_words(row, 2));
    let open = filled.columns()[2].numbers();
    let right = rows.clone().filter(|&row| (open[row] == 1.0) == (topic(row) < 4)).count();
    assert!(right * 10 >= rows.count() * 9, "{right} are right");
}

/// With missing words there are two models; a saved model has both.
#[test]
fn a_saved_model_estimates_the_same() {
    let shop = shop(holes, nothing);
    let graph = village(ROWS).undirected();
    let method = method_with("svga-p", &small_models());
    let context = updates_of(20);
    let model = Model::fit(method, &shop, &graph, &context).expect("a model");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    model.save(&path).expect("saved");
    let loaded = Model::load(&path, &Registry::with_defaults()).expect("loaded");
    let [own, again] = [&model, &loaded]
        .map(|model| model.transform(&shop, &graph, &context).expect("filled").table);
    assert!(own.missing().is_empty());
    assert_eq!(texts(&own), texts(&again));
    // Missing words come from the block's model: their rows are no longer empty.
    let ColumnData::Block(block) = own.columns()[0].data() else { panic!("a block") };
    assert!((0..ROWS).all(|row| !block.columns(row).is_empty()));
}

/// With the finished model in place of the checkpoint, the same run ends at once with the same estimates.
#[test]
fn a_finished_run_is_not_taken_for_another() {
    let graph = village(ROWS).undirected();
    let complete_words = |row: usize, column: usize| column > 0 && holes(row, column);
    for shop in [shop(holes, nothing), shop(complete_words, nothing)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model");
        let checkpoint = Some(CheckpointOptions { path: path.clone(), every: 10 });
        let context = Context { checkpoint, ..updates_of(20) };
        let run = || {
            let method = method_with("svga-p", &small_models());
            let model = Model::fit(method, &shop, &graph, &context).expect("a model");
            model.save(&path).expect("saved");
            texts(&model.transform(&shop, &graph, &context).expect("filled").table)
        };
        assert_eq!(run(), run());
    }
}

/// Which set a cell is in: 0 unknown, 1 validation, 2 held out.
fn set_of(row: usize, column: usize) -> usize {
    (row * 3 + column * 5) % 7
}

fn mask(features: &Features<'_>, set: usize) -> CellMask {
    CellMask::build(ROWS, features.cells(), |row, cells| {
        for (column, group) in features.groups().iter().enumerate() {
            if set_of(row, column) == set {
                cells.extend(group.cells.clone().map(|cell| cell as u32));
            }
        }
    })
}

/// All estimates, and those of the held-out set.
fn estimates(shop: &NodeTable) -> [Vec<u64>; 2] {
    let features = Features::of(shop);
    let graph = village(ROWS).undirected();
    let [unknown, validation, held_out] = [0, 1, 2].map(|set| mask(&features, set));
    let (validation, held_out) = ([validation], [held_out]);
    let context = updates_of(10);
    let task = Task {
        validation: &validation,
        held_out: &held_out,
        ..Task::new(&graph, &features, &unknown, &context)
    };
    let fitted = method_with("svga-p", &small_models()).fit_task(&task).expect("fitted");
    let width = features.width();
    let dense = |estimate: &dyn Fn(&dyn Fitted, &mut Dense)| {
        let mut dense = Dense { width, values: vec![0.0; ROWS * width] };
        estimate(fitted.as_ref(), &mut dense);
        dense.values
    };
    assert_eq!(fitted.held_out_sets(&task), 1);
    let all = dense(&|fitted, sink| fitted.estimate(&task, sink).expect("estimates"));
    let hidden =
        dense(&|fitted, sink| fitted.estimate_held_out(&task, 0, sink).expect("estimates"));
    let in_set = (0..ROWS * width).filter(|&at| {
        let (row, feature) = (at / width, at % width);
        let group = features.groups().iter().position(|group| group.features.contains(&feature));
        set_of(row, group.expect("a group")) == 2
    });
    let bits = |values: &[f64], at: usize| values[at].to_bits();
    [
        (0..all.len()).map(|at| bits(&all, at)).collect(),
        in_set.map(|at| bits(&hidden, at)).collect(),
    ]
}

/// Unknown cells leave no trace; held-out cells have no part in the estimates of them.
#[test]
fn hidden_cells_stay_secret() {
    let honest = estimates(&shop(nothing, nothing));
    let unknown = estimates(&shop(nothing, |row, column| set_of(row, column) == 0));
    assert!(honest == unknown, "unknown cells were seen");
    let held_out = estimates(&shop(nothing, |row, column| set_of(row, column) == 2));
    assert!(honest[1] == held_out[1], "held-out cells were seen");
    assert!(honest[0] != held_out[0], "they should teach something in the end");
}
