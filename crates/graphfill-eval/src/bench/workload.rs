//! A random graph and table of a given size, and the update that is timed on them.

use std::sync::Arc;

use graphfill_data::{Direction, EdgeList, UndirectedGraph};
use graphfill_engine::random::{Key, uniforms};
use graphfill_engine::{Likelihood, Plan, Result, SparseRows, Targets};
use graphfill_methods::learning::Observed;
use graphfill_methods::svga::{Known, NormalisedGraph};
use rayon::slice::ParallelSliceMut;

use super::{BenchShape, Values};

/// Of five nodes, so many are observed: 4 : 1 : 5 for training, validation and test.
const OBSERVED_OF_FIVE: usize = 2;

/// Pairs of nodes that are drawn at once.
const PAIRS_AT_ONCE: usize = 1 << 22;

/// The largest number of nodes among which one draw chooses evenly.
const MAX_NODES_OF_ONE_DRAW: usize = 1 << 20;

/// Which update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// SVGA: one encoder, latents as they are.
    Svga,
    /// SVGA-U: two encoders, latents are drawn.
    SvgaU,
}

impl Variant {
    /// Its name in results.
    pub fn task(self) -> &'static str {
        match self {
            Variant::Svga => "svga-update",
            Variant::SvgaU => "svga-u-update",
        }
    }
}

/// What an update works on.
#[derive(Debug)]
pub struct Workload {
    shape: BenchShape,
    graph: NormalisedGraph,
    observed: Vec<u32>,
}

impl Workload {
    /// Draws a graph of this size: the same one every time.
    pub fn new(shape: &BenchShape) -> Result<Self> {
        let graph = NormalisedGraph::new(&random_graph(shape.nodes, shape.edges))?;
        let observed = (0..shape.nodes).filter(|node| node % 5 < OBSERVED_OF_FIVE);
        let observed = observed.map(|node| node as u32).collect();
        Ok(Workload { shape: *shape, graph, observed })
    }

    /// How many edges the graph has: fewer than in the shape where it is complete.
    pub fn edges(&self) -> usize {
        self.graph.edges()
    }

    /// The update, planned.
    pub fn plan(&self, variant: Variant) -> Result<Plan> {
        let model = &self.shape.model;
        let likelihood = Arc::new(self.likelihood()?);
        let features = Observed { rows: self.observed.clone(), likelihood };
        let known = Known { features, labels: None };
        let program = match variant {
            Variant::Svga => model.training(&self.graph, &known),
            Variant::SvgaU => model.stochastic_training(&self.graph, &known),
        };
        Plan::new(vec![program?])
    }

    fn likelihood(&self) -> Result<Likelihood> {
        let (rows, columns) = (self.observed.len(), self.shape.features);
        let likelihood = Likelihood::new(rows);
        match self.shape.values {
            Values::Ones(ones) => {
                let targets = Targets::Sparse(random_rows(rows, columns, ones, false));
                likelihood.balanced_bernoulli(targets, 1.0)
            }
            Values::Numbers(numbers) => {
                let targets = Targets::Sparse(random_rows(rows, columns, numbers, true));
                likelihood.squared_error(targets, 1.0)
            }
            Values::Dense => {
                let mut values = vec![0.0; rows * columns];
                uniforms(Key::new(0, 2, 0), &mut values);
                likelihood.squared_error(Targets::dense([rows, columns], values), 1.0)
            }
        }
    }
}

/// A graph with this many different pairs of different nodes, or as many as there are.
pub(super) fn random_graph(nodes: usize, edges: usize) -> UndirectedGraph {
    let most = nodes * nodes.saturating_sub(1) / 2;
    let edges = edges.min(most);
    let mut list = EdgeList::unweighted();
    if 2 * edges > most {
        // Most pairs: all of them in turn, but for some that are left out evenly.
        let pairs = (0..nodes as u32).flat_map(|a| (0..a).map(move |b| (a, b)));
        let kept = pairs.enumerate().filter(|(at, _)| (at + 1) * edges / most > at * edges / most);
        kept.for_each(|(_, (a, b))| list.push(a, b, 1.0));
    } else {
        for pair in drawn_pairs(nodes, edges) {
            list.push((pair >> 32) as u32, pair as u32, 1.0);
        }
    }
    list.into_graph(nodes, Direction::Undirected).expect("ends below nodes").undirected()
}

/// Draws until there are enough different pairs: `larger << 32 | smaller`, sorted.
fn drawn_pairs(nodes: usize, edges: usize) -> Vec<u64> {
    let mut pairs: Vec<u64> = Vec::new();
    let mut step = 0;
    while pairs.len() < edges {
        let missing = edges - pairs.len();
        let mut new = Vec::with_capacity(missing);
        for begin in (0..missing).step_by(PAIRS_AT_ONCE) {
            draw(nodes, PAIRS_AT_ONCE.min(missing - begin), step, &mut new);
            step += 1;
        }
        new.par_sort_unstable();
        new.dedup();
        new.retain(|pair| pairs.binary_search(pair).is_err());
        pairs.append(&mut new);
        // Two runs that are sorted already: this merges them.
        pairs.sort();
    }
    pairs
}

/// Draws so many pairs and keeps those of two different nodes.
fn draw(nodes: usize, count: usize, step: u64, pairs: &mut Vec<u64>) {
    // A draw has 24 bits. Where nodes are many, a second one goes on behind them.
    let per_node = if nodes > MAX_NODES_OF_ONE_DRAW { 2 } else { 1 };
    let mut draws = vec![0.0; 2 * per_node * count];
    uniforms(Key::new(0, 0, step), &mut draws);
    let node = |draws: &[f32]| {
        let behind = |finer: f64, &draw: &f32| f64::from(draw) + finer / f64::from(1 << 24);
        let draw = draws.iter().rev().fold(0.0, behind);
        ((draw * nodes as f64) as usize).min(nodes - 1) as u64
    };
    for pair in draws.chunks_exact(2 * per_node) {
        let (first, second) = pair.split_at(per_node);
        let (first, second) = (node(first), node(second));
        if first != second {
            pairs.push(first.max(second) << 32 | first.min(second));
        }
    }
}

/// Rows with this many entries each, one in every share of the columns.
fn random_rows(rows: usize, columns: usize, entries: usize, with_values: bool) -> SparseRows {
    let entries = entries.min(columns);
    let mut draws = vec![0.0; rows * entries];
    uniforms(Key::new(0, 1, 0), &mut draws);
    let column = |at: usize, draw: f32| {
        let (from, to) = (at * columns / entries, (at + 1) * columns / entries);
        (from + (f64::from(draw) * (to - from) as f64) as usize).min(to - 1) as u32
    };
    let places = draws.iter().enumerate().map(|(at, &draw)| column(at % entries, draw)).collect();
    let offsets = (0..=rows).map(|row| row * entries).collect();
    SparseRows::new(offsets, places, with_values.then_some(draws), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_graph_has_the_given_size() {
        let graph = random_graph(50, 300);
        assert_eq!((graph.nodes(), graph.edges(), graph.duplicate_arcs()), (50, 300, 0));
        assert_eq!(random_graph(3, 100).edges(), 3);
        // Nearly complete ones take no longer.
        assert_eq!(random_graph(480, 114_000).edges(), 114_000);
        assert_eq!(random_graph(50, 300), graph);
    }

    /// Half of all pairs, the most that are drawn.
    #[test]
    fn pairs_are_drawn_once_each() {
        let pairs = drawn_pairs(200, 9_950);
        assert_eq!(pairs.len(), 9_950);
        assert!(pairs.windows(2).all(|two| two[0] < two[1]));
        assert!(pairs.iter().all(|pair| pair >> 32 < 200 && pair >> 32 > pair & 0xffff_ffff));
    }

    /// Of nodes beyond what one draw tells apart, odd ones are as many as even ones.
    #[test]
    fn any_of_many_nodes_can_be_drawn() {
        let pairs = drawn_pairs(1 << 26, 4_000);
        let odd = pairs.iter().filter(|pair| **pair & 1 == 1).count();
        assert!((1_800..2_200).contains(&odd), "{odd}");
    }

    #[test]
    fn random_rows_have_distinct_columns() {
        let rows = random_rows(20, 33, 10, true);
        for row in 0..20 {
            let columns = rows.view().columns(row);
            assert_eq!(columns.len(), 10);
            assert!(columns.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
