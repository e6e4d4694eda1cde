//! The matrices of a graph that encoders and fields work with, each computed when first needed:
//!
//!   Â = D̃^-½ (A + I) D̃^-½   what a convolution averages with             nodes × nodes
//!   Ā = D^-1 A               what means over neighbours average with      nodes × nodes
//!   S = D^-½ A D^-½          what the field K = I − S compares with       nodes × nodes
//!
//! Â and S are symmetric. Rows of isolated nodes are zero in Ā and S, and 1 on the diagonal in Â.

use std::sync::{Arc, OnceLock};

use graphfill_data::UndirectedGraph;
use graphfill_engine::{Result, SparseMatrix};

use super::wrong;

/// A graph as an encoder and a field see it.
#[derive(Debug, Clone)]
pub struct NormalisedGraph {
    graph: Arc<UndirectedGraph>,
    with_self_loops: OnceLock<Arc<SparseMatrix>>,
    means: OnceLock<Arc<SparseMatrix>>,
    similarity: OnceLock<Arc<SparseMatrix>>,
}

impl NormalisedGraph {
    /// The matrices of a graph, by its weights where it has them: finite ones, from 0 on.
    pub fn new(graph: &UndirectedGraph) -> Result<Self> {
        let usable = |&(_, _, weight): &(u32, u32, f32)| weight.is_finite() && weight >= 0.0;
        if let Some((source, target, weight)) = graph.iter().find(|edge| !usable(edge)) {
            return Err(wrong(
                "graph",
                format!(
                    "the edge between nodes {source} and {target}, counted from 0, weighs {weight}, \
                     and no average can be taken with that; give weights that are finite numbers \
                     from 0 on, or none"
                ),
            ));
        }
        Ok(NormalisedGraph {
            graph: Arc::new(graph.clone()),
            with_self_loops: OnceLock::new(),
            means: OnceLock::new(),
            similarity: OnceLock::new(),
        })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// The number of edges, each counted once.
    pub fn edges(&self) -> usize {
        self.graph.edges()
    }

    /// Â.
    pub fn with_self_loops(&self) -> &Arc<SparseMatrix> {
        self.with_self_loops.get_or_init(|| Arc::new(symmetric(&self.graph, SelfLoops::Added)))
    }

    /// Ā.
    pub fn means(&self) -> &Arc<SparseMatrix> {
        self.means.get_or_init(|| Arc::new(means(&self.graph)))
    }

    /// S.
    pub fn similarity(&self) -> &Arc<SparseMatrix> {
        self.similarity.get_or_init(|| Arc::new(symmetric(&self.graph, SelfLoops::None)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelfLoops {
    Added,
    None,
}

/// The sum of the weights of a node's edges.
fn degree(graph: &UndirectedGraph, node: usize) -> f64 {
    match graph.weights(node) {
        Some(weights) => weights.iter().map(|&weight| f64::from(weight)).sum(),
        None => graph.degree(node) as f64,
    }
}

fn symmetric(graph: &UndirectedGraph, self_loops: SelfLoops) -> SparseMatrix {
    let own = match self_loops {
        SelfLoops::Added => 1.0,
        SelfLoops::None => 0.0,
    };
    let inverse_root = |node: usize| {
        let degree = own + degree(graph, node);
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
        for (other, weight) in graph.weighted_neighbours(node) {
            columns.push(other);
            // The scales first: their product is the same from both ends, to the last bit.
            values.push((scale[node] * scale[other as usize] * weight) as f32);
        }
        offsets.push(columns.len());
    }
    SparseMatrix::symmetric(offsets, columns, Some(values))
}

fn means(graph: &UndirectedGraph) -> SparseMatrix {
    let mut values = Vec::with_capacity(graph.all_neighbours().len());
    for node in 0..graph.nodes() {
        let degree = degree(graph, node);
        let inverse = if degree > 0.0 { 1.0 / degree } else { 0.0 };
        values.extend(graph.weighted_neighbours(node).map(|(_, weight)| (weight * inverse) as f32));
    }
    let (offsets, columns) = (graph.indptr().to_vec(), graph.all_neighbours().to_vec());
    SparseMatrix::new(offsets, columns, Some(values), graph.nodes())
}

#[cfg(test)]
mod tests {
    use super::super::{DEFAULT_DEPTH, Encoder, EncoderKind, Identity, Mode, OwnPath};
    use super::*;
    use graphfill_data::{Direction, EdgeList};
    use graphfill_engine::Program;

    fn graph(list: &[(u32, u32, f32)]) -> UndirectedGraph {
        let mut edges = EdgeList::weighted();
        list.iter().for_each(|&(source, target, weight)| edges.push(source, target, weight));
        edges.into_graph(4, Direction::Undirected).expect("valid arcs").undirected()
    }

    fn row(matrix: &SparseMatrix, row: usize) -> (Vec<u32>, Vec<f32>) {
        let view = matrix.view();
        (view.columns(row).to_vec(), view.values(row).expect("values").to_vec())
    }

    #[test]
    fn a_path_and_an_isolated_node() {
        let graph = NormalisedGraph::new(&graph(&[(0, 1, 1.0), (1, 2, 1.0)])).expect("a graph");
        assert_eq!((graph.nodes(), graph.edges()), (4, 2));
        let root = 0.5f32.sqrt();
        assert_eq!(row(graph.similarity(), 1), (vec![0, 2], vec![root, root]));
        assert!(row(graph.similarity(), 3).0.is_empty());
        let (columns, values) = row(graph.with_self_loops(), 1);
        assert_eq!(columns, [1, 0, 2]);
        assert!(
            (values[0] - 1.0 / 3.0).abs() < 1e-7 && (values[1] - 6f32.sqrt().recip()).abs() < 1e-7
        );
        assert_eq!(row(graph.with_self_loops(), 3), (vec![3], vec![1.0]));
    }

    #[test]
    fn means_follow_the_weights() {
        let graph = NormalisedGraph::new(&graph(&[(0, 1, 3.0), (1, 2, 1.0)])).expect("a graph");
        assert_eq!(row(graph.means(), 0), (vec![1], vec![1.0]));
        assert_eq!(row(graph.means(), 1), (vec![0, 2], vec![0.75, 0.25]));
        assert!(row(graph.means(), 3).0.is_empty());
    }

    #[test]
    fn edges_without_weight_are_no_neighbours() {
        let graph = NormalisedGraph::new(&graph(&[(0, 1, 0.0)])).expect("a graph");
        assert_eq!(row(graph.means(), 0), (vec![1], vec![0.0]));
        assert_eq!(row(graph.similarity(), 0), (vec![1], vec![0.0]));
    }

    /// The largest weight that there is adds up with others to what a double can hold.
    #[test]
    fn large_weights_are_fine() {
        let graph = graph(&[(0, 1, f32::MAX), (1, 2, f32::MAX)]);
        let graph = NormalisedGraph::new(&graph).expect("a graph");
        assert_eq!(row(graph.means(), 1), (vec![0, 2], vec![0.5, 0.5]));
        assert!(row(graph.with_self_loops(), 1).1.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn encoders_have_only_what_they_need_computed() {
        for kind in EncoderKind::ALL {
            let graph = NormalisedGraph::new(&graph(&[(0, 1, 1.0)])).expect("a graph");
            let (own_path, identity) = (OwnPath::Added, Identity::Used);
            let (depth, width, hidden_dropout) = (DEFAULT_DEPTH, 8, 0.5);
            let encoder = Encoder { kind, depth, width, hidden_dropout, own_path, identity };
            let program = Program::new("encoding");
            let _ = encoder.encode(&program, &graph, "some", None, Mode::Training);
            program.finish().expect("a program");
            let expected = match kind {
                EncoderKind::Gcn | EncoderKind::Gat | EncoderKind::Sgc => [true, false, false],
                EncoderKind::Sage => [false, true, false],
                EncoderKind::Linear => [false; 3],
            };
            let matrices = [&graph.with_self_loops, &graph.means, &graph.similarity];
            assert_eq!(matrices.map(|matrix| matrix.get().is_some()), expected, "{kind}");
        }
    }
}
