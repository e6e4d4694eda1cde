//! The training of one classifier on all folds at once.
//!
//! The classifiers of the folds are columns of one program: they share the product with the inputs,
//! which is nearly all the work, and nothing else. Since Adam treats every weight by itself, each
//! of them learns as it would alone. A run of the program gives the scores from before its update,
//! for all nodes, so that following the accuracy costs nothing.

use std::sync::Arc;

use graphfill_engine::{
    Adam, Initial, Likelihood, MISSING_CATEGORY, Matrix, Plan, Program, Recorded, Schedule, Session,
};
use graphfill_methods::Result;

use super::folds::Fold;
use super::inputs::Network;
use super::{ClassificationOptions, Selection};

const TRAINING: &str = "training";
const INPUTS: &str = "inputs";
const SCORES: &str = "scores";

/// The best epoch so far.
#[derive(Debug, Clone, Copy)]
struct Best {
    /// How many validation nodes are classified correctly.
    correct: usize,
    /// The loss of the validation nodes, which decides between equals: they are few.
    loss: f64,
    /// The accuracy of the test nodes.
    accuracy: f64,
}

/// The accuracy of each fold at its chosen epoch.
pub(super) fn train(
    network: &Network,
    folds: &[Fold],
    selection: Selection,
    options: &ClassificationOptions<'_>,
) -> Result<Vec<f64>> {
    let program = record(network, folds, selection, options)?;
    let mut plan = Plan::new(vec![program])?.on(options.device);
    plan.check_memory(options.memory, "the number of nodes to classify")?;
    let mut session = Session::new(plan, options.seed)?;
    session.write(INPUTS, &network.inputs)?;
    let mut scores = vec![0.0; network.nodes * folds.len() * network.classes];
    let mut best: Vec<Option<Best>> = vec![None; folds.len()];
    for epoch in 0..=options.epochs {
        options.progress.check()?;
        session.run(TRAINING)?;
        options.progress.advance(1);
        if epoch == 0 {
            continue;
        }
        session.read_into(TRAINING, SCORES, &mut scores)?;
        for (number, (fold, best)) in folds.iter().zip(&mut best).enumerate() {
            let scores =
                Scores { all: &scores, number, folds: folds.len(), classes: network.classes };
            let validation = fold.validation(selection);
            let correct = scores.correct(validation);
            if best.is_some_and(|best| correct < best.correct) {
                continue;
            }
            let loss = scores.loss(validation);
            if best.is_none_or(|best| correct > best.correct || loss < best.loss) {
                let accuracy = scores.correct(&fold.test) as f64 / fold.test.len() as f64;
                *best = Some(Best { correct, loss, accuracy });
            }
        }
        // Nothing is left to gain where the test nodes choose the epoch.
        let is_perfect = |best: &Option<Best>| best.is_some_and(|best| best.accuracy == 1.0);
        if selection == Selection::BestEpoch && best.iter().all(is_perfect) {
            options.progress.advance(options.epochs - epoch);
            break;
        }
    }
    Ok(best.into_iter().map(|best| best.map_or(0.0, |best| best.accuracy)).collect())
}

/// The scores that the classifier of one fold gives to all nodes.
struct Scores<'a> {
    all: &'a [f32],
    number: usize,
    folds: usize,
    classes: usize,
}

impl Scores<'_> {
    fn of(&self, node: u32) -> &[f32] {
        let begin = (node as usize * self.folds + self.number) * self.classes;
        &self.all[begin..begin + self.classes]
    }

    /// How many nodes have the highest score, the first of equals, at their class.
    fn correct(&self, nodes: &[(u32, u32)]) -> usize {
        let highest = |scores: &[f32]| {
            (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
        };
        let is_correct =
            |(node, class): &&(u32, u32)| highest(self.of(*node)) == Some(*class as usize);
        nodes.iter().filter(is_correct).count()
    }

    /// Σ −ln softmax(scores)_class
    fn loss(&self, nodes: &[(u32, u32)]) -> f64 {
        let loss = |&(node, class): &(u32, u32)| {
            let scores = self.of(node);
            let highest = f64::from(scores.iter().copied().fold(f32::NEG_INFINITY, f32::max));
            let total: f64 = scores.iter().map(|&score| (f64::from(score) - highest).exp()).sum();
            highest + total.ln() - f64::from(scores[class as usize])
        };
        nodes.iter().map(loss).sum()
    }
}

fn record(
    network: &Network,
    folds: &[Fold],
    selection: Selection,
    options: &ClassificationOptions<'_>,
) -> Result<Recorded> {
    let mut likelihood = Likelihood::new(network.nodes);
    for fold in folds {
        let mut categories = vec![MISSING_CATEGORY; network.nodes];
        fold.train(selection).for_each(|(at, class)| categories[at as usize] = class);
        likelihood = likelihood.categorical(network.classes, categories, 1.0)?;
    }
    let program = Program::new(TRAINING);
    let scores = scores(&program, network, folds.len(), options.hidden);
    program.output(SCORES, scores);
    let names = program.parameters();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let adam = Adam::new(Schedule::Constant(options.learning_rate));
    program.minimise(scores.loss(&Arc::new(likelihood)), &adam, None, &names);
    Ok(program.finish()?)
}

/// The scores of the classes by every fold's classifier: nodes × (folds · classes).
fn scores<'p>(program: &'p Program, network: &Network, folds: usize, hidden: usize) -> Matrix<'p> {
    let Network { nodes, classes, .. } = *network;
    let width = network.inputs.len() / nodes;
    // Glorot's bound for one fold: the engine would reckon with the columns of all.
    let bound =
        |rows: usize, columns: usize| Initial::Uniform((6.0 / (rows + columns) as f32).sqrt());
    let inputs = program.input(INPUTS, [nodes, width]);
    let first = program.parameter("first", [width, folds * hidden], bound(width, hidden));
    let bias = program.parameter("first.bias", [1, folds * hidden], Initial::ZEROS);
    let layer = inputs.product(first).add_bias(bias).relu();
    let of_fold = |fold: usize| {
        let name = format!("second.{fold}");
        let second = program.parameter(&name, [hidden, classes], bound(hidden, classes));
        layer.slice_columns(fold * hidden..(fold + 1) * hidden).product(second)
    };
    let scores = (1..folds).fold(of_fold(0), |all, fold| all.concatenate(of_fold(fold)));
    let scores = match &network.averages {
        Some(averages) => program.sparse_product(averages, scores),
        None => scores,
    };
    scores.add_bias(program.parameter("second.bias", [1, folds * classes], Initial::ZEROS))
}
