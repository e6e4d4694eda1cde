//! Hide-and-score on small tables whose scores are known.

use std::sync::Arc;

use arrow_array::Float64Array;
use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::generator::{GeneratorConfig, generate};
use graphfill_data::splits::SplitRatio;
use graphfill_data::{
    CellMask, Column, Dataset, Direction, EdgeList, IdColumn, Kind, NodeIds, NodeTable,
};
use graphfill_eval::{EvaluateOptions, Evaluation, Hiding, evaluate};
use graphfill_methods::Registry;
use graphfill_methods::features::Features;

fn scored(dataset: &Dataset, hiding: Hiding, seeds: &[u64]) -> Evaluation {
    let names = ["column-mean", "neighbour-mean"];
    let options = EvaluateOptions {
        hiding,
        seeds: seeds.to_vec(),
        ..EvaluateOptions::new(
            names.map(|name| Registry::with_defaults().find(name).expect("a method")).to_vec(),
        )
    };
    evaluate(dataset, &options).expect("an evaluation")
}

/// Groups of eight nodes joined to one another; what a column says depends on the group alone.
fn groups(columns: Vec<Column>) -> Dataset {
    let mut edges = EdgeList::unweighted();
    for group in 0..15u32 {
        for a in 0..8 {
            (a + 1..8).for_each(|b| edges.push(group * 8 + a, group * 8 + b, 1.0));
        }
    }
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(120), columns, None);
    let graph = edges.into_graph(120, Direction::Undirected).expect("valid arcs");
    Dataset::new("groups", "by hand", table.expect("120 rows"), graph).expect("a row per node")
}

fn number(name: &str) -> Column {
    let cells: Float64Array = (0..120).map(|node| Some(f64::from(node / 8) + 0.5)).collect();
    Column::new(name, Kind::Number, Arc::new(cells))
}

fn tags(name: &str, width: usize) -> Column {
    let mut builder = BlockBuilder::new(width, BlockLayout::List);
    for node in 0..120 {
        builder.push_row(&mut [((node / 8 % width) as u32, 1.0)]);
    }
    Column::block(name, builder.finish(CellMask::none(120, width)))
}

#[test]
fn a_column_that_follows_the_graph_is_recovered() {
    let evaluation =
        scored(&groups(vec![number("v")]), Hiding::Rows(SplitRatio::default()), &[0, 1]);
    let [mean, neighbours] = &evaluation.methods[..] else { panic!("two methods") };
    let column = &neighbours.mean.columns["v"];
    assert!(column["r2"] > 0.99 && column["rmse"] < 0.2, "{column:?}");
    assert!(mean.mean.table["nrmse"] > 0.95);
    // One column: the table's error is that column's.
    assert!((neighbours.mean.table["rmse"] - column["rmse"]).abs() < 1e-12);
    assert_eq!(evaluation.comparisons[0].method, "neighbour-mean");
    assert!(evaluation.comparisons[0].difference < 0.0, "less error");
}

#[test]
fn the_comparison_is_of_the_metric_that_it_names() {
    for (columns, primary) in [
        (vec![tags("a", 15), tags("b", 30), number("v")], "recall@3"),
        (vec![tags("a", 15)], "recall@1"),
        (vec![number("v"), number("w")], "nrmse"),
    ] {
        let evaluation = scored(&groups(columns), Hiding::Rows(SplitRatio::default()), &[0]);
        assert_eq!(evaluation.primary, primary);
        let value = |method: usize| evaluation.methods[method].mean.table[primary];
        let comparison = &evaluation.comparisons[0];
        assert_eq!(
            (comparison.method.as_str(), comparison.metric.as_str()),
            ("neighbour-mean", primary)
        );
        let difference = value(1) - value(0);
        assert!((comparison.difference - difference).abs() < 1e-9, "{primary}: {comparison:?}");
    }
}

#[test]
fn hidden_parts_are_apart_and_known() {
    let config = GeneratorConfig { nodes: 200, ..GeneratorConfig::default() };
    let dataset = generate(&config).expect("a town").dataset;
    let features = Features::of(&dataset.table);
    let missing = features.missing();
    for hiding in [Hiding::Rows(SplitRatio::default()), Hiding::Cells(0.2), Hiding::Cells(0.9)] {
        let hidden = hiding.for_seed(&dataset.table, &features, 3).expect("hidden");
        let apart = |a: &CellMask, b: &CellMask| a.without(b) == *a;
        assert!(apart(&hidden.test, &hidden.validation) && apart(&hidden.test, &missing));
        assert!(apart(&hidden.validation, &missing));
        for part in [&hidden.test, &hidden.validation, &missing] {
            assert!(part.without(&hidden.unknown).is_empty(), "{hiding:?}");
        }
        assert!(hidden.unknown.count() < features.rows() * features.cells());
        assert!(!hidden.test.is_empty() && !hidden.validation.is_empty());
    }
}
