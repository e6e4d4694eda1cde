//! A split within each class, so that every part sees the classes in the same proportions.
//!
//! Class sizes rarely divide evenly. What is left over after rounding down is handed out so that
//! both hold: each class is within one node of its shares in every part, and the parts are
//! together as large as a split without classes would make them.

use rand::seq::SliceRandom;

use super::{Shares, Split};
use crate::labels::Labels;
use crate::random_stream::{self, Purpose};

/// Divides every class in the same shares; nodes without a label are a class of their own. Rows
/// ascend within a part.
pub fn stratified(labels: &Labels, shares: Shares, seed: u64) -> Split {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); labels.classes.len() + 1];
    for (row, class) in labels.codes.iter().enumerate() {
        let class = class.map_or(labels.classes.len(), |class| class as usize);
        members[class].push(row as u32);
    }
    let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
    let counts = counts_by_class(&sizes, shares);

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
/// A class hands its left-over nodes, one each, to the parts that still need the most. That is
/// the Gale–Ryser construction, which fills every part exactly wherever it can be done at all;
/// here it always can, the unrounded shares being a fractional way to do it.
fn counts_by_class(sizes: &[usize], shares: Shares) -> Vec<[usize; 3]> {
    // Subtraction saturates: rounding errors in the shares may cost a class a node, never a panic.
    let mut needed = shares.counts(sizes.iter().sum());
    for &size in sizes {
        for (needed, (sure, _)) in needed.iter_mut().zip(shares.due(size)) {
            *needed = needed.saturating_sub(sure);
        }
    }
    let divide = |&size: &usize| {
        let due = shares.due(size);
        let mut counts = due.map(|(sure, _)| sure);
        let left = size - counts.iter().sum::<usize>();
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| {
            needed[b].cmp(&needed[a]).then_with(|| due[b].1.total_cmp(&due[a].1))
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
        fn each_class_is_within_one_node_of_its_shares(
            classes in prop::collection::vec(-1i64..8, 1..300),
            train in 1u32..9, validation in 0u32..9, test in 0u32..9,
            seed: u64,
        ) {
            let shares = Shares::new(train.into(), validation.into(), test.into()).expect("shares");
            let labels = labels(&classes);
            let split = stratified(&labels, shares, seed);
            prop_assert!(split.check(classes.len()).is_ok());
            let sizes = split.parts().map(|(_, rows)| rows.len());
            prop_assert_eq!(sizes, shares.counts(classes.len()));
            let fractions = [shares.train(), shares.validation(), shares.test()];
            for class in -1..8 {
                let size = classes.iter().filter(|&&other| other == class).count() as f64;
                for ((_, rows), fraction) in split.parts().into_iter().zip(fractions) {
                    let count = rows.iter().filter(|&&row| classes[row as usize] == class).count();
                    prop_assert!((count as f64 - size * fraction).abs() <= 1.0 + 1e-9);
                }
            }
            prop_assert_eq!(&split, &stratified(&labels, shares, seed));
        }
    }

    #[test]
    fn seeds_matter() {
        let labels = labels(&[0, 1].repeat(50));
        let shares = Shares::default();
        assert_ne!(stratified(&labels, shares, 0), stratified(&labels, shares, 1));
    }
}
