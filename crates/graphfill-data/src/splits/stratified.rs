//! A stratified split: every class is split in the same ratio.
//!
//! Class sizes rarely divide evenly. The nodes that are left after rounding down are distributed so
//! that each class is within one node of its fraction in every part, and the parts are together as
//! large as those of a split without classes.

use rand::seq::SliceRandom;

use super::{Split, SplitRatio};
use crate::labels::Labels;
use crate::random_stream::{self, Purpose};

/// A random split of every class in the same ratio. Nodes without a label are one class; rows ascend
/// within each part.
pub fn stratified(labels: &Labels, ratio: SplitRatio, seed: u64) -> Split {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); labels.classes.len() + 1];
    for (row, class) in labels.codes.iter().enumerate() {
        let class = class.map_or(labels.classes.len(), |class| class as usize);
        members[class].push(row as u32);
    }
    let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
    let counts = counts_by_class(&sizes, ratio);

    let mut random = random_stream::open(seed, Purpose::StratifiedSplit);
    let mut split = Split::default();
    for (rows, [train, validation, _]) in members.iter_mut().zip(counts) {
        rows.shuffle(&mut random);
        split.train.extend_from_slice(&rows[..train]);
        split.validation.extend_from_slice(&rows[train..train + validation]);
        split.test.extend_from_slice(&rows[train + validation..]);
    }
    split.sorted()
}

/// How many nodes of each class go into each part.
///
/// The left-over nodes of a class go, one each, to the parts that lack most. That is the Gale–Ryser
/// construction, which fills every part exactly if that is possible at all; here it always is, since
/// the unrounded fractions are a fractional solution.
fn counts_by_class(sizes: &[usize], ratio: SplitRatio) -> Vec<[usize; 3]> {
    // Subtraction saturates: rounding errors may cost a class one node.
    let mut needed = ratio.counts(sizes.iter().sum());
    for &size in sizes {
        for (needed, (floor, _)) in needed.iter_mut().zip(ratio.floors(size)) {
            *needed = needed.saturating_sub(floor);
        }
    }
    let divide = |&size: &usize| {
        let floors = ratio.floors(size);
        let mut counts = floors.map(|(floor, _)| floor);
        let left = size - counts.iter().sum::<usize>();
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| {
            needed[b].cmp(&needed[a]).then_with(|| floors[b].1.total_cmp(&floors[a].1))
        });
        for &part in order.iter().take(left) {
            counts[part] += 1;
            needed[part] = needed[part].saturating_sub(1);
        }
        counts
    };
    sizes.iter().map(divide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(numbers: &[i64]) -> Labels {
        let codes = numbers.iter().map(|&class| u32::try_from(class).ok()).collect();
        let classes = (0..8).map(|class| class.to_string()).collect();
        Labels { name: "class".to_owned(), codes, classes }
    }

    proptest! {
        #[test]
        fn each_class_is_within_one_node_of_its_fraction(
            classes in prop::collection::vec(-1i64..8, 1..300),
            train in 1u32..9, validation in 0u32..9, test in 0u32..9,
            seed: u64,
        ) {
            let ratio = SplitRatio::new(train.into(), validation.into(), test.into());
            let ratio = ratio.expect("a ratio");
            let labels = labels(&classes);
            let split = stratified(&labels, ratio, seed);
            prop_assert!(split.check(classes.len()).is_ok());
            let sizes = split.parts().map(|(_, rows)| rows.len());
            prop_assert_eq!(sizes, ratio.counts(classes.len()));
            let fractions = [ratio.train(), ratio.validation(), ratio.test()];
            for class in -1..8 {
                let size = classes.iter().filter(|&&other| other == class).count() as f64;
                for ((_, rows), fraction) in split.parts().into_iter().zip(fractions) {
                    let count = rows.iter().filter(|&&row| classes[row as usize] == class).count();
                    prop_assert!((count as f64 - size * fraction).abs() <= 1.0 + 1e-9);
                }
            }
            prop_assert_eq!(&split, &stratified(&labels, ratio, seed));
        }
    }

    #[test]
    fn seeds_matter() {
        let labels = labels(&[0, 1].repeat(50));
        let ratio = SplitRatio::default();
        assert_ne!(stratified(&labels, ratio, 0), stratified(&labels, ratio, 1));
    }
}
