//! Attributed random walks: the closed form against its plain definition, what is learnt, what is
//! refused.

use graphfill_data::{CellMask, NoProgress, NodeTable};
use graphfill_engine::MemoryLimit;
use graphfill_methods::arwmf::{Arwmf, JointGraph, co_occurrence};
use graphfill_methods::features::Features;
use graphfill_methods::{Context, Method, ParamOverrides, Task};

use crate::support::{Dense, method, texts};
use crate::tables::{block, cliques, graph, mixed, table, village};

/// Four cliques of ten; a node has its clique's two tags and one of its own choice.
fn clubs() -> NodeTable {
    let tags = |row: usize| {
        let club = row as u32 / 10;
        vec![2 * club, 2 * club + 1, 8 + (row * 7 % 5) as u32]
    };
    table(vec![block(40, 13, tags, CellMask::none(40, 13))])
}

fn estimates(name: &str, task: &Task<'_>) -> Vec<f64> {
    estimates_of(&*method(name), task)
}

fn estimates_of(method: &dyn Method, task: &Task<'_>) -> Vec<f64> {
    let fitted = method.fit_task(task).expect("fitted");
    let width = task.features.width();
    let mut dense = Dense { width, values: vec![f64::NAN; task.features.rows() * width] };
    fitted.estimate(task, &mut dense).expect("estimated");
    dense.values
}

/// log max(vol / (bT) (P + … + P^T) D⁻¹, 1) with P = D⁻¹B, all dense and in double precision.
#[test]
fn co_occurrence_is_what_it_is_defined_as() {
    let (nodes, words, window, negatives) = (5, 3, 4, 0.7);
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)];
    let ones = |row: usize| if row == 4 { vec![] } else { vec![row as u32 % 3, 2] };
    let table = table(vec![block(nodes, words, ones, CellMask::none(nodes, words))]);
    let features = Features::of(&table);
    // Nothing of node 3 may be seen, and one tag of node 0 neither.
    let unknown = CellMask::build(nodes, words, |row, cells| match row {
        3 => cells.extend(0..3),
        0 => cells.push(2),
        _ => {}
    });
    let size = nodes + words;
    let mut adjacency = vec![vec![0.0f64; size]; size];
    let links = [(0, 5), (1, 6), (1, 7), (2, 7)];
    for (a, b) in edges.into_iter().chain(links) {
        let weight = if b >= nodes { 0.5 } else { 1.0 };
        adjacency[a][b] = weight;
        adjacency[b][a] = weight;
    }
    let degrees: Vec<f64> = adjacency.iter().map(|row| row.iter().sum()).collect();
    let volume: f64 = degrees.iter().sum();
    let over = |value: f64, degree: f64| if degree > 0.0 { value / degree } else { 0.0 };
    let walk: Vec<Vec<f64>> = adjacency
        .iter()
        .zip(&degrees)
        .map(|(row, &degree)| row.iter().map(|&weight| over(weight, degree)).collect())
        .collect();
    let mut power = walk.clone();
    let mut sum = walk.clone();
    for _ in 1..window {
        let product = |row: &Vec<f64>| -> Vec<f64> {
            (0..size).map(|to| (0..size).map(|via| row[via] * walk[via][to]).sum()).collect()
        };
        power = power.iter().map(product).collect();
        for (sum, power) in sum.iter_mut().flatten().zip(power.iter().flatten()) {
            *sum += power;
        }
    }
    let edges = edges.map(|(a, b)| (a as u32, b as u32));
    let joint = JointGraph::new(&graph(nodes, edges).undirected(), &features, &unknown, 0.5);
    let mut matrix = vec![f32::NAN; size * size];
    co_occurrence(&joint, window, negatives, &NoProgress, &mut matrix).expect("a matrix");
    let mut above = 0;
    for row in 0..size {
        for column in 0..size {
            let share = over(sum[row][column], degrees[column]);
            let expected = (volume / (negatives * window as f64) * share).max(1.0).ln();
            let found = f64::from(matrix[row * size + column]);
            assert!((found - expected).abs() < 1e-5, "{row}, {column}: {found}, not {expected}");
            above += usize::from(expected > 0.0);
        }
    }
    assert!(above > size, "most entries say something");
}

const WALKERS: [&str; 2] = ["arwmf", "graph-rna"];

/// The tags that all others of a clique have come before those of other cliques.
#[test]
fn tags_of_a_clique_are_found() {
    let table = clubs();
    let features = Features::of(&table);
    let graph = graph(40, cliques(4, 10)).undirected();
    let unknown = CellMask::of_rows(40, 13, (0..40).filter(|row| row % 4 == 0));
    for name in WALKERS {
        let found = estimates(name, &Task::new(&graph, &features, &unknown, &Context::default()));
        for row in (0..40).filter(|row| row % 4 == 0) {
            let scores = &found[row * 13..row * 13 + 8];
            let (own, club) = (row / 10 * 2, row / 10);
            let others = scores.iter().enumerate().filter(|(tag, _)| tag / 2 != club);
            let best_other = others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
            let least_own = scores[own].min(scores[own + 1]);
            assert!(least_own > best_other, "{name}, node {row}: {scores:?}");
        }
    }
}

/// Numbers, counts, truth values and categories come back in their own scale.
#[test]
fn every_kind_is_estimated_in_its_own_scale() {
    let hole = |row: usize, _: usize| row % 6 == 0;
    let (truth, table) = (mixed(120, |row, _| row, |_, _| false), mixed(120, |row, _| row, hole));
    let graph = village(120);
    let numbers = |table: &NodeTable| table.column("height").expect("a column").numbers();
    let error = |name: &str| {
        let filled =
            crate::support::filled_after(200, &ParamOverrides::default(), &table, &graph, name);
        let filled = filled.expect("filled").table;
        assert!(filled.missing().is_empty(), "{name} leaves holes");
        let pairs = numbers(&truth).into_iter().zip(numbers(&filled));
        pairs.map(|(truth, estimate)| (truth - estimate).powi(2)).sum::<f64>()
    };
    let mean = error("column-mean");
    for name in WALKERS {
        let own = error(name);
        assert!(own < 0.7 * mean, "{name}: {own} of {mean}");
    }
}

#[test]
fn same_seed_same_bits_for_any_number_of_threads() {
    let town = crate::support::town(8);
    for name in WALKERS {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let fixed = &ParamOverrides::default();
            let fill = || crate::support::filled_after(20, fixed, &town.table, &town.graph, name);
            texts(&pool.expect("a pool").install(fill).expect("filled").table)
        };
        assert_eq!(run(1), run(2), "{name}");
    }
}

/// Nothing is begun that has no room: the matrix of a large graph is told before it is made.
#[test]
fn a_matrix_without_room_is_refused_before_work() {
    let table = clubs();
    let features = Features::of(&table);
    let graph = graph(40, cliques(4, 10)).undirected();
    let unknown = CellMask::of_rows(40, 13, [0]);
    let context = Context { memory: Some(MemoryLimit::Allowed(10_000)), ..Context::default() };
    let task = Task::new(&graph, &features, &unknown, &context);
    let message = method("arwmf").fit_task(&task).err().expect("an error").to_string();
    assert!(message.contains("53 nodes and attributes"), "{message}");
    assert!(message.contains("svga-p"), "{message}");
}

#[test]
fn a_table_without_attributes_is_refused() {
    let table = table(vec![block(40, 6, |_| Vec::new(), CellMask::none(40, 6))]);
    let features = Features::of(&table);
    let graph = graph(40, cliques(4, 10)).undirected();
    let unknown = CellMask::of_rows(40, 6, [0]);
    for name in WALKERS {
        let context = Context::default();
        let result = method(name).fit_task(&Task::new(&graph, &features, &unknown, &context));
        let message = result.err().expect("an error").to_string();
        assert!(message.contains("no known cell is one"), "{name}: {message}");
    }
}

/// Nodes without neighbours, columns of which nothing is known, single holes: every hole is filled with
/// something finite.
#[test]
fn corners_are_filled() {
    let rows = 48;
    let holes: [fn(usize, usize) -> bool; 3] = [
        |row, _| row % 5 == 0,
        |row, column| column == 0 || row % 5 == 0,
        |row, column| (row * 5 + column * 2) % 7 == 0,
    ];
    for hole in holes {
        let table = mixed(rows, |row, _| row, hole);
        for graph in [village(rows), graph(rows, [])] {
            for name in WALKERS {
                let fixed = &ParamOverrides::default();
                let filled = crate::support::filled_after(10, fixed, &table, &graph, name);
                let filled = filled.expect("filled").table;
                let visits = filled.column("visits").expect("a column").numbers();
                assert!(visits.iter().all(|visits| (0.0..50.0).contains(visits)), "{name}");
            }
        }
    }
}

/// What settings are compared on has no part in the line from scores to values.
#[test]
fn calibration_is_drawn_through_other_cells_than_those_it_is_judged_by() {
    let rows = 48;
    // Validation rows are 8 to 15: the odd ones are compared on, the even ones calibrated on.
    let changed = |odd: usize| {
        let is_changed = move |row: usize| (8..16).contains(&row) && row % 2 == odd;
        mixed(rows, |row, _| if is_changed(row) { (row + 24) % rows } else { row }, |_, _| false)
    };
    let method = Arwmf::new().window(5).negatives(1.0).rank(16);
    let outcome = |table: &NodeTable| {
        let features = Features::of(table);
        let graph = village(rows).undirected();
        let unknown = CellMask::of_rows(rows, features.cells(), 0..16);
        let validation = [CellMask::of_rows(rows, features.cells(), 8..16)];
        let context = Context::default();
        let task =
            Task { validation: &validation, ..Task::new(&graph, &features, &unknown, &context) };
        estimates_of(&method, &task)
    };
    let honest = outcome(&mixed(rows, |row, _| row, |_, _| false));
    assert!(honest == outcome(&changed(1)), "calibrated on cells that settings are compared on");
    assert!(honest != outcome(&changed(0)), "not calibrated at all");
}

/// A factorisation is one of its own graph: a saved model says so instead of estimating something else.
#[test]
fn a_saved_factorisation_is_refused() {
    let table = clubs();
    let features = Features::of(&table);
    let graph = graph(40, cliques(4, 10)).undirected();
    let unknown = CellMask::of_rows(40, 13, [0]);
    let context = Context::default();
    let task = Task::new(&graph, &features, &unknown, &context);
    let method = method("arwmf");
    let state = method.fit_task(&task).expect("fitted").state().expect("a state");
    let message = method.restore(&task, &state).err().expect("refused").to_string();
    assert!(message.contains("svga-p or arb"), "{message}");
}
