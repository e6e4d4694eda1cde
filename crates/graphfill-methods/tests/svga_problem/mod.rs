//! A graph with words, for tests of SVGA's programs.

use std::sync::Arc;

use graphfill_data::{Direction, EdgeList};
use graphfill_engine::{Likelihood, Plan, Recorded, Result, Session, SparseRows, Targets};
use graphfill_methods::encoder::DEFAULT_DEPTH;
use graphfill_methods::learning::Observed;
use graphfill_methods::svga::{EncoderKind, Known, Model, Normalisation, NormalisedGraph};

/// Nodes without edges; they are the last ones.
pub(crate) const ISOLATED: usize = 5;

pub(crate) const TRAINED: Model = Model {
    encoder: EncoderKind::Gcn,
    depth: DEFAULT_DEPTH,
    width: 24,
    normalisation: Normalisation::Unit,
    dropout: 0.5,
    decoder_bias: true,
    lambda: 1.0,
    beta: 0.1,
    learning_rate: 0.01,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    Restricted,
    Stochastic,
}

impl Variant {
    pub(crate) fn training(
        self,
        model: &Model,
        graph: &NormalisedGraph,
        observed: &[u32],
        likelihood: &Arc<Likelihood>,
    ) -> Result<Recorded> {
        match self {
            Variant::Restricted => model.training(graph, &known(observed, likelihood)),
            Variant::Stochastic => model.stochastic_training(graph, &known(observed, likelihood)),
        }
    }
}

/// Rows of a table, without labels.
pub(crate) fn known(rows: &[u32], likelihood: &Arc<Likelihood>) -> Known {
    let likelihood = Arc::clone(likelihood);
    Known { features: Observed { rows: rows.to_vec(), likelihood }, labels: None }
}

/// Uniform numbers in 0 ≤ number < 1 (SplitMix64).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    pub(crate) fn uniform(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 40) as f32 / (1 << 24) as f32
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (f64::from(self.uniform()) * bound as f64) as usize
    }
}

/// Edges as a file might list them.
pub(crate) struct Edges {
    pub(crate) nodes: usize,
    pub(crate) list: Vec<(u32, u32, f32)>,
    pub(crate) weighted: bool,
}

impl Edges {
    /// About five neighbours a node, some listed twice or the other way round, some self-loops.
    pub(crate) fn random(nodes: usize, weighted: bool) -> Self {
        let mut numbers = Numbers::new(17);
        let mut list = Vec::new();
        for _ in 0..nodes * 5 / 2 {
            let mut end = || numbers.below(nodes - ISOLATED) as u32;
            let (source, target) = (end(), end());
            list.push((source, target, 0.25 + numbers.uniform()));
        }
        for again in 0..nodes / 6 {
            let (source, target, weight) = list[again];
            list.push(if again % 2 == 0 {
                (source, target, 1.0)
            } else {
                (target, source, weight)
            });
            list.push((source, source, 1.0));
        }
        Edges { nodes, list, weighted }
    }

    pub(crate) fn graph(&self) -> NormalisedGraph {
        let mut edges = if self.weighted { EdgeList::weighted() } else { EdgeList::unweighted() };
        self.list.iter().for_each(|&(source, target, weight)| edges.push(source, target, weight));
        let graph = edges.into_graph(self.nodes, Direction::Undirected).expect("valid arcs");
        let graph = graph.undirected();
        NormalisedGraph::new(&graph).expect("weights that can be averaged with")
    }
}

/// 0 or 1, rows × columns; a row in nine has none at all.
pub(crate) fn words(rows: usize, columns: usize) -> Vec<f32> {
    let mut numbers = Numbers::new(5);
    let cell = |at: usize| {
        let drawn = numbers.uniform() < 0.15;
        f32::from(u8::from(drawn && at / columns % 9 != 4))
    };
    (0..rows * columns).map(cell).collect()
}

/// Targets that list their ones.
pub(crate) fn listed(columns: usize, words: &[f32]) -> Targets {
    let mut offsets = vec![0];
    let mut list = Vec::new();
    for row in words.chunks_exact(columns) {
        list.extend((0..columns as u32).filter(|&column| row[column as usize] == 1.0));
        offsets.push(list.len());
    }
    Targets::Sparse(SparseRows::new(offsets, list, None, columns))
}

/// Two nodes of three, not in their order.
pub(crate) fn observed_nodes(nodes: usize) -> Vec<u32> {
    (0..nodes as u32).rev().filter(|node| node % 3 != 1).collect()
}

/// A session of [`TRAINED`] on a random graph with 50 words.
pub(crate) fn training(variant: Variant, nodes: usize, seed: u64) -> Session {
    let observed = observed_nodes(nodes);
    let targets = listed(50, &words(observed.len(), 50));
    let likelihood = Likelihood::new(observed.len()).balanced_bernoulli(targets, 1.0);
    let likelihood = Arc::new(likelihood.expect("a likelihood"));
    let graph = Edges::random(nodes, false).graph();
    let program = variant.training(&TRAINED, &graph, &observed, &likelihood);
    crate::device::session(Plan::new(vec![program.expect("a program")]).expect("a plan"), seed)
}
