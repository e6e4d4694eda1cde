//! Rows of unit length:  out[i, :] = x[i, :] / ‖x[i, :]‖
//!
//! A row of zeros has no direction: it gets a random one, anew in each step, and no gradient. With g
//! the gradient of out:  ∂x = (g − out · ⟨out, g⟩) / ‖x‖.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::row_sums::{grid_of_rows, lanes_of_row};
use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::random::{Key, normals};
use crate::{Matrix, Shape};

/// Rows that one thread takes at a time.
const ROWS_A_TASK: usize = 64;

/// Rows that are shorter count as zero.
const MIN_LENGTH: f32 = 1e-12;

const KERNELS: cuda::Source =
    cuda::Source::new("normalise_rows.cu", include_str!("normalise_rows.cu")).with(&[DEFINES]);
const DEFINES: &[cuda::Define] = &[cuda::Define::float("MIN_LENGTH", MIN_LENGTH)];
const NORMALISE_ROWS: cuda::Kernel = KERNELS.kernel("normalise_rows");
const NORMALISE_ROWS_GRADIENT: cuda::Kernel = KERNELS.kernel("normalise_rows_gradient");

#[derive(Debug)]
struct NormaliseRows {
    stream: u32,
}

#[derive(Debug)]
struct NormaliseRowsGradient;

impl<'p> Matrix<'p> {
    /// Scales every row to unit length; a row of zeros becomes a random direction.
    #[must_use]
    #[track_caller]
    pub fn normalise_rows(self) -> Matrix<'p> {
        let program = self.program();
        program.record(NormaliseRows { stream: program.new_stream() }, &[self])
    }
}

/// Outputs: the rows, their lengths before.
impl Operation for NormaliseRows {
    fn name(&self) -> &'static str {
        "normalise rows"
    }

    fn identity(&self) -> String {
        format!("normalise_rows(stream={})", self.stream)
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[0], Shape::new(inputs[0].rows, 1)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let operands = [backward.upstream(0), backward.output(0), backward.output(1)];
        backward.add(0, backward.program().record(NormaliseRowsGradient, &operands));
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0)]
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        inputs[0].rows
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let columns = call.input_shape(0).columns;
        let input = call.input_unless_in_place(0);
        let key = call.key(self.stream);
        let lengths = call.wanted_output(1).unwrap_or(call.scratch());
        let portion = (ROWS_A_TASK * columns).max(1);
        let rows = call.output(0).par_chunks_mut(portion);
        rows.zip(lengths.par_chunks_mut(ROWS_A_TASK)).enumerate().for_each(
            |(task, (out, lengths))| {
                let begin = task * portion;
                let input = input.map(|input| &input[begin..begin + out.len()]);
                let first = task * ROWS_A_TASK;
                Arch::new().dispatch(Rows { input, out, lengths, columns, key, first });
            },
        );
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.input_shape(0);
        let lanes = lanes_of_row(columns);
        let arguments = [
            call.context().into(),
            self.stream.into(),
            call.input(0).into(),
            call.output(0).into(),
            call.wanted_output(1).into(),
            rows.into(),
            (columns as u32).into(),
            lanes.into(),
        ];
        call.launch(NORMALISE_ROWS, grid_of_rows(rows, lanes), arguments);
        Ok(())
    }
}

struct Rows<'a> {
    input: Option<&'a [f32]>,
    out: &'a mut [f32],
    lengths: &'a mut [f32],
    columns: usize,
    key: Key,
    first: usize,
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        if let Some(input) = self.input {
            self.out.copy_from_slice(input);
        }
        let rows = self.out.chunks_exact_mut(self.columns).zip(self.lengths);
        for (at, (row, length)) in rows.enumerate() {
            *length = dot(row, row).sqrt();
            let mut scale = 1.0 / *length;
            // As good as zero: its gradient would be larger than anything that can be learnt from.
            if *length < MIN_LENGTH {
                *length = 0.0;
                draw_direction(self.key, self.first + at, row);
                scale = 1.0 / dot(row, row).sqrt();
            }
            row.iter_mut().for_each(|value| *value *= scale);
        }
    }
}

/// A row of normal numbers, each row from its own part of the sequence.
#[inline(never)]
fn draw_direction(key: Key, row: usize, out: &mut [f32]) {
    normals(key, row * out.len().next_multiple_of(64), out);
    // All zeros is next to impossible, but has no direction either.
    if out.iter().all(|&value| value == 0.0) {
        out[0] = 1.0;
    }
}

/// gradient (and in its place the result), unit rows, lengths.
impl Operation for NormaliseRowsGradient {
    fn name(&self) -> &'static str {
        "normalise rows"
    }

    fn identity(&self) -> String {
        "normalise_rows_gradient".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[0]])
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let columns = call.input_shape(0).columns;
        let gradient = call.input_unless_in_place(0);
        let (unit, lengths) = (call.input(1), call.input(2));
        let portion = (ROWS_A_TASK * columns).max(1);
        call.output(0).par_chunks_mut(portion).enumerate().for_each(|(task, out)| {
            let part = task * portion..task * portion + out.len();
            let first = task * ROWS_A_TASK;
            Arch::new().dispatch(GradientRows {
                gradient: gradient.map(|gradient| &gradient[part.clone()]),
                unit: &unit[part],
                lengths: &lengths[first..lengths.len().min(first + ROWS_A_TASK)],
                out,
                columns,
            });
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.input_shape(0);
        let lanes = lanes_of_row(columns);
        let arguments = [
            call.input(0).into(),
            call.input(1).into(),
            call.input(2).into(),
            call.output(0).into(),
            rows.into(),
            (columns as u32).into(),
            lanes.into(),
        ];
        call.launch(NORMALISE_ROWS_GRADIENT, grid_of_rows(rows, lanes), arguments);
        Ok(())
    }
}

struct GradientRows<'a> {
    gradient: Option<&'a [f32]>,
    unit: &'a [f32],
    lengths: &'a [f32],
    out: &'a mut [f32],
    columns: usize,
}

impl NullaryFnOnce for GradientRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        if let Some(gradient) = self.gradient {
            self.out.copy_from_slice(gradient);
        }
        let rows =
            self.out.chunks_exact_mut(self.columns).zip(self.unit.chunks_exact(self.columns));
        for ((row, unit), &length) in rows.zip(self.lengths) {
            let along = dot(row, unit);
            let scale = if length == 0.0 { 0.0 } else { 1.0 / length };
            for (value, &unit) in row.iter_mut().zip(unit) {
                *value = (*value - unit * along) * scale;
            }
        }
    }
}

/// Sixteen sums side by side, which compilers keep in one vector, then their sum.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (a, a_rest) = a.as_chunks::<16>();
    let (b, b_rest) = b.as_chunks::<16>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, check_at, shapes};
    use crate::{Initial, Plan, Program};
    use proptest::prelude::*;

    fn unit(x: &Reference) -> Reference {
        Reference::new(x.shape, |row, column| {
            let length = x.row(row).iter().map(|value| value * value).sum::<f64>().sqrt();
            x.at(row, column) / length
        })
    }

    proptest! {
        #[test]
        fn rows_get_unit_length(shape in shapes()) {
            check(&[shape], |_, x| x[0].normalise_rows(), |x| unit(&x[0]));
        }
    }

    #[test]
    fn many_rows() {
        let shape = Shape::new(150, 3);
        let values = vec![crate::testing::some_numbers(450, 3)];
        check_at(&[shape], &values, |_, x| x[0].normalise_rows(), |x| unit(&x[0]));
    }

    #[test]
    fn a_row_of_zeros_gets_a_direction_and_no_gradient() {
        let program = Program::new("test");
        let x = program.parameter("x", [3, 20], Initial::ZEROS);
        let rows = x.normalise_rows();
        program.output("rows", rows);
        program.output("gradient", program.differentiate(rows.sum(), &["x"])[0]);
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 1);
        let mut values = vec![0.0; 60];
        values[20..40].fill(0.5);
        session.write("x", &values).expect("x");
        let mut run = || {
            session.run("test").expect("a run");
            let read = |name| session.read("test", name).expect("an output");
            (read("rows"), read("gradient"))
        };
        let ((first, gradient), (second, _)) = (run(), run());
        for row in [0, 1, 2] {
            let length: f32 = first[row * 20..][..20].iter().map(|value| value * value).sum();
            assert!((length - 1.0).abs() < 1e-6);
        }
        assert!(gradient[..20].iter().chain(&gradient[40..]).all(|&value| value == 0.0));
        assert_ne!(first[..20], first[40..], "each row its own direction");
        assert_ne!(first[..20], second[..20], "anew in each step");
        assert_eq!(first[20..40], second[20..40]);
    }
}
