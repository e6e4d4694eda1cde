//! Sum and mean of all numbers:  out = Σ x,  out = Σ x / count        1 × 1

use crate::cpu::{Call, as_doubles, doubles, portions, sum_of_portions};
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

const KERNELS: cuda::Source = cuda::Source::new("sum.cu", include_str!("sum.cu"));
const SUM_SHARES: cuda::Kernel = KERNELS.kernel("sum_shares");
const ADD_SHARES: cuda::Kernel = KERNELS.kernel("add_shares");
const SPREAD: cuda::Kernel = KERNELS.kernel("spread");

#[derive(Debug)]
struct Sum;

/// One number everywhere: the gradient of a sum.
#[derive(Debug)]
struct Spread {
    shape: Shape,
}

impl<'p> Matrix<'p> {
    /// The sum of all numbers.
    #[must_use]
    #[track_caller]
    pub fn sum(self) -> Matrix<'p> {
        self.program().record(Sum, &[self])
    }

    /// The mean of all numbers; 0 of none.
    #[must_use]
    #[track_caller]
    pub fn mean(self) -> Matrix<'p> {
        self.sum().scale(1.0 / self.shape().len().max(1) as f32)
    }
}

impl Operation for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn identity(&self) -> String {
        "sum".to_owned()
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![Shape::SCALAR])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let shape = backward.input(0).shape();
        let gradient = backward.upstream(0);
        backward.add(0, backward.program().record(Spread { shape }, &[gradient]));
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        doubles(portions(inputs[0].len()))
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let numbers = call.input(0);
        let sum = sum_of_portions(numbers.len(), as_doubles(call.scratch()), |begin, end| {
            numbers[begin..end].iter().map(|&number| f64::from(number)).sum()
        });
        call.output(0)[0] = sum as f32;
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        cuda::Call::scratch_len([Shares::of(inputs[0]).scratch()])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let shares = Shares::of(call.input_shape(0));
        let partial = call.scratch(shares.scratch());
        let count = call.input_shape(0).len();
        let arguments = [call.input(0).into(), count.into(), partial.into()];
        call.launch(SUM_SHARES, shares.grid, arguments);
        shares.add(call, partial, 1.0, call.output(0));
        Ok(())
    }
}

/// A sum over all numbers of a matrix on a CUDA card: one partial sum a thread block, in double
/// precision, then all of them in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// Of the kernel that leaves the partial sums, which takes four numbers at a time.
    pub(super) grid: cuda::Grid,
}

impl Shares {
    pub(super) fn of(shape: Shape) -> Self {
        Shares { grid: cuda::Grid::strided(shape.len().div_ceil(4)) }
    }

    /// The numbers of four bytes that the partial sums take.
    pub(super) fn scratch(self) -> usize {
        2 * self.grid.blocks[0] as usize
    }

    /// out = factor · Σ of the partial sums.
    pub(super) fn add(
        self,
        call: &mut cuda::Call<'_>,
        partial: cuda::Address,
        factor: f64,
        out: cuda::Address,
    ) {
        let count = self.grid.blocks[0] as usize;
        let arguments = [partial.into(), count.into(), factor.into(), out.into()];
        call.launch(ADD_SHARES, cuda::Grid::blocks(1, cuda::THREADS), arguments);
    }
}

impl Operation for Spread {
    fn name(&self) -> &'static str {
        "spread"
    }

    fn identity(&self) -> String {
        format!("spread({})", self.shape)
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![self.shape])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let sum = backward.upstream(0).sum();
        backward.add(0, sum);
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let number = call.input(0)[0];
        call.output(0).fill(number);
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let quads = self.shape.len().div_ceil(4);
        let arguments = [call.input(0).into(), call.output(0).into(), quads.into()];
        call.launch(SPREAD, cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Shape;
    use crate::testing::{Reference, check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_and_means(shape in shapes(), long in 16_000usize..17_000) {
            check(&[shape], |_, x| x[0].sum(), |x| Reference::scalar(x[0].values.iter().sum()));
            check(&[shape], |_, x| x[0].mean(), |x| {
                Reference::scalar(x[0].values.iter().sum::<f64>() / shape.len().max(1) as f64)
            });
            // Beyond one portion.
            let ones = vec![vec![0.25; long]];
            crate::testing::check_value(&[Shape::new(1, long)], &ones, |_, x| x[0].sum(), 0.25 * long as f64);
        }
    }
}
