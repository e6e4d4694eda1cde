//! What the columns follow: a latent vector a node, `nodes × WIDTH`.
//!
//!   latent = unit(A · centre of the community + B · unit(S S noise))
//!   S z    = ½ (z + mean of the neighbours' z)
//!
//! where unit() makes every coordinate mean 0 and variance 1. The centre makes communities unlike,
//! the smoothed noise makes neighbours alike beyond their community.

use rand_chacha::ChaCha8Rng;

use super::GeneratorConfig;
use super::communities::Communities;
use super::draws::normal;
use crate::graph::Graph;
use crate::random_stream::{self, Purpose};

/// The length of a latent vector.
pub(super) const WIDTH: usize = 6;

/// What stands for A and B above.
const COMMUNITY_PART: f32 = 0.65;
const NEIGHBOUR_PART: f32 = 0.75;
const SMOOTHING_ROUNDS: usize = 2;

/// The latent vectors of all nodes.
#[derive(Debug)]
pub(super) struct Latents {
    rows: Vec<[f32; WIDTH]>,
}

impl Latents {
    pub(super) fn draw(config: &GeneratorConfig, communities: &Communities, graph: &Graph) -> Self {
        let mut random = random_stream::open(config.seed, Purpose::Latents);
        let centres: Vec<_> = (0..communities.count()).map(|_| vector(&mut random)).collect();
        let mut rows: Vec<_> = (0..config.nodes).map(|_| vector(&mut random)).collect();
        for _ in 0..SMOOTHING_ROUNDS {
            rows = smoothed(&rows, graph);
        }
        standardise(&mut rows);
        for (row, &community) in rows.iter_mut().zip(&communities.codes) {
            for (value, centre) in row.iter_mut().zip(centres[community as usize]) {
                *value = NEIGHBOUR_PART * *value + COMMUNITY_PART * centre;
            }
        }
        standardise(&mut rows);
        Latents { rows }
    }

    /// The latent vector of a node.
    pub(super) fn of(&self, node: usize) -> [f64; WIDTH] {
        self.rows[node].map(f64::from)
    }

    /// The latent vectors, node by node.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = [f64; WIDTH]> + '_ {
        self.rows.iter().map(|row| row.map(f64::from))
    }
}

/// A direction in the space of latents, of length about 1 on average.
pub(super) fn direction(random: &mut ChaCha8Rng) -> [f64; WIDTH] {
    std::array::from_fn(|_| normal(random) / (WIDTH as f64).sqrt())
}

/// How far a latent vector goes in a direction.
pub(super) fn along(direction: &[f64; WIDTH], latent: &[f64; WIDTH]) -> f64 {
    direction.iter().zip(latent).map(|(a, b)| a * b).sum()
}

fn vector(random: &mut ChaCha8Rng) -> [f32; WIDTH] {
    std::array::from_fn(|_| normal(random) as f32)
}

/// Halfway towards the mean of the neighbours; a node without any goes halfway to zero, so that
/// it does not stick out. Sums run in the order of the arcs, whatever the number of threads.
fn smoothed(rows: &[[f32; WIDTH]], graph: &Graph) -> Vec<[f32; WIDTH]> {
    let mut sums = vec![[0f32; WIDTH]; rows.len()];
    let mut degrees = vec![0u32; rows.len()];
    let mut add = |to: u32, from: u32| {
        degrees[to as usize] += 1;
        for (sum, value) in sums[to as usize].iter_mut().zip(rows[from as usize]) {
            *sum += value;
        }
    };
    for source in 0..rows.len() as u32 {
        for &target in graph.targets_of(source as usize) {
            add(source, target);
            add(target, source);
        }
    }
    for ((sum, degree), row) in sums.iter_mut().zip(degrees).zip(rows) {
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum = 0.5 * (value + *sum / degree.max(1) as f32);
        }
    }
    sums
}

/// Gives every coordinate mean 0 and variance 1; one that is constant becomes 0.
fn standardise(rows: &mut [[f32; WIDTH]]) {
    let count = rows.len() as f64;
    for coordinate in 0..WIDTH {
        let values = || rows.iter().map(|row| f64::from(row[coordinate]));
        let mean = values().sum::<f64>() / count;
        let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        let scale = 1.0 / variance.sqrt().max(1e-6);
        for row in rows.iter_mut() {
            row[coordinate] = ((f64::from(row[coordinate]) - mean) * scale) as f32;
        }
    }
}
