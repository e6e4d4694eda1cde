//! The graph as it was given: arcs in compressed rows, weights where the file had them.

use crate::undirected::UndirectedGraph;

/// Whether `a → b` says something other than `b → a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Arcs point one way.
    Directed,
    /// Each arc stands for both ways.
    Undirected,
}

/// Arcs over nodes `0..nodes`, ordered by source and then by target; repeated arcs and self-loops
/// are kept as they were given. Methods work on [`Graph::undirected`].
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Option<Vec<f32>>,
    direction: Direction,
}

impl Graph {
    /// A graph without arcs.
    pub fn without_arcs(nodes: usize) -> Self {
        Graph {
            offsets: vec![0; nodes + 1],
            targets: Vec::new(),
            weights: None,
            direction: Direction::Undirected,
        }
    }

    pub(crate) fn from_rows(
        offsets: Vec<usize>,
        targets: Vec<u32>,
        weights: Option<Vec<f32>>,
        direction: Direction,
    ) -> Self {
        debug_assert_eq!(offsets.last().copied(), Some(targets.len()));
        debug_assert!(targets.iter().all(|&target| (target as usize) < offsets.len() - 1));
        Graph { offsets, targets, weights, direction }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
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

    /// The targets of the arcs that leave `node`, ascending.
    pub fn targets_of(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node]..self.offsets[node + 1]]
    }

    /// The weights of the arcs that leave `node`, beside [`Graph::targets_of`].
    pub fn weights_of(&self, node: usize) -> Option<&[f32]> {
        let weights = self.weights.as_ref()?;
        Some(&weights[self.offsets[node]..self.offsets[node + 1]])
    }

    /// Every arc as `(source, target, weight)`; the weight is 1 in a graph without weights.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..self.nodes()).flat_map(move |source| {
            let row = self.offsets[source]..self.offsets[source + 1];
            row.map(move |arc| {
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[arc]);
                (source as u32, self.targets[arc], weight)
            })
        })
    }

    /// The same arcs without their weights.
    #[must_use]
    pub fn without_weights(mut self) -> Self {
        self.weights = None;
        self
    }

    /// The same arcs over more nodes; the new ones have no arc.
    ///
    /// # Panics
    /// If `nodes` is below the present number.
    #[must_use]
    pub fn with_nodes(mut self, nodes: usize) -> Self {
        assert!(nodes >= self.nodes(), "a graph can only gain nodes");
        self.offsets.resize(nodes + 1, self.targets.len());
        self
    }

    /// The simple undirected view: both ways, no self-loops, no repeated edges.
    pub fn undirected(&self) -> UndirectedGraph {
        UndirectedGraph::of(self)
    }

    /// The bytes that the arcs take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.offsets[..])
            + size_of_val(&self.targets[..])
            + self.weights.as_ref().map_or(0, |weights| size_of_val(&weights[..]))
    }
}
