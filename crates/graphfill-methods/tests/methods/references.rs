//! Every method against a slow implementation of its formula, feature by feature in f64.

use crate::support::{Column, column, estimate, symmetric_product, town};
use graphfill_data::{CellMask, UndirectedGraph};
use graphfill_methods::features::Features;

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

/// The weights exactly as published: a^(h_j − h_i + 1), rows normalised.
#[test]
fn pcfi() {
    let alpha: f64 = 0.7;
    agrees("pcfi", &[("alpha", alpha), ("rounds", 5.0)], |graph, column| {
        let nodes = graph.nodes();
        let mut hops: Vec<Option<i32>> = column.known.iter().map(|&k| k.then_some(0)).collect();
        for distance in 1..nodes as i32 {
            for node in 0..nodes {
                let near = graph.neighbours(node).iter();
                if hops[node].is_none()
                    && near.into_iter().any(|&o| hops[o as usize] == Some(distance - 1))
                {
                    hops[node] = Some(distance);
                }
            }
        }
        let mut x = column.values.clone();
        for _ in 0..5 {
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
    });
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
