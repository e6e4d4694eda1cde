//! Rounds as programs give what rounds on the CPU give: to the bit where the programs run on
//! the CPU too, to rounding elsewhere.

use graphfill_data::generator::{ColumnSet, GeneratorConfig, generate};
use graphfill_data::{Direction, EdgeList, UndirectedGraph};
use graphfill_engine::MemoryLimit;
use graphfill_engine::cpu::panel_width;
use proptest::prelude::*;

use super::search::{Best, Budget, search};
use super::{IN_SHARE, Loaded, Operators, Propagation, Purpose};
use crate::arb::Arb;
use crate::device;
use crate::feature_propagation::FeaturePropagation;
use crate::features::{Features, Panel};
use crate::fill::validation_sets;
use crate::method::Task;
use crate::neighbour_mean::NeighbourMean;
use crate::parameters::Parameters;
use crate::pcfi::Pcfi;

/// The methods, with settings that behave differently.
fn methods() -> Vec<(Box<dyn Propagation>, Parameters)> {
    let none = Parameters::default;
    let arb = |alpha: f64, beta: f64| none().with("alpha", alpha).with("beta", beta);
    vec![
        (Box::new(FeaturePropagation::new()), none()),
        (Box::new(Arb::new()), arb(0.9, 0.7)),
        (Box::new(Arb::new()), arb(1.0, 0.5)),
        (Box::new(Arb::new()), arb(0.3, 0.0)),
        (Box::new(Pcfi::new()), none().with("alpha", 0.5)),
        (Box::new(NeighbourMean::new()), none()),
        // Of undirected graphs these are the same as those before.
        (Box::new(FeaturePropagation::new()), none().with(IN_SHARE, 0.0)),
        (Box::new(Arb::new()), arb(0.9, 0.7).with(IN_SHARE, 1.0)),
        (Box::new(Pcfi::new()), none().with("alpha", 0.5).with(IN_SHARE, 0.25)),
        (Box::new(NeighbourMean::new()), none().with(IN_SHARE, 0.0)),
        (Box::new(NeighbourMean::new()), none().with(IN_SHARE, 0.75)),
    ]
}

fn graph(nodes: usize, edges: &[(u32, u32, f32)], weighted: bool) -> UndirectedGraph {
    graph_of(nodes, edges, weighted, Direction::Undirected)
}

fn graph_of(
    nodes: usize,
    edges: &[(u32, u32, f32)],
    weighted: bool,
    direction: Direction,
) -> UndirectedGraph {
    let mut list = if weighted { EdgeList::weighted() } else { EdgeList::unweighted() };
    for &(one, other, weight) in edges {
        list.push(one % nodes as u32, other % nodes as u32, weight);
    }
    list.into_graph(nodes, direction).expect("valid arcs").undirected()
}

/// Numbers between −1 and 1, those that are not known left out.
fn panel(nodes: usize, columns: usize, seed: usize, known: impl Fn(usize, usize) -> bool) -> Panel {
    let width = panel_width(columns);
    let mut panel = Panel {
        features: 0..columns,
        width,
        values: vec![0.0; nodes * width],
        known: vec![0; nodes],
        offsets: vec![0.0; columns],
    };
    for row in 0..nodes {
        for column in (0..columns).filter(|&column| known(row, column)) {
            panel.known[row] |= 1 << column;
            let number = (row * 37 + column * 101 + seed * 13 + 7) as f32 * 0.618;
            panel.values[row * width + column] = number.sin();
        }
    }
    panel
}

/// What was handed out, round by round.
fn handed_out(
    method: &dyn Propagation,
    loaded: &Loaded<'_>,
    parameters: &Parameters,
    rounds: &[usize],
) -> Vec<(usize, Vec<f32>)> {
    let mut all = Vec::new();
    let ran = method.run(loaded, parameters, rounds, &mut |round, values| {
        all.push((round, values.to_vec()));
    });
    ran.expect("a run");
    all
}

fn same(found: &[f32], expected: &[f32]) -> bool {
    let near = |(found, expected): (&f32, &f32)| {
        let close = (found - expected).abs() <= 1e-5 * expected.abs().max(1.0);
        if device::device().is_cuda() { close } else { found.to_bits() == expected.to_bits() }
    };
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

/// Compares every method on one panel after another, with the same programs.
fn compare_rounds(graph: &UndirectedGraph, panels: &[Panel], rounds: &[usize]) {
    let processor = Operators::new(graph);
    let programs = Operators::as_programs(graph, &device::device());
    for (method, parameters) in methods() {
        for (at, panel) in panels.iter().enumerate() {
            let rounds = if method.max_rounds() == 1 { &[1] } else { rounds };
            let expected = handed_out(&*method, &processor.load(panel), &parameters, rounds);
            let found = handed_out(&*method, &programs.load(panel), &parameters, rounds);
            let numbers: Vec<usize> = found.iter().map(|(round, _)| *round).collect();
            assert_eq!(numbers, rounds);
            for ((round, found), (_, expected)) in found.iter().zip(&expected) {
                let name = method.info().name;
                assert!(
                    same(found, expected),
                    "{name} {parameters:?}, panel {at}, round {round}: {found:?} not {expected:?}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn programs_do_what_the_processor_does(
        nodes in 1usize..14,
        edges in prop::collection::vec((0u32..14, 0u32..14, 0.1f32..3.0), 0..40),
        weighted: bool,
        directed: bool,
        columns in prop_oneof![1usize..4, Just(9), Just(33), Just(64)],
        pattern in 0usize..5,
    ) {
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let graph = graph_of(nodes, &edges, weighted, direction);
        let known = |row: usize, column: usize| match pattern {
            0 => false,
            1 => true,
            2 => row % 2 == 0,
            3 => column == 0,
            _ => (row * 5 + column * 3) % 4 == 0,
        };
        // Other widths in between, and the same width twice.
        let panels = [
            panel(nodes, columns, 0, known),
            panel(nodes, 1, 1, |row, _| row == 0),
            panel(nodes, columns, 2, |row, column| !known(row, column)),
            panel(nodes, columns, 3, known),
        ];
        compare_rounds(&graph, &panels, &[1, 2, 3, 6]);
    }
}

/// A star: its centre has far more neighbours than a GPU sums in one go.
#[test]
fn a_hub_is_summed_like_all_others() {
    let edges: Vec<_> = (1..3000u32).map(|leaf| (0, leaf, 1.0)).collect();
    let graph = graph(3000, &edges, false);
    let panels = [
        panel(3000, 20, 0, |row, column| row % 3 == 1 && column % 2 == 0),
        panel(3000, 64, 1, |row, _| row % 4 < 2),
    ];
    compare_rounds(&graph, &panels, &[4]);
}

#[test]
fn only_rows_of_a_subset_are_read() {
    let edges: Vec<_> = (0..40u32).map(|node| (node, (node * 7 + 3) % 40, 1.0)).collect();
    let graph = graph(40, &edges, false);
    let lists = vec![vec![3, 4, 17, 39], Vec::new(), vec![0, 39], (0..40).collect()];
    let operators =
        Operators::as_programs(&graph, &device::device()).with_row_subsets(lists.clone());
    let processor = Operators::new(&graph);
    let rounds: Vec<usize> = (2..=7).collect();
    let panel = panel(40, 10, 0, |row, column| (row + column) % 3 == 0);
    for (method, parameters) in methods().into_iter().filter(|(m, _)| m.max_rounds() > 1) {
        let expected = handed_out(&*method, &processor.load(&panel), &parameters, &rounds);
        for (list, rows) in lists.iter().enumerate() {
            let loaded = operators.load(&panel).with_rows(list);
            let found = handed_out(&*method, &loaded, &parameters, &rounds);
            for ((round, found), (_, expected)) in found.iter().zip(&expected) {
                for &row in rows {
                    let cells = row as usize * panel.width..(row as usize + 1) * panel.width;
                    let (found, expected) = (&found[cells.clone()], &expected[cells]);
                    assert!(same(found, expected), "list {list}, row {row}, round {round}");
                }
            }
        }
    }
}

const WITHOUT_STAGES: Budget = Budget { small: f64::INFINITY, first_stage: 0.0 };
const WITH_STAGES: Budget = Budget { small: 0.0, first_stage: 0.0 };

/// In two stages, on a sample of the columns, a search finds what is as good as the best of all.
#[test]
fn stages_find_what_is_as_good() {
    let config = GeneratorConfig {
        nodes: 200,
        topics: 320,
        words_per_node: 20.0,
        ..GeneratorConfig::default()
    };
    let dataset = generate(&config).expect("a town").dataset;
    let (graph, features) = (dataset.graph.undirected(), Features::of(&dataset.table));
    assert!(features.groups().iter().any(|group| group.features.len() == 320));
    let unknown = features.missing();
    let validation = validation_sets(&features, &unknown, 3);
    let context = crate::Context::default();
    let task = Task { validation: &validation, ..Task::new(&graph, &features, &unknown, &context) };
    let none = Parameters::default();
    let settings = [Purpose::Ranking, Purpose::Values].map(|it| Arb::new().settings(it, &none));
    let found = [WITHOUT_STAGES, WITH_STAGES].map(|budget| {
        let place = (Operators::on(&graph, &device::device()), budget);
        search(&Arb::new(), &task, place, &settings, &(1..=30)).expect("a search")
    });
    for (all, staged) in found[0].iter().zip(&found[1]) {
        let (Some(all), Some(staged)) = (all, staged) else {
            assert!(all.is_none() && staged.is_none());
            continue;
        };
        assert!(!staged.score.is_better_than(&all.score), "{staged:?} is not among {all:?}");
        let lost = (staged.score.value - all.score.value).abs();
        assert!(lost <= 0.02 * all.score.value, "{staged:?}, the best of all is {all:?}");
    }
}

/// The choices that validation makes, from the rows that are read alone.
#[test]
fn validation_chooses_the_same() {
    fn chosen<P: Propagation>(method: &P, task: &Task<'_>) -> [Vec<Option<Best>>; 2] {
        let none = Parameters::default();
        let purposes = [Purpose::Ranking, Purpose::Values];
        let settings = purposes.map(|purpose| method.settings(purpose, &none));
        let ways =
            [Operators::new(task.graph), Operators::as_programs(task.graph, &device::device())];
        ways.map(|operators| {
            search(method, task, (operators, WITHOUT_STAGES), &settings, &(1..=5))
                .expect("a comparison")
        })
    }
    for columns in [ColumnSet::Mixed, ColumnSet::Numbers(3)] {
        let config =
            GeneratorConfig { nodes: 150, topics: 30, columns, ..GeneratorConfig::default() };
        let dataset = generate(&config).expect("a town").dataset;
        let (graph, features) = (dataset.graph.undirected(), Features::of(&dataset.table));
        let unknown = features.missing();
        let validation = validation_sets(&features, &unknown, 3);
        assert!(validation.len() > 1);
        let context = crate::Context::default();
        let task =
            Task { validation: &validation, ..Task::new(&graph, &features, &unknown, &context) };
        let all = [
            chosen(&FeaturePropagation::new(), &task),
            chosen(&Arb::new(), &task),
            chosen(&Pcfi::new(), &task),
        ];
        for [expected, found] in &all {
            assert!(expected.iter().flatten().count() > 1);
            for (expected, found) in expected.iter().zip(found) {
                let told = |best: &Best| (best.setting, best.round, best.score);
                if device::device().is_cuda() {
                    let value = |best: &Option<Best>| best.as_ref().map_or(0.0, |b| b.score.value);
                    let (found, expected) = (value(found), value(expected));
                    assert!((found - expected).abs() < 1e-3 * (1.0 + expected.abs()));
                } else {
                    assert_eq!(found.as_ref().map(told), expected.as_ref().map(told));
                }
            }
        }
    }
}

/// The processor steps in where a device is too small, and only where that is asked for.
#[test]
fn too_little_memory_is_no_error_within_a_limit() {
    let graph = graph(30, &[(0, 1, 1.0), (1, 2, 1.0), (3, 20, 1.0)], false);
    let processor = Operators::new(&graph);
    let small = Operators::as_programs(&graph, &device::device()).within(MemoryLimit::Allowed(64));
    for panel in [
        panel(30, 5, 0, |row, column| (row + column) % 2 == 0),
        panel(30, 40, 1, |row, _| row % 3 == 0),
    ] {
        for (method, parameters) in methods() {
            let expected = handed_out(&*method, &processor.load(&panel), &parameters, &[1]);
            let found = handed_out(&*method, &small.load(&panel), &parameters, &[1]);
            assert!(found == expected, "{}", method.info().name);
        }
        let product =
            small.programs().map(|it| it.adjacency_product(None, &panel.values, panel.width));
        assert!(matches!(product, Some(Ok(None))), "programs ran in 64 bytes");
    }
}

/// As many lists as there are sets of validation cells at the most, and more.
#[test]
fn there_may_be_many_lists() {
    let graph = graph(5, &[(0, 1, 1.0)], false);
    let lists = (0..60).map(|list| vec![list % 5]).collect();
    let operators = Operators::as_programs(&graph, &device::device()).with_row_subsets(lists);
    let panel = panel(5, 3, 0, |row, _| row == 0);
    for (method, parameters) in methods() {
        let loaded = operators.load(&panel).with_rows(59);
        assert_eq!(handed_out(&*method, &loaded, &parameters, &[1]).len(), 1);
    }
}
