//! One round:  guess = α (A x ⊘ divisors) + pull        pull = (1 − α) · mean over rows of x
//!             out = guess where nothing is given, else β guess + (1 − β) given

use std::sync::Arc;

use crate::cpu::{Call, FinishRow, PANEL_WIDTHS, column_means, sparse_product};
use crate::cuda;
use crate::cuda::sparse::{Dealt, cut_long_rows, pieces_scratch, sparse_source};
use crate::program::{Constant, Mismatch, Operation};
use crate::{Shape, SparseRows};

const KERNELS: cuda::Source =
    sparse_source!("propagation.cu", &[cuda::Define::count("ROWS_PER_SUM", ROWS_PER_SUM)]);
const PROPAGATE_ROWS: cuda::Kernel = KERNELS.kernel("propagate_rows");
const PROPAGATE_PIECES: cuda::Kernel = KERNELS.kernel("propagate_pieces");
const PROPAGATE_LONG_ROWS: cuda::Kernel = KERNELS.kernel("propagate_long_rows");
const PANEL_SUMS: cuda::Kernel = KERNELS.kernel("panel_sums");
const PANEL_PULL: cuda::Kernel = KERNELS.kernel("panel_pull");

/// Rows whose sum is taken at once on a GPU.
const ROWS_PER_SUM: usize = 256;

/// Where x is among the inputs; the buffer that is written comes before it.
const FROM: usize = 1;

/// Inputs: the buffer that is written, x, and what there is of the others, at these positions.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) matrix: Arc<SparseRows>,
    pub(super) given: Option<usize>,
    pub(super) shares: Option<usize>,
    pub(super) divisors: Option<usize>,
}

impl Operation for Round {
    fn name(&self) -> &'static str {
        "propagate"
    }

    fn identity(&self) -> String {
        let at = |input: Option<usize>| input.map_or("none".to_owned(), |input| input.to_string());
        let (given, shares, divisors) = (at(self.given), at(self.shares), at(self.divisors));
        let matrix = self.matrix.identity();
        format!("propagate({matrix}, given={given}, shares={shares}, divisors={divisors})")
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (matrix, panel) = (self.matrix.shape(), inputs[0]);
        let rule = "the matrix has a row and a column for every row of the panel";
        let square = Shape::new(panel.rows, panel.rows);
        Mismatch::unless(matrix == square, matrix, panel, rule)?;
        let widest = Shape::new(panel.rows, PANEL_WIDTHS[PANEL_WIDTHS.len() - 1]);
        let rule = "a panel has 8, 16, 32 or 64 columns";
        Mismatch::unless(PANEL_WIDTHS.contains(&panel.columns), panel, widest, rule)?;
        for at in [Some(FROM), self.given, self.divisors].into_iter().flatten() {
            let rule = "what a round reads has the shape of what it writes";
            Mismatch::unless(inputs[at] == panel, inputs[at], panel, rule)?;
        }
        if let Some(at) = self.shares {
            let pair = Shape::new(1, 2);
            let rule = "the shares are two numbers";
            Mismatch::unless(inputs[at] == pair, inputs[at], pair, rule)?;
        }
        Ok(vec![panel])
    }

    fn arithmetic(&self, inputs: &[Shape], _wanted: &[bool]) -> u64 {
        2 * (self.matrix.entries() * inputs[0].columns) as u64
    }

    fn constants(&self) -> Vec<Constant> {
        vec![Constant::shared(&self.matrix, self.matrix.bytes())]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (from, width) = (call.input(FROM), call.input_shape(FROM).columns);
        let input = |at: Option<usize>| at.map(|at| call.input(at));
        let shares = input(self.shares).map(|shares| {
            let (alpha, beta) = (shares[0], shares[1]);
            let means = column_means(from, width);
            let pull = means.iter().map(|mean| (1.0 - alpha) * mean).collect();
            Shares { alpha, beta, pull }
        });
        let (given, divisors) = (input(self.given), input(self.divisors));
        let finish = Finish { given, divisors, shares };
        sparse_product(self.matrix.view(), from, width, call.output(0), &finish);
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        let Shape { rows, columns } = inputs[0];
        let pieces = pieces_scratch(self.matrix.view(), columns);
        let means = cuda::Call::scratch_len([doubles_of_sums(rows, columns), columns]);
        pieces + if self.shares.is_some() { means } else { 0 }
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (view, Shape { rows, columns }) = (self.matrix.view(), call.input_shape(0));
        let identity = Arc::as_ptr(&self.matrix).addr();
        let sparse = call.sparse(identity, "rows", view)?;
        let (from, out) = (call.input(FROM), call.output(0));
        let input = |at: Option<usize>| at.map(|at| call.input(at));
        let (given, shares, divisors) =
            (input(self.given), input(self.shares), input(self.divisors));
        let pull = shares.map(|shares| pull(call, shares, Shape { rows, columns }));
        let dealt = Dealt::new(view, columns);
        let pieces = cut_long_rows(call, (identity, "rows"), view, columns)?;
        if let Some(pieces) = pieces {
            let arguments = [
                sparse.columns.into(),
                sparse.values.into(),
                pieces.list.into(),
                (pieces.count as u32).into(),
                from.into(),
                given.into(),
                shares.into(),
                pieces.partial.into(),
                dealt.width.into(),
                dealt.lanes.into(),
            ];
            call.launch(PROPAGATE_PIECES, dealt.grid(pieces.count), arguments);
        }
        let arguments = [
            sparse.offsets.into(),
            sparse.columns.into(),
            sparse.values.into(),
            from.into(),
            given.into(),
            divisors.into(),
            shares.into(),
            pull.into(),
            out.into(),
            (rows as u32).into(),
            dealt.width.into(),
            dealt.lanes.into(),
        ];
        call.launch(PROPAGATE_ROWS, dealt.grid(rows), arguments);
        if let Some(pieces) = pieces {
            let arguments = [
                pieces.list.into(),
                (pieces.count as u32).into(),
                pieces.partial.into(),
                given.into(),
                divisors.into(),
                shares.into(),
                pull.into(),
                out.into(),
                dealt.width.into(),
                dealt.lanes.into(),
            ];
            call.launch(PROPAGATE_LONG_ROWS, dealt.grid(pieces.count), arguments);
        }
        Ok(())
    }
}

/// Numbers that the sums of a panel's columns take, as doubles.
fn doubles_of_sums(rows: usize, columns: usize) -> usize {
    2 * rows.div_ceil(ROWS_PER_SUM) * columns
}

/// Computes (1 − α) · mean over rows of x, and says where it is.
fn pull(call: &mut cuda::Call<'_>, shares: cuda::Address, panel: Shape) -> cuda::Address {
    let Shape { rows, columns } = panel;
    let sums = call.scratch(doubles_of_sums(rows, columns));
    let pull = call.scratch(columns);
    let arguments =
        [call.input(FROM).into(), shares.into(), sums.into(), rows.into(), (columns as u32).into()];
    let grid = cuda::Grid::strided(rows.div_ceil(ROWS_PER_SUM) * columns);
    call.launch(PANEL_SUMS, grid, arguments);
    let arguments = [sums.into(), shares.into(), pull.into(), rows.into(), (columns as u32).into()];
    call.launch(PANEL_PULL, cuda::Grid::blocks(columns, cuda::THREADS), arguments);
    pull
}

struct Shares {
    alpha: f32,
    beta: f32,
    pull: Vec<f32>,
}

/// Both equations for one row.
struct Finish<'a> {
    given: Option<&'a [f32]>,
    divisors: Option<&'a [f32]>,
    shares: Option<Shares>,
}

impl FinishRow for Finish<'_> {
    #[inline(always)]
    fn finish(&self, row: usize, sum: &[f32], out: &mut [f32]) {
        let own = row * sum.len()..(row + 1) * sum.len();
        out.copy_from_slice(sum);
        if let Some(divisors) = self.divisors {
            for (out, divisor) in out.iter_mut().zip(&divisors[own.clone()]) {
                *out = if *divisor > 0.0 { *out / divisor } else { 0.0 };
            }
        }
        let mut beta = 0.0;
        if let Some(shares) = &self.shares {
            beta = shares.beta;
            for (out, pull) in out.iter_mut().zip(&shares.pull) {
                *out = shares.alpha * *out + pull;
            }
        }
        let Some(given) = self.given else { return };
        for (out, given) in out.iter_mut().zip(&given[own]) {
            let settled = if beta == 0.0 { *given } else { beta * *out + (1.0 - beta) * given };
            *out = if given.is_nan() { *out } else { settled };
        }
    }
}
