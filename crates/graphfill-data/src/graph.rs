//! A graph as its file gives it: arcs in compressed sparse rows (CSR), with optional weights.

use std::ops::Range;

use crate::duplicate_edges::DuplicateEdges;
use crate::edge_list::EdgeList;
use crate::error::{DataError, Result};
use crate::undirected::UndirectedGraph;

/// Whether `a → b` and `b → a` mean different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Arcs point one way.
    Directed,
    /// Each arc stands for both directions.
    Undirected,
}

/// Arcs over nodes `0..nodes`, ordered by source and then by target; repeated arcs and self-loops
/// are kept as given. Methods work on [`Graph::undirected`].
///
/// ```
/// use graphfill_data::{Direction, Graph};
///
/// let graph = Graph::from_edge_index(&[0, 1], &[1, 2], None, 3, Direction::Undirected)?;
/// assert_eq!(graph.undirected().neighbours(1), [0, 2]);
/// # Ok::<(), graphfill_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    indptr: Vec<usize>,
    targets: Vec<u32>,
    weights: Option<Vec<f32>>,
    direction: Direction,
    duplicate_edges: DuplicateEdges,
}

impl Graph {
    /// A graph without arcs.
    pub fn without_arcs(nodes: usize) -> Self {
        Graph::from_sorted_csr(vec![0; nodes + 1], Vec::new(), None, Direction::Undirected)
    }

    /// A graph of the arcs `sources[i] → targets[i]` with weight `weights[i]`, in any order (PyG's
    /// `edge_index`).
    ///
    /// Fails if the slices differ in length, a node is not below `nodes`, or a weight is negative or
    /// not finite.
    pub fn from_edge_index(
        sources: &[u32],
        targets: &[u32],
        weights: Option<&[f32]>,
        nodes: usize,
        direction: Direction,
    ) -> Result<Graph> {
        check_lengths(sources.len(), targets.len(), "sources and targets")?;
        let mut list = EdgeList::unweighted();
        if let Some(weights) = weights {
            check_lengths(targets.len(), weights.len(), "targets and weights")?;
            list = EdgeList::weighted();
        }
        for (arc, (&source, &target)) in sources.iter().zip(targets).enumerate() {
            list.push(source, target, weights.map_or(1.0, |weights| weights[arc]));
        }
        list.into_graph(nodes, direction)
    }

    /// A graph from compressed sparse rows: `targets[indptr[i]..indptr[i + 1]]` are the targets of
    /// node `i`, in any order, and `weights` stand beside them.
    ///
    /// Fails if `indptr` does not start at 0, descends, or does not end at the number of targets, if
    /// the arrays differ in length, a target is no node, or a weight is negative or not finite.
    pub fn from_csr(
        indptr: Vec<usize>,
        targets: Vec<u32>,
        weights: Option<Vec<f32>>,
        direction: Direction,
    ) -> Result<Graph> {
        let valid = indptr.first() == Some(&0)
            && indptr.last() == Some(&targets.len())
            && indptr.is_sorted();
        if !valid {
            let arcs = targets.len();
            return Err(DataError::request(
                format!("indptr does not rise from 0 to the number of targets, {arcs}"),
                "give nodes + 1 row offsets",
            ));
        }
        let nodes = indptr.len() - 1;
        if let Some(target) = targets.iter().find(|&&target| target as usize >= nodes) {
            return Err(outside(*target, nodes));
        }
        if let Some(weights) = &weights {
            check_lengths(targets.len(), weights.len(), "targets and weights")?;
            check_weights(weights.iter().copied())?;
        }
        let graph = Graph::from_sorted_csr(indptr, targets, weights, direction);
        let key = |arc: usize| {
            let weight = graph.weights.as_ref().map_or(0, |weights| weights[arc].to_bits());
            (graph.targets[arc], weight)
        };
        if (0..nodes).all(|node| graph.row(node).is_sorted_by_key(key)) {
            return Ok(graph);
        }
        let sources: Vec<u32> = graph.iter().map(|arc| arc.0).collect();
        let weights = graph.weights.as_deref();
        Graph::from_edge_index(&sources, &graph.targets, weights, nodes, direction)
    }

    /// A graph from rows that are known to be valid and sorted by target and weight.
    pub(crate) fn from_sorted_csr(
        indptr: Vec<usize>,
        targets: Vec<u32>,
        weights: Option<Vec<f32>>,
        direction: Direction,
    ) -> Self {
        debug_assert_eq!(indptr.last().copied(), Some(targets.len()));
        Graph { indptr, targets, weights, direction, duplicate_edges: DuplicateEdges::default() }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The number of arcs, as given.
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// Whether the arcs point one way.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether the arcs have weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// What repeated and reciprocal arcs mean in [`Graph::undirected`].
    pub fn duplicate_edges(&self) -> DuplicateEdges {
        self.duplicate_edges
    }

    /// Where each node's arcs start in [`Graph::targets`], and the number of arcs: `nodes + 1`
    /// offsets.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// The targets of all arcs, by source and then ascending.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The weights beside [`Graph::targets`].
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// The targets of the arcs that leave `node`, ascending; empty for a node that there is not.
    pub fn targets_of(&self, node: usize) -> &[u32] {
        &self.targets[self.row(node)]
    }

    /// The weights beside [`Graph::targets_of`]; none in a graph without weights.
    pub fn weights_of(&self, node: usize) -> Option<&[f32]> {
        Some(&self.weights.as_ref()?[self.row(node)])
    }

    fn row(&self, node: usize) -> Range<usize> {
        match self.indptr.get(node..).unwrap_or_default() {
            [start, end, ..] => *start..*end,
            _ => 0..0,
        }
    }

    /// Every arc as `(source, target, weight)`; the weight is 1 in a graph without weights.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..self.nodes()).flat_map(move |source| {
            self.row(source).map(move |arc| {
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[arc]);
                (source as u32, self.targets[arc], weight)
            })
        })
    }

    /// The same arcs with another meaning of their direction.
    #[must_use]
    pub fn with_direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// The same arcs without their weights.
    #[must_use]
    pub fn without_weights(mut self) -> Self {
        self.weights = None;
        self
    }

    /// The same arcs over `nodes` nodes; the new ones have no arc. A graph never loses nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: usize) -> Self {
        self.indptr.resize(nodes.max(self.nodes()) + 1, self.targets.len());
        self
    }

    /// The same arcs with another meaning of repeated and reciprocal ones in
    /// [`Graph::undirected`].
    #[must_use]
    pub fn with_duplicate_edges(mut self, policy: DuplicateEdges) -> Self {
        self.duplicate_edges = policy;
        self
    }

    /// The simple graph that methods work on: no self-loops, and one edge for all arcs between two nodes,
    /// with the weight that [`Graph::duplicate_edges`] says. Of a [directed](Direction::Directed) graph it
    /// keeps the weights of both directions beside it.
    pub fn undirected(&self) -> UndirectedGraph {
        UndirectedGraph::new(self)
    }

    /// The bytes of memory that the arcs take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.indptr[..])
            + size_of_val(&self.targets[..])
            + self.weights.as_ref().map_or(0, |weights| size_of_val(&weights[..]))
    }
}

fn check_lengths(one: usize, other: usize, what: &str) -> Result<()> {
    if one == other {
        return Ok(());
    }
    let found = format!("{what} differ in length: {one} and {other}");
    Err(DataError::request(found, "give one entry per arc"))
}

/// Checks that weights are finite and not negative.
pub(crate) fn check_weights(mut weights: impl Iterator<Item = f32>) -> Result<()> {
    match weights.find(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        None => Ok(()),
        Some(weight) => Err(DataError::request(
            format!("an arc has the weight {weight}"),
            "weights are finite numbers of at least 0",
        )),
    }
}

/// An arc names a node that the graph does not have.
pub(crate) fn outside(node: u32, nodes: usize) -> DataError {
    let found = format!("an arc names node {node}, but the graph has {nodes} nodes");
    DataError::request(found, "nodes are numbered from 0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn csr(indptr: &[usize], targets: &[u32], weights: Option<&[f32]>) -> Result<Graph> {
        let weights = weights.map(<[f32]>::to_vec);
        Graph::from_csr(indptr.to_vec(), targets.to_vec(), weights, Direction::Directed)
    }

    #[test]
    fn invalid_rows_and_arcs_are_refused() {
        assert!(csr(&[0, 1, 2], &[1, 0], Some(&[1.0, 0.0])).is_ok());
        for (indptr, targets, weights, told) in [
            (&[][..], &[][..], None, "indptr"),
            (&[1, 1], &[0], None, "indptr"),
            (&[0, 2, 1], &[0], None, "indptr"),
            (&[0, 1], &[0, 0], None, "indptr"),
            (&[0, 1], &[1], None, "node 1"),
            (&[0, 1], &[0], Some(&[][..]), "differ"),
            (&[0, 1], &[0], Some(&[f32::NAN]), "NaN"),
            (&[0, 1], &[0], Some(&[-1.0]), "-1"),
        ] {
            let error = csr(indptr, targets, weights).expect_err(told).to_string();
            assert!(error.contains(told), "{told}: {error}");
        }
        for (sources, targets, weights, told) in [
            (&[0, 1][..], &[1][..], None, "differ"),
            (&[3], &[0], None, "node 3"),
            (&[0], &[3], Some(&[1.0][..]), "node 3"),
            (&[0], &[1], Some(&[f32::INFINITY]), "inf"),
        ] {
            let made = Graph::from_edge_index(sources, targets, weights, 3, Direction::Directed);
            let error = made.expect_err(told).to_string();
            assert!(error.contains(told), "{told}: {error}");
        }
    }

    #[test]
    fn nodes_that_there_are_not_have_no_arcs() {
        let graph = csr(&[0, 1, 1], &[1], Some(&[2.0])).expect("a graph").with_nodes(3);
        assert_eq!((graph.nodes(), graph.targets_of(0)), (3, &[1][..]));
        assert_eq!(graph.targets_of(7), [] as [u32; 0]);
        assert_eq!(graph.weights_of(usize::MAX), Some(&[][..]));
        let view = graph.with_nodes(1).undirected();
        assert_eq!((view.nodes(), view.degree(9), view.neighbours(9).len()), (3, 0, 0));
    }

    proptest! {
        #[test]
        fn rows_and_arc_lists_give_the_same_graph(
            rows in prop::collection::vec(prop::collection::vec((0u32..6, 0u8..3), 0..9), 6),
            weighted: bool,
        ) {
            let mut indptr = vec![0];
            let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for (source, row) in rows.iter().enumerate() {
                for &(target, weight) in row {
                    sources.push(source as u32);
                    targets.push(target);
                    weights.push(f32::from(weight));
                }
                indptr.push(targets.len());
            }
            let weights = weighted.then_some(&weights[..]);
            let from_rows = csr(&indptr, &targets, weights).expect("valid rows");
            let arcs = Graph::from_edge_index(&sources, &targets, weights, 6, Direction::Directed);
            prop_assert_eq!(&from_rows, &arcs.expect("valid arcs"));
            prop_assert_eq!(from_rows.indptr(), indptr);
            let again = csr(from_rows.indptr(), from_rows.targets(), from_rows.weights());
            prop_assert_eq!(again.expect("valid rows"), from_rows);
        }
    }
}
