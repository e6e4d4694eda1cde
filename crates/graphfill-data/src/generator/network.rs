//! A degree-corrected planted partition: P(edge i–j) ∝ wᵢ wⱼ, larger within a community than
//! between communities. 0.5% of the nodes have no edge, 1.5% are in components of two to five nodes.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::GeneratorConfig;
use crate::edge_list::EdgeList;
use crate::error::Result;
use crate::graph::{Direction, Graph};
use crate::random_stream::{self, Purpose};

/// Weights follow a Pareto law with tail index `1 / SKEW`.
const SKEW: f64 = 0.4;
/// How often a node of mean weight stands in [`Ends::nodes`].
const COPIES: f64 = 8.0;
const ISOLATED: f64 = 0.005;
const IN_SMALL_COMPONENTS: f64 = 0.015;
/// How often the second end of an edge is drawn before the edge is given up.
const TRIES: usize = 8;
/// How often repeated edges are replaced, and the fraction of edges that may be lacking.
const ROUNDS: usize = 20;
const TOLERATED_SHORTFALL: f64 = 0.001;

/// A partition of the nodes whose parts differ in size by a factor of at most three.
pub(super) struct Communities {
    /// The community of each node.
    pub(super) codes: Vec<u32>,
    /// The nodes by community, in random order within each.
    members: Vec<u32>,
    indptr: Vec<usize>,
}

impl Communities {
    pub(super) fn draw(config: &GeneratorConfig) -> Self {
        let GeneratorConfig { nodes, communities, .. } = *config;
        let mut random = random_stream::open(config.seed, Purpose::Communities);
        let weights: Vec<f64> = (0..communities).map(|_| 0.5 + random.random::<f64>()).collect();
        let total: f64 = weights.iter().sum();
        // Each community has one node, and the others in proportion to its weight.
        let mut indptr = vec![0];
        let mut sum = 0.0;
        for (community, weight) in weights.iter().enumerate() {
            sum += weight;
            let others = (nodes - communities) as f64 * (sum / total).min(1.0);
            indptr.push(community + 1 + others as usize);
        }
        // The running sum may miss the total by a rounding error.
        indptr[communities] = nodes;

        let mut members: Vec<u32> = (0..nodes as u32).collect();
        members.shuffle(&mut random);
        let mut codes = vec![0; nodes];
        for (community, range) in indptr.windows(2).enumerate() {
            for &node in &members[range[0]..range[1]] {
                codes[node as usize] = community as u32;
            }
        }
        Communities { codes, members, indptr }
    }
}

/// The graph: every edge once, no self-loops.
pub(super) fn draw(config: &GeneratorConfig, communities: &Communities) -> Result<Graph> {
    let wanted = (config.nodes as f64 * config.mean_degree / 2.0).round() as usize;
    let mut edges = Vec::with_capacity(wanted);
    if wanted > 0 {
        let ends = Ends::draw(config, communities, &mut edges);
        edges.truncate(wanted);
        let mut random = random_stream::open(config.seed, Purpose::Edges);
        let tolerated = (wanted as f64 * TOLERATED_SHORTFALL) as usize;
        for _ in 0..ROUNDS {
            if edges.len() + tolerated >= wanted {
                break;
            }
            for _ in edges.len()..wanted {
                edges.extend(ends.edge(config.mixing, &communities.codes, &mut random));
            }
            edges.sort_unstable();
            edges.dedup();
        }
    }
    let mut list = EdgeList::unweighted();
    for (source, target) in edges {
        list.push(source, target, 1.0);
    }
    list.into_graph(config.nodes, Direction::Undirected)
}

fn edge(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// The nodes by community, each as often as its weight says, so that a uniform draw of an element
/// draws nodes by weight.
struct Ends {
    nodes: Vec<u32>,
    indptr: Vec<usize>,
}

impl Ends {
    /// Draws weights, and adds the edges of the small components.
    fn draw(
        config: &GeneratorConfig,
        communities: &Communities,
        edges: &mut Vec<(u32, u32)>,
    ) -> Self {
        let mut random = random_stream::open(config.seed, Purpose::Degrees);
        let mut ends = Ends { nodes: Vec::new(), indptr: vec![0] };
        for range in communities.indptr.windows(2) {
            // Rounding the running total spreads a fraction over communities of any size.
            let part = |fraction: f64| {
                (range[1] as f64 * fraction) as usize - (range[0] as f64 * fraction) as usize
            };
            let members = &communities.members[range[0] + part(ISOLATED)..range[1]];
            let small = part(IN_SMALL_COMPONENTS).min(members.len());
            join_small_components(&members[..small], edges, &mut random);

            // A node that expects more neighbours than this would draw the same ones repeatedly.
            let max = (members.len() as f64 / (4.0 * config.mean_degree)).max(1.0);
            for &node in &members[small..] {
                // Of mean 1.
                let weight = (1.0 - SKEW) * libm::pow(1.0 - random.random::<f64>(), -SKEW);
                let copies = (weight.min(max) * COPIES + random.random::<f64>()).max(1.0);
                ends.nodes.extend(std::iter::repeat_n(node, copies as usize));
            }
            ends.indptr.push(ends.nodes.len());
        }
        ends
    }

    fn edge(&self, mixing: f64, codes: &[u32], random: &mut impl Rng) -> Option<(u32, u32)> {
        let all = 0..self.nodes.len();
        let source = self.nodes[random.random_range(all.clone())];
        let home = codes[source as usize];
        let leaves = random.random::<f64>() < mixing;
        let own = self.indptr[home as usize]..self.indptr[home as usize + 1];
        let range = if leaves { all } else { own };
        for _ in 0..TRIES {
            let target = self.nodes[random.random_range(range.clone())];
            if if leaves { codes[target as usize] != home } else { target != source } {
                return Some(edge(source, target));
            }
        }
        None
    }
}

/// Joins nodes into paths of two to five, half of the longer ones closed to a cycle.
fn join_small_components(mut nodes: &[u32], edges: &mut Vec<(u32, u32)>, random: &mut impl Rng) {
    while nodes.len() >= 2 {
        let mut size = random.random_range(2..5usize).min(nodes.len());
        if nodes.len() - size == 1 {
            size = nodes.len();
        }
        let (component, rest) = nodes.split_at(size);
        edges.extend(component.windows(2).map(|pair| edge(pair[0], pair[1])));
        if size > 2 && random.random::<bool>() {
            edges.push(edge(component[0], component[size - 1]));
        }
        nodes = rest;
    }
}
