//! The matrices of a graph, from its edges as they were listed:
//!
//!   Â = D̃^-½ (A + I) D̃^-½,   Ā = D^-1 A,   K = I − D^-½ A D^-½               nodes × nodes
//!
//! A has no self-loops. Without weights an edge counts once however often it is listed; with weights
//! the largest that was listed counts.

use super::Dense;
use crate::svga_problem::Edges;

pub(crate) struct DenseGraph {
    /// Â.
    pub(crate) with_self_loops: Dense,
    /// Ā.
    pub(crate) means: Dense,
    /// K.
    pub(crate) field: Dense,
}

impl DenseGraph {
    pub(crate) fn new(edges: &Edges) -> Self {
        let mut adjacency = Dense::new(edges.nodes, edges.nodes, |_, _| 0.0);
        for &(source, target, weight) in edges.list.iter().filter(|edge| edge.0 != edge.1) {
            let (source, target) = (source as usize, target as usize);
            for (row, column) in [(source, target), (target, source)] {
                let value = adjacency.at(row, column).max(f64::from(weight));
                adjacency.set(row, column, if edges.weighted { value } else { 1.0 });
            }
        }
        let identity = Dense::identity(edges.nodes);
        let field = identity.zip(&normalised(&adjacency), |one, similarity| one - similarity);
        let means = Dense::new(edges.nodes, edges.nodes, |row, column| {
            let value = adjacency.at(row, column);
            if value == 0.0 { 0.0 } else { value / adjacency.row(row).iter().sum::<f64>() }
        });
        DenseGraph { with_self_loops: normalised(&adjacency.plus(&identity)), means, field }
    }
}

fn normalised(adjacency: &Dense) -> Dense {
    let degree = |node: usize| adjacency.row(node).iter().sum::<f64>();
    Dense::new(adjacency.rows, adjacency.columns, |row, column| {
        let value = adjacency.at(row, column);
        if value == 0.0 { 0.0 } else { value / (degree(row) * degree(column)).sqrt() }
    })
}
