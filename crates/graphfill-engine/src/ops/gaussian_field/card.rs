//! The same on a GPU, without a round trip to the host:
//!
//!   c = mean row,  C = Z − 1cᵀ,  A = βI + CᵀC + what c adds to ZᵀZ,  D = −2l · A⁻¹,
//!   ∂Z = 2q · KZ + [C 1]·[D; c·D]
//!
//! CᵀC is a product in the precision that the caller chose, TF32 by default: its entries are exact to 11 bits
//! only, which shows where β is small. A is put together and inverted in double precision.
//! A⁻¹ is found by sweeps over tiles of the diagonal, in double precision: as exact as the factor on
//! the processor. C·D may be computed in fewer bits: C has no part that all rows share. What they
//! share, c·D, is one row in double precision, which goes into the product in pieces of so few bits
//! that nothing is lost. KZ needs C at most, and is computed beside the rest.

use std::sync::Arc;

use super::GaussianField;
use crate::cuda::halves::{halve, halves_scratch};
use crate::cuda::sparse::{Dealt, pieces, pieces_scratch, sparse_source, sum_long_rows};
use crate::cuda::{Address, Argument, Call, Define, Dense, Existing, Grid, Source, THREADS};
use crate::ops::Factor;
use crate::{Shape, SparseView};

const KERNELS: Source = sparse_source!(
    "gaussian_field.cu",
    &[Define::count("TILE", TILE), Define::count("EXTRA", EXTRA)]
);

/// Rows and columns of a tile.
const TILE: usize = 32;

/// Columns behind those of C: ones for the pieces of c·D, and one that fills up.
const EXTRA: usize = 4;

/// Portions of rows whose columns are summed side by side: at most so many, of at least so many rows.
const MOST_PORTIONS: usize = 64;
const LEAST_ROWS: usize = 64;

/// Lengths of temporary parts, in numbers of four bytes.
struct Parts {
    /// Sums of columns of each portion, doubles.
    column_sums: usize,
    /// c.
    centre: usize,
    /// What c leaves of the sums, doubles.
    rest: usize,
    /// [C 1].
    centred: usize,
    /// CᵀC.
    gram: usize,
    /// [D; c·D], transposed.
    inverse: usize,
    /// A before and after a sweep, doubles.
    matrix: usize,
    /// The logarithms of the pivots, doubles.
    logarithms: usize,
    /// ⟨z, Kz⟩ of each block, doubles.
    trace: usize,
}

/// The portions of rows, and the rows of each.
fn portions(rows: usize) -> (usize, usize) {
    let portions = rows.div_ceil(LEAST_ROWS).clamp(1, MOST_PORTIONS);
    (portions, rows.div_ceil(portions))
}

impl Parts {
    fn new(similarity: SparseView<'_>, shape: Shape, with_determinant: bool) -> Self {
        let Shape { rows, columns } = shape;
        let padded = columns.next_multiple_of(TILE);
        let blocks = |dealt: Dealt| dealt.grid(rows).blocks.map(|blocks| blocks as usize);
        let [whole, halved] =
            [Dealt::new, Dealt::of_halves].map(|dealt| blocks(dealt(similarity, columns)));
        let trace = 2 * (whole[0] * whole[1]).max(halved[0] * halved[1]);
        let part = |len: usize| if with_determinant { len } else { 0 };
        Parts {
            column_sums: part(2 * portions(rows).0 * columns),
            centre: part(columns),
            rest: part(2 * columns),
            centred: part(rows * (columns + EXTRA)),
            gram: part(columns * columns),
            inverse: part(columns * (columns + EXTRA)),
            matrix: part(2 * padded * padded),
            logarithms: part(2 * padded / TILE),
            trace,
        }
    }

    fn len(&self) -> usize {
        Call::scratch_len([
            self.column_sums,
            self.centre,
            self.rest,
            self.centred,
            self.gram,
            self.inverse,
            self.matrix,
            self.matrix,
            self.logarithms,
            self.trace,
        ])
    }
}

/// The latents about their mean row.
#[derive(Debug, Clone, Copy)]
struct Centred {
    /// c.
    row: Address,
    /// What c leaves of the sums, doubles.
    rest: Address,
    /// [C 1].
    rows: Dense,
}

/// What the determinant gives.
struct Determinant {
    logarithms: Address,
    /// [C 1] and [D; c·D], transposed, where a derivative is wanted.
    derivative: Option<(Dense, Dense)>,
}

impl GaussianField {
    pub(super) fn card_scratch(&self, shape: Shape) -> usize {
        let view = self.similarity.view();
        let summed = if pieces(view) > 0 { shape.len().next_multiple_of(16) } else { 0 };
        let parts = Parts::new(view, shape, self.log_determinant != 0.0);
        parts.len()
            + pieces_scratch(view, shape.columns)
            + halves_scratch(view, shape.columns)
            + summed
    }

    pub(super) fn on_card(&self, call: &mut Call<'_>) -> Result<(), String> {
        let shape = call.input_shape(0);
        let Shape { rows, columns } = shape;
        let (energy, derivative) = (call.wanted_output(0), call.wanted_output(1));
        let with_determinant = self.log_determinant != 0.0 && columns > 0;
        let parts = Parts::new(self.similarity.view(), shape, with_determinant);
        let trace = call.scratch(parts.trace);
        let centred = with_determinant.then(|| self.centre_on_card(call, &parts));
        let blocks =
            call.beside(|call| self.quadratic_on_card(call, derivative, centred, trace))?;
        let determinant = centred.map(|centred| self.determinant_on_card(call, centred, &parts));
        call.meet();
        let factors = determinant.as_ref().and_then(|found| found.derivative);
        if let (Some((centred, inverse)), Some(out)) = (factors, derivative) {
            // Products with a transposed right factor are the fastest.
            let (left, right) = ((centred, Factor::Plain), (inverse, Factor::Transposed));
            call.product(left, right, Dense::new(out, rows, columns), Existing::Add);
        }
        if let Some(energy) = energy {
            let beta = f64::from(self.beta);
            let logarithms = determinant.map(|found| found.logarithms);
            let tiles = if logarithms.is_some() { columns.div_ceil(TILE) } else { 0 };
            let arguments = [
                trace.into(),
                blocks.into(),
                f64::from(self.quadratic).into(),
                logarithms.into(),
                (tiles as u32).into(),
                f64::from(self.log_determinant).into(),
                (columns as f64 * beta.ln()).into(),
                energy.into(),
            ];
            call.launch(KERNELS.kernel("energy"), Grid::blocks(1, 1024), arguments);
        }
        Ok(())
    }

    /// c, and Z about it.
    fn centre_on_card(&self, call: &mut Call<'_>, parts: &Parts) -> Centred {
        let Shape { rows, columns } = call.input_shape(0);
        let latent = call.input(0);
        let [column_sums, row, rest, rows_about_it] =
            [parts.column_sums, parts.centre, parts.rest, parts.centred]
                .map(|len| call.scratch(len));
        let (portions, rows_a_portion) = portions(rows);
        let width = columns as u32;
        let grid = Grid::blocks(columns.div_ceil(32), THREADS).by(portions);
        let arguments =
            [latent.into(), rows.into(), width.into(), rows_a_portion.into(), column_sums.into()];
        call.launch(KERNELS.kernel("sum_columns"), grid, arguments);
        let arguments = [
            column_sums.into(),
            (portions as u32).into(),
            rows.into(),
            width.into(),
            row.into(),
            rest.into(),
        ];
        let grid = Grid::blocks(columns.div_ceil(64), 64);
        call.launch(KERNELS.kernel("mean_row"), grid, arguments);
        let vectors = columns % 4 == 0;
        let (name, share) =
            if vectors { ("centre_rows_of_vectors", 4) } else { ("centre_rows", 1) };
        let arguments = [
            latent.into(),
            row.into(),
            rows_about_it.into(),
            rows.into(),
            (width / share as u32).into(),
        ];
        let count = rows * (columns + EXTRA) / share;
        call.launch(KERNELS.kernel(name), Grid::strided(count), arguments);
        Centred { row, rest, rows: Dense::new(rows_about_it, rows, columns + EXTRA) }
    }

    fn determinant_on_card(
        &self,
        call: &mut Call<'_>,
        Centred { row: centre, rest, rows: extended }: Centred,
        parts: &Parts,
    ) -> Determinant {
        let Shape { rows, columns } = call.input_shape(0);
        let width = columns as u32;
        let [gram, inverse] = [parts.gram, parts.inverse].map(|len| call.scratch(len));
        let centred = Dense { columns, ..extended };
        let gram = Dense::new(gram, columns, columns);
        let (left, right) = ((centred, Factor::Transposed), (centred, Factor::Plain));
        call.product(left, right, gram, Existing::Replace);

        let padded = columns.next_multiple_of(TILE);
        let mut before = call.scratch(parts.matrix);
        let mut after = call.scratch(parts.matrix);
        let logarithms = call.scratch(parts.logarithms);
        let beta = f64::from(self.beta);
        let arguments = [
            gram.at.into(),
            centre.into(),
            rest.into(),
            rows.into(),
            width.into(),
            (padded as u32).into(),
            beta.into(),
            before.into(),
        ];
        call.launch(KERNELS.kernel("assemble"), Grid::strided(padded * padded), arguments);
        let tiles = padded / TILE;
        for pivot in 0..tiles {
            let arguments = [
                before.into(),
                after.into(),
                (padded as u32).into(),
                (pivot as u32).into(),
                beta.min(1.0).into(),
                logarithms.into(),
            ];
            let grid = Grid::blocks(tiles, THREADS).by(tiles);
            call.launch(KERNELS.kernel("sweep"), grid, arguments);
            std::mem::swap(&mut before, &mut after);
        }
        let derivative = call.wanted_output(1).map(|_| {
            let arguments = [
                before.into(),
                centre.into(),
                width.into(),
                (padded as u32).into(),
                (-2.0 * f64::from(self.log_determinant)).into(),
                inverse.into(),
            ];
            call.launch(KERNELS.kernel("finish_inverse"), Grid::warps(columns), arguments);
            (extended, Dense::new(inverse, columns, columns + EXTRA))
        });
        Determinant { logarithms, derivative }
    }

    /// The trace in parts, of which it says how many there are, and 2q · KZ.
    fn quadratic_on_card(
        &self,
        call: &mut Call<'_>,
        derivative: Option<Address>,
        centred: Option<Centred>,
        trace: Address,
    ) -> Result<usize, String> {
        let Shape { rows, columns } = call.input_shape(0);
        let (latent, view) = (call.input(0), self.similarity.view());
        let identity = (Arc::as_ptr(&self.similarity).addr(), "rows");
        let sparse = call.sparse(identity.0, identity.1, view)?;
        let long = sum_long_rows(call, KERNELS, identity, view, latent, columns)?;
        let summed = long.map(|pieces| {
            let summed = call.scratch(rows * columns);
            let arguments =
                [pieces.list.into(), pieces.partial.into(), summed.into(), columns.into()];
            call.launch(
                KERNELS.kernel("place_pieces"),
                Grid::blocks(pieces.count, THREADS),
                arguments,
            );
            summed
        });
        let matrix = [sparse.offsets.into(), sparse.columns.into(), sparse.values.into()];
        let halves = centred.and_then(|Centred { row, rows, .. }| {
            Some((row, halve(call, view, Dense { columns, ..rows })?))
        });
        let result =
            [latent.into(), summed.into(), (2.0 * self.quadratic).into(), derivative.into()];
        let (kernel, dealt, gathered) = match halves {
            Some((centre, halves)) => {
                let sums = call.constant(identity.0, "rows.sums", || sums_of_rows(view))?;
                let [numbers, scales] = [halves.numbers, halves.scales];
                let gathered = [numbers, scales, sums, centre].map(Argument::from).to_vec();
                ("quadratic_of_halves", Dealt::of_halves(view, columns), gathered)
            }
            None => {
                let dealt = Dealt::new(view, columns);
                let name = if dealt.vectors { "quadratic_of_vectors" } else { "quadratic" };
                (name, dealt, Vec::new())
            }
        };
        let grid = dealt.grid(rows);
        let rest = [(rows as u32).into(), dealt.width.into(), dealt.lanes.into(), trace.into()];
        let arguments = [&matrix[..], &gathered, &result, &rest].concat();
        call.launch_with(KERNELS.kernel(kernel), grid, arguments);
        Ok(grid.blocks[0] as usize * grid.blocks[1] as usize)
    }
}

/// Σ_j s_ij of every row.
fn sums_of_rows(view: SparseView<'_>) -> Vec<f32> {
    let sum = |row: usize| match view.values(row) {
        Some(values) => values.iter().map(|&value| f64::from(value)).sum::<f64>() as f32,
        None => view.columns(row).len() as f32,
    };
    (0..view.rows()).map(sum).collect()
}
