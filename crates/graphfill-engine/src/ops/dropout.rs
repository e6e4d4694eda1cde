//! Dropout:  out = x · kept / (1 − rate)
//!
//! Each number survives with probability 1 − rate. The mask is a function of seed, stream and step,
//! so the gradient draws it again: it is the same operation on the gradient.

use pulp::{Arch, Simd, WithSimd};

use crate::cpu::{Call, for_each_portion};
use crate::cuda;
use crate::cuda::{Finishes, finishing_source};
use crate::program::{Backward, Mismatch, Operation};
use crate::random::{KEEP_GROUP, Key, keep_factors, keep_scale, keep_threshold};
use crate::{Matrix, Shape};

const DROPOUT: cuda::Kernel = finishing_source!("dropout.cu").kernel("dropout");

#[derive(Debug, Clone, Copy)]
struct Dropout {
    rate: f32,
    stream: u32,
}

impl<'p> Matrix<'p> {
    /// Sets each number to 0 with this probability, and scales the others so that the mean stays.
    /// A rate of 0 records nothing.
    #[must_use]
    #[track_caller]
    pub fn dropout(self, rate: f32) -> Matrix<'p> {
        let program = self.program();
        if !(0.0..1.0).contains(&rate) {
            program.fail("dropout", format!("the rate is {rate}, not in 0 ≤ rate < 1"));
        }
        if rate == 0.0 {
            return self;
        }
        program.record(Dropout { rate, stream: program.new_stream() }, &[self])
    }
}

impl Operation for Dropout {
    fn name(&self) -> &'static str {
        "dropout"
    }

    fn identity(&self) -> String {
        format!("dropout(rate={}, stream={})", self.rate, self.stream)
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let gradient = backward.upstream(0);
        backward.add(0, backward.program().record(*self, &[gradient]));
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let input = call.input_unless_in_place(0);
        let key = call.key(self.stream);
        let threshold = keep_threshold(self.rate);
        let scale = keep_scale(threshold);
        for_each_portion(call.output(0), |begin, out| {
            let input = input.map(|input| &input[begin..begin + out.len()]);
            Arch::new().dispatch(Portion { input, out, key, begin, threshold, scale });
        });
    }

    fn cuda_can_finish(&self, finishes: &[cuda::Finish]) -> bool {
        Finishes::of(finishes).is_some()
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.input_shape(0);
        let (count, threshold) = (rows * columns, keep_threshold(self.rate));
        let grid = cuda::Grid::strided(count.div_ceil(8));
        let arguments = [
            call.context().into(),
            self.stream.into(),
            threshold.into(),
            keep_scale(threshold).into(),
            call.input(0).into(),
            call.output(0).into(),
            count.into(),
            (columns.max(1) as u32).into(),
        ];
        call.launch_finishing(DROPOUT, grid, &arguments);
        Ok(())
    }
}

struct Portion<'a> {
    input: Option<&'a [f32]>,
    out: &'a mut [f32],
    key: Key,
    begin: usize,
    threshold: u32,
    scale: f32,
}

impl WithSimd for Portion<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if let Some(input) = self.input {
            self.out.copy_from_slice(input);
        }
        for (group, out) in self.out.chunks_mut(KEEP_GROUP).enumerate() {
            let group = (self.begin / KEEP_GROUP + group) as u32;
            let factors = keep_factors(simd, self.key, group, self.threshold, self.scale);
            for (out, factor) in out.iter_mut().zip(&factors) {
                *out *= factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::kept_in_group;
    use crate::testing::{check, shapes};
    use crate::{Plan, Program};
    use proptest::prelude::*;

    proptest! {
        /// The reference draws the mask of the first random operation, seed and step of the test.
        #[test]
        fn drops_and_scales(shape in shapes(), rate in 0.05f32..0.95) {
            let stream = Program::new("test").new_stream();
            let threshold = keep_threshold(rate);
            let kept: Vec<f32> = (0..shape.len().div_ceil(KEEP_GROUP) as u32)
                .flat_map(|group| kept_in_group(Key::new(5, stream, 0), group, threshold))
                .collect();
            check(&[shape], |_, x| x[0].dropout(rate), |x| {
                let mut out = x[0].clone();
                for (value, kept) in out.values.iter_mut().zip(&kept) {
                    *value *= f64::from(*kept) * 65536.0 / f64::from(65536 - threshold);
                }
                out
            });
        }
    }

    #[test]
    fn keeps_the_mean_and_draws_anew_each_step() {
        let program = Program::new("drop");
        let dropped = program.constant([200, 100], 1.0).dropout(0.25);
        program.output("dropped", dropped);
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 0);
        let mut draw = || {
            session.run("drop").expect("a run");
            session.read("drop", "dropped").expect("an output")
        };
        let (first, second) = (draw(), draw());
        assert_ne!(first, second);
        let mean = first.iter().sum::<f32>() / first.len() as f32;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!(first.iter().all(|&value| value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6));
    }

    #[test]
    fn a_rate_that_is_none_is_refused() {
        let program = Program::new("drop");
        let _ = program.constant([2, 2], 1.0).dropout(1.0);
        assert!(program.finish().expect_err("a mistake").to_string().contains("the rate is 1"));
    }
}
