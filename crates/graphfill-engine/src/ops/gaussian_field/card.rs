//! The same on a card, without a round trip to the host:
//!
//!   c = mean row,  C = Z − 1cᵀ,  A = βI + ZᵀZ about c in double precision,  D = −2l · A⁻¹,
//!   ∂Z = 2q · KZ + C·D + 1(c·D)
//!
//! A⁻¹ is found by sweeps over tiles of the diagonal, in double precision: as exact as the factor on
//! the processor. C·D may be computed in fewer bits: C has no part that all rows share, and what
//! they share, c·D, is one row in double precision.

use std::sync::Arc;

use super::GaussianField;
use crate::Shape;
use crate::cuda::sparse::{Dealt, pieces, pieces_scratch, sparse_source, sum_long_rows};
use crate::cuda::{Address, Call, Dense, Existing, Grid, Source, THREADS};
use crate::ops::Factor;

const KERNELS: Source = sparse_source!("gaussian_field.cu");

/// Rows and columns of a tile.
const TILE: usize = 32;

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
    /// C.
    centred: usize,
    /// CᵀC, and then D.
    gram: usize,
    /// A before and after a sweep, doubles.
    matrix: usize,
    /// The logarithms of the pivots, doubles.
    logarithms: usize,
    /// c·D.
    shared_row: usize,
    /// ⟨z, Kz⟩ of each block, doubles.
    trace: usize,
}

/// The portions of rows, and the rows of each.
fn portions(rows: usize) -> (usize, usize) {
    let portions = rows.div_ceil(LEAST_ROWS).clamp(1, MOST_PORTIONS);
    (portions, rows.div_ceil(portions))
}

impl Parts {
    fn new(shape: Shape, with_determinant: bool) -> Self {
        let Shape { rows, columns } = shape;
        let padded = columns.next_multiple_of(TILE);
        let grid = Dealt::new(rows, columns).grid(rows);
        let trace = 2 * grid.blocks[0] as usize * grid.blocks[1] as usize;
        let part = |len: usize| if with_determinant { len } else { 0 };
        Parts {
            column_sums: part(2 * portions(rows).0 * columns),
            centre: part(columns),
            rest: part(2 * columns),
            centred: part(rows * columns),
            gram: part(columns * columns),
            matrix: part(2 * padded * padded),
            logarithms: part(2 * padded / TILE),
            shared_row: part(columns),
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
            self.matrix,
            self.matrix,
            self.logarithms,
            self.shared_row,
            self.trace,
        ])
    }
}

/// What the determinant gives.
struct Determinant {
    logarithms: Address,
    /// C, D and c·D, where a derivative is wanted.
    derivative: Option<(Dense, Dense, Address)>,
}

impl GaussianField {
    pub(super) fn card_scratch(&self, shape: Shape) -> usize {
        let view = self.similarity.view();
        let summed = if pieces(view) > 0 { shape.len().next_multiple_of(16) } else { 0 };
        let parts = Parts::new(shape, self.log_determinant != 0.0);
        parts.len() + pieces_scratch(view, shape.columns) + summed
    }

    pub(super) fn on_card(&self, call: &mut Call<'_>) -> Result<(), String> {
        let shape = call.input_shape(0);
        let Shape { rows, columns } = shape;
        let (energy, derivative) = (call.wanted_output(0), call.wanted_output(1));
        let with_determinant = self.log_determinant != 0.0 && columns > 0;
        let parts = Parts::new(shape, with_determinant);
        let determinant = with_determinant.then(|| self.determinant_on_card(call, &parts));
        let inverse = determinant.as_ref().and_then(|found| found.derivative);
        let trace = call.scratch(parts.trace);
        let shared_row = inverse.map(|(_, _, row)| row);
        let blocks = self.quadratic_on_card(call, derivative, shared_row, trace)?;
        if let (Some((centred, inverse, _)), Some(out)) = (inverse, derivative) {
            // D is symmetric, and products with a transposed right factor are the fastest.
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

    fn determinant_on_card(&self, call: &mut Call<'_>, parts: &Parts) -> Determinant {
        let Shape { rows, columns } = call.input_shape(0);
        let latent = call.input(0);
        let [column_sums, centre, rest, centred, gram] =
            [parts.column_sums, parts.centre, parts.rest, parts.centred, parts.gram]
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
            centre.into(),
            rest.into(),
        ];
        let grid = Grid::blocks(columns.div_ceil(64), 64);
        call.launch(KERNELS.kernel("mean_row"), grid, arguments);
        let vectors = columns % 4 == 0;
        let (name, share) =
            if vectors { ("centre_rows_of_vectors", 4) } else { ("centre_rows", 1) };
        let count = rows * columns / share;
        let arguments = [
            latent.into(),
            centre.into(),
            centred.into(),
            count.into(),
            (width / share as u32).into(),
        ];
        call.launch(KERNELS.kernel(name), Grid::strided(count), arguments);
        let centred = Dense::new(centred, rows, columns);
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
        let shared_row = call.scratch(parts.shared_row);
        let derivative = call.wanted_output(1).map(|_| {
            let arguments = [
                before.into(),
                centre.into(),
                width.into(),
                (padded as u32).into(),
                (-2.0 * f64::from(self.log_determinant)).into(),
                gram.at.into(),
                shared_row.into(),
            ];
            call.launch(KERNELS.kernel("finish_inverse"), Grid::warps(columns), arguments);
            (centred, gram, shared_row)
        });
        Determinant { logarithms, derivative }
    }

    /// The trace in parts, of which it says how many there are, and 2q · KZ + 1 · row.
    fn quadratic_on_card(
        &self,
        call: &mut Call<'_>,
        derivative: Option<Address>,
        shared_row: Option<Address>,
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
        let dealt = Dealt::new(rows, columns);
        let grid = dealt.grid(rows);
        let arguments = [
            sparse.offsets.into(),
            sparse.columns.into(),
            sparse.values.into(),
            latent.into(),
            summed.into(),
            shared_row.into(),
            (2.0 * self.quadratic).into(),
            derivative.into(),
            (rows as u32).into(),
            dealt.width.into(),
            dealt.lanes.into(),
            trace.into(),
        ];
        let name = if dealt.vectors { "quadratic_of_vectors" } else { "quadratic" };
        call.launch(KERNELS.kernel(name), grid, arguments);
        Ok(grid.blocks[0] as usize * grid.blocks[1] as usize)
    }
}
