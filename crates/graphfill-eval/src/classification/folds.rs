//! Folds: every labelled node is a test node once, and a training node of all other folds.
//!
//! Classes are dealt out one after the other, each in a random order, so that folds differ by one
//! node at most, in all and within a class.

use graphfill_data::splits::shuffled;
use graphfill_methods::{MethodError, Result};

use super::{ClassificationOptions, Estimated, Selection};

/// One of this many training nodes validates: it may choose the epoch.
const TRAINING_NODES_PER_VALIDATION_NODE: usize = 10;

/// Training, validation and test nodes: positions among the nodes, and their classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    /// Nodes that are always trained on.
    train: Vec<(u32, u32)>,
    /// Nodes that validate, or are trained on where the test nodes choose the epoch.
    inner_validation: Vec<(u32, u32)>,
    /// Nodes whose accuracy is reported.
    pub(super) test: Vec<(u32, u32)>,
}

impl Fold {
    /// The nodes that are trained on.
    pub(super) fn train(&self, selection: Selection) -> impl Iterator<Item = (u32, u32)> + '_ {
        let more = match selection {
            Selection::BestEpoch => &self.inner_validation[..],
            Selection::InnerValidation => &[],
        };
        self.train.iter().chain(more).copied()
    }

    /// The nodes that choose the epoch.
    pub(super) fn validation(&self, selection: Selection) -> &[(u32, u32)] {
        match selection {
            Selection::BestEpoch => &self.test,
            Selection::InnerValidation => &self.inner_validation,
        }
    }
}

/// Cuts the labelled nodes into folds.
pub(super) fn folds(
    estimated: &Estimated<'_>,
    options: &ClassificationOptions<'_>,
) -> Result<Vec<Fold>> {
    let labels = estimated.labels.iter().enumerate();
    let labelled: Vec<(u32, u32)> =
        labels.filter_map(|(at, label)| Some((at as u32, (*label)?))).collect();
    if labelled.len() < 2 * options.folds {
        return Err(MethodError::Table(format!(
            "{} of the nodes to classify have a label, too few for {} folds: there must be two for \
             each fold",
            labelled.len(),
            options.folds
        )));
    }
    let dealt = deal(&labelled, estimated.classes, options.folds, options.seed);
    let fold = |test: usize| {
        let others = dealt.iter().enumerate().filter(|&(fold, _)| fold != test);
        let mut others: Vec<(u32, u32)> = others.flat_map(|(_, nodes)| nodes).copied().collect();
        others.sort_unstable();
        let parts = TRAINING_NODES_PER_VALIDATION_NODE.min(others.len());
        // Another seed for every fold: the validation nodes of one say nothing about the next.
        let seed = options.seed.wrapping_add(1 + test as u64);
        let mut parts = deal(&others, estimated.classes, parts, seed).into_iter();
        let inner_validation = parts.next().unwrap_or_default();
        Fold { train: parts.flatten().collect(), inner_validation, test: dealt[test].clone() }
    };
    Ok((0..options.folds).map(fold).collect())
}

/// Deals nodes out to so many parts, class by class.
fn deal(nodes: &[(u32, u32)], classes: usize, parts: usize, seed: u64) -> Vec<Vec<(u32, u32)>> {
    let mut dealt = vec![Vec::new(); parts];
    let mut next = (0..parts).cycle();
    for class in 0..classes as u32 {
        let of_class = nodes.iter().filter(|(_, own)| *own == class);
        let of_class: Vec<u32> = of_class.map(|&(at, _)| at).collect();
        for (part, at) in next.by_ref().zip(shuffled(&of_class, seed)) {
            dealt[part].push((at, class));
        }
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(labels: &[Option<u32>], seed: u64) -> Result<Vec<Fold>> {
        let nodes: Vec<u32> = (0..labels.len() as u32).collect();
        let estimated = Estimated { nodes: &nodes, features: &[], labels, classes: 3 };
        folds(&estimated, &ClassificationOptions { seed, ..ClassificationOptions::default() })
    }

    #[test]
    fn every_labelled_node_is_tested_once_and_not_trained_on_then() {
        let labels: Vec<Option<u32>> =
            (0..203).map(|node| (node % 10 < 9).then_some(node % 3)).collect();
        let folds = cut(&labels, 4).expect("folds");
        let mut test: Vec<u32> =
            folds.iter().flat_map(|fold| &fold.test).map(|own| own.0).collect();
        test.sort_unstable();
        let labelled = (0..203u32).filter(|&node| labels[node as usize].is_some());
        assert_eq!(test, labelled.collect::<Vec<u32>>());
        for fold in &folds {
            for selection in [Selection::BestEpoch, Selection::InnerValidation] {
                let mut all: Vec<(u32, u32)> = fold.train(selection).collect();
                all.extend(&fold.test);
                if selection == Selection::InnerValidation {
                    all.extend(fold.validation(selection));
                }
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), test.len());
            }
            for class in 0..3 {
                let count = fold.test.iter().filter(|(_, own)| *own == class).count();
                assert!((12..=13).contains(&count), "{count} of class {class}");
            }
        }
        assert_eq!(cut(&labels, 4).expect("folds"), folds);
        assert_ne!(cut(&labels, 5).expect("folds"), folds);
    }

    #[test]
    fn too_few_labels_are_an_error() {
        let message = cut(&[Some(0), Some(1), None], 0).expect_err("too few").to_string();
        assert!(message.contains("2 of the nodes"), "{message}");
    }
}
