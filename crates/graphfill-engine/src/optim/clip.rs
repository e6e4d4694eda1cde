//! Clipping by the global norm:  scale = min(1, limit / √(Σ over gradients Σ g²))        1 × 1
//!
//! The scale is a single number that the optimiser multiplies gradients by while it reads them, so
//! clipping reads every gradient once and writes none.

use pulp::{Arch, NullaryFnOnce};

use crate::cpu::{Call, as_doubles, doubles, portions, sum_of_portions};
use crate::cuda;
use crate::ops::linear_combination;
use crate::program::{Mismatch, Operation};
use crate::{Matrix, Shape};

/// Sums that run side by side, which compilers keep in vectors.
const LANES: usize = 16;

const KERNELS: cuda::Source =
    cuda::Source::new("clip.cu", include_str!("clip.cu")).with(&[DEFINES]);
const DEFINES: &[cuda::Define] = &[cuda::Define::count("SUM_THREADS", SUM_THREADS as usize)];
const SQUARED_NORM: cuda::Kernel = KERNELS.kernel("squared_norm");
const ADD_PARTIAL_NORMS: cuda::Kernel = KERNELS.kernel("add_partial_norms");
const CLIP_SCALE: cuda::Kernel = KERNELS.kernel("clip_scale");

/// Threads of the blocks that sum squares on a card.
const SUM_THREADS: u32 = 1024;

#[derive(Debug)]
struct SquaredNorm;

/// The scale that follows from the square of a norm.
#[derive(Debug)]
struct ClipScale {
    limit: f32,
}

/// What all these gradients are to be multiplied by, so that together they are no longer than
/// `limit`. There is at least one.
#[track_caller]
pub(super) fn clip_scale<'p>(gradients: &[Matrix<'p>], limit: f32) -> Matrix<'p> {
    let program = gradients[0].program();
    if !(limit > 0.0 && limit.is_finite()) {
        let problem = format!("gradients are clipped to {limit}; the norm must be above 0");
        program.fail("clip", problem);
    }
    let mut squares = Vec::new();
    for &gradient in gradients {
        squares.push((1.0, program.record(SquaredNorm, &[gradient])));
    }
    program.record(ClipScale { limit }, &[linear_combination(&squares)])
}

impl Operation for SquaredNorm {
    fn name(&self) -> &'static str {
        "squared norm"
    }

    fn identity(&self) -> String {
        "squared_norm".to_owned()
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![Shape::SCALAR])
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        doubles(portions(inputs[0].len()))
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let numbers = call.input(0);
        let sum = sum_of_portions(numbers.len(), as_doubles(call.scratch()), |begin, end| {
            Arch::new().dispatch(SumOfSquares { numbers: &numbers[begin..end] })
        });
        call.output(0)[0] = sum as f32;
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        cuda::Call::scratch_len([doubles(sum_blocks(inputs[0].len()))])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (count, out) = (call.input_shape(0).len(), call.output(0));
        let blocks = sum_blocks(count);
        let partial = call.scratch(doubles(blocks));
        let arguments = [call.input(0).into(), count.into(), partial.into(), out.into()];
        call.launch(SQUARED_NORM, cuda::Grid::blocks(blocks, SUM_THREADS), arguments);
        if blocks > 1 {
            let arguments = [partial.into(), (blocks as u32).into(), out.into()];
            call.launch(ADD_PARTIAL_NORMS, cuda::Grid::blocks(1, SUM_THREADS), arguments);
        }
        Ok(())
    }
}

/// The blocks that sum so many squares side by side: one for few numbers, two for each processor of
/// a large card for many.
fn sum_blocks(count: usize) -> usize {
    count.div_ceil(1 << 16).clamp(1, 264)
}

struct SumOfSquares<'a> {
    numbers: &'a [f32],
}

impl NullaryFnOnce for SumOfSquares<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let mut sums = [0.0f64; LANES];
        let (chunks, rest) = self.numbers.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                let number = f64::from(chunk[lane]);
                sums[lane] += number * number;
            }
        }
        let mut rest_sum = 0.0;
        for &number in rest {
            rest_sum += f64::from(number) * f64::from(number);
        }
        sums.iter().sum::<f64>() + rest_sum
    }
}

impl Operation for ClipScale {
    fn name(&self) -> &'static str {
        "clip"
    }

    fn identity(&self) -> String {
        format!("clip_scale(limit={})", self.limit)
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![Shape::SCALAR])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        // A norm of 0 gives infinity, and so 1. A norm that is NaN gives NaN, which `min` would turn
        // into 1.
        let scale = self.limit / call.input(0)[0].sqrt();
        call.output(0)[0] = if scale > 1.0 { 1.0 } else { scale };
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let arguments = [call.input(0).into(), self.limit.into(), call.output(0).into()];
        call.launch(CLIP_SCALE, cuda::Grid::blocks(1, 32), arguments);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::some_numbers;
    use crate::{Initial, Plan, Program};
    use proptest::prelude::*;

    fn scale_of(gradients: &[Vec<f32>], limit: f32) -> f32 {
        let program = Program::new("test");
        let names: Vec<String> = (0..gradients.len()).map(|at| format!("g{at}")).collect();
        let mut matrices = Vec::new();
        for (name, values) in names.iter().zip(gradients) {
            matrices.push(program.parameter(name, [values.len(), 1], Initial::ZEROS));
        }
        program.output("scale", clip_scale(&matrices, limit));
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 0);
        for (name, values) in names.iter().zip(gradients) {
            session.write(name, values).expect("a gradient");
        }
        session.run("test").expect("a run");
        session.scalar("test", "scale").expect("the scale")
    }

    proptest! {
        /// More gradients than an operation takes, and longer ones than a portion.
        #[test]
        fn scales_down_to_the_limit(
            lens in prop::collection::vec(prop_oneof![0usize..40, 16_000usize..17_000], 1..20),
            limit in 0.1f32..100.0,
        ) {
            let numbers = |(seed, &len): (usize, &usize)| some_numbers(len, seed);
            let gradients: Vec<Vec<f32>> = lens.iter().enumerate().map(numbers).collect();
            let square = |&number: &f32| f64::from(number) * f64::from(number);
            let norm = gradients.iter().flatten().map(square).sum::<f64>().abs().sqrt();
            let expected = (f64::from(limit) / norm).min(1.0);
            let found = f64::from(scale_of(&gradients, limit));
            prop_assert!((found - expected).abs() < 1e-6 * expected, "{found}, not {expected}");
        }
    }

    #[test]
    fn long_gradients() {
        let expected = 1.0 / (0.5 * 200_001f32.sqrt());
        assert!((scale_of(&[vec![0.5; 200_001]], 1.0) / expected - 1.0).abs() < 1e-6);
    }

    #[test]
    fn gradients_of_zero_are_left_alone() {
        assert_eq!(scale_of(&[vec![0.0; 5], Vec::new()], 0.5), 1.0);
        assert_eq!(scale_of(&[Vec::new()], 0.5), 1.0);
    }

    #[test]
    fn a_limit_that_is_none_is_refused() {
        for limit in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let program = Program::new("test");
            let _ = clip_scale(&[program.constant([1, 1], 1.0)], limit);
            let error = program.finish().expect_err("a mistake").to_string();
            assert!(error.contains(&format!("clipped to {limit}")), "{error}");
        }
    }
}
