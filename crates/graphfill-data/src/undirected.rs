//! The simple undirected view of a graph, which every method works on:
//!
//!   A = A₀ + A₀ᵀ, self-loops dropped, repeated and reciprocal arcs merged into one edge.
//!
//! Merged weights are added, so that a weighted edge listed both ways counts for both.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::graph::Graph;

/// A symmetric adjacency in compressed rows: every edge stands in the rows of both its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct UndirectedGraph {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Option<Vec<f32>>,
    self_loops: usize,
    merged: usize,
}

impl UndirectedGraph {
    pub(crate) fn of(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        let mut offsets = vec![0usize; nodes + 1];
        let mut self_loops = 0;
        for (source, target, _) in graph.iter() {
            if source == target {
                self_loops += 1;
            } else {
                offsets[source as usize + 1] += 1;
                offsets[target as usize + 1] += 1;
            }
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }

        let mut neighbours = vec![0u32; offsets[nodes]];
        let mut weights = graph.is_weighted().then(|| vec![0f32; offsets[nodes]]);
        let mut next = offsets.clone();
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

        let arcs = graph.arcs();
        let kept = match &mut weights {
            None => merge_rows(&mut offsets, &mut neighbours),
            Some(weights) => merge_weighted_rows(&mut offsets, &mut neighbours, weights),
        };
        neighbours.truncate(kept);
        neighbours.shrink_to_fit();
        if let Some(weights) = &mut weights {
            weights.truncate(kept);
            weights.shrink_to_fit();
        }
        let merged = arcs - self_loops - kept / 2;
        UndirectedGraph { offsets, neighbours, weights, self_loops, merged }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of edges, each counted once.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// How many self-loops were dropped.
    pub fn self_loops(&self) -> usize {
        self.self_loops
    }

    /// How many arcs were merged into an edge that was there already.
    pub fn duplicate_arcs(&self) -> usize {
        self.merged
    }

    /// The neighbours of `node`, ascending.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.offsets[node]..self.offsets[node + 1]]
    }

    /// The weights beside [`UndirectedGraph::neighbours`].
    pub fn weights(&self, node: usize) -> Option<&[f32]> {
        let weights = self.weights.as_ref()?;
        Some(&weights[self.offsets[node]..self.offsets[node + 1]])
    }

    /// The neighbours of a node and the weights of its edges to them.
    pub fn weighted_neighbours(&self, node: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let weights = self.weights(node);
        let weight = move |slot: usize| weights.map_or(1.0, |weights| f64::from(weights[slot]));
        self.neighbours(node).iter().enumerate().map(move |(slot, &other)| (other, weight(slot)))
    }

    /// Where each node's row starts in [`UndirectedGraph::all_neighbours`]; one more at the end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
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
        self.offsets[node + 1] - self.offsets[node]
    }

    /// Every edge once, as `(smaller, larger, weight)`.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..self.nodes()).flat_map(move |node| {
            let row = self.offsets[node]..self.offsets[node + 1];
            row.filter_map(move |slot| {
                let other = self.neighbours[slot];
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[slot]);
                (node < other as usize).then_some((node as u32, other, weight))
            })
        })
    }

    /// The component of each node, numbered from 0 by the smallest node they hold, and how many
    /// there are.
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

    /// The bytes that the edges take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.offsets[..])
            + size_of_val(&self.neighbours[..])
            + self.weights.as_ref().map_or(0, |weights| size_of_val(&weights[..]))
    }
}

/// Cuts `values` into the rows that `offsets` describe.
fn rows_mut<'a, T>(offsets: &[usize], mut values: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut rows = Vec::with_capacity(offsets.len() - 1);
    for pair in offsets.windows(2) {
        let (row, rest) = values.split_at_mut(pair[1] - pair[0]);
        rows.push(row);
        values = rest;
    }
    rows
}

/// Sorts every row, drops repeated neighbours and closes the gaps; says how many are left.
fn merge_rows(offsets: &mut [usize], neighbours: &mut [u32]) -> usize {
    rows_mut(offsets, neighbours).into_par_iter().for_each(<[u32]>::sort_unstable);
    let mut kept = 0;
    let mut start = 0;
    for node in 0..offsets.len() - 1 {
        let end = offsets[node + 1];
        offsets[node] = kept;
        for slot in start..end {
            if slot == start || neighbours[slot] != neighbours[slot - 1] {
                neighbours[kept] = neighbours[slot];
                kept += 1;
            }
        }
        start = end;
    }
    if let Some(last) = offsets.last_mut() {
        *last = kept;
    }
    kept
}

/// As [`merge_rows`], adding the weights of what it merges.
fn merge_weighted_rows(
    offsets: &mut [usize],
    neighbours: &mut [u32],
    weights: &mut [f32],
) -> usize {
    let by_neighbour = |a: &(u32, f32), b: &(u32, f32)| match a.0.cmp(&b.0) {
        Ordering::Equal => a.1.total_cmp(&b.1),
        order => order,
    };
    rows_mut(offsets, neighbours).into_par_iter().zip(rows_mut(offsets, weights)).for_each_init(
        Vec::new,
        |pairs, (row, row_weights)| {
            pairs.clear();
            pairs.extend(row.iter().copied().zip(row_weights.iter().copied()));
            pairs.sort_unstable_by(by_neighbour);
            for (slot, &(neighbour, weight)) in pairs.iter().enumerate() {
                row[slot] = neighbour;
                row_weights[slot] = weight;
            }
        },
    );
    let mut kept = 0;
    let mut start = 0;
    for node in 0..offsets.len() - 1 {
        let end = offsets[node + 1];
        let row = kept;
        offsets[node] = row;
        for slot in start..end {
            if kept > row && neighbours[kept - 1] == neighbours[slot] {
                weights[kept - 1] += weights[slot];
            } else {
                neighbours[kept] = neighbours[slot];
                weights[kept] = weights[slot];
                kept += 1;
            }
        }
        start = end;
    }
    if let Some(last) = offsets.last_mut() {
        *last = kept;
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    use crate::edge_list::EdgeList;
    use crate::graph::Direction;

    proptest! {
        #[test]
        fn agrees_with_a_map_of_edges(
            arcs in prop::collection::vec((0u32..7, 0u32..7, 1u8..5), 0..60),
            weighted: bool,
        ) {
            let mut list = if weighted { EdgeList::weighted() } else { EdgeList::unweighted() };
            let mut expected: BTreeMap<(u32, u32), f32> = BTreeMap::new();
            let mut loops = 0;
            for &(a, b, weight) in &arcs {
                list.push(a, b, f32::from(weight));
                if a == b {
                    loops += 1;
                } else {
                    *expected.entry((a.min(b), a.max(b))).or_default() +=
                        if weighted { f32::from(weight) } else { 0.0 };
                }
            }
            let view = list.into_graph(7, Direction::Directed).undirected();
            let found: BTreeMap<(u32, u32), f32> = view
                .iter()
                .map(|(a, b, weight)| ((a, b), if weighted { weight } else { 0.0 }))
                .collect();
            prop_assert_eq!(view.self_loops(), loops);
            prop_assert_eq!(view.duplicate_arcs(), arcs.len() - loops - expected.len());
            prop_assert_eq!(found, expected);
            for node in 0..7 {
                prop_assert!(view.neighbours(node).windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
    }

    #[test]
    fn components_are_numbered_by_their_smallest_node() {
        let mut list = EdgeList::unweighted();
        list.push(3, 1, 1.0);
        list.push(4, 0, 1.0);
        let view = list.into_graph(5, Direction::Undirected).undirected();
        assert_eq!(view.components(), (vec![0, 1, 2, 1, 0], 3));
    }
}
