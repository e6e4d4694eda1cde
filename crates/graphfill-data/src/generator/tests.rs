//! What users of the example rely on: seeds, the shape of the graph, similar neighbours, missing
//! cells.

use proptest::prelude::*;

use super::*;
use crate::kind::BlockKind;

fn made(config: &GeneratorConfig) -> Generated {
    generate(config).expect("a valid config")
}

fn text(table: &NodeTable, name: &str) -> StringArray {
    table.column(name).expect("the column").text()
}

#[test]
fn the_seed_decides_everything_and_columns_leave_the_graph_alone() {
    let config = GeneratorConfig { nodes: 500, seed: 3, ..GeneratorConfig::default() };
    let (one, same) = (made(&config), made(&config));
    let other = made(&GeneratorConfig { seed: 4, ..config.clone() });
    assert_eq!(one.dataset.graph, same.dataset.graph);
    assert_eq!(one.dataset.table.missing(), same.dataset.table.missing());
    assert_eq!(text(&one.truth, "income"), text(&same.truth, "income"));
    assert_ne!(one.dataset.graph, other.dataset.graph);
    assert_ne!(one.dataset.table.missing(), other.dataset.table.missing());
    assert_ne!(text(&one.truth, "income"), text(&other.truth, "income"));
    // Known values of this seed: results must not depend on the platform.
    let names = ["age", "income", "district", "occupation", "visits", "note"];
    let first = names.map(|name| text(&one.truth, name).value(0).to_owned());
    let note = "asks for the quiet table, card 100000";
    assert_eq!(first, ["51", "26892.69", "Station", "builder", "6", note]);
    let numbers = ColumnSet::Numbers(2);
    let numbers = made(&GeneratorConfig { columns: numbers, topics: 0, ..config });
    assert_eq!(one.dataset.graph, numbers.dataset.graph);
    assert_eq!(numbers.truth.features(), 2);
}

#[test]
fn the_graph_and_the_similarity_of_neighbours_are_as_configured() {
    let config = GeneratorConfig {
        nodes: 5000,
        mean_degree: 8.0,
        mixing: 0.2,
        ..GeneratorConfig::default()
    };
    let Generated { dataset, truth } = made(&config);
    let view = dataset.graph.undirected();
    assert_eq!((view.self_loops(), view.duplicate_arcs()), (0, 0));
    assert!((2.0 * view.edges() as f64 / 5000.0 - 8.0).abs() < 0.01, "{}", view.edges());
    let codes = &truth.labels().expect("communities").codes;
    let between = view.iter().filter(|&(a, b, _)| codes[a as usize] != codes[b as usize]).count();
    assert!((between as f64 / view.edges() as f64 - 0.2).abs() < 0.02, "{between}");

    let income = truth.column("income").expect("incomes").numbers();
    let mean = income.iter().sum::<f64>() / 5000.0;
    let deviation = |node: u32| income[node as usize] - mean;
    let ends = |pick: &dyn Fn(u32, u32) -> f64| -> f64 {
        view.iter().map(|(a, b, _)| pick(a, b) + pick(b, a)).sum()
    };
    let variance = ends(&|a, _| deviation(a) * deviation(a));
    let correlation = ends(&|a, b| deviation(a) * deviation(b)) / variance;
    assert!((0.15..0.7).contains(&correlation), "{correlation}");
}

#[test]
fn columns_have_their_kinds_and_missing_cells_their_fractions() {
    let config =
        GeneratorConfig { missing_rows: 0.3, missing_cells: 0.25, ..GeneratorConfig::default() };
    let Generated { dataset, truth } = made(&config);
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
    assert!(truth.missing().is_empty());
    let missing = dataset.table.missing();
    assert_eq!((missing.width(), missing.whole_rows()), (46, 600));
    let fraction = (missing.count() - 600 * 46) as f64 / (1400.0 * 46.0);
    assert!((fraction - 0.25).abs() < 0.01, "{fraction}");
    let (holed, full) = (text(&dataset.table, "income"), text(&truth, "income"));
    assert!(holed.iter().zip(&full).all(|(cell, full)| cell.is_none() || cell == full));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn small_and_odd_configs_work_and_others_are_refused(
        nodes in 5usize..400,
        density in 0.0f64..=1.2,
        communities in 0usize..30,
        mixing in -0.1f64..=1.1,
        topics in 0usize..100,
        words in 0.0f64..=0.6,
        columns in prop_oneof![
            Just(ColumnSet::Mixed), Just(ColumnSet::None), (0..3usize).prop_map(ColumnSet::Numbers)
        ],
        missing in (-0.1f64..1.1, -0.1f64..1.1),
        seed: u64,
    ) {
        let config = GeneratorConfig {
            nodes,
            mean_degree: density * (nodes - 1) as f64 / 2.0,
            communities,
            mixing,
            topics,
            words_per_node: words * topics as f64,
            columns,
            missing_rows: missing.0,
            missing_cells: missing.1,
            seed,
        };
        match generate(&config) {
            Ok(made) => prop_assert!(made.dataset.table.missing().whole_rows() < nodes),
            Err(error) => prop_assert!(matches!(error, DataError::Request { .. }), "{error}"),
        }
    }
}
