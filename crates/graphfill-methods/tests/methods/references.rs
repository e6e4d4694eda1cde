//! Every method against a slow implementation of its formula, feature by feature in f64.

use std::sync::Arc;

use arrow_array::Float64Array;

use crate::support::{Column, column, estimate, symmetric_product, town};
use graphfill_data::generator::{ColumnSet, GeneratorConfig, generate};
use graphfill_data::{
    CellMask, Column as DataColumn, Direction, EdgeList, IdColumn, Kind, NodeIds, NodeTable,
    UndirectedGraph,
};
use graphfill_methods::Context;
use graphfill_methods::features::Features;
use graphfill_methods::fill::fill;

/// Compares every feature of a method with `reference(graph, column)`.
fn agrees(
    name: &str,
    parameters: &[(&str, f64)],
    reference: impl Fn(&UndirectedGraph, &Column) -> Vec<f64>,
) {
    for seed in 0..3 {
        let dataset = town(seed);
        let graph = dataset.graph.undirected();
        let features = Features::of(&dataset.table);
        let unknown = features.missing();
        let dense = estimate(name, parameters, &features, &graph, &unknown);
        for feature in 0..features.width() {
            let column = column(&features, &unknown, feature);
            let expected = reference(&graph, &column);
            let scale =
                1.0 + column.values.iter().fold(column.offset.abs(), |most, v| most.max(v.abs()));
            for row in (0..features.rows()).filter(|&row| !column.known[row]) {
                let found = dense.values[row * dense.width + feature];
                let expected = expected[row] + column.offset;
                assert!(
                    (found - expected).abs() < 1e-5 * scale,
                    "{name}, seed {seed}, feature {feature}, row {row}: {found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn column_mean() {
    agrees("column-mean", &[], |_, column| {
        let known: Vec<f64> = (0..column.known.len())
            .filter(|&r| column.known[r])
            .map(|r| column.values[r])
            .collect();
        vec![known.iter().sum::<f64>() / known.len() as f64; column.known.len()]
    });
}

#[test]
fn neighbour_mean() {
    agrees("neighbour-mean", &[], |graph, column| {
        (0..graph.nodes())
            .map(|node| {
                let known: Vec<f64> = graph
                    .neighbours(node)
                    .iter()
                    .map(|&other| other as usize)
                    .filter(|&other| column.known[other])
                    .map(|other| column.values[other])
                    .collect();
                if known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 }
            })
            .collect()
    });
}

#[test]
fn feature_propagation() {
    agrees("fp", &[("rounds", 7.0)], |graph, column| {
        let mut x = column.values.clone();
        for _ in 0..7 {
            x = symmetric_product(graph, &x);
            for row in (0..x.len()).filter(|&row| column.known[row]) {
                x[row] = column.values[row];
            }
        }
        x
    });
}

#[test]
fn arb() {
    let (alpha, beta) = (0.9, 0.6);
    agrees("arb", &[("alpha", alpha), ("beta", beta), ("rounds", 6.0)], |graph, column| {
        let mut out = column.values.clone();
        for _ in 0..6 {
            let mean = out.iter().sum::<f64>() / out.len() as f64;
            out = symmetric_product(graph, &out)
                .into_iter()
                .map(|sum| alpha * sum + (1.0 - alpha) * mean)
                .collect();
            for row in (0..out.len()).filter(|&row| column.known[row]) {
                out[row] = beta * out[row] + (1.0 - beta) * column.values[row];
            }
        }
        out
    });
}

/// The hops from each node to the nearest one whose cell is known.
fn hops_to_known(graph: &UndirectedGraph, column: &Column) -> Vec<Option<i32>> {
    let mut hops: Vec<Option<i32>> = column.known.iter().map(|&k| k.then_some(0)).collect();
    for distance in 1..graph.nodes() as i32 {
        for node in 0..graph.nodes() {
            let near = graph.neighbours(node).iter();
            if hops[node].is_none()
                && near.into_iter().any(|&o| hops[o as usize] == Some(distance - 1))
            {
                hops[node] = Some(distance);
            }
        }
    }
    hops
}

/// PCFI between nodes, the weights exactly as published: α^(h_j − h_i + 1), rows normalised.
fn diffused(graph: &UndirectedGraph, column: &Column, alpha: f64, rounds: usize) -> Vec<f64> {
    let nodes = graph.nodes();
    let hops = hops_to_known(graph, column);
    let mut x = column.values.clone();
    for _ in 0..rounds {
        let before = x.clone();
        for node in (0..nodes).filter(|&node| !column.known[node]) {
            let (mut sum, mut weight) = (0.0, 0.0);
            for other in graph.neighbours(node).iter().map(|&other| other as usize) {
                if let (Some(own), Some(theirs)) = (hops[node], hops[other]) {
                    let w = alpha.powi(theirs - own + 1);
                    sum += w * before[other];
                    weight += w;
                }
            }
            x[node] = if weight > 0.0 { sum / weight } else { 0.0 };
        }
    }
    x
}

#[test]
fn pcfi_between_nodes() {
    let alpha = 0.7;
    let parameters = [("alpha", alpha), ("beta", 0.0), ("rounds", 5.0)];
    agrees("pcfi", &parameters, |graph, column| diffused(graph, column, alpha, 5));
}

/// The whole of PCFI on a table of numbers: x̃_ia = x̂_ia + β (1 − c_ia) Σ_b r_ab c_ib z_ib σ_a.
#[test]
fn pcfi_between_columns() {
    let (alpha, beta) = (0.6, 0.4);
    let config = GeneratorConfig {
        nodes: 90,
        topics: 0,
        words_per_node: 0.0,
        columns: ColumnSet::Numbers(5),
        missing_rows: 0.3,
        missing_cells: 0.2,
        seed: 2,
        ..GeneratorConfig::default()
    };
    let dataset = generate(&config).expect("a town").dataset;
    let graph = dataset.graph.undirected();
    let features = Features::of(&dataset.table);
    let unknown = features.missing();
    let parameters = [("alpha", alpha), ("beta", beta), ("rounds", 8.0)];
    let found = estimate("pcfi", &parameters, &features, &graph, &unknown);

    let (nodes, width) = (graph.nodes(), features.width());
    assert!(width >= 5, "several columns");
    let columns: Vec<Column> = (0..width).map(|at| column(&features, &unknown, at)).collect();
    let x: Vec<Vec<f64>> = columns.iter().map(|c| diffused(&graph, c, alpha, 8)).collect();
    let confidence: Vec<Vec<f64>> = columns
        .iter()
        .map(|c| {
            hops_to_known(&graph, c).iter().map(|h| h.map_or(0.0, |h| alpha.powi(h))).collect()
        })
        .collect();
    let mean = |x: &[f64]| x.iter().sum::<f64>() / nodes as f64;
    let deviation = |x: &[f64]| {
        let centre = mean(x);
        (x.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / nodes as f64).sqrt()
    };
    let z: Vec<Vec<f64>> = x
        .iter()
        .map(|x| x.iter().map(|value| (value - mean(x)) / deviation(x)).collect())
        .collect();
    let mut moved = 0.0f64;
    for a in 0..width {
        for node in (0..nodes).filter(|&node| !columns[a].known[node]) {
            let mut said = 0.0;
            for b in (0..width).filter(|&b| b != a) {
                let correlation =
                    mean(&z[a].iter().zip(&z[b]).map(|(a, b)| a * b).collect::<Vec<_>>());
                said += correlation * confidence[b][node] * z[b][node];
            }
            let change = beta * (1.0 - confidence[a][node]) * said * deviation(&x[a]);
            let expected = x[a][node] + change + columns[a].offset;
            let found = found.values[node * found.width + a];
            let scale = deviation(&x[a]).max(expected.abs());
            assert!(
                (found - expected).abs() < 1e-5 * scale,
                "{node}, {a}: {found}, not {expected}"
            );
            moved = moved.max(change.abs() / deviation(&x[a]));
        }
    }
    assert!(moved > 0.05, "the second step did something");
}

/// What is hidden has no way into an estimate: other hidden values, same estimates.
#[test]
fn hidden_values_leave_no_trace() {
    let dataset = town(5);
    let graph = dataset.graph.undirected();
    let features = Features::of(&dataset.table);
    let hidden = CellMask::build(features.rows(), features.cells(), |row, cells| {
        if row % 8 == 0 {
            cells.extend(0..features.cells() as u32);
        } else {
            cells.extend(
                (0..features.cells() as u32).filter(|cell| (cell + row as u32).is_multiple_of(17)),
            );
        }
    });
    let unknown = features.missing().union(&hidden);
    // The same table with the hidden cells really gone.
    let forgotten = dataset.table.with_hidden(&hidden).expect("a mask of the table");
    let without = Features::of(&forgotten);
    assert_eq!(features.width(), without.width(), "every level is still observed somewhere");
    for name in ["column-mean", "neighbour-mean", "fp", "arb", "pcfi"] {
        let with_values = estimate(name, &[], &features, &graph, &unknown);
        let gone = estimate(name, &[], &without, &graph, &without.missing());
        assert_eq!(with_values.values, gone.values, "{name}");
    }
}

/// A column of numbers beyond single precision is estimated like one of small numbers.
#[test]
fn numbers_of_any_magnitude_are_estimated() {
    let ring = 24u32;
    let mut edges = EdgeList::unweighted();
    for node in 0..ring {
        edges.push(node, (node + 1) % ring, 1.0);
        edges.push(node, (node + 2) % ring, 1.0);
    }
    let graph = edges.into_graph(ring as usize, Direction::Undirected).expect("arcs").undirected();
    let filled = |scale: f64, method: &str| {
        let value = |row: u32| (row % 4 != 1).then(|| scale * (1.5 + f64::from(row) * 0.26).sin());
        let cells: Float64Array = (0..ring).map(value).collect();
        let columns = vec![DataColumn::new("v", Kind::Number, Arc::new(cells))];
        let ids = NodeIds::numbered(ring as usize);
        let table = NodeTable::new(IdColumn::default(), ids, columns, None).expect("a table");
        let method = crate::support::method(method);
        let (filled, _) = fill(&method, &table, &graph, &Context::default()).expect("filled");
        filled.table.columns()[0].numbers()
    };
    for method in ["column-mean", "neighbour-mean", "fp", "arb", "pcfi"] {
        let small = filled(1.0, method);
        for scale in [1e20, 1e160, 1e300] {
            for (row, (small, large)) in small.iter().zip(filled(scale, method)).enumerate() {
                let expected = small * scale;
                assert!(
                    (large - expected).abs() <= 1e-5 * scale,
                    "{method}, row {row}: {large}, not {expected}"
                );
            }
        }
    }
}
