//! What a person who fills a table would notice.

use std::time::Duration;

use crate::support;
use graphfill_data::generator::{GeneratorConfig, generate};
use graphfill_data::{Column, ColumnData, Direction, EdgeList, Graph, Kind, NodeTable};
use graphfill_methods::fill::{Filled, fill};
use graphfill_methods::{Context, Deadline, MethodError, Registry};

/// Filled after a short training, where there is any.
fn filled(table: &NodeTable, graph: &Graph, method: &str) -> Filled {
    let (graph, context) = (graph.undirected(), support::updates_of(30));
    fill(&support::method(method), table, &graph, &context).expect("filled").0
}

#[test]
fn every_method_fills_every_hole_and_touches_nothing_else() {
    let dataset = support::town(1);
    // GRAPE refuses a table that lacks whole rows.
    let registry = Registry::with_defaults();
    for method in registry.all().iter().filter(|method| method.info().name != "grape") {
        let name = method.info().name;
        let result = filled(&dataset.table, &dataset.graph, name);
        assert!(result.table.missing().is_empty(), "{name} leaves holes");
        assert_eq!(result.estimated, dataset.table.missing().count());
        for (before, after) in dataset.table.columns().iter().zip(result.table.columns()) {
            assert_eq!((before.name(), before.kind()), (after.name(), after.kind()));
            match (before.data(), after.data()) {
                (ColumnData::Array(a), ColumnData::Array(b)) => {
                    assert_eq!(a.data_type(), b.data_type(), "{name}: {}", before.name());
                    let (old, new) = (before.text(), after.text());
                    for row in (0..before.rows()).filter(|&row| !before.missing()[row]) {
                        assert_eq!(old.value(row), new.value(row), "{name}: {}", before.name());
                    }
                }
                (ColumnData::Block(a), ColumnData::Block(b)) => {
                    for row in 0..a.rows() {
                        let kept: Vec<_> = b
                            .cells(row)
                            .filter(|(column, _)| !a.missing().contains(row, *column as usize))
                            .collect();
                        assert_eq!(a.cells(row).collect::<Vec<_>>(), kept, "{name}");
                    }
                }
                _ => panic!("{name}: {} changed its shape", before.name()),
            }
        }
    }
}

#[test]
fn estimates_are_of_the_columns_kind() {
    let dataset = support::town(2);
    let result = filled(&dataset.table, &dataset.graph, "auto");
    for (before, after) in dataset.table.columns().iter().zip(result.table.columns()) {
        match before.kind() {
            Kind::Count => {
                assert!(after.numbers().iter().all(|v| *v >= 0.0 && v.fract() == 0.0));
            }
            Kind::Category => {
                let known = before.levels().names;
                assert!(after.levels().names.iter().all(|level| known.contains(level)));
            }
            Kind::Boolean => assert!(after.numbers().iter().all(|v| *v == 0.0 || *v == 1.0)),
            _ => {}
        }
    }
}

#[test]
fn auto_beats_the_column_mean_where_neighbours_are_alike() {
    let config = GeneratorConfig { nodes: 1500, seed: 3, ..GeneratorConfig::default() };
    let town = generate(&config).expect("a town");
    let table = &town.dataset.table;
    let [auto, mean] =
        ["auto", "column-mean"].map(|method| filled(table, &town.dataset.graph, method));
    let error = |result: &Filled, column: &str| {
        let missing = table.column(column).expect("a column").missing();
        let truth = town.truth.column(column).expect("a column");
        let estimate = result.table.column(column).expect("a column");
        let rows: Vec<usize> = (0..missing.len()).filter(|&row| missing[row]).collect();
        if truth.kind().is_numeric() {
            let (truth, estimate) = (truth.numbers(), estimate.numbers());
            rows.iter().map(|&row| (truth[row] - estimate[row]).powi(2)).sum::<f64>()
        } else {
            let (truth, estimate) = (truth.text(), estimate.text());
            rows.iter().filter(|&&row| truth.value(row) != estimate.value(row)).count() as f64
        }
    };
    for column in ["age", "income", "district", "member"] {
        assert!(error(&auto, column) < 0.95 * error(&mean, column), "{column}");
    }
}

/// What is claimed of booleans and categories is the share that is right among the missing cells, whose
/// values only the generator knows.
#[test]
fn claimed_hit_rates_are_those_of_missing_cells() {
    let config = GeneratorConfig { nodes: 3000, seed: 5, ..GeneratorConfig::default() };
    let town = generate(&config).expect("a town");
    let (table, truth) = (&town.dataset.table, &town.truth);
    for method in ["arb", "svga-p", "auto"] {
        let filled = filled(table, &town.dataset.graph, method);
        let (mut claims, mut real) = (Vec::new(), Vec::new());
        for choice in &filled.choices {
            let score = choice.validation.expect("a score");
            let about = format!("{method} {}: {score}, {:?}", choice.group, choice.reason);
            let column = table.column(&choice.group).expect("a column");
            if !matches!(column.kind(), Kind::Boolean | Kind::Category) {
                assert!(score.hit_rate.is_none() && !about.contains("hit rate"), "{about}");
                continue;
            }
            assert!(score.to_string().starts_with("hit rate 0."), "{about}");
            assert!(!about.contains("RMSE"), "{about}");
            let of = |table: &NodeTable| table.column(&choice.group).expect("a column").text();
            let (estimate, truth) = (of(&filled.table), of(truth));
            let rows: Vec<usize> = (0..table.rows()).filter(|&row| column.missing()[row]).collect();
            let share = |is_right: &dyn Fn(usize) -> bool| {
                rows.iter().filter(|&&row| is_right(row)).count() as f64 / rows.len() as f64
            };
            let known = column.levels();
            let count = |level: usize| {
                known.codes.iter().filter(|code| **code == Some(level as u32)).count()
            };
            let mode = (0..known.names.len()).max_by_key(|&level| count(level)).expect("levels");
            real.push([
                share(&|row| estimate.value(row) == truth.value(row)),
                share(&|row| known.names[mode] == truth.value(row)),
            ]);
            let claimed = score.hit_rate.expect("a hit rate");
            claims.push([claimed.value, claimed.most_frequent]);
        }
        assert!(claims.len() >= 3, "{method}: {claims:?}");
        // On about 150 hidden cells of a column chance has its part: columns are taken together.
        for at in [0, 1] {
            let mean = |rates: &[[f64; 2]]| {
                rates.iter().map(|rate| rate[at]).sum::<f64>() / rates.len() as f64
            };
            assert!((mean(&claims) - mean(&real)).abs() < 0.06, "{method}: {claims:?}, {real:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_table_for_any_number_of_threads() {
    let dataset = support::town(4);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let result =
            pool.expect("a pool").install(|| filled(&dataset.table, &dataset.graph, "auto"));
        let text = |column: &Column| match column.data() {
            ColumnData::Array(_) => format!("{:?}", column.text()),
            ColumnData::Block(block) => format!("{block:?}"),
        };
        result.table.columns().iter().map(text).collect::<Vec<String>>()
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn without_edges_and_time_to_train_the_column_mean_is_what_is_left() {
    let dataset = support::town(6);
    let alone = Graph::without_arcs(dataset.table.rows());
    let context = Context { deadline: Some(Deadline::after(Duration::ZERO)), ..Context::default() };
    let (auto, graph) = (support::method("auto"), alone.undirected());
    let (result, _) = fill(&auto, &dataset.table, &graph, &context).expect("filled");
    let means = filled(&dataset.table, &dataset.graph, "column-mean");
    for name in ["age", "income", "district"] {
        let text = |filled: &Filled| filled.table.column(name).expect("a column").text();
        assert_eq!(text(&result), text(&means), "{name}");
    }
}

#[test]
fn tiny_tables_and_senseless_ones() {
    let dataset = support::town(7);
    let unused: Vec<Column> =
        dataset.table.columns().iter().filter(|column| !column.kind().is_used()).cloned().collect();
    let nothing = dataset.table.with_columns(unused).expect("columns of the table");
    let (graph, context) = (dataset.graph.undirected(), Context::default());
    let nothing = fill(&support::method("fp"), &nothing, &graph, &context);
    assert!(matches!(nothing, Err(MethodError::NoFeatures)));

    // Two nodes, one edge, one value: the other node gets it.
    let ids = graphfill_data::NodeIds::numbered(3);
    let cells: arrow_array::Float64Array = vec![Some(4.0), None, Some(-2.0)].into();
    let column = Column::new("v", Kind::Number, std::sync::Arc::new(cells));
    let table = NodeTable::new(graphfill_data::IdColumn::default(), ids, vec![column], None);
    let table = table.expect("three rows");
    let mut edges = EdgeList::unweighted();
    edges.push(0, 1, 1.0);
    let graph = edges.into_graph(3, Direction::Undirected).expect("valid arcs");
    let result = filled(&table, &graph, "neighbour-mean");
    assert_eq!(result.table.column("v").expect("a column").numbers(), [4.0, 4.0, -2.0]);
}

/// A limit of a second leaves svga-p the fraction of a second that it needs here.
#[test]
fn a_short_time_limit_leaves_time_for_a_small_model() {
    let dataset = support::town(3);
    let context =
        Context { deadline: Some(Deadline::after(Duration::from_secs(5))), ..Context::default() };
    let graph = dataset.graph.undirected();
    let (filled, _) =
        fill(&support::method("auto"), &dataset.table, &graph, &context).expect("filled");
    let reasons: Vec<String> =
        filled.choices.iter().filter_map(|choice| choice.reason.clone()).collect();
    assert!(!reasons.iter().any(|reason| reason.contains("time limit")), "{reasons:?}");
    assert!(filled.history.is_some(), "svga-p was trained");
}

/// Where svga-p diverges, the others stand, and the choice says why.
#[test]
fn auto_falls_back_where_svga_p_diverges() {
    let dataset = support::town(3);
    let diverging: std::sync::Arc<dyn graphfill_methods::Method> =
        std::sync::Arc::new(Diverging::new());
    let auto = support::method("auto").with_candidates(&[diverging]).expect("auto");
    let (graph, context) = (dataset.graph.undirected(), Context::default());
    let (filled, _) = fill(&auto, &dataset.table, &graph, &context).expect("filled");
    assert!(filled.table.missing().is_empty());
    for choice in &filled.choices {
        let reason = choice.reason.as_deref().expect("a reason");
        assert!(reason.contains("svga-p diverged after 7 updates"), "{reason}");
    }
}

graphfill_methods::parameters! {
    /// A method that diverges.
    pub struct Diverging {}
}

impl graphfill_methods::Method for Diverging {
    fn info(&self) -> &'static graphfill_methods::MethodInfo {
        &graphfill_methods::MethodInfo {
            name: "svga-p",
            title: "",
            about: "",
            reference: "",
            edges: "uses no edges",
            parameters: Diverging::PARAMETERS,
        }
    }

    fn fit_task(
        &self,
        _: &graphfill_methods::Task<'_>,
    ) -> graphfill_methods::Result<Box<dyn graphfill_methods::Fitted>> {
        Err(MethodError::Diverged { updates: 7 })
    }
}
