//! A random split of all nodes.

use rand::seq::SliceRandom;

use super::{Split, SplitRatio};
use crate::random_stream::{self, Purpose};

/// A random split of `nodes` nodes; rows ascend within each part.
pub fn random(nodes: usize, ratio: SplitRatio, seed: u64) -> Split {
    let mut rows: Vec<u32> = (0..nodes as u32).collect();
    rows.shuffle(&mut random_stream::open(seed, Purpose::RandomSplit));
    let [_, validation, test] = ratio.counts(nodes);
    let test = rows.split_off(nodes - test);
    let validation = rows.split_off(rows.len() - validation);
    Split { train: rows, validation, test }.sorted()
}

/// The rows in a random order.
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
        fn every_node_is_in_one_part(nodes in 1usize..400, seed: u64) {
            let ratio = SplitRatio::default();
            let split = random(nodes, ratio, seed);
            prop_assert!(split.check(nodes).is_ok());
            let sizes = split.parts().map(|(_, rows)| rows.len());
            prop_assert_eq!(sizes, ratio.counts(nodes));
            prop_assert_eq!(&split, &random(nodes, ratio, seed));
        }
    }

    #[test]
    fn seeds_matter() {
        assert_ne!(random(100, SplitRatio::default(), 0), random(100, SplitRatio::default(), 1));
        assert_eq!(random(0, SplitRatio::default(), 0), Split::default());
    }
}
