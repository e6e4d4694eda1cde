//! Who belongs to which community: sizes within a factor of three, nobody's id telling.

use std::ops::Range;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::GeneratorConfig;
use crate::random_stream::{self, Purpose};

/// A partition of the nodes.
#[derive(Debug)]
pub(super) struct Communities {
    /// The community of each node.
    pub(super) codes: Vec<u32>,
    /// The nodes, community after community, in random order within one.
    members: Vec<u32>,
    offsets: Vec<usize>,
}

impl Communities {
    pub(super) fn draw(config: &GeneratorConfig) -> Self {
        let mut random = random_stream::open(config.seed, Purpose::Communities);
        let weights: Vec<f64> =
            (0..config.communities).map(|_| 0.5 + random.random::<f64>()).collect();
        let total: f64 = weights.iter().sum();

        // Everyone gets a founder, so that no community is empty; the rest by weight.
        let spare = config.nodes - config.communities;
        let mut offsets = vec![0];
        let mut sum = 0.0;
        for (community, weight) in weights.iter().enumerate() {
            sum += weight;
            offsets.push(community + 1 + (spare as f64 * (sum / total).min(1.0)) as usize);
        }
        // The running sum may miss the total by a rounding error.
        offsets[config.communities] = config.nodes;

        let mut members: Vec<u32> = (0..config.nodes as u32).collect();
        members.shuffle(&mut random);
        let mut codes = vec![0; config.nodes];
        for (community, range) in offsets.windows(2).enumerate() {
            for &node in &members[range[0]..range[1]] {
                codes[node as usize] = community as u32;
            }
        }
        Communities { codes, members, offsets }
    }

    pub(super) fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The nodes of a community, in random order.
    pub(super) fn members(&self, community: usize) -> &[u32] {
        &self.members[self.range(community)]
    }

    /// Where a community stands when all are laid out one after the other.
    pub(super) fn range(&self, community: usize) -> Range<usize> {
        self.offsets[community]..self.offsets[community + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_one_and_none_is_empty() {
        for (nodes, communities) in [(10, 10), (11, 10), (1000, 1), (1000, 8)] {
            let config = GeneratorConfig { nodes, communities, ..GeneratorConfig::default() };
            let drawn = Communities::draw(&config);
            assert_eq!(drawn.count(), communities);
            let sizes: Vec<usize> = (0..communities).map(|c| drawn.members(c).len()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), nodes);
            assert!(sizes.iter().all(|&size| size > 0), "{sizes:?}");
            for community in 0..communities {
                let own = |&node: &u32| drawn.codes[node as usize] == community as u32;
                assert!(drawn.members(community).iter().all(own));
            }
        }
    }
}
