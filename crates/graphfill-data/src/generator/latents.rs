//! One latent vector per node, `nodes × WIDTH`, on which the columns depend:
//!
//!   latent = standardise(A · centre of the community + B · standardise(S S noise))
//!   S z    = ½ (z + mean of the neighbours' z)
//!
//! The centres separate the communities, the smoothed noise makes neighbours similar.

use rand::Rng;

use super::GeneratorConfig;
use crate::graph::Graph;
use crate::random_stream::{self, Purpose};

pub(super) const WIDTH: usize = 6;

pub(super) type Latent = [f32; WIDTH];

/// A and B above.
const COMMUNITY_PART: f32 = 0.65;
const NEIGHBOUR_PART: f32 = 0.75;

pub(super) fn draw(config: &GeneratorConfig, communities: &[u32], graph: &Graph) -> Vec<Latent> {
    let mut random = random_stream::open(config.seed, Purpose::Latents);
    let mut vectors = |count: usize| -> Vec<Latent> {
        (0..count).map(|_| std::array::from_fn(|_| normal(&mut random) as f32)).collect()
    };
    let centres = vectors(config.communities);
    let noise = vectors(config.nodes);
    let mut latents = smoothed(&smoothed(&noise, graph), graph);
    standardise(&mut latents);
    for (latent, &community) in latents.iter_mut().zip(communities) {
        for (value, centre) in latent.iter_mut().zip(centres[community as usize]) {
            *value = NEIGHBOUR_PART * *value + COMMUNITY_PART * centre;
        }
    }
    standardise(&mut latents);
    latents
}

/// A random direction in the latent space, of length about 1.
pub(super) fn direction(random: &mut impl Rng) -> [f64; WIDTH] {
    std::array::from_fn(|_| normal(random) / (WIDTH as f64).sqrt())
}

/// The product of a direction and a latent vector.
pub(super) fn along(direction: &[f64; WIDTH], latent: &Latent) -> f64 {
    direction.iter().zip(latent).map(|(a, b)| a * f64::from(*b)).sum()
}

/// A number of about a normal distribution with mean 0 and variance 1: a sum of eight uniform
/// numbers, which lies between −4.9 and 4.9, so that columns have no wild outliers.
pub(super) fn normal(random: &mut impl Rng) -> f64 {
    const PIECES: f64 = 8.0;
    const RANGE: f64 = 65_536.0;
    let mut sum = 0u64;
    for _ in 0..2 {
        let word = random.next_u64();
        sum += (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
    }
    let variance = PIECES * (RANGE * RANGE - 1.0) / 12.0;
    (sum as f64 - PIECES * (RANGE - 1.0) / 2.0) / variance.sqrt()
}

/// Halfway towards the mean of the neighbours, or towards zero for a node without neighbours.
fn smoothed(rows: &[Latent], graph: &Graph) -> Vec<Latent> {
    let mut sums = vec![[0f32; WIDTH]; rows.len()];
    let mut degrees = vec![0u32; rows.len()];
    for (source, target, _) in graph.iter() {
        for (to, from) in [(source as usize, target as usize), (target as usize, source as usize)] {
            degrees[to] += 1;
            for (sum, value) in sums[to].iter_mut().zip(rows[from]) {
                *sum += value;
            }
        }
    }
    for ((sum, degree), row) in sums.iter_mut().zip(degrees).zip(rows) {
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum = 0.5 * (value + *sum / degree.max(1) as f32);
        }
    }
    sums
}

/// Gives every coordinate mean 0 and variance 1; a constant one becomes 0.
fn standardise(rows: &mut [Latent]) {
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
