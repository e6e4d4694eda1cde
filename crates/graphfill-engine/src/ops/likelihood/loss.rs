//! The loss of a matrix of scores:  loss(scores), 1 × 1, and its derivative by the scores
//!
//! With weights, rows × columns as the scores, the loss of each cell is multiplied by its own.
//!
//! For scores that exist as a whole (few columns, or several layers above the last product). Where
//! the scores are one product of a narrow and a wide matrix, [`super::decoder_loss`] never makes
//! them.

use std::sync::Arc;

use rayon::prelude::*;

use super::kernel_sums::{Ends, Partial, finish};
use super::kernels::{Scores, judge, slots};
use super::{Likelihood, Unweighted};
use crate::cpu::{Call, as_doubles, doubles};
use crate::cuda;
use crate::program::{Backward, Constant, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Rows that one thread takes at a time.
const ROWS_A_TASK: usize = 32;

#[derive(Debug)]
struct Loss {
    likelihood: Arc<Likelihood>,
}

impl<'p> Matrix<'p> {
    /// How far these scores are from what was observed.
    #[must_use]
    #[track_caller]
    pub fn loss(self, likelihood: &Arc<Likelihood>) -> Matrix<'p> {
        self.program().record(Loss { likelihood: Arc::clone(likelihood) }, &[self])
    }

    /// The same, with the loss of each cell multiplied by a weight of its own, which may be computed
    /// in the same step. A block whose loss is a row's (multinomial, categorical) takes the weight in
    /// the first of its columns. What weighs 0 adds nothing to the loss nor to the derivative; the
    /// loss is divided by the number of all observed cells, whatever they weigh. Weights are taken as
    /// they are: there is no derivative by them.
    #[must_use]
    #[track_caller]
    pub fn weighted_loss(self, likelihood: &Arc<Likelihood>, weights: Matrix<'p>) -> Matrix<'p> {
        self.program().record(Loss { likelihood: Arc::clone(likelihood) }, &[self, weights])
    }
}

/// Inputs: scores, and weights if there are any. Outputs: the loss, its derivative by the scores.
impl Operation for Loss {
    fn name(&self) -> &'static str {
        "loss"
    }

    fn identity(&self) -> String {
        format!("loss({})", self.likelihood.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let observed = self.likelihood.shape();
        let rule = "there is a score for every cell that may be observed";
        Mismatch::unless(inputs[0] == observed, inputs[0], observed, rule)?;
        if let Some(&weights) = inputs.get(1) {
            let rule = "there is a weight for every score";
            Mismatch::unless(weights == inputs[0], inputs[0], weights, rule)?;
        }
        Ok(vec![Shape::SCALAR, inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.add_derivative(0, 0, backward.output(1));
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(1, 0)]
    }

    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        let scores = if wanted[1] { 0 } else { inputs[0].len().next_multiple_of(2) };
        doubles(inputs[0].rows.div_ceil(ROWS_A_TASK)) + scores
    }

    fn constants(&self) -> Vec<Constant> {
        vec![Constant::shared(&self.likelihood, self.likelihood.bytes())]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let Shape { rows, columns } = call.input_shape(0);
        let input = call.input_unless_in_place(0);
        let weights = (call.inputs() > 1).then(|| call.input(1));
        let (partial, spare) = call.scratch().split_at_mut(doubles(rows.div_ceil(ROWS_A_TASK)));
        let partial = as_doubles(partial);
        let scores = match call.wanted_output(1) {
            Some(derivative) => derivative,
            None => &mut spare[..rows * columns],
        };
        if let Some(input) = input {
            scores.copy_from_slice(input);
        }
        partial.fill(0.0);
        let tasks = scores.par_chunks_mut((ROWS_A_TASK * columns).max(1)).zip(&mut *partial);
        tasks.enumerate().for_each(|(task, (scores, loss))| {
            let first = task * ROWS_A_TASK;
            *loss = match weights {
                Some(weights) => {
                    let weights = &weights[first * columns..][..scores.len()];
                    self.likelihood.judge(first, scores, weights)
                }
                None => self.likelihood.judge(first, scores, Unweighted),
            };
        });
        if let Some(loss) = call.wanted_output(0) {
            loss[0] = partial.iter().sum::<f64>() as f32;
        }
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        cuda::Call::scratch_len([Partial::len(slots(&self.likelihood, inputs[0].rows))])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let shape = call.input_shape(0);
        let loss = call.wanted_output(0);
        if shape.is_empty() {
            loss.into_iter().for_each(|loss| call.zero(loss, 1));
            return Ok(());
        }
        let slots = slots(&self.likelihood, shape.rows);
        let mut partial = Partial::new(call.scratch(Partial::len(slots)), slots);
        let scores = Scores {
            weights: (call.inputs() > 1).then(|| call.input(1)),
            summed: u32::from(loss.is_some()),
            ..Scores::whole(call.input(0), call.wanted_output(1), shape)
        };
        judge(&self.likelihood, call, &scores, &mut partial)?;
        if loss.is_some() {
            finish(call, &partial, None, Ends { loss, ..Ends::default() });
        }
        Ok(())
    }
}
