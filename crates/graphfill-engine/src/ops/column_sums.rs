//! Sums of columns:  out[0, k] = Σ_i x[i, k]
//!
//! Fixed portions of rows are summed side by side, then their sums in order. On a CUDA card, a matrix
//! of few rows is one portion.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::cpu::Call;
use crate::cuda;
use crate::program::{Backward, Mismatch, Operation};
use crate::{Matrix, Shape};

/// Rows of a portion.
const ROWS: usize = 256;

/// Matrices of so few rows are one portion on a card.
const FEW_ROWS: usize = 8192;

/// Rows that a thread of a card should have at least.
const ROWS_A_THREAD: usize = 16;

/// Blocks that keep a large card busy.
const BLOCKS: usize = 132 * 8;

/// The most threads of a block.
const MAX_THREADS: usize = 1024;

const KERNELS: cuda::Source =
    cuda::Source::new("column_sums.cu", include_str!("column_sums.cu")).with(&[DEFINES]);
const DEFINES: &[cuda::Define] = &[cuda::Define::count("MAX_THREADS", MAX_THREADS)];
const SUMS: [cuda::Kernel; 2] =
    [KERNELS.kernel("column_sums"), KERNELS.kernel("column_sums_fours")];
const WEIGHED_SUMS: [cuda::Kernel; 2] =
    [KERNELS.kernel("weighed_column_sums"), KERNELS.kernel("weighed_column_sums_fours")];

#[derive(Debug)]
struct ColumnSums;

impl<'p> Matrix<'p> {
    /// The sum of every column, as one row.
    #[must_use]
    #[track_caller]
    pub fn column_sums(self) -> Matrix<'p> {
        self.program().record(ColumnSums, &[self])
    }
}

impl Operation for ColumnSums {
    fn name(&self) -> &'static str {
        "column sums"
    }

    fn identity(&self) -> String {
        "column_sums".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![Shape::new(1, inputs[0].columns)])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let row = backward.upstream(0);
        let zeros = backward.program().constant(backward.input(0).shape(), 0.0);
        backward.add(0, zeros.add_bias(row));
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        column_sums_scratch(inputs[0])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let columns = call.input_shape(0).columns;
        column_sums(call.input(0), columns, call.scratch(), call.output(0));
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        SumsOnCard::new(inputs[0]).scratch_len()
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        SumsOnCard::new(call.input_shape(0)).launch(call, call.input(0), call.output(0));
        Ok(())
    }
}

/// How a card sums the columns of a matrix, its rows being weighed by a factor for each head or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct SumsOnCard {
    rows: usize,
    columns: usize,
    heads: usize,
    /// rows × heads, if there are any.
    factors: Option<cuda::Address>,
    /// Numbers that a thread reads at a time.
    at_a_time: usize,
}

impl SumsOnCard {
    pub(super) fn new(shape: Shape) -> Self {
        SumsOnCard::of_heads(shape, 1)
    }

    /// The columns being split among so many heads.
    pub(super) fn of_heads(Shape { rows, columns }: Shape, heads: usize) -> Self {
        let at_a_time = if columns / heads.max(1) % 4 == 0 { 4 } else { 1 };
        SumsOnCard { rows, columns, heads, factors: None, at_a_time }
    }

    /// The same with a factor for each row and head.
    pub(super) fn weighed(self, factors: cuda::Address) -> Self {
        SumsOnCard { factors: Some(factors), ..self }
    }

    /// Neighbouring columns of a block, counted in what a thread reads at a time, and its threads.
    fn block(&self) -> (usize, u32) {
        // Few rows: narrow blocks, so that there are many, each reading 64 bytes of a row.
        let (most, threads) =
            if self.rows <= FEW_ROWS { (16 / self.at_a_time, 1024) } else { (32, cuda::THREADS) };
        ((self.columns / self.at_a_time).next_power_of_two().min(most), threads)
    }

    fn tiles(&self) -> usize {
        (self.columns / self.at_a_time).div_ceil(self.block().0)
    }

    /// Rows of a portion.
    fn portion(&self) -> usize {
        if self.rows <= FEW_ROWS {
            return FEW_ROWS;
        }
        let (lanes, threads) = self.block();
        let least = ROWS_A_THREAD * threads as usize / lanes;
        let portions = (BLOCKS / self.tiles().max(1)).clamp(1, self.rows.div_ceil(least));
        self.rows.div_ceil(portions)
    }

    fn portions(&self) -> usize {
        self.rows.div_ceil(self.portion()).max(1)
    }

    /// Temporary numbers that are needed.
    pub(super) fn scratch_len(&self) -> usize {
        cuda::Call::scratch_len([self.partial_len()])
    }

    fn partial_len(&self) -> usize {
        let portions = self.portions();
        if portions > 1 { portions * self.columns } else { 0 }
    }

    /// Sums the columns of `x` into `out`.
    pub(super) fn launch(self, call: &mut cuda::Call<'_>, x: cuda::Address, out: cuda::Address) {
        let portions = self.portions();
        let partial = call.scratch(self.partial_len());
        if portions == 1 {
            self.sum_portions(call, x, out);
        } else {
            self.sum_portions(call, x, partial);
            let sums = SumsOnCard { rows: portions, factors: None, ..self };
            sums.sum_portions(call, partial, out);
        }
    }

    fn sum_portions(&self, call: &mut cuda::Call<'_>, x: cuda::Address, out: cuda::Address) {
        let kernels = if self.factors.is_some() { WEIGHED_SUMS } else { SUMS };
        let kernel = kernels[usize::from(self.at_a_time == 4)];
        let (lanes, threads) = self.block();
        let arguments = [
            x.into(),
            self.factors.into(),
            (self.heads as u32).into(),
            self.rows.into(),
            ((self.columns / self.at_a_time) as u32).into(),
            (lanes as u32).into(),
            self.portion().into(),
            out.into(),
        ];
        let grid = cuda::Grid::blocks(self.tiles().max(1), threads).by(self.portions());
        call.launch(kernel, grid, arguments);
    }
}

/// Temporary numbers that [`column_sums`] needs.
pub(super) fn column_sums_scratch(shape: Shape) -> usize {
    shape.rows.div_ceil(ROWS) * shape.columns
}

/// Sums the columns of `x` into `out`.
pub(super) fn column_sums(x: &[f32], columns: usize, partial: &mut [f32], out: &mut [f32]) {
    out.fill(0.0);
    if columns == 0 {
        return;
    }
    let partial = &mut partial[..x.len().div_ceil(ROWS * columns) * columns];
    partial.par_chunks_mut(columns).zip(x.par_chunks(ROWS * columns)).for_each(|(sums, rows)| {
        sums.fill(0.0);
        Arch::new().dispatch(AddRows { rows, sums });
    });
    Arch::new().dispatch(AddRows { rows: partial, sums: out });
}

/// out[k] = Σ_i x[i, k] · others[i, k], in the same portions.
pub(super) fn column_products(
    x: &[f32],
    others: &[f32],
    columns: usize,
    partial: &mut [f32],
    out: &mut [f32],
) {
    out.fill(0.0);
    if columns == 0 {
        return;
    }
    let partial = &mut partial[..x.len().div_ceil(ROWS * columns) * columns];
    let portions = x.par_chunks(ROWS * columns).zip(others.par_chunks(ROWS * columns));
    partial.par_chunks_mut(columns).zip(portions).for_each(|(sums, (rows, others))| {
        sums.fill(0.0);
        Arch::new().dispatch(AddProducts { rows, others, sums });
    });
    Arch::new().dispatch(AddRows { rows: partial, sums: out });
}

/// sums[k] += Σ_i rows[i, k], in the order of the rows.
pub(super) struct AddRows<'a> {
    pub(super) rows: &'a [f32],
    pub(super) sums: &'a mut [f32],
}

impl NullaryFnOnce for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for row in self.rows.chunks_exact(self.sums.len()) {
            for (sum, &value) in self.sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

/// sums[k] += Σ_i rows[i, k] · others[i, k], in the order of the rows.
struct AddProducts<'a> {
    rows: &'a [f32],
    others: &'a [f32],
    sums: &'a mut [f32],
}

impl NullaryFnOnce for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let columns = self.sums.len();
        let rows = self.rows.chunks_exact(columns).zip(self.others.chunks_exact(columns));
        for (row, other) in rows {
            for ((sum, &value), &other) in self.sums.iter_mut().zip(row).zip(other) {
                *sum += value * other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check, check_value, shapes, some_numbers};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_every_row(shape in shapes(), many in 0usize..600) {
            for shape in [shape, Shape::new(many, 2)] {
                check(&[shape], |_, x| x[0].column_sums(), |x| {
                    Reference::new(Shape::new(1, shape.columns), |_, column| {
                        (0..shape.rows).map(|row| x[0].at(row, column)).sum()
                    })
                });
            }
        }
    }

    #[test]
    fn tall_matrices() {
        for (rows, columns) in [(8192, 3), (8193, 4), (20_000, 1), (9000, 133), (9000, 132)] {
            let shape = Shape::new(rows, columns);
            let numbers: Vec<f32> =
                some_numbers(shape.len(), 1).iter().map(|number| number + 0.5).collect();
            let sum = |column: usize| -> f64 {
                numbers.iter().skip(column).step_by(columns).map(|&number| f64::from(number)).sum()
            };
            let expected = (0..columns).map(|column| sum(column) * (1 + column) as f64).sum();
            let weights: Vec<f32> = (1..=columns).map(|weight| weight as f32).collect();
            check_value(
                &[shape, Shape::new(1, columns)],
                &[numbers, weights],
                |_, x| x[0].column_sums().multiply(x[1]).sum(),
                expected,
            );
        }
    }
}
