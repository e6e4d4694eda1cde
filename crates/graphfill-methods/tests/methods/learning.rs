//! Methods that learn, on tables of every kind.

use std::collections::BTreeSet;

use graphfill_data::{BlockKind, Column, ColumnData, Kind, NodeTable};
use graphfill_methods::Context;
use graphfill_methods::fill::fill;
use graphfill_methods::svga::EncoderKind;

use crate::support::{LEARNERS, filled_after, method_with, small_models, texts, town, updates_of};
use crate::tables::{mixed, village};

#[test]
fn every_encoder_fills_a_town_in_its_own_way() {
    let town = town(3);
    let run = |encoder: EncoderKind, depth: f64| {
        let mut fixed = small_models();
        fixed.set("svga", "encoder", encoder.name());
        fixed.set("svga", "depth", depth);
        let result = filled_after(20, &fixed, &town.table, &town.graph, "svga");
        let filled = result.unwrap_or_else(|error| panic!("{encoder}, {depth}: {error}")).table;
        assert!(filled.missing().is_empty(), "{encoder}, depth {depth}");
        texts(&filled)
    };
    let usual: BTreeSet<_> = EncoderKind::ALL.iter().map(|&encoder| run(encoder, 2.0)).collect();
    assert_eq!(usual.len(), EncoderKind::ALL.len(), "two encoders are the same");
    for encoder in EncoderKind::ALL {
        if encoder == EncoderKind::Linear {
            continue;
        }
        let [one, three] = [1.0, 3.0].map(|depth| run(encoder, depth));
        assert_ne!(one, three, "{encoder}: the depth makes no difference");
    }
}

/// Single holes in every column: none is left, and what fills them is of the column's kind.
#[test]
fn single_holes_are_filled_within_the_type() {
    let hole = |row: usize, column: usize| (row * 5 + column * 2) % 7 == 0;
    let table = mixed(96, |row, _| row, hole);
    let truth = mixed(96, |row, _| row, |_, _| false);
    let graph = village(96);
    for method in LEARNERS.into_iter().chain(["auto"]) {
        let result = filled_after(40, &small_models(), &table, &graph, method).expect("filled");
        assert!(result.table.missing().is_empty(), "{method} leaves holes");
        assert_eq!(result.estimated, table.missing().count());
        for (column, known) in result.table.columns().iter().zip(truth.columns()) {
            assert!(is_of_the_type(column, known), "{method}: {}", column.name());
        }
    }
}

fn is_of_the_type(column: &Column, known: &Column) -> bool {
    let numbers = || column.numbers().into_iter();
    match (known.kind(), column.data()) {
        (Kind::Number, _) => numbers().all(|v| (100.0..250.0).contains(&v)),
        (Kind::Count, _) => numbers().all(|v| v >= 0.0 && v.fract() == 0.0 && v < 30.0),
        (Kind::Boolean, _) => numbers().all(|v| v == 0.0 || v == 1.0),
        (Kind::Category, _) => {
            let levels = known.levels().names;
            column.levels().names.iter().all(|level| levels.contains(level))
        }
        (_, ColumnData::Block(block)) if block.kind() == BlockKind::Binary => {
            (0..block.rows()).all(|row| block.cells(row).all(|(_, value)| value == 1.0))
        }
        (_, ColumnData::Block(block)) => {
            (0..block.rows()).all(|row| block.cells(row).all(|(_, value)| value.abs() < 20.0))
        }
        _ => false,
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let town = town(8);
    for method in LEARNERS {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let fixed = small_models();
            let fill = || filled_after(40, &fixed, &town.table, &town.graph, method);
            texts(&pool.expect("a pool").install(fill).expect("filled").table)
        };
        assert_eq!(run(1), run(2), "{method}");
    }
}

/// Where neighbours are alike, a little training is much better than the column mean.
#[test]
fn what_neighbours_share_is_learned() {
    let hole = |row: usize, _: usize| row % 6 == 0;
    let (truth, table) = (mixed(120, |row, _| row, |_, _| false), mixed(120, |row, _| row, hole));
    let graph = village(120);
    let error = |method: &str, updates: u64| {
        let mut fixed = small_models();
        LEARNERS.into_iter().for_each(|name| fixed.set(name, "hidden", 32.0));
        let result = filled_after(updates, &fixed, &table, &graph, method).expect("filled");
        let column = |table: &NodeTable| table.column("height").expect("a column").numbers();
        let pairs = column(&truth).into_iter().zip(column(&result.table));
        pairs.map(|(truth, estimate)| (truth - estimate).powi(2)).sum::<f64>()
    };
    let mean = error("column-mean", 1);
    for method in LEARNERS {
        let own = error(method, 400);
        assert!(own < 0.5 * mean, "{method}: {own} of {mean}");
    }
}

#[test]
fn another_seed_is_another_model() {
    let town = town(4);
    let graph = town.graph.undirected();
    for method in LEARNERS {
        let method = method_with(method, &small_models());
        let run = |seed: u64| {
            let context = Context { seed, ..updates_of(30) };
            texts(&fill(&method, &town.table, &graph, &context).expect("filled").0.table)
        };
        assert_eq!(run(1), run(1), "{method:?}");
        assert_ne!(run(1), run(2), "{method:?}");
    }
}
