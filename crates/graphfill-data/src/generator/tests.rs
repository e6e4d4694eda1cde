//! What a user would notice about a generated graph.

use std::time::Instant;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::block::{Block, BlockLayout};
use crate::column::ColumnData;
use crate::kind::BlockKind;
use crate::undirected::UndirectedGraph;

fn made(config: &GeneratorConfig) -> Generated {
    generate(config).expect("a sensible config")
}

fn numbers(table: &NodeTable, name: &str) -> Vec<f64> {
    table.column(name).expect("the column").numbers()
}

fn block(table: &NodeTable) -> &Block {
    match table.column("interests").expect("the block").data() {
        ColumnData::Block(block) => block,
        ColumnData::Array(_) => panic!("interests is no block"),
    }
}

/// Pearson's correlation of a value at the two ends of all edges, both ways.
fn correlation_across_edges(view: &UndirectedGraph, values: &[f64]) -> f64 {
    let ends = || {
        view.iter().flat_map(|(one, other, _)| {
            let (one, other) = (values[one as usize], values[other as usize]);
            [(one, other), (other, one)]
        })
    };
    let count = ends().count() as f64;
    let mean = ends().map(|(one, _)| one).sum::<f64>() / count;
    let variance = ends().map(|(one, _)| (one - mean) * (one - mean)).sum::<f64>();
    ends().map(|(one, other)| (one - mean) * (other - mean)).sum::<f64>() / variance
}

fn overlap(block: &Block, one: usize, other: usize) -> f64 {
    let other = block.columns(other);
    block.columns(one).iter().filter(|tag| other.contains(tag)).count() as f64
}

/// Every observed cell of the used columns stands in the truth, and vice versa.
fn assert_observed_is_true(generated: &Generated) {
    let (table, truth) = (&generated.dataset.table, &generated.truth);
    for (column, full) in table.columns().iter().zip(truth.columns()) {
        assert_eq!((column.name(), column.kind()), (full.name(), full.kind()));
        match (column.data(), full.data()) {
            (ColumnData::Block(holed), ColumnData::Block(full)) => {
                assert_eq!(*holed, full.with_hidden(holed.missing()));
            }
            _ => {
                let (missing, text, full) = (column.missing(), column.text(), full.text());
                for row in (0..table.rows()).filter(|&row| !missing[row]) {
                    assert_eq!(text.value(row), full.value(row));
                }
            }
        }
    }
}

fn assert_same(one: &Generated, other: &Generated) {
    assert_eq!(one.dataset.graph, other.dataset.graph);
    assert_eq!(one.truth.ids(), other.truth.ids());
    assert_eq!(one.truth.labels(), other.truth.labels());
    assert_eq!(one.dataset.table.missing(), other.dataset.table.missing());
    for (column, same) in one.truth.columns().iter().zip(other.truth.columns()) {
        match (column.data(), same.data()) {
            (ColumnData::Array(cells), ColumnData::Array(same)) => assert_eq!(cells, same),
            (ColumnData::Block(cells), ColumnData::Block(same)) => assert_eq!(cells, same),
            _ => panic!("column '{}' changed its shape", column.name()),
        }
    }
}

#[test]
fn a_seed_means_one_graph_whatever_the_threads() {
    let config = GeneratorConfig { seed: 3, ..GeneratorConfig::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    assert_same(&made(&config), &pool.install(|| made(&config)));
    let other = made(&GeneratorConfig { seed: 4, ..config.clone() });
    let own = made(&config);
    assert_ne!(own.dataset.graph, other.dataset.graph);
    assert_ne!(numbers(&own.truth, "income"), numbers(&other.truth, "income"));
    assert_ne!(own.dataset.table.missing(), other.dataset.table.missing());
}

#[test]
fn other_columns_leave_the_graph_as_it_was() {
    let config = GeneratorConfig::default();
    let few = GeneratorConfig { columns: ColumnSet::Numbers(2), topics: 0, ..config.clone() };
    assert_eq!(made(&config).dataset.graph, made(&few).dataset.graph);
}

#[test]
fn the_graph_is_as_asked() {
    let config = GeneratorConfig {
        nodes: 10_000,
        mean_degree: 8.0,
        mixing: 0.2,
        ..GeneratorConfig::default()
    };
    let generated = made(&config);
    let view = generated.dataset.graph.undirected();
    assert_eq!((view.self_loops(), view.duplicate_arcs()), (0, 0));
    let mean = 2.0 * view.edges() as f64 / 10_000.0;
    assert!((mean - 8.0).abs() < 0.01, "{mean}");

    let labels = generated.truth.labels().expect("communities");
    let class = |node: u32| labels.codes[node as usize];
    let leaving = view.iter().filter(|&(one, other, _)| class(one) != class(other)).count();
    let share = leaving as f64 / view.edges() as f64;
    assert!((share - 0.2).abs() < 0.02, "{share}");

    let (components, count) = view.components();
    let mut sizes = vec![0usize; count];
    for component in components {
        sizes[component as usize] += 1;
    }
    assert!(sizes.iter().any(|&size| size > 9_000), "no giant component");
    assert!(sizes.iter().filter(|&&size| size == 1).count() >= 50, "too few alone");
    assert!(sizes.iter().filter(|&&size| (2..10).contains(&size)).count() >= 20, "{sizes:?}");
}

#[test]
fn skew_makes_hubs() {
    let largest = |degree_skew| {
        let config = GeneratorConfig { nodes: 10_000, degree_skew, ..GeneratorConfig::default() };
        let view = made(&config).dataset.graph.undirected();
        (0..10_000).map(|node| view.degree(node)).max().unwrap_or(0)
    };
    let (even, skewed) = (largest(0.0), largest(0.5));
    assert!(even < 25, "{even}");
    assert!(skewed > 100, "{skewed}");
}

#[test]
fn neighbours_are_alike_but_not_the_same() {
    let generated = made(&GeneratorConfig { nodes: 5_000, ..GeneratorConfig::default() });
    let view = generated.dataset.graph.undirected();
    for name in ["income", "age", "visits", "member"] {
        let correlation = correlation_across_edges(&view, &numbers(&generated.truth, name));
        assert!((0.15..0.7).contains(&correlation), "{name}: {correlation}");
    }
    for name in ["district", "occupation"] {
        let levels = generated.truth.column(name).expect("the column").levels().codes;
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut same = [0.0; 2];
        for (one, other, _) in view.iter() {
            same[0] += f64::from(u8::from(levels[one as usize] == levels[other as usize]));
            let stranger = random.random_range(0..5_000usize);
            same[1] += f64::from(u8::from(levels[one as usize] == levels[stranger]));
        }
        assert!(same[0] > 1.3 * same[1], "{name}: {same:?}");
    }
    let block = block(&generated.truth);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let (mut friends, mut strangers) = (0.0, 0.0);
    for (one, other, _) in view.iter() {
        friends += overlap(block, one as usize, other as usize);
        strangers += overlap(block, one as usize, random.random_range(0..5_000));
    }
    assert!(friends > 1.3 * strangers, "{friends} {strangers}");
}

#[test]
fn the_table_is_typed_and_reads_like_one() {
    let generated = made(&GeneratorConfig::default());
    let truth = &generated.truth;
    let kinds: Vec<_> = truth.columns().iter().map(|c| (c.name(), c.kind().clone())).collect();
    let expected = [
        ("age", Kind::Count),
        ("income", Kind::Number),
        ("member", Kind::Boolean),
        ("district", Kind::Category),
        ("occupation", Kind::Category),
        ("visits", Kind::Count),
        ("note", Kind::Unused(Unused::FreeText { distinct: 2000 })),
        ("community", Kind::Unused(Unused::Label)),
        ("interests", Kind::Block(BlockKind::Binary)),
    ];
    assert_eq!(kinds, expected);
    assert!(numbers(truth, "age").iter().all(|age| (18.0..=97.0).contains(age)));
    let income = numbers(truth, "income");
    assert!(income.iter().all(|&income| income > 0.0 && columns::rounded(income, 2) == income));
    let mean = income.iter().sum::<f64>() / 2000.0;
    let below = income.iter().filter(|&&income| income < mean).count();
    assert!(below > 1100, "income is not skewed: {below} of 2000 below the mean");
    assert_eq!(truth.column("note").expect("the column").levels().names.len(), 2000);
    let tags = block(truth);
    let mean = tags.stored() as f64 / 2000.0;
    assert!((mean - 5.0).abs() < 0.2, "{mean}");
    let BlockLayout::Columns(names) = tags.layout() else { panic!("no names") };
    assert_eq!(names[..2], ["cycling", "chess"]);
    assert_eq!(truth.ids().text(7), "n7");
}

#[test]
fn holes_are_as_many_as_asked() {
    let config =
        GeneratorConfig { missing_rows: 0.3, missing_cells: 0.25, ..GeneratorConfig::default() };
    let generated = made(&config);
    assert_observed_is_true(&generated);
    assert!(generated.truth.missing().is_empty());
    let missing = generated.dataset.table.missing();
    assert_eq!(missing.width(), 46);
    assert_eq!(missing.whole_rows(), 600);
    let single = missing.count() - 600 * 46;
    let share = single as f64 / (1400.0 * 46.0);
    assert!((share - 0.25).abs() < 0.01, "{share}");
    assert_eq!(generated.dataset.table.column("note").expect("the note").missing_count(), 0);
    let whole = made(&GeneratorConfig {
        missing_rows: 0.0,
        missing_cells: 0.0,
        ..GeneratorConfig::default()
    });
    assert!(whole.dataset.table.missing().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn small_and_odd_recipes_work(
        nodes in 10usize..400,
        density in 0.0f64..=1.0,
        crowding in 0.0f64..=1.0,
        mixing in 0.0f64..=1.0,
        degree_skew in 0.0f64..=0.9,
        topics in 0usize..100,
        wordiness in 0.0f64..=0.5,
        numbers in 0usize..3,
        holes in (0.0f64..0.999, 0.0f64..0.999),
        seed: u64,
    ) {
        let config = GeneratorConfig {
            nodes,
            mean_degree: density * (nodes - 1) as f64 / 2.0,
            communities: 1 + (crowding * (nodes - 1) as f64) as usize,
            mixing,
            degree_skew,
            topics,
            words_per_node: wordiness * topics as f64,
            columns: if numbers == 0 { ColumnSet::Mixed } else { ColumnSet::Numbers(numbers) },
            missing_rows: holes.0,
            missing_cells: holes.1,
            seed,
        };
        let generated = made(&config);
        assert_observed_is_true(&generated);
        prop_assert!(generated.dataset.graph.arcs() <= config.edges());
        prop_assert!(generated.dataset.table.missing().whole_rows() < nodes);
    }
}

#[test]
fn large_graphs_take_seconds() {
    let start = Instant::now();
    let generated =
        made(&GeneratorConfig { nodes: 200_000, mean_degree: 10.0, ..GeneratorConfig::default() });
    assert!(generated.dataset.graph.arcs() > 999_000);
    // Generous, for slow machines that run other tests beside it.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
