//! Gradient-boosted trees that correct a linear estimate.
//!
//!   f_t = f_{t−1} + η · tree_t,   tree_t fitted to the gradients of the loss at f_{t−1},   f_0 given
//!
//! Trees find what no linear blend can: saturation, thresholds, columns that are constant per region. The
//! given estimate is where boosting starts, so that trees spend nothing on what is linear. Rows are cut into
//! folds; a row is estimated by the trees of the other folds, and the number of trees is the one with which
//! those estimates have the smallest loss: none, where trees do not help. Rows without a known target have
//! the mean over all folds.
//!
//! Input values are single precision, NaN where one is missing. The same seed gives the same trees for any
//! number of threads: tasks are folds, and each is one thread's work.

mod bins;
mod tree;

use graphfill_engine::random::{Key, uniforms};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bins::Bins;
use tree::{Grower, Growth, Tree};

/// η.
const LEARNING_RATE: f32 = 0.1;
/// Trees of a target (of each level, where it has levels).
const MAX_TREES: usize = 150;
/// Boosting ends after so many trees without a smaller loss.
const PATIENCE: usize = 15;
/// The share of rows and of columns that a tree sees.
const ROW_SHARE: f32 = 0.7;
const COLUMN_SHARE: f32 = 0.5;
const GROWTH: Growth = Growth { max_leaves: 16, min_rows: 8.0, penalty: 3.0 };
/// Fewer rows are left to the given estimate.
const MIN_ROWS: usize = 60;
/// How many standard errors of the paired gain trees must be ahead of none.
const MIN_GAIN: f64 = 1.0;
/// Columns that the trees of a fold may split: those that explain most of the first gradients by themselves.
const MAX_COLUMNS: usize = 48;

/// What a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A number: squared error of the estimate.
    Number,
    /// 0 or 1: cross-entropy of the log-odds.
    Boolean,
    /// One of so many levels: cross-entropy of the softmax of log-weights.
    Level(usize),
}

impl Target {
    /// Estimates per row.
    fn outputs(self) -> usize {
        match self {
            Target::Number | Target::Boolean => 1,
            Target::Level(levels) => levels,
        }
    }

    /// The loss of a row.
    fn loss(self, target: f32, estimate: &[f32]) -> f64 {
        match self {
            Target::Number => f64::from(target - estimate[0]).powi(2),
            Target::Boolean => {
                let margin = if target > 0.5 { estimate[0] } else { -estimate[0] };
                f64::from((-margin).exp().ln_1p())
            }
            Target::Level(_) => {
                let largest = estimate.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f32 = estimate.iter().map(|value| (value - largest).exp()).sum();
                f64::from(largest + sum.ln() - estimate[target as usize])
            }
        }
    }

    /// The estimate of a row as a mean: the number, the probability, or the probabilities of the levels.
    fn mean(self, estimate: &[f32], mean: &mut [f32]) {
        match self {
            Target::Number => mean[0] = estimate[0],
            Target::Boolean => mean[0] = 1.0 / (1.0 + (-estimate[0]).exp()),
            Target::Level(_) => {
                let largest = estimate.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                for (mean, value) in mean.iter_mut().zip(estimate) {
                    *mean = (value - largest).exp();
                }
                let sum: f32 = mean.iter().sum();
                mean.iter_mut().for_each(|mean| *mean /= sum);
            }
        }
    }

    /// Gradient and curvature of a row's loss in one output, from the mean of that output.
    fn slopes(self, target: f32, mean: f32, output: usize) -> (f32, f32) {
        let is_one = match self {
            Target::Number => return (mean - target, 1.0),
            Target::Boolean => target > 0.5,
            Target::Level(_) => target as usize == output,
        };
        (mean - f32::from(u8::from(is_one)), (mean * (1.0 - mean)).max(1e-3))
    }
}

/// Rows with a known target, from which trees are grown.
pub(crate) struct Examples<'a> {
    /// Rows × columns; NaN where a value is missing.
    pub(crate) inputs: &'a [f32],
    pub(crate) columns: usize,
    /// f_0, rows × outputs.
    pub(crate) given: &'a [f32],
    /// The value, 0 or 1, or the number of the level, of each row.
    pub(crate) targets: &'a [f32],
    /// The fold of each row, below `fold_count`.
    pub(crate) folds: &'a [u8],
    pub(crate) fold_count: u8,
    pub(crate) seed: u64,
}

/// The trees of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Boosted {
    outputs: usize,
    /// Of each fold, the trees of the other folds: trees of all outputs, one round after the other.
    folds: Vec<Vec<Tree>>,
}

impl Boosted {
    /// Grows trees; none where they do not help.
    pub(crate) fn fit(target: Target, examples: &Examples<'_>) -> Self {
        let nothing = Boosted { outputs: target.outputs(), folds: Vec::new() };
        if examples.targets.len() < MIN_ROWS || examples.columns == 0 {
            return nothing;
        }
        let bins = Bins::of(examples.inputs, examples.columns);
        let folds: Vec<Fold> = (0..examples.fold_count)
            .into_par_iter()
            .map(|fold| Fold::grow(target, examples, &bins, fold))
            .collect();
        let rows: usize = folds.iter().map(|fold| fold.start.len()).sum();
        // Folds that ended sooner keep their last loss.
        let rounds = folds.iter().map(|fold| fold.losses.len()).max().unwrap_or(0);
        let loss = |round: usize| -> f64 {
            let of_fold = |fold: &Fold| match fold.losses.get(round).or(fold.losses.last()) {
                Some(losses) => losses.iter().map(|&loss| f64::from(loss)).sum(),
                None => fold.start.iter().map(|&loss| f64::from(loss)).sum::<f64>(),
            };
            folds.iter().map(of_fold).sum()
        };
        let Some(best) = (0..rounds).min_by(|&one, &other| loss(one).total_cmp(&loss(other)))
        else {
            return nothing;
        };
        let gains: Vec<f64> = folds
            .iter()
            .flat_map(|fold| {
                let after = fold.losses.get(best).or(fold.losses.last()).unwrap_or(&fold.start);
                fold.start.iter().zip(after).map(|(start, after)| f64::from(start - after))
            })
            .collect();
        let mean = gains.iter().sum::<f64>() / rows.max(1) as f64;
        let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>();
        let error = (variance / (rows.max(2) - 1) as f64 / rows.max(1) as f64).sqrt();
        if mean <= MIN_GAIN * error || mean.is_nan() {
            return nothing;
        }
        let keep = (best + 1) * target.outputs();
        let folds = folds.into_iter().map(|mut fold| {
            fold.trees.truncate(keep);
            fold.trees
        });
        Boosted { outputs: target.outputs(), folds: folds.collect() }
    }

    /// Whether there are trees at all.
    pub(crate) fn is_there(&self) -> bool {
        !self.folds.is_empty()
    }

    /// Adds to the given estimates of a row, of which the inputs are these, what the trees of one fold
    /// say, or the mean over all folds.
    pub(crate) fn add(&self, inputs: &[f32], fold: Option<u8>, estimate: &mut [f32]) {
        let folds = match fold {
            Some(fold) => self.folds.get(usize::from(fold)..usize::from(fold) + 1),
            None => Some(&self.folds[..]),
        };
        let folds = folds.unwrap_or_default();
        let share = LEARNING_RATE / folds.len().max(1) as f32;
        for trees in folds {
            for round in trees.chunks_exact(self.outputs) {
                for (estimate, tree) in estimate.iter_mut().zip(round) {
                    *estimate += share * tree.value(inputs);
                }
            }
        }
    }
}

/// The trees that were grown without the rows of a fold, and the losses of its rows.
struct Fold {
    trees: Vec<Tree>,
    /// The losses of the given estimates.
    start: Vec<f32>,
    /// Those after each round.
    losses: Vec<Vec<f32>>,
}

impl Fold {
    fn grow(target: Target, examples: &Examples<'_>, bins: &Bins, fold: u8) -> Self {
        let outputs = target.outputs();
        let (mut held_out, mut others) = (Vec::new(), Vec::new());
        for (row, &own) in examples.folds.iter().enumerate() {
            let side = if own == fold { &mut held_out } else { &mut others };
            side.push(row as u32);
        }
        let mut estimates = examples.given.to_vec();
        let rows = examples.targets.len();
        let losses = |estimates: &[f32]| -> Vec<f32> {
            let loss = |&row: &u32| {
                let row = row as usize;
                let own = &estimates[row * outputs..(row + 1) * outputs];
                target.loss(examples.targets[row], own) as f32
            };
            held_out.iter().map(loss).collect()
        };
        let start = losses(&estimates);
        let total = |losses: &[f32]| losses.iter().map(|&loss| f64::from(loss)).sum::<f64>();
        let (mut best, mut best_round) = (total(&start), 0);
        let mut grown = Fold { trees: Vec::new(), start, losses: Vec::new() };
        let (mut gradients, mut curvatures) = (vec![0.0f32; rows], vec![0.0f32; rows]);
        let mut means = vec![0.0f32; estimates.len()];
        let mut draws = vec![0.0f32; rows + examples.columns];
        let candidates = candidates(target, examples, bins, &others);
        for round in 1..=MAX_TREES {
            for &row in &others {
                let own = row as usize * outputs..(row as usize + 1) * outputs;
                target.mean(&estimates[own.clone()], &mut means[own]);
            }
            for output in 0..outputs {
                for &row in &others {
                    let row = row as usize;
                    let mean = means[row * outputs + output];
                    let slopes = target.slopes(examples.targets[row], mean, output);
                    (gradients[row], curvatures[row]) = slopes;
                }
                let step = (round * outputs + output) as u64;
                uniforms(Key::new(examples.seed, u32::from(fold), step), &mut draws);
                let (of_rows, of_columns) = draws.split_at(rows);
                let drawn = |&&column: &&u32| of_columns[column as usize] < COLUMN_SHARE;
                let mut columns: Vec<u32> = candidates.iter().filter(drawn).copied().collect();
                if columns.is_empty() {
                    columns.clone_from(&candidates);
                }
                let seen = |&&row: &&u32| of_rows[row as usize] < ROW_SHARE;
                let seen: Vec<u32> = others.iter().filter(seen).copied().collect();
                let grower = Grower {
                    bins,
                    gradients: &gradients,
                    curvatures: &curvatures,
                    columns: &columns,
                    growth: GROWTH,
                };
                let tree = grower.grow(seen);
                for row in 0..rows {
                    estimates[row * outputs + output] +=
                        LEARNING_RATE * tree.value_of_codes(bins.row(row));
                }
                grown.trees.push(tree);
            }
            let losses = losses(&estimates);
            let loss = total(&losses);
            grown.losses.push(losses);
            if loss < best {
                (best, best_round) = (loss, round);
            } else if round >= best_round + PATIENCE {
                break;
            }
        }
        grown
    }
}

/// The columns whose bins explain most of the gradients at the start, in their order.
fn candidates(target: Target, examples: &Examples<'_>, bins: &Bins, rows: &[u32]) -> Vec<u32> {
    let all = 0..examples.columns as u32;
    if examples.columns <= MAX_COLUMNS {
        return all.collect();
    }
    let outputs = target.outputs();
    let mut explained = vec![0.0f32; examples.columns];
    let mut gradients = vec![0.0f32; examples.targets.len()];
    let mut means = vec![0.0f32; examples.given.len()];
    let by_row = means.chunks_exact_mut(outputs).zip(examples.given.chunks_exact(outputs));
    by_row.for_each(|(mean, given)| target.mean(given, mean));
    for output in 0..outputs {
        for &row in rows {
            let row = row as usize;
            let mean = means[row * outputs + output];
            gradients[row] = target.slopes(examples.targets[row], mean, output).0;
        }
        let of_output = bins.explained(rows, &gradients);
        explained.iter_mut().zip(of_output).for_each(|(sum, own)| *sum += own);
    }
    let mut best: Vec<u32> = all.collect();
    best.sort_by(|&one, &other| {
        explained[other as usize].total_cmp(&explained[one as usize]).then(one.cmp(&other))
    });
    best.truncate(MAX_COLUMNS);
    best.sort_unstable();
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 600;
    const COLUMNS: usize = 4;

    fn inputs() -> Vec<f32> {
        let mut inputs = vec![0.0f32; ROWS * COLUMNS];
        uniforms(Key::new(3, 0, 0), &mut inputs);
        // Some are missing.
        inputs.iter_mut().skip(2).step_by(28).for_each(|value| *value = f32::NAN);
        inputs
    }

    fn folds() -> Vec<u8> {
        (0..ROWS).map(|row| (row % 4) as u8).collect()
    }

    fn fit(target: Target, given: &[f32], targets: &[f32]) -> Boosted {
        let (inputs, folds) = (inputs(), folds());
        Boosted::fit(
            target,
            &Examples {
                inputs: &inputs,
                columns: COLUMNS,
                given,
                targets,
                folds: &folds,
                fold_count: 4,
                seed: 1,
            },
        )
    }

    #[test]
    fn a_threshold_is_found_and_missing_values_are_a_side_of_it() {
        let inputs = inputs();
        let is_one = |row: usize| {
            let value = inputs[row * COLUMNS + 2];
            value.is_nan() || value > 0.6
        };
        let targets: Vec<f32> = (0..ROWS).map(|row| f32::from(u8::from(is_one(row)))).collect();
        let given = vec![0.5f32; ROWS];
        let boosted = fit(Target::Number, &given, &targets);
        assert!(boosted.is_there());
        for row in 0..ROWS {
            for fold in [None, Some((row % 4) as u8)] {
                let mut estimate = [0.5f32];
                boosted.add(&inputs[row * COLUMNS..(row + 1) * COLUMNS], fold, &mut estimate);
                let wanted = targets[row];
                if (inputs[row * COLUMNS + 2] - 0.6).abs() < 0.02 {
                    // Within a bin of the threshold.
                    continue;
                }
                assert!((estimate[0] - wanted).abs() < 0.35, "row {row}: {estimate:?}, {wanted}");
            }
        }
    }

    #[test]
    fn levels_and_booleans_are_told_apart() {
        let inputs = inputs();
        let level = |row: usize| {
            let (a, b) = (inputs[row * COLUMNS], inputs[row * COLUMNS + 1]);
            usize::from(a > 0.5) + usize::from(a > 0.5 && b > 0.5)
        };
        let targets: Vec<f32> = (0..ROWS).map(|row| level(row) as f32).collect();
        let boosted = fit(Target::Level(3), &vec![0.0; ROWS * 3], &targets);
        let right = (0..ROWS).filter(|&row| {
            let mut estimate = [0.0f32; 3];
            let own = &inputs[row * COLUMNS..(row + 1) * COLUMNS];
            boosted.add(own, Some((row % 4) as u8), &mut estimate);
            (0..3).all(|other| estimate[other] <= estimate[level(row)])
        });
        assert!(right.count() > ROWS * 95 / 100);
        let targets: Vec<f32> = (0..ROWS).map(|row| f32::from(u8::from(level(row) == 2))).collect();
        let boosted = fit(Target::Boolean, &vec![-1.0; ROWS], &targets);
        let right = (0..ROWS).filter(|&row| {
            let mut estimate = [-1.0f32];
            let own = &inputs[row * COLUMNS..(row + 1) * COLUMNS];
            boosted.add(own, Some((row % 4) as u8), &mut estimate);
            (estimate[0] > 0.0) == (level(row) == 2)
        });
        assert!(right.count() > ROWS * 95 / 100);
    }

    #[test]
    fn noise_gets_no_trees() {
        let mut noise = vec![0.0f32; ROWS * 40];
        uniforms(Key::new(9, 0, 0), &mut noise);
        let with_trees = noise.chunks_exact(ROWS).filter(|targets| {
            let given = vec![0.5f32; ROWS];
            fit(Target::Number, &given, targets).is_there()
        });
        // The gain must exceed its standard error, at the best of many numbers of trees.
        assert!(with_trees.count() <= 8, "trees were grown on noise");
    }

    #[test]
    fn a_row_has_no_part_in_its_own_estimate() {
        let inputs = inputs();
        let mut targets: Vec<f32> = (0..ROWS).map(|row| inputs[row * COLUMNS].round()).collect();
        let given = vec![0.5f32; ROWS];
        let own = |boosted: &Boosted, row: usize| {
            let mut estimate = [0.0f32];
            let fold = Some((row % 4) as u8);
            boosted.add(&inputs[row * COLUMNS..(row + 1) * COLUMNS], fold, &mut estimate);
            estimate[0]
        };
        let before = fit(Target::Number, &given, &targets);
        targets[17] += 0.25;
        let after = fit(Target::Number, &given, &targets);
        let rounds = |boosted: &Boosted| boosted.folds[1].len();
        assert_eq!(rounds(&before), rounds(&after), "another number of trees hides the comparison");
        assert_eq!(own(&before, 17), own(&after, 17));
        assert!((0..ROWS).any(|row| own(&before, row) != own(&after, row)));
    }
}
