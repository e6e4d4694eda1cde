//! Normal noise:  out ~ N(0, 1), anew in each step
//!
//! Each number is a function of seed, stream, step and its place, so threads draw their own parts.

use crate::cpu::{Call, for_each_portion};
use crate::cuda;
use crate::program::{Mismatch, Operation, Program};
use crate::random::normals;
use crate::{Matrix, Shape};

const NORMAL_NOISE: cuda::Kernel =
    cuda::Source::new("noise.cu", include_str!("noise.cu")).kernel("normal_noise");

#[derive(Debug)]
struct NormalNoise {
    shape: Shape,
    stream: u32,
}

impl Program {
    /// Normal numbers with mean 0 and variance 1 that are drawn anew in each step.
    #[track_caller]
    pub fn normal_noise(&self, shape: impl Into<Shape>) -> Matrix<'_> {
        self.record(NormalNoise { shape: shape.into(), stream: self.new_stream() }, &[])
    }
}

/// It has no inputs, so that nobody ever asks for its gradient.
impl Operation for NormalNoise {
    fn name(&self) -> &'static str {
        "normal noise"
    }

    fn identity(&self) -> String {
        format!("normal_noise({}, stream={})", self.shape, self.stream)
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![self.shape])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let key = call.key(self.stream);
        for_each_portion(call.output(0), |begin, out| normals(key, begin, out));
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let count = self.shape.len();
        let (context, out) = (call.context(), call.output(0));
        let arguments = [context.into(), self.stream.into(), out.into(), count.into()];
        call.launch(NORMAL_NOISE, cuda::Grid::strided(count.div_ceil(4)), arguments);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::random::Key;
    use crate::testing::{Reference, check, shapes};
    use proptest::prelude::*;

    proptest! {
        /// The reference draws what the first random operation of the test draws in step 0.
        #[test]
        fn gradients_pass_beside_it(shape in shapes()) {
            let mut noise = vec![0.0; shape.len()];
            normals(Key::new(5, Program::new("test").new_stream(), 0), 0, &mut noise);
            let noise = Reference {
                shape,
                values: noise.into_iter().map(f64::from).collect(),
            };
            check(&[shape], |program, x| x[0].multiply(program.normal_noise(shape)), |x| {
                x[0].zip(&noise, |x, noise| x * noise)
            });
        }
    }

    #[test]
    fn is_drawn_anew_in_each_step_and_again_by_the_same_seed() {
        let shape = Shape::new(300, 101);
        let draw = |threads: usize| {
            let program = Program::new("noise");
            program.output("first", program.normal_noise(shape));
            program.output("second", program.normal_noise(shape));
            let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
            let mut session = crate::testing::session(plan, 3);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let mut run = || {
                    session.run("noise").expect("a run");
                    ["first", "second"].map(|name| session.read("noise", name).expect("an output"))
                };
                [run(), run()]
            })
        };
        let [[first, other], [second, _]] = draw(1);
        assert_ne!(first, other, "each its own");
        assert_ne!(first, second, "anew in each step");
        assert_eq!(draw(3)[1][0], second, "again by the same seed");
        let count = first.len() as f64;
        let mean = first.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let square = first.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / count;
        assert!(mean.abs() < 4.0 / count.sqrt(), "{mean}");
        assert!((square - 1.0).abs() < 0.04, "{square}");
    }
}
