//! One score a head for each row, as attention between nodes takes it:
//!
//!   out[i, h] = Σ_k x[i, h·width + k] · a[h, k]
//!
//! x: rows × heads·width, a: heads × width, out: rows × heads. With g the gradient of out:
//!
//!   ∂x[i, h·width + k] = g[i, h] · a[h, k]        ∂a[h, k] = Σ_i g[i, h] · x[i, h·width + k]
//!
//! Fixed portions of rows sum their shares of ∂a side by side, then these are added in order.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::column_sums::{AddRows, SumsOnCard};
use super::row_sums::{add_scaled_heads, dot_heads, grid_of_rows, lanes_of_row};
use super::wanted::wanted_portions;
use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Rows of a portion.
const ROWS: usize = 128;

const KERNELS: cuda::Source = cuda::Source::new("head_scores.cu", include_str!("head_scores.cu"));
const SCORES: cuda::Kernel = KERNELS.kernel("head_scores");
const BY_FEATURES: cuda::Kernel = KERNELS.kernel("head_scores_by_features");
const BY_FEATURES_FOURS: cuda::Kernel = KERNELS.kernel("head_scores_by_features_fours");

#[derive(Debug)]
struct HeadScores;

/// Inputs: the gradient of the scores, the features, the vectors. Outputs: the gradients of the
/// features and the vectors.
#[derive(Debug)]
struct HeadScoresGradient;

impl<'p> Matrix<'p> {
    /// The dot products of each row, its columns split among the heads, with one vector a head:
    /// `vectors` has a row for each head.
    #[must_use]
    #[track_caller]
    pub fn head_scores(self, vectors: Matrix<'p>) -> Matrix<'p> {
        self.program().record(HeadScores, &[self, vectors])
    }
}

impl Operation for HeadScores {
    fn name(&self) -> &'static str {
        "head scores"
    }

    fn identity(&self) -> String {
        "head_scores".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let [features, vectors] = [inputs[0], inputs[1]];
        let rule = "the vectors of all heads are together as long as a row of the features";
        Mismatch::unless(features.columns == vectors.len(), features, vectors, rule)?;
        Ok(vec![Shape::new(features.rows, vectors.rows)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let operands = [backward.upstream(0), backward.input(0), backward.input(1)];
        let gradients = backward.program().record_all(HeadScoresGradient, &operands);
        for input in [0, 1] {
            backward.add(input, gradients[input]);
        }
    }

    fn arithmetic(&self, inputs: &[Shape], _wanted: &[bool]) -> u64 {
        2 * inputs[0].len() as u64
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (features, vectors) = (call.input(0), call.input(1));
        let heads = call.input_shape(1).rows;
        let out = call.output(0);
        if vectors.is_empty() {
            // Heads without columns: sums of nothing.
            out.fill(0.0);
            return;
        }
        let features = features.par_chunks(ROWS * vectors.len());
        out.par_chunks_mut(ROWS * heads).zip(features).for_each(|(out, features)| {
            Arch::new().dispatch(Scores { features, vectors, heads, out });
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows: heads, columns: width } = call.input_shape(1);
        let count = call.output_shape(0).len();
        let lanes = lanes_of_row(width);
        let arguments = [
            call.input(0).into(),
            call.input(1).into(),
            call.output(0).into(),
            count.into(),
            (heads as u32).into(),
            (width as u32).into(),
            lanes.into(),
        ];
        call.launch(SCORES, grid_of_rows(count, lanes), arguments);
        Ok(())
    }
}

impl Operation for HeadScoresGradient {
    fn name(&self) -> &'static str {
        "head scores"
    }

    fn identity(&self) -> String {
        "head_scores_gradient".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[1], inputs[2]])
    }

    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        if wanted[1] { inputs[1].rows.div_ceil(ROWS) * inputs[1].columns } else { 0 }
    }

    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        if wanted[1] { 2 * inputs[1].len() as u64 } else { 0 }
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let [gradient, features, vectors] = [0, 1, 2].map(|input| call.input(input));
        let heads = call.input_shape(2).rows;
        let Shape { rows, columns } = call.input_shape(1);
        if columns == 0 {
            return;
        }
        let tasks = rows.div_ceil(ROWS);
        let (by_features, by_vectors) = (call.wanted_output(0), call.wanted_output(1));
        let mut partial = by_vectors.is_some().then(|| &mut call.scratch()[..tasks * columns]);
        let out = wanted_portions(by_features, ROWS * columns, tasks);
        let sums = wanted_portions(partial.as_deref_mut(), columns, tasks);
        out.zip(sums).enumerate().for_each(|(task, (out, sums))| {
            let first = task * ROWS;
            let count = ROWS.min(rows - first);
            let gradient = &gradient[first * heads..][..count * heads];
            if let Some(out) = out {
                Arch::new().dispatch(ByFeatures { gradient, vectors, heads, out });
            }
            if let Some(sums) = sums {
                let features = &features[first * columns..][..count * columns];
                Arch::new().dispatch(ByVectors { gradient, features, heads, sums });
            }
        });
        if let (Some(sums), Some(rows)) = (by_vectors, partial) {
            sums.fill(0.0);
            Arch::new().dispatch(AddRows { rows, sums });
        }
    }

    fn cuda_scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        let sums = SumsOnCard::of_heads(inputs[1], inputs[2].rows);
        if wanted[1] { sums.scratch_len() } else { 0 }
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (features, vectors) = (call.input_shape(1), call.input_shape(2));
        let (gradient, heads) = (call.input(0), vectors.rows);
        if let Some(out) = call.wanted_output(0) {
            let fours = vectors.columns % 4 == 0;
            let (kernel, at_a_time) = if fours { (BY_FEATURES_FOURS, 4) } else { (BY_FEATURES, 1) };
            let count = features.len() / at_a_time;
            let arguments = [
                gradient.into(),
                call.input(2).into(),
                out.into(),
                ((features.columns / at_a_time) as u32).into(),
                ((vectors.columns / at_a_time) as u32).into(),
                count.into(),
            ];
            call.launch(kernel, cuda::Grid::strided(count), arguments);
        }
        if let Some(out) = call.wanted_output(1) {
            let sums = SumsOnCard::of_heads(features, heads).weighed(gradient);
            sums.launch(call, call.input(1), out);
        }
        Ok(())
    }
}

struct Scores<'a> {
    features: &'a [f32],
    vectors: &'a [f32],
    heads: usize,
    out: &'a mut [f32],
}

impl NullaryFnOnce for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Scores { features, vectors, heads, out } = self;
        let rows = features.chunks_exact(vectors.len());
        for (out, features) in out.chunks_exact_mut(heads).zip(rows) {
            dot_heads(out, features, vectors);
        }
    }
}

/// Some rows of ∂x.
struct ByFeatures<'a> {
    gradient: &'a [f32],
    vectors: &'a [f32],
    heads: usize,
    out: &'a mut [f32],
}

impl NullaryFnOnce for ByFeatures<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let ByFeatures { gradient, vectors, heads, out } = self;
        out.fill(0.0);
        let rows = out.chunks_exact_mut(vectors.len());
        for (out, gradient) in rows.zip(gradient.chunks_exact(heads)) {
            add_scaled_heads(out, gradient, vectors);
        }
    }
}

/// The share of some rows in ∂a.
struct ByVectors<'a> {
    gradient: &'a [f32],
    features: &'a [f32],
    heads: usize,
    sums: &'a mut [f32],
}

impl NullaryFnOnce for ByVectors<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let ByVectors { gradient, features, heads, sums } = self;
        sums.fill(0.0);
        let rows = features.chunks_exact(sums.len());
        for (features, gradient) in rows.zip(gradient.chunks_exact(heads)) {
            add_scaled_heads(sums, gradient, features);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check};
    use crate::{Initial, Program};
    use proptest::prelude::*;

    fn compare(rows: usize, heads: usize, width: usize) {
        let shapes = [Shape::new(rows, heads * width), Shape::new(heads, width)];
        check(
            &shapes,
            |_, x| x[0].head_scores(x[1]),
            |x| {
                Reference::new(Shape::new(rows, heads), |row, head| {
                    let term = |k: usize| x[0].at(row, head * width + k) * x[1].at(head, k);
                    (0..width).map(term).sum()
                })
            },
        );
    }

    proptest! {
        #[test]
        fn one_a_head(
            rows in 0usize..6, heads in 0usize..6, width in prop_oneof![0usize..6, 7usize..18],
        ) {
            compare(rows, heads, width);
        }

        #[test]
        fn one_head_by_itself(columns in 1usize..20) {
            check(&[Shape::new(1, columns)], |_, x| x[0].head_scores(x[0]), |x| {
                Reference::scalar(x[0].values.iter().map(|value| value * value).sum())
            });
        }
    }

    #[test]
    fn beyond_one_portion() {
        for rows in [ROWS - 1, ROWS, 2 * ROWS + 3] {
            compare(rows, 2, 3);
        }
    }

    #[test]
    fn vectors_of_another_length_are_refused() {
        let program = Program::new("wrong");
        let features = program.parameter("features", [3, 8], Initial::ZEROS);
        let _ = features.head_scores(program.parameter("vectors", [2, 3], Initial::ZEROS));
        let message = program.finish().expect_err("a mistake").to_string();
        assert!(message.contains("3 × 8 does not fit 2 × 3"), "{message}");
    }
}
