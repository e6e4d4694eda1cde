//! What estimated features are worth: classifiers that are trained on them.
//!
//! Only nodes whose features were estimated take part. Their labels are cut into folds; for each
//! fold, a perceptron and a graph convolution are trained on the other folds and tested on it.
//!
//!   perceptron          scores = relu(X W₁ + b₁) W₂ + b₂               nodes × classes
//!   graph convolution   scores = Â relu(Â X W₁ + b₁) W₂ + b₂           Â of the nodes' own subgraph
//!
//! X are the estimates as a method gives them (of words, the scores that rank them), less the mean of
//! each column, and all divided by one number, the root of their mean square: so logits, logarithms
//! of shares and shares meet the learning rate on the same footing, and what all nodes have in common
//! does not stand in the way. There is no dropout and no weight decay. Nodes whose estimates are all
//! zeros are classified like others; published figures of the neighbour mean guess them at random.
//!
//! The epoch is chosen in two ways. [`Accuracies::best_epoch`] is how published figures are
//! made: the epoch at which the test fold itself has its best accuracy, which is too high an estimate.
//! [`Accuracies::inner_validation`] is honest: a tenth of the training nodes validates and chooses the
//! epoch (by accuracy, between equals by loss). Validation nodes are not trained on, so each of the two
//! is a training of its own.
//!
//! Nearly all the time goes into the products of the first layer: 16 · folds · epochs · nodes · features
//! · hidden floating-point operations, 10¹³ on half of Cora, about two minutes of one core.

mod folds;
mod inputs;
mod training;

use graphfill_data::{NoProgress, Progress, UndirectedGraph};
use graphfill_engine::{Device, MemoryLimit};
use graphfill_methods::{MethodError, Result};
use serde::Serialize;

use folds::{Fold, folds};
use inputs::{Network, subgraph};
use training::train;

use crate::summary::mean;

/// How classifiers are trained.
#[derive(Clone, Copy)]
pub struct ClassificationOptions<'a> {
    /// How many parts the nodes are cut into.
    pub folds: usize,
    /// The updates of a classifier.
    pub epochs: u64,
    /// The width of the hidden layer.
    pub hidden: usize,
    /// The learning rate of Adam.
    pub learning_rate: f32,
    /// The seed of folds and first weights.
    pub seed: u64,
    /// Where classifiers are trained.
    pub device: &'a Device,
    /// The most memory that a classifier may take.
    pub memory: MemoryLimit,
    /// Receives progress updates.
    pub progress: &'a dyn Progress,
}

impl Default for ClassificationOptions<'_> {
    /// Those of the published figures, on the CPU.
    fn default() -> Self {
        const PROCESSOR: &Device = &Device::cpu();
        ClassificationOptions {
            folds: 5,
            epochs: 1000,
            hidden: 64,
            learning_rate: 1e-3,
            seed: 0,
            device: PROCESSOR,
            memory: MemoryLimit::Available,
            progress: &NoProgress,
        }
    }
}

/// Estimated features, and what is known of the nodes that have them.
#[derive(Debug, Clone, Copy)]
pub struct Estimated<'a> {
    /// The nodes, as numbers in the graph.
    pub nodes: &'a [u32],
    /// Their features: a row for each, in the order of the nodes.
    pub features: &'a [f32],
    /// Their classes, where they are known. Nodes without one are in no fold; they stay in the
    /// subgraph.
    pub labels: &'a [Option<u32>],
    /// The number of classes.
    pub classes: usize,
}

/// How often classifiers are right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Classification {
    /// The perceptron, which sees a node's own features.
    pub mlp: Accuracies,
    /// The graph convolution, which sees those of the neighbours too.
    pub gcn: Accuracies,
}

/// The share of nodes that a classifier tells rightly, as the mean over the folds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Accuracies {
    /// At the epoch that is best for the fold itself: comparable with published figures, and too
    /// good.
    pub best_epoch: f64,
    /// At the epoch that is best for nodes held back from training.
    pub inner_validation: f64,
}

/// Which epoch counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selection {
    BestEpoch,
    InnerValidation,
}

/// Trains both classifiers on estimated features, fold by fold.
pub fn classify(
    estimated: &Estimated<'_>,
    graph: &UndirectedGraph,
    options: &ClassificationOptions<'_>,
) -> Result<Classification> {
    check(estimated, graph, options)?;
    let folds = folds(estimated, options)?;
    let units = 4 * (options.epochs + 1);
    options.progress.begin("classifying the estimates", Some(units));
    let subgraph = subgraph(graph, estimated.nodes)?;
    let [mlp, gcn] = [Network::perceptron(estimated), Network::convolution(estimated, &subgraph)]
        .map(|network| accuracies(&network, &folds, options));
    options.progress.end();
    Ok(Classification { mlp: mlp?, gcn: gcn? })
}

fn accuracies(
    network: &Network,
    folds: &[Fold],
    options: &ClassificationOptions<'_>,
) -> Result<Accuracies> {
    let of = |selection: Selection| -> Result<f64> {
        Ok(mean(&train(network, folds, selection, options)?))
    };
    Ok(Accuracies {
        best_epoch: of(Selection::BestEpoch)?,
        inner_validation: of(Selection::InnerValidation)?,
    })
}

/// Whether everything fits together.
fn check(
    estimated: &Estimated<'_>,
    graph: &UndirectedGraph,
    options: &ClassificationOptions<'_>,
) -> Result<()> {
    let Estimated { nodes, features, labels, classes } = *estimated;
    let refuse = |problem: String| Err(MethodError::Table(problem));
    if labels.len() != nodes.len() || nodes.is_empty() || features.len() % nodes.len() != 0 {
        return refuse(format!(
            "{} nodes to classify have {} labels and {} numbers; each has one label, or none, and \
             as many numbers as the others",
            nodes.len(),
            labels.len(),
            features.len()
        ));
    }
    if let Some(node) = nodes.iter().find(|&&node| node as usize >= graph.nodes()) {
        return refuse(format!("node {node} is to be classified; there are {}", graph.nodes()));
    }
    if let Some(label) = labels.iter().flatten().find(|&&label| label as usize >= classes) {
        return refuse(format!("a node is of class {label}, counted from 0; there are {classes}"));
    }
    if let Some(row) = features.iter().position(|value| !value.is_finite()) {
        let row = row / (features.len() / nodes.len());
        return refuse(format!("an estimate of node {} is no finite number", nodes[row]));
    }
    if options.folds < 2 || options.hidden == 0 || options.epochs == 0 {
        return Err(MethodError::Parameter(format!(
            "{} folds, {} epochs and a hidden layer of {}: classifiers need two folds or more, and \
             one or more of the others",
            options.folds, options.epochs, options.hidden
        )));
    }
    Ok(())
}
