//! The loss of a matrix of scores:  loss(scores), 1 × 1, and its derivative by the scores
//!
//! For scores that exist as a whole (few columns, or several layers above the last product). Where
//! the scores are one product of a narrow and a wide matrix, [`super::decoder_loss`] never makes
//! them.

use std::sync::Arc;

use rayon::prelude::*;

use super::Likelihood;
use crate::cpu::{Call, as_doubles, doubles};
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
}

/// Outputs: the loss, its derivative by the scores.
impl Operation for Loss {
    fn name(&self) -> &'static str {
        "loss"
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let observed = self.likelihood.shape();
        let rule = "there is a score for every cell that may be observed";
        Mismatch::unless(inputs[0] == observed, inputs[0], observed, rule)?;
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
            *loss = self.likelihood.judge(task * ROWS_A_TASK, scores);
        });
        if let Some(loss) = call.wanted_output(0) {
            loss[0] = partial.iter().sum::<f64>() as f32;
        }
    }
}
