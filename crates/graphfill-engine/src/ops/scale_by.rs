//! Scaling by learnt numbers:  out[i, k] = s · x[i, k]        s: 1 × 1
//!                             out[i, k] = s[i] · x[i, k]     s: rows × 1
//!                             out[i, k] = s[k] · x[i, k]     s: 1 × columns
//!
//! With G the gradient of the output: that of x is G scaled in the same way, that of s the sum of
//! G ⊙ x over all numbers that s is a factor of.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::cpu::{Call, Convert, convert};
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Rows that one thread takes at a time.
const ROWS_A_TASK: usize = 64;

const KERNELS: cuda::Source = cuda::Source::new("scale_by.cu", include_str!("scale_by.cu"));
const SCALE_BY: cuda::Kernel = KERNELS.kernel("scale_by");
const SCALE_ROWS: cuda::Kernel = KERNELS.kernel("scale_rows");
const SCALE_COLUMNS: cuda::Kernel = KERNELS.kernel("scale_columns");

#[derive(Debug, Clone, Copy)]
enum ScaleBy {
    /// One number for all.
    Scalar,
    /// One for each row.
    Rows,
    /// One for each column.
    Columns,
}

impl<'p> Matrix<'p> {
    /// Every number times a scalar of the program.
    #[must_use]
    #[track_caller]
    pub fn scale_by(self, scalar: Matrix<'p>) -> Matrix<'p> {
        self.program().record(ScaleBy::Scalar, &[self, scalar])
    }

    /// Every row times a number of its own: `factors` is rows × 1.
    #[must_use]
    #[track_caller]
    pub fn scale_rows(self, factors: Matrix<'p>) -> Matrix<'p> {
        self.program().record(ScaleBy::Rows, &[self, factors])
    }

    /// Every column times a number of its own: `factors` is 1 × columns.
    #[must_use]
    #[track_caller]
    pub fn scale_columns(self, factors: Matrix<'p>) -> Matrix<'p> {
        self.program().record(ScaleBy::Columns, &[self, factors])
    }
}

impl Operation for ScaleBy {
    fn name(&self) -> &'static str {
        match self {
            ScaleBy::Scalar => "scale by",
            ScaleBy::Rows => "scale rows",
            ScaleBy::Columns => "scale columns",
        }
    }

    fn identity(&self) -> String {
        let by = match self {
            ScaleBy::Scalar => "scalar",
            ScaleBy::Rows => "rows",
            ScaleBy::Columns => "columns",
        };
        format!("scale_by({by})")
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (expected, rule) = match self {
            ScaleBy::Scalar => (Shape::SCALAR, "a matrix is scaled by a single number"),
            ScaleBy::Rows => (Shape::new(inputs[0].rows, 1), "there is one factor a row"),
            ScaleBy::Columns => (Shape::new(1, inputs[0].columns), "there is one factor a column"),
        };
        Mismatch::unless(inputs[1] == expected, inputs[0], inputs[1], rule)?;
        Ok(vec![inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let gradient = backward.upstream(0);
        let (x, factors) = (backward.input(0), backward.input(1));
        if backward.wants(0) {
            backward.add(0, backward.program().record(*self, &[gradient, factors]));
        }
        if backward.wants(1) {
            let by_factors = match self {
                ScaleBy::Scalar => gradient.multiply(x).sum(),
                ScaleBy::Rows => gradient.row_products(x),
                ScaleBy::Columns => gradient.multiply(x).column_sums(),
            };
            backward.add(1, by_factors);
        }
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (input, factors) = (call.input_unless_in_place(0), call.input(1));
        let (columns, out) = (call.input_shape(0).columns, call.output(0));
        if let ScaleBy::Scalar = self {
            convert(input, out, &Times(factors[0]));
            return;
        }
        let portion = (ROWS_A_TASK * columns).max(1);
        out.par_chunks_mut(portion).enumerate().for_each(|(task, out)| {
            let begin = task * portion;
            if let Some(input) = input {
                out.copy_from_slice(&input[begin..begin + out.len()]);
            }
            if let ScaleBy::Rows = self {
                let factors = &factors[task * ROWS_A_TASK..][..out.len() / columns];
                Arch::new().dispatch(TimesRows { factors, out });
            } else {
                Arch::new().dispatch(TimesColumns { factors, out });
            }
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.output_shape(0);
        let quads = (rows * columns).div_ceil(4);
        let grid = cuda::Grid::strided(quads);
        let [x, factors, out] = [call.input(0), call.input(1), call.output(0)].map(Into::into);
        let (columns, quads) = ((columns as u32).into(), quads.into());
        match self {
            ScaleBy::Scalar => call.launch(SCALE_BY, grid, [x, factors, out, quads]),
            ScaleBy::Rows => {
                call.launch(SCALE_ROWS, grid, [x, factors, out, rows.into(), columns, quads]);
            }
            ScaleBy::Columns => {
                call.launch(SCALE_COLUMNS, grid, [x, factors, out, columns, quads]);
            }
        }
        Ok(())
    }
}

struct Times(f32);

impl Convert for Times {
    #[inline(always)]
    fn convert(&self, x: f32) -> f32 {
        x * self.0
    }
}

/// Some rows, each times its factor.
struct TimesRows<'a> {
    factors: &'a [f32],
    out: &'a mut [f32],
}

impl NullaryFnOnce for TimesRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let columns = self.out.len() / self.factors.len();
        for (row, &factor) in self.out.chunks_exact_mut(columns).zip(self.factors) {
            for out in row {
                *out *= factor;
            }
        }
    }
}

/// Some rows, each times the row of factors.
struct TimesColumns<'a> {
    factors: &'a [f32],
    out: &'a mut [f32],
}

impl NullaryFnOnce for TimesColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for row in self.out.chunks_exact_mut(self.factors.len()) {
            for (out, &factor) in row.iter_mut().zip(self.factors) {
                *out *= factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Reference, check, shapes};
    use crate::{Initial, Matrix, Program, Shape};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_factors_have_gradients(shape in shapes(), many in 60usize..140) {
            for shape in [shape, Shape::new(many, 3)] {
                let (rows, columns) = (Shape::new(shape.rows, 1), Shape::new(1, shape.columns));
                check(&[shape, Shape::SCALAR], |_, x| x[0].scale_by(x[1]), |x| {
                    x[0].map(|value| value * x[1].values[0])
                });
                check(&[shape, rows], |_, x| x[0].scale_rows(x[1]), |x| {
                    Reference::new(shape, |row, column| x[0].at(row, column) * x[1].at(row, 0))
                });
                check(&[shape, columns], |_, x| x[0].scale_columns(x[1]), |x| {
                    Reference::new(shape, |row, column| x[0].at(row, column) * x[1].at(0, column))
                });
            }
        }

        #[test]
        fn a_column_scales_its_own_rows(rows in 0usize..6) {
            check(&[Shape::new(rows, 1)], |_, x| x[0].scale_rows(x[0]), |x| x[0].map(|a| a * a));
        }
    }

    #[test]
    fn factors_that_do_not_fit_are_refused() {
        type Scale = for<'p> fn(Matrix<'p>, Matrix<'p>) -> Matrix<'p>;
        let cases: [(Scale, [usize; 2], &str); 3] = [
            (
                |x, factors| x.scale_by(factors),
                [3, 1],
                "3 × 1: a matrix is scaled by a single number",
            ),
            (|x, factors| x.scale_rows(factors), [1, 4], "1 × 4: there is one factor a row"),
            (|x, factors| x.scale_columns(factors), [3, 1], "3 × 1: there is one factor a column"),
        ];
        for (scale, shape, expected) in cases {
            let program = Program::new("wrong");
            let x = program.parameter("x", [3, 4], Initial::ZEROS);
            let _ = scale(x, program.parameter("factors", shape, Initial::ZEROS));
            let message = program.finish().expect_err("a mistake").to_string();
            assert!(message.ends_with(expected), "{message}");
        }
    }
}
