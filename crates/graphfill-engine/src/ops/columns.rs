//! Columns side by side, and some of them:
//!
//!   concatenate: out = [a | b]        slice: out = x[:, range]
//!
//! Each is the other's gradient: a slice of what was concatenated, zeros beside what was sliced.

use std::ops::Range;

use rayon::prelude::*;

use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, MOST_INPUTS, Mismatch, Operation};
use crate::{Matrix, Shape};

const KERNELS: cuda::Source = cuda::Source::new("columns.cu", include_str!("columns.cu"))
    .with(&[&[cuda::Define::count("MAX_INPUTS", MOST_INPUTS)]]);
const CONCATENATE: [cuda::Kernel; 2] =
    [KERNELS.kernel("concatenate"), KERNELS.kernel("concatenate_fours")];
const SLICE_COLUMNS: [cuda::Kernel; 2] =
    [KERNELS.kernel("slice_columns"), KERNELS.kernel("slice_columns_fours")];

#[derive(Debug)]
struct Concatenate;

#[derive(Debug)]
struct SliceColumns {
    columns: Range<usize>,
}

impl<'p> Matrix<'p> {
    /// The columns of this matrix, then those of another with as many rows.
    #[must_use]
    #[track_caller]
    pub fn concatenate(self, other: Matrix<'p>) -> Matrix<'p> {
        concatenate(&[self, other])
    }

    /// Some of the columns.
    #[must_use]
    #[track_caller]
    pub fn slice_columns(self, columns: Range<usize>) -> Matrix<'p> {
        self.program().record(SliceColumns { columns }, &[self])
    }
}

/// The columns of several matrices with as many rows, side by side.
#[track_caller]
pub(crate) fn concatenate<'p>(matrices: &[Matrix<'p>]) -> Matrix<'p> {
    let mut together = matrices[0];
    for others in matrices[1..].chunks(MOST_INPUTS - 1) {
        let all: Vec<_> = [together].iter().chain(others).copied().collect();
        together = together.program().record(Concatenate, &all);
    }
    together
}

impl Operation for Concatenate {
    fn name(&self) -> &'static str {
        "concatenate"
    }

    fn identity(&self) -> String {
        "concatenate".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        for &other in inputs {
            let rule = "matrices side by side have as many rows";
            Mismatch::unless(inputs[0].rows == other.rows, inputs[0], other, rule)?;
        }
        Ok(vec![Shape::new(inputs[0].rows, inputs.iter().map(|input| input.columns).sum())])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let whole = backward.upstream(0);
        let mut begin = 0;
        for input in 0..backward.inputs() {
            let end = begin + backward.input(input).columns();
            if backward.wants(input) {
                backward.add(input, whole.slice_columns(begin..end));
            }
            begin = end;
        }
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let width = call.output_shape(0).columns;
        let out = call.output(0);
        let call = &*call;
        out.par_chunks_mut(width.max(1)).enumerate().with_min_len(64).for_each(|(row, out)| {
            let mut begin = 0;
            for input in 0..call.inputs() {
                let columns = call.input_shape(input).columns;
                let from = &call.input(input)[row * columns..(row + 1) * columns];
                out[begin..begin + columns].copy_from_slice(from);
                begin += columns;
            }
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.output_shape(0);
        let inputs = call.inputs();
        let widths = (0..inputs).map(|input| call.input_shape(input).columns);
        let (at_a_time, kernel) = at_a_time(widths, CONCATENATE);
        let columns = columns / at_a_time;
        // Inputs that there are not begin behind the last column.
        let mut arguments = [cuda::Argument::from(0usize); 2 * MOST_INPUTS + 3];
        arguments[MOST_INPUTS..].fill((columns as u32).into());
        let mut begin = 0;
        for input in 0..inputs {
            arguments[input] = call.input(input).into();
            arguments[MOST_INPUTS + input] = (begin as u32).into();
            begin += call.input_shape(input).columns / at_a_time;
        }
        let count = rows * columns;
        let rest = [call.output(0).into(), (columns as u32).into(), count.into()];
        arguments[2 * MOST_INPUTS..].copy_from_slice(&rest);
        call.launch(kernel, cuda::Grid::strided(count), arguments);
        Ok(())
    }
}

impl Operation for SliceColumns {
    fn name(&self) -> &'static str {
        "slice columns"
    }

    fn identity(&self) -> String {
        format!("slice_columns({}..{})", self.columns.start, self.columns.end)
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let slice = Shape::new(inputs[0].rows, self.columns.len());
        let inside =
            self.columns.start <= self.columns.end && self.columns.end <= inputs[0].columns;
        Mismatch::unless(inside, inputs[0], slice, "a slice lies inside its matrix")?;
        Ok(vec![slice])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let gradient = backward.upstream(0);
        let Shape { rows, columns } = backward.input(0).shape();
        let zeros = |width: usize| backward.program().constant([rows, width], 0.0);
        let sides = [zeros(self.columns.start), gradient, zeros(columns - self.columns.end)];
        let whole = concatenate(&sides);
        backward.add(0, whole);
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (input, width) = (call.input(0), call.input_shape(0).columns);
        let columns = self.columns.clone();
        let out = call.output(0);
        let rows = out.par_chunks_mut(columns.len().max(1)).enumerate().with_min_len(64);
        rows.for_each(|(row, out)| {
            out.copy_from_slice(&input[row * width + columns.start..row * width + columns.end]);
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let width = call.input_shape(0).columns;
        let Shape { rows, columns } = call.output_shape(0);
        let (at_a_time, kernel) = at_a_time([width, self.columns.start, columns], SLICE_COLUMNS);
        let count = rows * columns / at_a_time;
        let [width, begin, columns] = [width, self.columns.start, columns]
            .map(|columns| cuda::Argument::from((columns / at_a_time) as u32));
        let (input, out) = (call.input(0).into(), call.output(0).into());
        let arguments = [input, width, begin, out, columns, count.into()];
        call.launch(kernel, cuda::Grid::strided(count), arguments);
        Ok(())
    }
}

/// How many numbers are copied at a time, and by which kernel: four where all widths allow it.
fn at_a_time(
    widths: impl IntoIterator<Item = usize>,
    [single, fours]: [cuda::Kernel; 2],
) -> (usize, cuda::Kernel) {
    if widths.into_iter().all(|width| width % 4 == 0) { (4, fours) } else { (1, single) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, shapes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn side_by_side(shape in shapes(), columns in 0usize..5) {
            let other = Shape::new(shape.rows, columns);
            check(&[shape, other], |_, x| concatenate(&[x[0], x[1], x[0]]), |x| {
                let width = 2 * shape.columns + columns;
                Reference::new(Shape::new(shape.rows, width), |row, column| {
                    let both = shape.columns + columns;
                    if (shape.columns..both).contains(&column) {
                        x[1].at(row, column - shape.columns)
                    } else {
                        x[0].at(row, column % both)
                    }
                })
            });
        }

        #[test]
        fn some_of_them(shape in shapes(), cut in 0.0f64..1.0, end in 0.0f64..1.0) {
            let end = (end * (shape.columns + 1) as f64) as usize;
            let begin = (cut * (end + 1) as f64) as usize;
            check(&[shape], |_, x| x[0].slice_columns(begin..end), |x| {
                Reference::new(Shape::new(shape.rows, end - begin), |row, column| {
                    x[0].at(row, begin + column)
                })
            });
        }
    }
}
