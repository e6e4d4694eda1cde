//! The energy of a Gaussian Markov random field, K = I − S with S = D^-½ A D^-½:
//!
//!   q · tr(ZᵀKZ) − l · log|I + ZᵀZ/β|                Z: nodes × width, S: nodes × nodes, sparse
//!
//! with derivative 2q · KZ − 2l · Z (βI + ZᵀZ)⁻¹. The trace is small where neighbours are alike, the
//! determinant large where columns are not. Everything goes through the sparse product and width ×
//! width matrices; nothing is nodes × nodes.
//!
//! Rows of Z grow alike on a graph, and βI + ZᵀZ is then ill-conditioned: ZᵀZ is computed about the
//! mean row z̄, and what z̄ (βI + ZᵀZ)⁻¹ loses in single precision is added to every row. An error in
//! either would be the same in all rows, and sum up in the gradients of what they share.

mod card;
mod determinant;
mod quadratic;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use pulp::Arch;
use rayon::prelude::*;

use crate::cpu::{Call, Dense, Existing, as_doubles, cut, cut_len, doubles, product_rows};
use crate::cuda;
use crate::program::{Backward, Constant, Mismatch, Operation};
use crate::{Matrix, Shape, SparseMatrix};
use determinant::Determinant;
use quadratic::{Quadratic, quadratic_row};

/// Rows that one thread takes at a time: whole tiles of a product, whether of six rows or eight.
const ROWS_A_TASK: usize = 24;

#[derive(Debug)]
struct GaussianField {
    similarity: Arc<SparseMatrix>,
    beta: f32,
    quadratic: f32,
    log_determinant: f32,
}

impl<'p> Matrix<'p> {
    /// SVGA's regulariser  tr(ZᵀKZ) − ½ log|I + ZᵀZ/β|  of these latent rows, where `similarity` is
    /// the symmetrically normalised adjacency without self-loops.
    #[must_use]
    #[track_caller]
    pub fn field_regulariser(self, similarity: &Arc<SparseMatrix>, beta: f32) -> Matrix<'p> {
        self.gaussian_field(similarity, beta, 1.0, 0.5)
    }

    /// SVGA-U's KL divergence of q = N(U, Σ) from the field N(0, K⁻¹), with this matrix as U
    /// (nodes × width) and `spread` as V (nodes × rank). Every column of U is a Gaussian over the
    /// nodes, and all of them share Σ = βI + VVᵀ (nodes × nodes):
    ///
    ///   Σ_k KL(N(u_k, Σ) ‖ N(0, K⁻¹)) = ½ [ tr(UᵀKU) + width · (tr(KΣ) − log|Σ|) ] + C
    ///
    /// where tr(KΣ) = βn + tr(VᵀKV) and log|Σ| = n ln β + log|I + VᵀV/β|. C, which is left out,
    /// depends on K alone: −½ width · (n + log|K|).
    #[must_use]
    #[track_caller]
    pub fn field_divergence(
        self,
        spread: Matrix<'p>,
        similarity: &Arc<SparseMatrix>,
        beta: f32,
    ) -> Matrix<'p> {
        let half_width = 0.5 * self.columns() as f32;
        let mean = self.gaussian_field(similarity, beta, 0.5, 0.0);
        let spread = spread.gaussian_field(similarity, beta, half_width, half_width);
        let constant = half_width * self.rows() as f32 * (beta - beta.ln());
        mean + spread + self.program().constant(Shape::SCALAR, constant)
    }

    #[track_caller]
    fn gaussian_field(
        self,
        similarity: &Arc<SparseMatrix>,
        beta: f32,
        quadratic: f32,
        log_determinant: f32,
    ) -> Matrix<'p> {
        if !similarity.is_symmetric() {
            self.program().fail("gaussian field", "the similarity is not symmetric".to_owned());
        }
        if beta.is_nan() || beta <= 0.0 {
            self.program().fail("gaussian field", format!("β is {beta}, not positive"));
        }
        let similarity = Arc::clone(similarity);
        let operation = GaussianField { similarity, beta, quadratic, log_determinant };
        self.program().record(operation, &[self])
    }
}

impl GaussianField {
    fn determinant(&self) -> Determinant {
        let (weight, beta) = (f64::from(self.log_determinant), f64::from(self.beta));
        Determinant { weight, beta }
    }

    /// Lengths of the temporary parts: one partial sum a task, what the determinant needs.
    fn parts(&self, shape: Shape, with_derivative: bool) -> [usize; 2] {
        let partial = doubles(shape.rows.div_ceil(ROWS_A_TASK));
        [partial, self.determinant().scratch(shape, with_derivative)]
    }
}

/// Outputs: the energy, its derivative.
impl Operation for GaussianField {
    fn name(&self) -> &'static str {
        "gaussian field"
    }

    fn identity(&self) -> String {
        let GaussianField { similarity, beta, quadratic, log_determinant } = self;
        let similarity = similarity.identity();
        format!(
            "gaussian_field({similarity}, beta={beta}, quadratic={quadratic}, \
             log_determinant={log_determinant})"
        )
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (latent, graph) = (inputs[0], self.similarity.shape());
        Mismatch::unless(
            latent.rows == graph.rows,
            latent,
            graph,
            "there is a row for every node",
        )?;
        Ok(vec![Shape::SCALAR, latent])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.add_derivative(0, 0, backward.output(1));
    }

    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        cut_len(self.parts(inputs[0], wanted[1]))
    }

    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        let Shape { rows, columns } = inputs[0];
        let sparse = 2 * self.similarity.entries() * columns;
        // ZᵀZ is symmetric: half of it is needed.
        let gram = rows * columns * (columns + 1);
        let back = if wanted[1] { 2 * rows * columns * columns } else { 0 };
        let dense = if self.log_determinant == 0.0 { 0 } else { gram + back };
        (sparse + dense) as u64
    }

    fn constants(&self) -> Vec<Constant> {
        vec![Constant::shared(&self.similarity, self.similarity.bytes())]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let shape = call.input_shape(0);
        let Shape { rows, columns } = shape;
        let latent = call.input(0);
        let (value, mut derivative) = (call.wanted_output(0), call.wanted_output(1));
        let [partial, scratch] = cut(call.scratch(), self.parts(shape, derivative.is_some()));
        let determinant =
            self.determinant().evaluate(latent, shape, derivative.as_deref_mut(), scratch);
        let partial = as_doubles(partial);
        partial.fill(0.0);
        match derivative {
            Some(derivative) => derivative
                .par_chunks_mut((ROWS_A_TASK * columns).max(1))
                .zip(&mut *partial)
                .enumerate()
                .for_each(|(task, (derivative, sum))| {
                    let first = task * ROWS_A_TASK;
                    let (similarity, factor) = (&*self.similarity, 2.0 * self.quadratic);
                    let correction = determinant.correction;
                    let own = &mut *derivative;
                    *sum = Arch::new().dispatch(Quadratic {
                        similarity,
                        latent,
                        first,
                        derivative: own,
                        factor,
                        correction,
                    });
                    if let Some(back) = determinant.back {
                        let latent = Dense::new(latent, rows, columns);
                        product_rows(latent, first, 0, back, derivative, Existing::Add);
                    }
                }),
            // The trace alone: the rows of SZ one after the other, nowhere kept.
            None => partial.par_iter_mut().enumerate().for_each(|(task, sum)| {
                let first = task * ROWS_A_TASK;
                *sum = (first..rows.min(first + ROWS_A_TASK))
                    .map(|row| quadratic_row(&self.similarity, latent, columns, row))
                    .sum();
            }),
        }
        let trace: f64 = partial.iter().sum();
        let energy = f64::from(self.quadratic) * trace + determinant.energy;
        value.into_iter().for_each(|value| value[0] = energy as f32);
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        self.card_scratch(inputs[0])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        self.on_card(call)
    }
}
