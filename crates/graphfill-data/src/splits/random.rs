//! A split over all nodes alike.

use rand::seq::SliceRandom;

use super::{Shares, Split};
use crate::random_stream::{self, Purpose};

/// Puts each of `nodes` nodes into one part at random; rows ascend within a part.
pub fn random(nodes: usize, shares: Shares, seed: u64) -> Split {
    let mut rows: Vec<u32> = (0..nodes as u32).collect();
    rows.shuffle(&mut random_stream::open(seed, Purpose::RandomSplit));
    let [_, validation, test] = shares.counts(nodes);
    let test = rows.split_off(nodes - test);
    let validation = rows.split_off(rows.len() - validation);
    Split { train: rows, validation, test }.sorted()
}

/// The rows in a random order, from which sets to validate on are cut.
pub fn shuffled(rows: &[u32], seed: u64) -> Vec<u32> {
    let mut rows = rows.to_vec();
    rows.shuffle(&mut random_stream::open(seed, Purpose::ValidationRows));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_node_stands_in_one_part(nodes in 1usize..400, seed: u64) {
            let shares = Shares::default();
            let split = random(nodes, shares, seed);
            prop_assert!(split.check(nodes).is_ok());
            let sizes = split.parts().map(|(_, rows)| rows.len());
            prop_assert_eq!(sizes, shares.counts(nodes));
            prop_assert_eq!(&split, &random(nodes, shares, seed));
        }
    }

    #[test]
    fn seeds_matter() {
        assert_ne!(random(100, Shares::default(), 0), random(100, Shares::default(), 1));
        assert_eq!(random(0, Shares::default(), 0), Split::default());
    }
}
