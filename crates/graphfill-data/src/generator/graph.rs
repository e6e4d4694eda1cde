//! A degree-corrected planted partition: P(edge between i and j) ∝ wᵢ wⱼ, more within a community
//! than across.
//!
//! Each community has an urn in which a node lies about as often as its weight w says; an edge is
//! two draws, and both cost the same however many nodes there are. A few nodes are set aside:
//! some stay alone, some form small components, as in every graph that was collected somewhere.

use rand::{Rng, RngExt};
use rayon::slice::ParallelSliceMut;

use super::GeneratorConfig;
use super::communities::Communities;
use crate::graph::{Direction, Graph};
use crate::portable;
use crate::random_stream::{self, Purpose};

/// How often a node of average weight lies in its urn.
const COPIES: f64 = 8.0;
/// The shares of nodes without any edge, and in components of a few.
const ALONE: f64 = 0.005;
const IN_SMALL_COMPONENTS: f64 = 0.015;
/// How often another end is drawn for an edge before it is given up.
const TRIES: usize = 8;
/// How often repeated edges are drawn again, and the share of edges that may stay short.
const ROUNDS: usize = 20;
const TOLERATED_SHORTFALL: f64 = 0.001;

/// The graph of a config, each edge once, no self-loops.
pub(super) fn draw(config: &GeneratorConfig, communities: &Communities) -> Graph {
    let wanted = config.edges();
    if wanted == 0 {
        return Graph::without_arcs(config.nodes);
    }
    let mut edges = Vec::with_capacity(wanted);
    let urns = Urns::fill(config, communities, &mut edges);
    edges.truncate(wanted);

    let mut random = random_stream::open(config.seed, Purpose::Edges);
    let tolerated = (wanted as f64 * TOLERATED_SHORTFALL) as usize;
    for _ in 0..ROUNDS {
        if edges.len() + tolerated >= wanted {
            break;
        }
        for _ in edges.len()..wanted {
            edges.extend(urns.edge(config.mixing, communities, &mut random));
        }
        edges.par_sort_unstable();
        edges.dedup();
    }
    edges.sort_unstable();
    into_graph(&edges, config.nodes)
}

/// One number an edge, ordered by its smaller end and then by the larger.
fn key(one: u32, other: u32) -> u64 {
    u64::from(one.min(other)) << 32 | u64::from(one.max(other))
}

fn into_graph(sorted_edges: &[u64], nodes: usize) -> Graph {
    let mut offsets = vec![0usize; nodes + 1];
    for edge in sorted_edges {
        offsets[(edge >> 32) as usize + 1] += 1;
    }
    for node in 0..nodes {
        offsets[node + 1] += offsets[node];
    }
    let targets = sorted_edges.iter().map(|&edge| edge as u32).collect();
    Graph::from_rows(offsets, targets, None, Direction::Undirected)
}

/// The nodes of each community, each as often as its weight says.
struct Urns {
    nodes: Vec<u32>,
    offsets: Vec<usize>,
}

impl Urns {
    /// Fills the urns, and joins those set aside for small components.
    fn fill(config: &GeneratorConfig, communities: &Communities, edges: &mut Vec<u64>) -> Urns {
        let mut random = random_stream::open(config.seed, Purpose::Degrees);
        let mut urns = Urns { nodes: Vec::new(), offsets: vec![0] };
        for community in 0..communities.count() {
            let range = communities.range(community);
            // Rounding the running total spreads a share evenly over communities of any size.
            let so_many = |share: f64| {
                (range.end as f64 * share) as usize - (range.start as f64 * share) as usize
            };
            let members = &communities.members(community)[so_many(ALONE)..];
            let apart = so_many(IN_SMALL_COMPONENTS).min(members.len());
            join_small_components(&members[..apart], edges, &mut random);

            // A node that expects more neighbours than this would meet the same ones again.
            let most = (members.len() as f64 / (4.0 * config.mean_degree)).max(1.0);
            for &node in &members[apart..] {
                let weight = pareto(config.degree_skew, &mut random).min(most);
                let copies = (weight * COPIES + random.random::<f64>()).max(1.0) as usize;
                urns.nodes.extend(std::iter::repeat_n(node, copies));
            }
            urns.offsets.push(urns.nodes.len());
        }
        urns
    }

    /// An edge, if its ends could be told apart.
    fn edge(&self, mixing: f64, communities: &Communities, random: &mut impl Rng) -> Option<u64> {
        let source = self.any(random);
        let home = communities.codes[source as usize];
        let leaves = random.random::<f64>() < mixing;
        for _ in 0..TRIES {
            let target = if leaves { self.any(random) } else { self.within(home, random) };
            let suits =
                if leaves { communities.codes[target as usize] != home } else { target != source };
            if suits {
                return Some(key(source, target));
            }
        }
        None
    }

    fn any(&self, random: &mut impl Rng) -> u32 {
        self.nodes[random.random_range(0..self.nodes.len())]
    }

    fn within(&self, community: u32, random: &mut impl Rng) -> u32 {
        let community = community as usize;
        self.nodes[random.random_range(self.offsets[community]..self.offsets[community + 1])]
    }
}

/// A number of mean 1 whose tail falls as x^(−1/skew); always 1 without skew.
fn pareto(skew: f64, random: &mut impl Rng) -> f64 {
    let above_zero = 1.0 - random.random::<f64>();
    (1.0 - skew) * portable::exp(-skew * portable::ln(above_zero))
}

/// Joins nodes into chains of two to four, half of the longer ones closed to a ring.
fn join_small_components(mut nodes: &[u32], edges: &mut Vec<u64>, random: &mut impl Rng) {
    while nodes.len() >= 2 {
        let mut size = random.random_range(2..5usize).min(nodes.len());
        if nodes.len() - size == 1 {
            // Nobody is left over alone.
            size = nodes.len();
        }
        let (component, rest) = nodes.split_at(size);
        edges.extend(component.windows(2).map(|pair| key(pair[0], pair[1])));
        if size > 2 && random.random::<bool>() {
            edges.push(key(component[0], component[size - 1]));
        }
        nodes = rest;
    }
}
