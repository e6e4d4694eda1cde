//! The two matrices of a graph that SVGA works with:
//!
//!   Â = D̃^-½ (A + I) D̃^-½   what the encoder averages with               nodes × nodes
//!   S = D^-½ A D^-½          what the field K = I − S compares with       nodes × nodes
//!
//! Both are symmetric. Rows of isolated nodes are zero in S, and 1 on the diagonal in Â.

use std::sync::Arc;

use graphfill_data::UndirectedGraph;
use graphfill_engine::SparseMatrix;

/// A graph as an encoder and a field see it.
#[derive(Debug, Clone)]
pub struct NormalisedGraph {
    /// Â.
    pub with_self_loops: Arc<SparseMatrix>,
    /// S.
    pub similarity: Arc<SparseMatrix>,
}

impl NormalisedGraph {
    /// The matrices of a graph, by its weights where it has them.
    pub fn new(graph: &UndirectedGraph) -> Self {
        NormalisedGraph {
            with_self_loops: Arc::new(normalised(graph, SelfLoops::Added)),
            similarity: Arc::new(normalised(graph, SelfLoops::None)),
        }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.similarity.shape().rows
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelfLoops {
    Added,
    None,
}

fn normalised(graph: &UndirectedGraph, self_loops: SelfLoops) -> SparseMatrix {
    let own = match self_loops {
        SelfLoops::Added => 1.0,
        SelfLoops::None => 0.0,
    };
    let inverse_root = |node: usize| {
        let degree: f64 = own
            + match graph.weights(node) {
                Some(weights) => weights.iter().map(|&weight| f64::from(weight)).sum(),
                None => graph.degree(node) as f64,
            };
        if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }
    };
    let scale: Vec<f64> = (0..graph.nodes()).map(inverse_root).collect();
    let entries = graph.all_neighbours().len() + if own > 0.0 { graph.nodes() } else { 0 };
    let mut offsets = Vec::with_capacity(graph.nodes() + 1);
    let (mut columns, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    offsets.push(0);
    for node in 0..graph.nodes() {
        if own > 0.0 {
            columns.push(node as u32);
            values.push((own * scale[node] * scale[node]) as f32);
        }
        let weights = graph.weights(node);
        for (slot, &other) in graph.neighbours(node).iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[slot]));
            columns.push(other);
            // The scales first: their product is the same from both ends, to the last bit.
            values.push((scale[node] * scale[other as usize] * weight) as f32);
        }
        offsets.push(columns.len());
    }
    SparseMatrix::symmetric(offsets, columns, Some(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphfill_data::{Direction, EdgeList};

    #[test]
    fn a_path_and_an_isolated_node() {
        let mut edges = EdgeList::unweighted();
        edges.push(0, 1, 1.0);
        edges.push(1, 2, 1.0);
        let graph = NormalisedGraph::new(&edges.into_graph(4, Direction::Undirected).undirected());
        let row = |matrix: &SparseMatrix, row: usize| {
            let view = matrix.view();
            let values = view.values(row).expect("values").to_vec();
            (view.columns(row).to_vec(), values)
        };
        let root = 0.5f32.sqrt();
        assert_eq!(row(&graph.similarity, 1), (vec![0, 2], vec![root, root]));
        assert!(row(&graph.similarity, 3).0.is_empty());
        let (columns, values) = row(&graph.with_self_loops, 1);
        assert_eq!(columns, [1, 0, 2]);
        assert!(
            (values[0] - 1.0 / 3.0).abs() < 1e-7 && (values[1] - 6f32.sqrt().recip()).abs() < 1e-7
        );
        assert_eq!(row(&graph.with_self_loops, 3), (vec![3], vec![1.0]));
    }
}
