//! The simple undirected graph on which every method works:
//!
//!   A = A₀ ⊕ A₀ᵀ, self-loops dropped, all arcs between two nodes combined into one edge,
//!
//! where ⊕ combines weights as [`DuplicateEdges`] says. Of a directed graph it also knows A₀ and A₀ᵀ, edge by
//! edge: the weight of the arc that leaves a node, and of the one that arrives. Without directions, or where
//! both are the same for every edge, there is nothing more to know than A.

use std::ops::Range;

use rayon::prelude::*;

use crate::duplicate_edges::DuplicateEdges;
use crate::graph::{Direction, Graph};

/// A symmetric adjacency matrix in compressed sparse rows: every edge is stored in the rows of both
/// its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct UndirectedGraph {
    indptr: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Option<Vec<f32>>,
    self_loops: usize,
    duplicate_arcs: usize,
    conflicting_weights: usize,
    one_way_edges: usize,
    arcs: Option<ArcWeights>,
    policy: DuplicateEdges,
}

/// The weights of the arcs along each edge, beside the neighbours of each node; 0 where there is no arc.
#[derive(Debug, Clone, PartialEq)]
struct ArcWeights {
    /// From the node to its neighbour.
    out: Vec<f32>,
    /// From the neighbour to the node.
    into: Vec<f32>,
}

impl UndirectedGraph {
    pub(crate) fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        let mut indptr = vec![0usize; nodes + 1];
        let mut self_loops = 0;
        for (source, target, _) in graph.iter() {
            if source == target {
                self_loops += 1;
            } else {
                indptr[source as usize + 1] += 1;
                indptr[target as usize + 1] += 1;
            }
        }
        for node in 0..nodes {
            indptr[node + 1] += indptr[node];
        }

        let policy = graph.duplicate_edges();
        let is_weighted = graph.is_weighted() || policy == DuplicateEdges::Sum;
        let mut neighbours = vec![0u32; indptr[nodes]];
        let mut weights = is_weighted.then(|| vec![0f32; indptr[nodes]]);
        let mut next = indptr.clone();
        let mut place = |from: u32, to: u32, weight: f32| {
            let slot = next[from as usize];
            next[from as usize] += 1;
            neighbours[slot] = to;
            if let Some(weights) = &mut weights {
                weights[slot] = weight;
            }
        };
        for (source, target, weight) in graph.iter() {
            if source != target {
                place(source, target, weight);
                place(target, source, weight);
            }
        }
        drop(next);

        let mut conflicting_weights = 0;
        let kept = match &mut weights {
            None => {
                rows_mut(&indptr, &mut neighbours).into_par_iter().for_each(<[u32]>::sort_unstable);
                merge_rows(&mut indptr, &mut neighbours, |_, _, _| {})
            }
            Some(weights) => {
                sort_weighted_rows(&indptr, &mut neighbours, weights);
                merge_rows(&mut indptr, &mut neighbours, |edge, arcs, to| {
                    let of_edge = &weights[arcs];
                    // Each edge is in two rows.
                    let conflicts = edge.0 < edge.1 && of_edge.first() != of_edge.last();
                    conflicting_weights += usize::from(conflicts);
                    weights[to] = policy.combine(of_edge);
                })
            }
        };
        neighbours.truncate(kept);
        neighbours.shrink_to_fit();
        if let Some(weights) = &mut weights {
            weights.truncate(kept);
            weights.shrink_to_fit();
        }
        let duplicate_arcs = graph.arcs() - self_loops - kept / 2;
        let mut simple = UndirectedGraph {
            indptr,
            neighbours,
            weights,
            self_loops,
            duplicate_arcs,
            conflicting_weights,
            one_way_edges: 0,
            arcs: None,
            policy,
        };
        if graph.direction() == Direction::Directed {
            simple.add_arcs(graph);
        }
        simple
    }

    /// Adds the weights of the arcs, if they are not the same in both directions.
    fn add_arcs(&mut self, graph: &Graph) {
        /// No weight is negative.
        const NO_ARC: f32 = -1.0;
        let mut out = vec![NO_ARC; self.neighbours.len()];
        let mut into = out.clone();
        let slot_of = |from: usize, to: usize| {
            let row = self.row(from);
            let found = self.neighbours[row.clone()].binary_search(&(to as u32));
            found.ok().map(|slot| row.start + slot)
        };
        let mut of_arc: Vec<f32> = Vec::new();
        for source in 0..graph.nodes() {
            let targets = graph.targets_of(source);
            let weights = graph.weights_of(source);
            let mut start = 0;
            while start < targets.len() {
                let target = targets[start] as usize;
                let equal = targets[start..].iter().take_while(|&&other| other as usize == target);
                let run = start..start + equal.count();
                start = run.end;
                of_arc.clear();
                match weights {
                    Some(weights) => of_arc.extend(&weights[run]),
                    None => of_arc.resize(run.len(), 1.0),
                }
                let weight = self.policy.combine(&of_arc);
                // Self-loops have no edge.
                if let (Some(leaves), Some(arrives)) =
                    (slot_of(source, target), slot_of(target, source))
                {
                    out[leaves] = weight;
                    into[arrives] = weight;
                }
            }
        }
        let ends = out.iter().zip(&into);
        let one_way_slots = ends.filter(|(out, into)| (**out < 0.0) != (**into < 0.0)).count();
        self.one_way_edges = one_way_slots / 2;
        for weight in out.iter_mut().chain(&mut into) {
            *weight = weight.max(0.0);
        }
        self.arcs = (out != into).then_some(ArcWeights { out, into });
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The number of edges, each counted once.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// How many self-loops were dropped.
    pub fn self_loops(&self) -> usize {
        self.self_loops
    }

    /// How many arcs repeat an edge, in either direction.
    pub fn duplicate_arcs(&self) -> usize {
        self.duplicate_arcs
    }

    /// How many edges have arcs of different weights.
    pub fn conflicting_weights(&self) -> usize {
        self.conflicting_weights
    }

    /// Whether the arcs of some edge differ by direction: only then can a method tell out-neighbours from
    /// in-neighbours. False for a directed graph in which every arc has its reverse with the same weight.
    pub fn is_directed(&self) -> bool {
        self.arcs.is_some()
    }

    /// How many edges of a directed graph have an arc in one direction only; 0 without directions.
    pub fn one_way_edges(&self) -> usize {
        self.one_way_edges
    }

    /// The share of the arcs of a directed graph, self-loops and repeated ones left out, that have no
    /// reverse arc.
    pub fn one_way_share(&self) -> f64 {
        let arcs = 2 * self.edges() - self.one_way_edges;
        self.one_way_edges as f64 / arcs.max(1) as f64
    }

    /// The weights of the arcs from each node to its neighbours, beside
    /// [`UndirectedGraph::all_neighbours`]: A₀, with 0 where there is none. None without directions
    /// ([`UndirectedGraph::is_directed`]).
    pub fn all_out_weights(&self) -> Option<&[f32]> {
        self.arcs.as_ref().map(|arcs| &arcs.out[..])
    }

    /// The weights of the arcs to each node from its neighbours: A₀ᵀ. See
    /// [`UndirectedGraph::all_out_weights`].
    pub fn all_in_weights(&self) -> Option<&[f32]> {
        self.arcs.as_ref().map(|arcs| &arcs.into[..])
    }

    /// The weights of the arcs from `node` to its neighbours, beside [`UndirectedGraph::neighbours`].
    pub fn out_weights(&self, node: usize) -> Option<&[f32]> {
        Some(&self.all_out_weights()?[self.row(node)])
    }

    /// The weights of the arcs to `node` from its neighbours, beside [`UndirectedGraph::neighbours`].
    pub fn in_weights(&self, node: usize) -> Option<&[f32]> {
        Some(&self.all_in_weights()?[self.row(node)])
    }

    /// How the weights of both arcs became the weight of an edge.
    pub fn duplicate_edges(&self) -> DuplicateEdges {
        self.policy
    }

    /// The neighbours of `node`, ascending; empty for a node that there is not.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.row(node)]
    }

    /// The weights beside [`UndirectedGraph::neighbours`]; none in a graph without weights.
    pub fn weights(&self, node: usize) -> Option<&[f32]> {
        Some(&self.weights.as_ref()?[self.row(node)])
    }

    fn row(&self, node: usize) -> Range<usize> {
        match self.indptr.get(node..).unwrap_or_default() {
            [start, end, ..] => *start..*end,
            _ => 0..0,
        }
    }

    /// The neighbours of a node and the weights of its edges to them.
    pub fn weighted_neighbours(&self, node: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let weights = self.weights(node);
        let weight = move |slot: usize| weights.map_or(1.0, |weights| f64::from(weights[slot]));
        self.neighbours(node).iter().enumerate().map(move |(slot, &other)| (other, weight(slot)))
    }

    /// Where each node's row starts in [`UndirectedGraph::all_neighbours`], and the length of all
    /// rows: `nodes + 1` offsets.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// The rows of all nodes, one after the other.
    pub fn all_neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    /// The weights beside [`UndirectedGraph::all_neighbours`].
    pub fn all_weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// The number of neighbours of `node`.
    pub fn degree(&self, node: usize) -> usize {
        self.row(node).len()
    }

    /// Every edge once, as `(smaller, larger, weight)`.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..self.nodes()).flat_map(move |node| {
            self.row(node).filter_map(move |slot| {
                let other = self.neighbours[slot];
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[slot]);
                (node < other as usize).then_some((node as u32, other, weight))
            })
        })
    }

    /// The component of each node, numbered from 0 in the order of their smallest nodes, and the
    /// number of components.
    pub fn components(&self) -> (Vec<u32>, usize) {
        const UNSEEN: u32 = u32::MAX;
        let mut component = vec![UNSEEN; self.nodes()];
        let mut count = 0;
        let mut open = Vec::new();
        for start in 0..self.nodes() {
            if component[start] != UNSEEN {
                continue;
            }
            component[start] = count;
            open.push(start);
            while let Some(node) = open.pop() {
                for &other in self.neighbours(node) {
                    if component[other as usize] == UNSEEN {
                        component[other as usize] = count;
                        open.push(other as usize);
                    }
                }
            }
            count += 1;
        }
        (component, count as usize)
    }

    /// The bytes of memory that the edges take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.indptr[..])
            + size_of_val(&self.neighbours[..])
            + self.weights.as_ref().map_or(0, |weights| size_of_val(&weights[..]))
            + self.arcs.as_ref().map_or(0, |arcs| 2 * size_of_val(&arcs.out[..]))
    }
}

/// Cuts `values` into the rows that `indptr` describes.
fn rows_mut<'a, T>(indptr: &[usize], mut values: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut rows = Vec::with_capacity(indptr.len() - 1);
    for pair in indptr.windows(2) {
        let (row, rest) = values.split_at_mut(pair[1] - pair[0]);
        rows.push(row);
        values = rest;
    }
    rows
}

/// Sorts every row by neighbour and then by weight.
fn sort_weighted_rows(indptr: &[usize], neighbours: &mut [u32], weights: &mut [f32]) {
    let rows = rows_mut(indptr, neighbours).into_par_iter().zip(rows_mut(indptr, weights));
    rows.for_each_init(Vec::new, |pairs: &mut Vec<(u32, f32)>, (row, row_weights)| {
        pairs.clear();
        pairs.extend(row.iter().copied().zip(row_weights.iter().copied()));
        pairs.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (slot, &(neighbour, weight)) in pairs.iter().enumerate() {
            row[slot] = neighbour;
            row_weights[slot] = weight;
        }
    });
}

/// Keeps one of each run of equal neighbours in every sorted row and closes the gaps; returns how
/// many are left. Calls `combine((node, neighbour), slots of the run, new slot)` for each run.
fn merge_rows(
    indptr: &mut [usize],
    neighbours: &mut [u32],
    mut combine: impl FnMut((usize, usize), Range<usize>, usize),
) -> usize {
    let mut kept = 0;
    let mut start = 0;
    for node in 0..indptr.len() - 1 {
        let end = indptr[node + 1];
        indptr[node] = kept;
        while start < end {
            let neighbour = neighbours[start];
            let run = neighbours[start..end].iter().take_while(|&&other| other == neighbour);
            let run = start..start + run.count();
            start = run.end;
            combine((node, neighbour as usize), run, kept);
            neighbours[kept] = neighbour;
            kept += 1;
        }
    }
    if let Some(last) = indptr.last_mut() {
        *last = kept;
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    use super::*;
    use crate::edge_list::EdgeList;
    use crate::graph::Direction;

    fn graph(arcs: &[(u32, u32, u8)], weighted: bool, policy: DuplicateEdges) -> UndirectedGraph {
        with_direction(arcs, weighted, policy, Direction::Undirected)
    }

    fn with_direction(
        arcs: &[(u32, u32, u8)],
        weighted: bool,
        policy: DuplicateEdges,
        direction: Direction,
    ) -> UndirectedGraph {
        let mut list = if weighted { EdgeList::weighted() } else { EdgeList::unweighted() };
        for &(a, b, weight) in arcs {
            list.push(a, b, f32::from(weight));
        }
        let graph = list.into_graph(7, direction).expect("valid arcs");
        graph.with_duplicate_edges(policy).undirected()
    }

    fn policies() -> impl Strategy<Value = DuplicateEdges> {
        prop::sample::select(&DuplicateEdges::ALL[..])
    }

    proptest! {
        #[test]
        fn agrees_with_a_map_of_edges(
            arcs in prop::collection::vec((0u32..7, 0u32..7, 0u8..5), 0..60),
            weighted: bool,
            policy in policies(),
        ) {
            let mut map: BTreeMap<(u32, u32), Vec<f32>> = BTreeMap::new();
            for &(a, b, weight) in arcs.iter().filter(|arc| arc.0 != arc.1) {
                let weight = if weighted { f32::from(weight) } else { 1.0 };
                map.entry((a.min(b), a.max(b))).or_default().push(weight);
            }
            let expected: Vec<(u32, u32, f32)> = map
                .iter()
                .map(|(&(a, b), weights)| {
                    let sum: f32 = weights.iter().sum();
                    (a, b, match policy {
                        DuplicateEdges::Max => weights.iter().copied().fold(0.0, f32::max),
                        DuplicateEdges::Sum => sum,
                        DuplicateEdges::Mean => sum / weights.len() as f32,
                    })
                })
                .collect();
            let differ = |weights: &&Vec<f32>| weights.iter().any(|weight| *weight != weights[0]);
            let loops = arcs.iter().filter(|arc| arc.0 == arc.1).count();

            let view = graph(&arcs, weighted, policy);
            prop_assert_eq!(view.self_loops(), loops);
            prop_assert_eq!(view.duplicate_arcs(), arcs.len() - loops - expected.len());
            prop_assert_eq!(view.conflicting_weights(), map.values().filter(differ).count());
            let has_weights = weighted || policy == DuplicateEdges::Sum;
            prop_assert_eq!(view.all_weights().is_some(), has_weights);
            prop_assert_eq!(view.iter().collect::<Vec<_>>(), expected);
            for node in 0..7 {
                prop_assert!(view.neighbours(node).windows(2).all(|pair| pair[0] < pair[1]));
                for (other, weight) in view.weighted_neighbours(node) {
                    let mut back = view.weighted_neighbours(other as usize);
                    prop_assert!(back.any(|pair| pair == (node as u32, weight)));
                }
            }
        }

        /// Directions are kept beside the same symmetric view.
        #[test]
        fn arcs_agree_with_a_map_of_arcs(
            arcs in prop::collection::vec((0u32..7, 0u32..7, 0u8..5), 0..60),
            weighted: bool,
            policy in policies(),
        ) {
            let mut map: BTreeMap<(u32, u32), Vec<f32>> = BTreeMap::new();
            for &(a, b, weight) in arcs.iter().filter(|arc| arc.0 != arc.1) {
                map.entry((a, b)).or_default().push(if weighted { f32::from(weight) } else { 1.0 });
            }
            let weight_of = |a: u32, b: u32| {
                let mut weights = map.get(&(a, b)).cloned().unwrap_or_default();
                weights.sort_by(f32::total_cmp);
                policy.combine(&weights)
            };
            let directed = with_direction(&arcs, weighted, policy, Direction::Directed);
            let differ = map.keys().any(|&(a, b)| weight_of(a, b) != weight_of(b, a));
            prop_assert_eq!(directed.is_directed(), differ);
            let one_way = map.keys().filter(|&&(a, b)| !map.contains_key(&(b, a))).count();
            prop_assert_eq!(directed.one_way_edges(), one_way);
            let share = one_way as f64 / map.len().max(1) as f64;
            prop_assert!((directed.one_way_share() - share).abs() < 1e-12);
            for node in 0..7 {
                let (Some(out), Some(into)) = (directed.out_weights(node), directed.in_weights(node))
                else {
                    prop_assert!(!differ);
                    continue;
                };
                for (slot, &other) in directed.neighbours(node).iter().enumerate() {
                    prop_assert_eq!(out[slot], weight_of(node as u32, other));
                    prop_assert_eq!(into[slot], weight_of(other, node as u32));
                }
            }
            let symmetric = UndirectedGraph { arcs: None, one_way_edges: 0, ..directed };
            prop_assert_eq!(symmetric, graph(&arcs, weighted, policy));
        }

        /// Listing each edge in both directions means the same as listing it once.
        #[test]
        fn both_spellings_of_a_graph_are_the_same(
            edges in prop::collection::btree_map((0u32..7, 0u32..7), 0u8..5, 0..20),
            weighted: bool,
        ) {
            let once: Vec<_> = edges
                .iter()
                .filter(|((a, b), _)| a < b)
                .map(|(&(a, b), &weight)| (a, b, weight))
                .collect();
            let turned = once.iter().map(|&(a, b, weight)| (b, a, weight));
            let twice: Vec<_> = once.iter().copied().chain(turned).collect();
            for policy in [DuplicateEdges::default(), DuplicateEdges::Mean] {
                let (one, other) = (graph(&once, weighted, policy), graph(&twice, weighted, policy));
                prop_assert_eq!(other.duplicate_arcs(), once.len());
                prop_assert_eq!(UndirectedGraph { duplicate_arcs: 0, ..other }, one);
            }
        }
    }

    #[test]
    fn policies_are_read_as_they_are_written() {
        for policy in DuplicateEdges::ALL {
            assert_eq!(policy.as_str().parse(), Ok(policy));
        }
        let error = "first".parse::<DuplicateEdges>().expect_err("no policy");
        assert!(error.contains("max, sum, mean"), "{error}");
    }

    #[test]
    fn components_are_numbered_by_their_smallest_node() {
        let view = graph(&[(3, 1, 1), (4, 0, 1)], false, DuplicateEdges::Max);
        assert_eq!(view.components(), (vec![0, 1, 2, 1, 0, 3, 4], 5));
    }
}
