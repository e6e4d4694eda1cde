//! Scores of pairs of rows:  out[k, 0] = ⟨a[i_k, :], b[j_k, :]⟩        count × 1
//!
//! For edges that are known, and for pairs that are drawn to be compared with them. Drawn pairs are
//! a function of seed, stream and step, so the gradient draws them again.

mod gradient;
mod lists;
mod pairs;

use std::sync::Arc;

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::row_sums::{dot, grid_of_rows, lanes_of_row};
use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, Constant, Mismatch, Operation};
use crate::random::PAIR_GROUP;
use crate::{Matrix, Shape};
use gradient::PairScoresGradient;
use pairs::{Groups, Pairs};

/// Groups of pairs that one thread takes at a time.
const GROUPS_A_TASK: usize = 8;

const KERNELS: cuda::Source =
    cuda::Source::new("pair_scores.cu", include_str!("pair_scores.cu")).with(&[lists::DEFINES]);
const SCORES: cuda::Kernel = KERNELS.kernel("pair_scores");

#[derive(Debug)]
struct PairScores {
    pairs: Pairs,
}

impl<'p> Matrix<'p> {
    /// The dot products of rows of this matrix with rows of another: one for each
    /// `[own row, other row]`. Both may be the same matrix, and pairs may repeat.
    #[must_use]
    #[track_caller]
    pub fn pair_scores(self, right: Matrix<'p>, pairs: &Arc<[[u32; 2]]>) -> Matrix<'p> {
        let rows = [self.rows(), right.rows()];
        let outside = |pair: &&[u32; 2]| (0..2).any(|side| pair[side] as usize >= rows[side]);
        if let Some([left_row, right_row]) = pairs.iter().find(outside) {
            let [left, right] = rows;
            let problem = format!(
                "rows {left_row} and {right_row} were asked for; there are {left} and {right}"
            );
            self.program().fail("pair scores", problem);
        }
        self.program().record(PairScores { pairs: Pairs::fixed(pairs) }, &[self, right])
    }

    /// The dot products of `count` pairs of rows that are drawn anew in each step, all pairs being
    /// equally likely.
    #[must_use]
    #[track_caller]
    pub fn sampled_pair_scores(self, right: Matrix<'p>, count: usize) -> Matrix<'p> {
        let program = self.program();
        let rows = [self.rows(), right.rows()];
        if count > 0 && rows.contains(&0) {
            let problem = format!("{count} pairs cannot be drawn from {} × {}", rows[0], rows[1]);
            program.fail("pair scores", problem);
        }
        let bounds = rows.map(|rows| rows as u32);
        let pairs = Pairs::Sampled { count, bounds, stream: program.new_stream() };
        program.record(PairScores { pairs }, &[self, right])
    }
}

impl Operation for PairScores {
    fn name(&self) -> &'static str {
        "pair scores"
    }

    fn identity(&self) -> String {
        format!("pair_scores({})", self.pairs.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let fits = inputs[0].columns == inputs[1].columns;
        Mismatch::unless(fits, inputs[0], inputs[1], "rows that are paired are equally long")?;
        Ok(vec![Shape::new(self.pairs.count(), 1)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let operands = [backward.upstream(0), backward.input(0), backward.input(1)];
        let operation = PairScoresGradient { pairs: self.pairs.clone() };
        let gradients = backward.program().record_all(operation, &operands);
        for side in [0, 1] {
            backward.add(side, gradients[side]);
        }
    }

    fn arithmetic(&self, inputs: &[Shape], _wanted: &[bool]) -> u64 {
        2 * (self.pairs.count() * inputs[0].columns) as u64
    }

    fn constants(&self) -> Vec<Constant> {
        self.pairs.constants()
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let pairs = self.pairs.groups(call);
        let (left, right) = (call.input(0), call.input(1));
        let columns = call.input_shape(0).columns;
        let tasks = call.output(0).par_chunks_mut(GROUPS_A_TASK * PAIR_GROUP);
        tasks.enumerate().for_each(|(task, out)| {
            let first = task * GROUPS_A_TASK;
            Arch::new().dispatch(Scores { pairs, first, left, right, columns, out });
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (count, columns) = (self.pairs.count(), call.input_shape(0).columns);
        if count == 0 {
            return Ok(());
        }
        let rows = [0, 1].map(|side| call.input_shape(side).rows);
        let [fixed, context, stream, left_rows, right_rows] = self.pairs.on_card(call, rows)?;
        let lanes = lanes_of_row(columns);
        let arguments = [
            fixed,
            context,
            stream,
            left_rows,
            right_rows,
            call.input(0).into(),
            call.input(1).into(),
            call.output(0).into(),
            count.into(),
            (columns as u32).into(),
            lanes.into(),
        ];
        call.launch(SCORES, grid_of_rows(count, lanes), arguments);
        Ok(())
    }
}

/// The scores of the pairs from a group on.
struct Scores<'a> {
    pairs: Groups<'a>,
    first: usize,
    left: &'a [f32],
    right: &'a [f32],
    columns: usize,
    out: &'a mut [f32],
}

impl NullaryFnOnce for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Scores { pairs, first, left, right, columns, out } = self;
        for (group, out) in out.chunks_mut(PAIR_GROUP).enumerate() {
            let (pairs, _) = pairs.group(first + group);
            for (out, [i, j]) in out.iter_mut().zip(pairs) {
                let left = &left[i as usize * columns..][..columns];
                let right = &right[j as usize * columns..][..columns];
                *out = dot(left, right);
            }
        }
    }
}

#[cfg(test)]
mod tests;
