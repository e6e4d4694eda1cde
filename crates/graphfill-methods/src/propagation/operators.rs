//! The matrices that propagation multiplies with, computed when first needed.
//!
//!   A   adjacency (weights where the graph has them)                      nodes × nodes
//!   S = D^-½ A D^-½, rows of isolated nodes zero                          nodes × nodes

use std::sync::OnceLock;

use graphfill_data::UndirectedGraph;
use graphfill_engine::SparseView;

/// A graph and the matrices made of it.
pub struct Operators<'a> {
    graph: &'a UndirectedGraph,
    symmetric: OnceLock<Vec<f32>>,
}

impl<'a> Operators<'a> {
    /// The matrices of a graph.
    pub fn new(graph: &'a UndirectedGraph) -> Self {
        Operators { graph, symmetric: OnceLock::new() }
    }

    /// The graph itself.
    pub fn graph(&self) -> &'a UndirectedGraph {
        self.graph
    }

    /// A.
    pub fn adjacency(&self) -> SparseView<'_> {
        self.view(self.graph.all_weights())
    }

    /// S = D^-½ A D^-½.
    pub fn symmetric(&self) -> SparseView<'_> {
        let values = self.symmetric.get_or_init(|| symmetric_values(self.graph));
        self.view(Some(values))
    }

    fn view<'b>(&'b self, values: Option<&'b [f32]>) -> SparseView<'b> {
        let graph = self.graph;
        SparseView::new(graph.offsets(), graph.all_neighbours(), values, graph.nodes())
    }
}

fn symmetric_values(graph: &UndirectedGraph) -> Vec<f32> {
    let degree = |node: usize| match graph.weights(node) {
        Some(weights) => weights.iter().map(|&weight| f64::from(weight)).sum(),
        None => graph.degree(node) as f64,
    };
    let inverse_root = |node: usize| {
        let degree: f64 = degree(node);
        if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }
    };
    let scale: Vec<f64> = (0..graph.nodes()).map(inverse_root).collect();
    let mut values = Vec::with_capacity(graph.all_neighbours().len());
    for node in 0..graph.nodes() {
        let weights = graph.weights(node);
        for (slot, &other) in graph.neighbours(node).iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[slot]));
            values.push((scale[node] * weight * scale[other as usize]) as f32);
        }
    }
    values
}
