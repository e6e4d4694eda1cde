//! What the classifiers see: estimates, centred and scaled, and their averages over the subgraph.
//!
//!   X' = (X − column means) / root of mean square        nodes × features, for the perceptron
//!   Â X'                                                 computed once, for the graph convolution

use std::sync::Arc;

use graphfill_data::{Direction, EdgeList, UndirectedGraph};
use graphfill_engine::SparseMatrix;
use graphfill_methods::Result;
use graphfill_methods::svga::NormalisedGraph;

use super::Estimated;

/// A classifier of two layers, and what its first layer sees.
pub(super) struct Network {
    /// The inputs of the first layer.
    pub(super) inputs: Vec<f32>,
    pub(super) nodes: usize,
    pub(super) classes: usize,
    /// Â, which the second layer averages with; none in a perceptron.
    pub(super) averages: Option<Arc<SparseMatrix>>,
}

impl Network {
    /// A perceptron.
    pub(super) fn perceptron(estimated: &Estimated<'_>) -> Self {
        let (nodes, classes) = (estimated.nodes.len(), estimated.classes);
        Network { inputs: scaled(estimated.features, nodes), nodes, classes, averages: None }
    }

    /// A graph convolution.
    pub(super) fn convolution(estimated: &Estimated<'_>, subgraph: &NormalisedGraph) -> Self {
        let perceptron = Network::perceptron(estimated);
        let averages = subgraph.with_self_loops();
        let inputs = averaged(averages, &perceptron.inputs);
        Network { inputs, averages: Some(Arc::clone(averages)), ..perceptron }
    }
}

/// The edges among some nodes, which are numbered anew in their order.
pub(super) fn subgraph(graph: &UndirectedGraph, nodes: &[u32]) -> Result<NormalisedGraph> {
    const OUTSIDE: u32 = u32::MAX;
    let mut number = vec![OUTSIDE; graph.nodes()];
    for (own, &node) in nodes.iter().enumerate() {
        number[node as usize] = own as u32;
    }
    let weighted = graph.all_weights().is_some();
    let mut edges = if weighted { EdgeList::weighted() } else { EdgeList::unweighted() };
    for (one, other, weight) in graph.iter() {
        let (one, other) = (number[one as usize], number[other as usize]);
        if one != OUTSIDE && other != OUTSIDE {
            edges.push(one, other, weight);
        }
    }
    let subgraph = edges.into_graph(nodes.len(), Direction::Undirected)?.undirected();
    Ok(NormalisedGraph::new(&subgraph)?)
}

/// Features whose columns have mean 0 and whose mean square, over all columns, is 1.
fn scaled(features: &[f32], nodes: usize) -> Vec<f32> {
    let width = features.len() / nodes.max(1);
    let mut means = vec![0.0f64; width];
    for row in features.chunks_exact(width.max(1)) {
        means.iter_mut().zip(row).for_each(|(mean, &value)| *mean += f64::from(value));
    }
    means.iter_mut().for_each(|mean| *mean /= nodes as f64);
    let centred = |(at, &value): (usize, &f32)| f64::from(value) - means[at % width];
    let squares: f64 = features.iter().enumerate().map(|cell| centred(cell).powi(2)).sum();
    let root = (squares / features.len().max(1) as f64).sqrt();
    let scale = if root > 0.0 { 1.0 / root } else { 1.0 };
    features.iter().enumerate().map(|cell| (centred(cell) * scale) as f32).collect()
}

/// Â X.
fn averaged(averages: &SparseMatrix, rows: &[f32]) -> Vec<f32> {
    let view = averages.view();
    let width = rows.len() / view.rows().max(1);
    let mut out = vec![0.0; rows.len()];
    for (row, out) in out.chunks_exact_mut(width.max(1)).enumerate() {
        let weights = view.values(row);
        for (at, &other) in view.columns(row).iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[at]);
            let other = &rows[other as usize * width..][..width];
            out.iter_mut().zip(other).for_each(|(out, &value)| *out += weight * value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subgraph_keeps_only_edges_inside_and_averages_with_them() {
        let mut edges = EdgeList::unweighted();
        [(0, 1), (1, 2), (2, 3)].into_iter().for_each(|(a, b)| edges.push(a, b, 1.0));
        let graph = edges.into_graph(4, Direction::Undirected).expect("valid arcs").undirected();
        let subgraph = subgraph(&graph, &[3, 0, 2]).expect("weights are in order");
        assert_eq!(subgraph.edges(), 1);
        let averages = averaged(subgraph.with_self_loops(), &[2.0, 7.0, 4.0]);
        // Nodes 3 and 2 are neighbours; node 0 has lost its own.
        assert_eq!(averages, [3.0, 7.0, 3.0]);
    }

    #[test]
    fn columns_are_centred_and_keep_their_weight_among_each_other() {
        // Columns deviate by 2 and by 1: the root of the mean square is √2.5.
        let found = scaled(&[11.0, 1.0, 7.0, 3.0], 2);
        for (found, expected) in found.iter().zip([2.0, -1.0, -2.0, 1.0]) {
            assert!((found - expected / 2.5f32.sqrt()).abs() < 1e-6, "{found}");
        }
        assert_eq!(scaled(&[5.0, 5.0], 2), [0.0, 0.0]);
    }
}
