//! Directions: propagation against dense references, the undirected special case, and the choice of the
//! share of in-arcs.

use graphfill_data::{
    CellMask, Column, Direction, DuplicateEdges, EdgeList, Graph, IdColumn, Kind, NodeIds,
    NodeTable,
};
use graphfill_methods::features::Features;
use graphfill_methods::fill::validation_sets;
use graphfill_methods::{Choice, Context, Task};
use proptest::prelude::*;

use crate::support::{self, Dense, estimate};

const METHODS: [&str; 4] = ["neighbour-mean", "fp", "arb", "pcfi"];

type Arcs = Vec<(u32, u32, f32)>;

fn graph(nodes: usize, arcs: &[(u32, u32, f32)], direction: Direction) -> Graph {
    let mut list = EdgeList::weighted();
    for &(source, target, weight) in arcs {
        list.push(source % nodes as u32, target % nodes as u32, weight);
    }
    list.into_graph(nodes, direction).expect("valid arcs")
}

fn turned(arcs: &[(u32, u32, f32)]) -> Arcs {
    arcs.iter().map(|&(source, target, weight)| (target, source, weight)).collect()
}

/// One column of numbers.
fn table(values: &[f64]) -> NodeTable {
    let cells: arrow_array::ArrayRef =
        std::sync::Arc::new(arrow_array::Float64Array::from(values.to_vec()));
    let columns = vec![Column::new("x", Kind::Number, cells)];
    let ids = NodeIds::numbered(values.len());
    NodeTable::new(IdColumn::default(), ids, columns, None).expect("a row per node")
}

fn waves(nodes: usize) -> Vec<f64> {
    (0..nodes).map(|row| (row as f64 * 1.7).sin() * 3.0 + 0.1 * row as f64).collect()
}

fn every_third(nodes: usize) -> CellMask {
    CellMask::of_rows(nodes, 1, (0..nodes).filter(|row| row % 3 != 1))
}

/// A_a by its definition, from the largest weight of each arc.
fn mixed(nodes: usize, arcs: &[(u32, u32, f32)], share: f64) -> Vec<Vec<f64>> {
    let mut weights = vec![vec![0.0f64; nodes]; nodes];
    for &(source, target, weight) in arcs {
        let (source, target) = (source as usize % nodes, target as usize % nodes);
        if source != target {
            weights[source][target] = weights[source][target].max(f64::from(weight));
        }
    }
    let cell = |i: usize, j: usize, share: f64| {
        (2.0 * (1.0 - share) * weights[i][j]).max(2.0 * share * weights[j][i])
    };
    let row = |i: usize| {
        let own: Vec<f64> = (0..nodes).map(|j| cell(i, j, share)).collect();
        match own.iter().any(|&weight| weight > 0.0) {
            true => own,
            false => (0..nodes).map(|j| 2.0 * cell(i, j, 0.5)).collect(),
        }
    };
    (0..nodes).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Feature propagation on S_a, and the neighbour mean on A_a.
    #[test]
    fn propagation_follows_its_definition(
        nodes in 3usize..9,
        arcs in prop::collection::vec((0u32..9, 0u32..9, 0.5f32..3.0), 1..30),
        share in prop::sample::select(vec![0.0, 0.25, 0.3, 0.75, 1.0]),
        rounds in 1usize..5,
    ) {
        let view = graph(nodes, &arcs, Direction::Directed).undirected();
        prop_assume!(view.is_directed());
        let (table, unknown) = (table(&waves(nodes)), every_third(nodes));
        let features = Features::of(&table);
        let column = support::column(&features, &unknown, 0);
        let a = mixed(nodes, &arcs, share);
        let row_sum = |i: usize| a[i].iter().sum::<f64>();
        let column_sum = |j: usize| a.iter().map(|row| row[j]).sum::<f64>();
        let mut x = column.values.clone();
        for _ in 0..rounds {
            let spread = |i: usize| -> f64 {
                let term = |j: usize| match a[i][j] {
                    0.0 => 0.0,
                    weight => weight / (row_sum(i) * column_sum(j)).sqrt() * x[j],
                };
                (0..nodes).map(term).sum()
            };
            let next: Vec<f64> = (0..nodes)
                .map(|i| if column.known[i] { column.values[i] } else { spread(i) })
                .collect();
            x = next;
        }
        let fixed = [("in_share", share), ("rounds", rounds as f64)];
        let found = estimate("fp", &fixed, &features, &view, &unknown);
        for (i, x) in x.iter().enumerate() {
            prop_assert!((found.values[i] - x - column.offset).abs() < 1e-4, "fp, node {i}");
        }
        let found = estimate("neighbour-mean", &fixed[..1], &features, &view, &unknown);
        let undirected = mixed(nodes, &arcs, 0.5);
        for i in 0..nodes {
            let mean = |a: &[Vec<f64>]| {
                let known = || (0..nodes).filter(|&j| column.known[j]);
                let weight: f64 = known().map(|j| a[i][j]).sum();
                let sum: f64 = known().map(|j| a[i][j] * column.values[j]).sum();
                (weight > 0.0).then(|| sum / weight)
            };
            let expected = mean(&a).or(mean(&undirected)).unwrap_or(0.0);
            let found = found.values[i] - column.offset;
            prop_assert!((found - expected).abs() < 1e-4, "neighbour-mean, node {i}");
        }
    }

    /// A share of ½ is the undirected graph, to the bit; turning all arcs swaps a and 1 − a.
    #[test]
    fn the_undirected_graph_is_a_special_case(
        nodes in 3usize..12,
        arcs in prop::collection::vec((0u32..12, 0u32..12, 0.5f32..3.0), 1..40),
        policy in prop::sample::select(&DuplicateEdges::ALL[..]),
    ) {
        let directed = graph(nodes, &arcs, Direction::Directed).with_duplicate_edges(policy);
        let undirected = directed.clone().with_direction(Direction::Undirected).undirected();
        let reverse = graph(nodes, &turned(&arcs), Direction::Directed);
        let reverse = reverse.with_duplicate_edges(policy).undirected();
        let directed = directed.undirected();
        prop_assume!(directed.is_directed());
        let (table, unknown) = (table(&waves(nodes)), every_third(nodes));
        let features = Features::of(&table);
        let bits = |dense: Dense| dense.values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for method in METHODS {
            let of = |graph, share| {
                bits(estimate(method, &[("in_share", share)], &features, graph, &unknown))
            };
            let as_today = bits(estimate(method, &[], &features, &undirected, &unknown));
            prop_assert_eq!(of(&directed, 0.5), as_today, "{}", method);
            for share in [0.0, 0.25, 0.75, 1.0] {
                prop_assert_eq!(of(&directed, share), of(&reverse, 1.0 - share), "{}", method);
            }
        }
    }
}

/// Pairs of nodes that point to each other and have one value, and a few strangers with values of their own
/// that point to many nodes: what a neighbour says depends on its direction.
fn telling_arcs() -> (Vec<f64>, Arcs) {
    let (pairs, strangers) = (150u32, 30u32);
    let mut values: Vec<f64> =
        (0..pairs).flat_map(|pair| [f64::from(pair * 37 % 101); 2]).collect();
    values.extend((0..strangers).map(|stranger| f64::from(stranger * 53 % 97)));
    let mut arcs = Vec::new();
    for node in 0..2 * pairs {
        arcs.push((node, node ^ 1, 1.0));
        for step in [0, 7, 12] {
            arcs.push((2 * pairs + (node + step) % strangers, node, 1.0));
        }
    }
    (values, arcs)
}

fn chosen(method: &str, values: &[f64], graph: &Graph) -> Vec<Choice> {
    let (table, view) = (table(values), graph.undirected());
    let features = Features::of(&table);
    let unknown = CellMask::of_rows(values.len(), 1, (0..values.len()).filter(|row| row % 11 == 3));
    let validation = validation_sets(&features, &unknown, 3);
    let context = Context::default();
    let task = Task { validation: &validation, ..Task::new(&view, &features, &unknown, &context) };
    support::method(method).fit_task(&task).expect("fitted").choices().to_vec()
}

#[test]
fn validation_chooses_the_direction_that_tells() {
    let (values, arcs) = telling_arcs();
    for method in METHODS {
        let of = |arcs: &[(u32, u32, f32)], direction| {
            let graph = graph(values.len(), arcs, direction);
            chosen(method, &values, &graph).remove(0)
        };
        let (out, into) = (of(&arcs, Direction::Directed), of(&turned(&arcs), Direction::Directed));
        let share = |choice: &Choice| choice.parameters.get("in_share").expect("a share");
        assert!(share(&out) < 0.5, "{method}: {out:?}");
        assert_eq!(share(&into), 1.0 - share(&out), "{method}: {into:?}");
        let without = of(&arcs, Direction::Undirected);
        assert!(!without.parameters.has("in_share"), "{method}: {without:?}");
        // A method without anything else to choose is not scored.
        assert_eq!(without.validation.is_none(), method == "neighbour-mean");
        let better = out.validation.expect("a score");
        if let Some(worse) = without.validation {
            assert!(better.value < 0.9 * worse.value, "{method}: {better} and {worse}");
        }
    }
}

/// A graph that lists both arcs of every edge is chosen for, and estimated, as without directions.
#[test]
fn a_symmetric_graph_is_undirected() {
    let (values, arcs) = telling_arcs();
    let both: Arcs = arcs.iter().copied().chain(turned(&arcs)).collect();
    for method in METHODS {
        let of = |direction| chosen(method, &values, &graph(values.len(), &both, direction));
        assert_eq!(of(Direction::Directed), of(Direction::Undirected), "{method}");
    }
}

#[test]
fn a_share_that_says_nothing_is_refused() {
    let (values, arcs) = telling_arcs();
    let (table, graph) = (table(&values), graph(values.len(), &arcs, Direction::Undirected));
    let (features, view) = (Features::of(&table), graph.undirected());
    let (unknown, context) = (every_third(values.len()), Context::default());
    let task = Task::new(&view, &features, &unknown, &context);
    for method in METHODS {
        let mut fixed = graphfill_methods::ParamOverrides::default();
        fixed.set(method, "in_share", 0.25);
        let Err(error) = support::method_with(method, &fixed).fit_task(&task) else {
            panic!("{method} took a share of in-arcs that there are not");
        };
        assert!(error.to_string().contains("no directions"), "{error}");
    }
}

/// Every method says what it does with edges, and those with a share of in-neighbours name it.
#[test]
fn every_method_says_what_it_does_with_edges() {
    for method in graphfill_methods::Registry::with_defaults().all() {
        let info = method.info();
        assert!(!info.edges.trim().is_empty(), "{} says nothing of edges", info.name);
        let has_share = info.parameters.iter().any(|parameter| parameter.name == "in_share");
        assert_eq!(info.edges.contains("in_share"), has_share, "{}: {}", info.name, info.edges);
        assert_eq!(has_share, METHODS.contains(&info.name), "{}", info.name);
    }
}
