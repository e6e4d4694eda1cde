//! A row added to every row:  out[i, :] = x[i, :] + bias

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Rows that one thread takes at a time.
const ROWS_A_TASK: usize = 64;

const ADD_BIAS: cuda::Kernel =
    cuda::Source::new("add_bias.cu", include_str!("add_bias.cu")).kernel("add_bias");

#[derive(Debug)]
struct AddBias;

impl<'p> Matrix<'p> {
    /// Adds a row of as many columns to every row.
    #[must_use]
    #[track_caller]
    pub fn add_bias(self, bias: Matrix<'p>) -> Matrix<'p> {
        self.program().record(AddBias, &[self, bias])
    }
}

impl Operation for AddBias {
    fn name(&self) -> &'static str {
        "add bias"
    }

    fn identity(&self) -> String {
        "add_bias".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let fits = inputs[1] == Shape::new(1, inputs[0].columns);
        Mismatch::unless(fits, inputs[0], inputs[1], "a bias is one row of as many columns")?;
        Ok(vec![inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.pass(0, 0, 1.0);
        if backward.wants(1) {
            let sums = backward.upstream(0).column_sums();
            backward.add(1, sums);
        }
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (input, bias) = (call.input_unless_in_place(0), call.input(1));
        let out = call.output(0);
        let portion = (ROWS_A_TASK * bias.len()).max(1);
        out.par_chunks_mut(portion).enumerate().for_each(|(task, out)| {
            let begin = task * portion;
            let input = input.map(|input| &input[begin..begin + out.len()]);
            Arch::new().dispatch(Rows { input, bias, out });
        });
    }

    fn cuda_finish(&self, call: &cuda::Call<'_>) -> Option<cuda::Finish> {
        Some(cuda::Finish::AddRow(call.input(1)))
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let shape = call.output_shape(0);
        let quads = shape.len().div_ceil(4);
        let arguments = [
            call.input(0).into(),
            call.input(1).into(),
            call.output(0).into(),
            (shape.columns as u32).into(),
            quads.into(),
        ];
        call.launch(ADD_BIAS, cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}

struct Rows<'a> {
    input: Option<&'a [f32]>,
    bias: &'a [f32],
    out: &'a mut [f32],
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        if let Some(input) = self.input {
            self.out.copy_from_slice(input);
        }
        for row in self.out.chunks_exact_mut(self.bias.len()) {
            for (out, &bias) in row.iter_mut().zip(self.bias) {
                *out += bias;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, shapes};
    use crate::{EngineError, Initial, Program};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_row_gets_it(shape in shapes()) {
            check(&[shape, Shape::new(1, shape.columns)], |_, x| x[0].add_bias(x[1]), |x| {
                Reference::new(shape, |row, column| x[0].at(row, column) + x[1].at(0, column))
            });
        }
    }

    #[test]
    fn a_wrong_bias_is_refused_with_both_shapes() {
        let program = Program::new("wrong");
        let x = program.parameter("x", [3, 4], Initial::ZEROS);
        let bias = program.parameter("bias", [1, 5], Initial::ZEROS);
        let _ = x.add_bias(bias).relu();
        let error = program.finish().expect_err("a mistake");
        assert!(matches!(error, EngineError::Shape { .. }));
        let message = error.to_string();
        assert!(message.starts_with("add bias (") && message.contains("add_bias.rs"), "{message}");
        assert!(
            message.ends_with("3 × 4 does not fit 1 × 5: a bias is one row of as many columns"),
            "{message}"
        );
    }
}
