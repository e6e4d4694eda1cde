//! How far normal distributions are from the standard one, as information:
//!
//!   out = KL(N(m, eᵛ) ‖ N(0, 1)) = −½ Σ (1 + v − m² − eᵛ) / rows        1 × 1
//!
//! m: means, v: logarithms of variances, both rows × columns. Value and derivatives are computed in
//! one pass:  ∂m = m / rows,  ∂v = ½ (eᵛ − 1) / rows.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::sum::Shares;
use super::wanted::wanted_portions;
use crate::cpu::{Call, PORTION, as_doubles, doubles, exp};
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

const GAUSSIAN_KL: cuda::Kernel =
    cuda::Source::new("gaussian_kl.cu", include_str!("gaussian_kl.cu")).kernel("gaussian_kl");

#[derive(Debug)]
struct GaussianKl;

impl<'p> Matrix<'p> {
    /// The Kullback–Leibler divergence of the normal distributions with these means and the
    /// logarithms of these variances from the standard one: summed over columns, averaged over
    /// rows; 0 of no rows.
    #[must_use]
    #[track_caller]
    pub fn gaussian_kl(self, log_variance: Matrix<'p>) -> Matrix<'p> {
        self.program().record(GaussianKl, &[self, log_variance])
    }
}

/// Outputs: the value, its derivative by the means, that by the logarithms of the variances.
impl Operation for GaussianKl {
    fn name(&self) -> &'static str {
        "Gaussian KL"
    }

    fn identity(&self) -> String {
        "gaussian_kl".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let rule = "every mean has a variance";
        Mismatch::unless(inputs[0] == inputs[1], inputs[0], inputs[1], rule)?;
        Ok(vec![Shape::SCALAR, inputs[0], inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.add_derivative(0, 0, backward.output(1));
        backward.add_derivative(1, 0, backward.output(2));
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        doubles(inputs[0].len().div_ceil(PORTION))
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (mean, log_variance) = (call.input(0), call.input(1));
        let share = 1.0 / call.input_shape(0).rows.max(1) as f32;
        let sums = as_doubles(call.scratch());
        let count = mean.len().div_ceil(PORTION);
        let by_mean = wanted_portions(call.wanted_output(1), PORTION, count);
        let by_log_variance = wanted_portions(call.wanted_output(2), PORTION, count);
        let value = call.wanted_output(0);
        let inputs = mean.par_chunks(PORTION).zip(log_variance.par_chunks(PORTION));
        let sums = &mut sums[..count];
        inputs.zip(by_mean).zip(by_log_variance).zip(sums.par_iter_mut()).for_each(
            |((((mean, log_variance), by_mean), by_log_variance), sum)| {
                if value.is_some() {
                    *sum = Arch::new().dispatch(Sum { mean, log_variance });
                }
                if let Some(out) = by_mean {
                    Arch::new().dispatch(ByMean { mean, share, out });
                }
                if let Some(out) = by_log_variance {
                    Arch::new().dispatch(ByLogVariance { log_variance, share, out });
                }
            },
        );
        if let Some(value) = value {
            value[0] = (-0.5 * sums.iter().sum::<f64>() * f64::from(share)) as f32;
        }
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        cuda::Call::scratch_len([Shares::of(inputs[0]).scratch()])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let shape = call.input_shape(0);
        let shares = Shares::of(shape);
        let value = call.wanted_output(0);
        let partial = call.scratch(shares.scratch());
        let share = 1.0 / shape.rows.max(1) as f64;
        let arguments = [
            call.input(0).into(),
            call.input(1).into(),
            shape.len().into(),
            (share as f32).into(),
            value.map(|_| partial).into(),
            call.wanted_output(1).into(),
            call.wanted_output(2).into(),
        ];
        call.launch(GAUSSIAN_KL, shares.grid, arguments);
        if let Some(value) = value {
            shares.add(call, partial, -0.5 * share, value);
        }
        Ok(())
    }
}

/// Σ (1 + v − m² − eᵛ) over a portion.
struct Sum<'a> {
    mean: &'a [f32],
    log_variance: &'a [f32],
}

impl NullaryFnOnce for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let mut sums = [0.0f64; 16];
        let (mean, mean_rest) = self.mean.as_chunks::<16>();
        let (log_variance, log_variance_rest) = self.log_variance.as_chunks::<16>();
        for (mean, log_variance) in mean.iter().zip(log_variance) {
            for lane in 0..16 {
                sums[lane] += term(mean[lane], log_variance[lane]);
            }
        }
        for (lane, (&mean, &log_variance)) in mean_rest.iter().zip(log_variance_rest).enumerate() {
            sums[lane] += term(mean, log_variance);
        }
        sums.iter().sum()
    }
}

#[inline(always)]
fn term(mean: f32, log_variance: f32) -> f64 {
    // In double precision, as 1 + v and eᵛ nearly cancel where v is small.
    let rest = 1.0 + f64::from(log_variance) - f64::from(exp(log_variance));
    rest - f64::from(mean) * f64::from(mean)
}

struct ByMean<'a> {
    mean: &'a [f32],
    share: f32,
    out: &'a mut [f32],
}

impl NullaryFnOnce for ByMean<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (out, &mean) in self.out.iter_mut().zip(self.mean) {
            *out = mean * self.share;
        }
    }
}

struct ByLogVariance<'a> {
    log_variance: &'a [f32],
    share: f32,
    out: &'a mut [f32],
}

impl NullaryFnOnce for ByLogVariance<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (out, &log_variance) in self.out.iter_mut().zip(self.log_variance) {
            *out = 0.5 * (exp(log_variance) - 1.0) * self.share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, check_value, shapes, some_numbers};
    use proptest::prelude::*;

    fn divergence(mean: &Reference, log_variance: &Reference) -> f64 {
        let terms = mean.zip(log_variance, |m, v| 1.0 + v - m * m - v.exp());
        -0.5 * terms.values.iter().sum::<f64>() / mean.shape.rows.max(1) as f64
    }

    proptest! {
        #[test]
        fn is_the_mean_over_rows(shape in shapes()) {
            check(&[shape, shape], |_, x| x[0].gaussian_kl(x[1]), |x| {
                Reference::scalar(divergence(&x[0], &x[1]))
            });
            // Weighted, and both of one matrix.
            check(&[shape], |_, x| x[0].gaussian_kl(x[0]).scale(0.3), |x| {
                Reference::scalar(0.3 * divergence(&x[0], &x[0]))
            });
        }
    }

    #[test]
    fn beyond_one_portion() {
        let shape = Shape::new(9000, 2);
        let values = [some_numbers(18_000, 1), some_numbers(18_000, 2)];
        let exact = |values: &[f32]| Reference {
            shape,
            values: values.iter().map(|&value| f64::from(value)).collect(),
        };
        let expected = divergence(&exact(&values[0]), &exact(&values[1]));
        check_value(&[shape, shape], &values, |_, x| x[0].gaussian_kl(x[1]), expected);
    }

    #[test]
    fn other_shapes_are_refused() {
        let program = crate::Program::new("kl");
        let _ = program.constant([3, 2], 1.0).gaussian_kl(program.constant([2, 3], 1.0));
        let message = program.finish().expect_err("a mistake").to_string();
        assert!(message.contains("3 × 2 does not fit 2 × 3"), "{message}");
    }
}
