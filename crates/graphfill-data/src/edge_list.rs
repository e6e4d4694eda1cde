//! A growing list of arcs that becomes a [`Graph`].
//!
//! Built for tens of millions of arcs: six bytes per arc while reading (eight from 2²⁴ nodes on,
//! twelve with a weight), sorted in place, and moved into the compressed rows from the back, so that
//! the list shrinks as the graph grows. The peak is the size of the list, not of list and graph.

use rayon::slice::ParallelSliceMut;

use crate::error::Result;
use crate::graph::{self, Direction, Graph};

/// How many arcs are moved before the list frees memory.
const SHRINK_INTERVAL: usize = 1 << 16;

/// A growing list of arcs `source → target`, all with a weight or all without.
#[derive(Debug, Default)]
pub struct EdgeList {
    arcs: Arcs,
    max_node: u32,
}

#[derive(Debug)]
enum Arcs {
    /// Arcs between nodes below 2²⁴.
    Narrow(Vec<NarrowArc>),
    /// `source << 32 | target`, so that one integer comparison orders them.
    Plain(Vec<u64>),
    Weighted(Vec<WeightedArc>),
}

impl Default for Arcs {
    fn default() -> Self {
        Arcs::Narrow(Vec::new())
    }
}

/// Three bytes of the source, then three of the target, big-endian.
#[derive(Debug, Clone, Copy)]
struct NarrowArc([u8; 6]);

impl NarrowArc {
    /// The arc, where both ends fit.
    fn new(source: u32, target: u32) -> Option<Self> {
        let ([0, a, b, c], [0, d, e, f]) = (source.to_be_bytes(), target.to_be_bytes()) else {
            return None;
        };
        Some(NarrowArc([a, b, c, d, e, f]))
    }

    /// `source << 32 | target`.
    fn wide(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, a, b, c, 0, d, e, f])
    }
}

#[derive(Debug, Clone, Copy)]
struct WeightedArc {
    source: u32,
    target: u32,
    weight: f32,
}

impl EdgeList {
    /// A list of arcs without weights.
    pub fn unweighted() -> Self {
        EdgeList::default()
    }

    /// A list of arcs with weights.
    pub fn weighted() -> Self {
        EdgeList { arcs: Arcs::Weighted(Vec::new()), max_node: 0 }
    }

    /// Adds an arc; a list without weights ignores `weight`.
    pub fn push(&mut self, source: u32, target: u32, weight: f32) {
        self.max_node = self.max_node.max(source).max(target);
        if let Arcs::Narrow(arcs) = &mut self.arcs {
            match NarrowArc::new(source, target) {
                Some(arc) => return arcs.push(arc),
                None => self.widen(),
            }
        }
        match &mut self.arcs {
            // Widened above.
            Arcs::Narrow(_) => {}
            Arcs::Plain(arcs) => arcs.push(u64::from(source) << 32 | u64::from(target)),
            Arcs::Weighted(arcs) => arcs.push(WeightedArc { source, target, weight }),
        }
    }

    /// Gives every arc eight bytes; their order doesn't matter yet.
    fn widen(&mut self) {
        let Arcs::Narrow(narrow) = &mut self.arcs else { return };
        let mut arcs = Vec::new();
        drain_shrinking(std::mem::take(narrow), |arc| arcs.push(arc.wide()));
        self.arcs = Arcs::Plain(arcs);
    }

    /// The number of arcs so far.
    pub fn len(&self) -> usize {
        match &self.arcs {
            Arcs::Narrow(arcs) => arcs.len(),
            Arcs::Plain(arcs) => arcs.len(),
            Arcs::Weighted(arcs) => arcs.len(),
        }
    }

    /// Whether there is no arc yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The graph of these arcs over `nodes` nodes, arcs ordered by source, then target.
    ///
    /// Fails if an arc names a node that is not below `nodes`, or a weight is negative or not finite.
    pub fn into_graph(self, nodes: usize, direction: Direction) -> Result<Graph> {
        if !self.is_empty() && self.max_node as usize >= nodes {
            return Err(graph::outside(self.max_node, nodes));
        }
        let mut targets = Vec::with_capacity(self.len());
        let mut weights = None;
        let indptr = match self.arcs {
            Arcs::Narrow(mut arcs) => {
                arcs.par_sort_unstable_by_key(|arc| arc.wide());
                let indptr = row_offsets(&arcs, nodes, |arc| (arc.wide() >> 32) as u32);
                drain_shrinking(arcs, |arc| targets.push(arc.wide() as u32));
                indptr
            }
            Arcs::Plain(mut arcs) => {
                arcs.par_sort_unstable();
                let indptr = row_offsets(&arcs, nodes, |arc: &u64| (arc >> 32) as u32);
                drain_shrinking(arcs, |arc| targets.push(arc as u32));
                indptr
            }
            Arcs::Weighted(mut arcs) => {
                graph::check_weights(arcs.iter().map(|arc| arc.weight))?;
                // Sorting by weight, too, makes the order of equal arcs independent of the order of
                // the file and of the number of threads.
                arcs.par_sort_unstable_by_key(|arc| (arc.source, arc.target, arc.weight.to_bits()));
                let indptr = row_offsets(&arcs, nodes, |arc| arc.source);
                let weights = weights.insert(Vec::with_capacity(arcs.len()));
                drain_shrinking(arcs, |arc| {
                    targets.push(arc.target);
                    weights.push(arc.weight);
                });
                weights.reverse();
                indptr
            }
        };
        targets.reverse();
        Ok(Graph::from_sorted_csr(indptr, targets, weights, direction))
    }
}

/// `indptr[i]..indptr[i + 1]` is the range of the arcs of node `i` in the sorted list.
fn row_offsets<A>(sorted: &[A], nodes: usize, source: impl Fn(&A) -> u32) -> Vec<usize> {
    let mut indptr = vec![0usize; nodes + 1];
    for arc in sorted {
        indptr[source(arc) as usize + 1] += 1;
    }
    for node in 0..nodes {
        indptr[node + 1] += indptr[node];
    }
    indptr
}

/// Takes the arcs from the back and frees their memory on the way.
fn drain_shrinking<A>(mut arcs: Vec<A>, mut take: impl FnMut(A)) {
    while let Some(arc) = arcs.pop() {
        take(arc);
        if arcs.len().is_multiple_of(SHRINK_INTERVAL) {
            arcs.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_come_out_by_source_then_target() {
        let mut list = EdgeList::unweighted();
        for (source, target) in [(2, 0), (0, 2), (0, 1), (2, 2), (0, 1)] {
            list.push(source, target, 1.0);
        }
        let graph = list.into_graph(4, Direction::Directed).expect("valid arcs");
        assert_eq!(graph.arcs(), 5);
        assert_eq!(graph.targets_of(0), [1, 1, 2]);
        assert_eq!(graph.targets_of(1), [] as [u32; 0]);
        assert_eq!(graph.targets_of(2), [0, 2]);
        assert_eq!(graph.targets_of(3), [] as [u32; 0]);
    }

    #[test]
    fn arcs_between_many_nodes_are_kept_beside_those_between_few() {
        let nodes = 0x0100_0001;
        let mut list = EdgeList::unweighted();
        let arcs = [(3, 1), (0x00ff_ffff, 2), (nodes - 1, 0), (3, nodes - 1), (0, 5), (3, 0)];
        for (source, target) in arcs {
            list.push(source, target, 1.0);
        }
        assert_eq!(list.len(), arcs.len());
        let graph = list.into_graph(nodes as usize, Direction::Directed).expect("valid arcs");
        let mut sorted = arcs.map(|(source, target)| (source, target, 1.0));
        sorted.sort_by_key(|arc| (arc.0, arc.1));
        assert_eq!(graph.iter().collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn weights_stay_with_their_arcs() {
        let mut list = EdgeList::weighted();
        list.push(1, 0, 0.5);
        list.push(0, 1, 2.0);
        list.push(1, 1, 3.0);
        let graph = list.into_graph(2, Direction::Directed).expect("valid arcs");
        assert_eq!(graph.weights_of(0), Some(&[2.0][..]));
        assert_eq!(graph.weights_of(1), Some(&[0.5, 3.0][..]));
    }
}
