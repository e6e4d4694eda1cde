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

use std::sync::Arc;

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::cpu::{
    Call, Centring, Dense, Existing, as_doubles, centred_gram, cholesky, doubles, inverse,
    inverse_times, pack_right, packed_len, product_rows, product_scratch, rounded_off, sparse_row,
};
use crate::program::{Backward, Constant, Mismatch, Operation};
use crate::{Matrix, Shape, SparseMatrix};

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

    /// SVGA-U's divergence of N(U, βI + VVᵀ), column by column, from the field, with this matrix as
    /// U (nodes × width) and `spread` as V (nodes × rank):
    ///
    ///   ½ [ tr(UᵀKU)/width + tr(KΣ) − log|Σ| ],   Σ = βI + VVᵀ
    ///
    /// where tr(KΣ) = βn + tr(VᵀKV) and log|Σ| = n ln β + log|I + VᵀV/β|.
    #[must_use]
    #[track_caller]
    pub fn field_divergence(
        self,
        spread: Matrix<'p>,
        similarity: &Arc<SparseMatrix>,
        beta: f32,
    ) -> Matrix<'p> {
        let width = self.columns().max(1) as f32;
        let mean = self.gaussian_field(similarity, beta, 0.5 / width, 0.0);
        let spread = spread.gaussian_field(similarity, beta, 0.5, 0.5);
        let constant = 0.5 * self.rows() as f32 * (beta - beta.ln());
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
    /// Lengths of the temporary parts: ZᵀZ (later (βI + ZᵀZ)⁻¹), its packing, its factor and the
    /// factor's inverse in double precision, the packing of Z, one partial sum a task, four rows in
    /// double precision, Z − z̄ unless the derivative lends its place.
    fn parts(&self, shape: Shape, with_derivative: bool) -> [usize; 8] {
        let Shape { rows, columns } = shape;
        let square = if self.log_determinant == 0.0 { 0 } else { columns * columns };
        let if_square = |len: usize| if square == 0 { 0 } else { len };
        [
            square,
            if_square(packed_len(columns, columns)),
            doubles(square),
            doubles(square),
            if_square(product_scratch(rows, columns)),
            doubles(rows.div_ceil(ROWS_A_TASK)),
            doubles(4 * columns),
            if with_derivative { 0 } else { if_square(rows * columns) },
        ]
        .map(|len| len.next_multiple_of(16))
    }
}

/// Outputs: the energy, its derivative.
impl Operation for GaussianField {
    fn name(&self) -> &'static str {
        "gaussian field"
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
        self.parts(inputs[0], wanted[1]).iter().sum()
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
        let mut rest = call.scratch();
        let [gram, packed, factor, factor_inverse, packing, partial, doubled, centred] =
            self.parts(shape, derivative.is_some()).map(|len| {
                let (part, tail) = std::mem::take(&mut rest).split_at_mut(len);
                rest = tail;
                part
            });
        let mut of_columns = as_doubles(doubled)[..4 * columns].chunks_exact_mut(columns.max(1));
        let [mean, rest, solved, correction] =
            [(); 4].map(|()| of_columns.next().unwrap_or_default());
        correction.fill(0.0);
        let dense = Dense::new(latent, rows, columns);
        let mut energy = 0.0;
        let mut back = None;
        if self.log_determinant != 0.0 {
            let gram = &mut gram[..columns * columns];
            let factor = &mut as_doubles(factor)[..columns * columns];
            let factor_inverse = &mut as_doubles(factor_inverse)[..columns * columns];
            let centred = match &mut derivative {
                Some(derivative) => &mut **derivative,
                None => &mut centred[..rows * columns],
            };
            let scratch = Centring { centred, gram: &mut *gram, packing, rest: &mut *rest };
            centred_gram(latent, factor, mean, scratch);
            factor.iter_mut().step_by(columns + 1).for_each(|own| *own += f64::from(self.beta));
            // log|I + ZᵀZ/β| = log|βI + ZᵀZ| − width · ln β
            let scale = columns as f64 * f64::from(self.beta).ln();
            energy -= f64::from(self.log_determinant)
                * (cholesky(factor, columns, f64::from(self.beta)) - scale);
            if derivative.is_some() {
                inverse(factor, columns, factor_inverse, gram);
                let factor = -2.0 * self.log_determinant;
                gram.iter_mut().for_each(|value| *value *= factor);
                solved.copy_from_slice(mean);
                inverse_times(factor_inverse, solved, rest);
                rounded_off(f64::from(factor), mean, solved, gram, correction);
                back = Some(pack_right(Dense::new(gram, columns, columns), 0..columns, packed));
            }
        }
        let partial = &mut as_doubles(partial)[..rows.div_ceil(ROWS_A_TASK)];
        partial.fill(0.0);
        let task = |task: usize, derivative: &mut [f32], sum: &mut f64| {
            let first = task * ROWS_A_TASK;
            let similarity = &self.similarity;
            let (factor, correction) = (2.0 * self.quadratic, &*correction);
            let rows = Quadratic { similarity, latent, first, derivative, factor, correction };
            *sum = Arch::new().dispatch(rows);
            if let Some(back) = back {
                product_rows(dense, first, 0, back, derivative, Existing::Add);
            }
        };
        match derivative {
            Some(derivative) => derivative
                .par_chunks_mut((ROWS_A_TASK * columns).max(1))
                .zip(&mut *partial)
                .enumerate()
                .for_each(|(at, (derivative, sum))| task(at, derivative, sum)),
            // The trace alone: the rows of SZ one after the other, nowhere kept.
            None => partial.par_iter_mut().enumerate().for_each(|(at, sum)| {
                let first = at * ROWS_A_TASK;
                *sum = (first..rows.min(first + ROWS_A_TASK))
                    .map(|row| quadratic_row(&self.similarity, latent, columns, row))
                    .sum();
            }),
        }
        energy += f64::from(self.quadratic) * partial.iter().sum::<f64>();
        value.into_iter().for_each(|value| value[0] = energy as f32);
    }
}

/// ⟨z_i, (KZ)_i⟩ summed over some rows, whose derivative becomes factor · (KZ)_i + correction.
struct Quadratic<'a> {
    similarity: &'a SparseMatrix,
    latent: &'a [f32],
    first: usize,
    derivative: &'a mut [f32],
    factor: f32,
    correction: &'a [f64],
}

impl NullaryFnOnce for Quadratic<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let columns = self.latent.len() / self.similarity.shape().rows.max(1);
        let mut sum = 0.0;
        for (at, out) in self.derivative.chunks_exact_mut(columns.max(1)).enumerate() {
            let row = self.first + at;
            sparse_row(self.similarity.view(), row, self.latent, out);
            let own = &self.latent[row * columns..(row + 1) * columns];
            let mut sums = [0.0f32; 16];
            let parts = out.chunks_mut(16).zip(own.chunks(16)).zip(self.correction.chunks(16));
            for ((out, own), correction) in parts {
                let cells = out.iter_mut().zip(own).zip(correction).zip(&mut sums);
                for (((out, &z), &correction), sum) in cells {
                    let difference = z - *out;
                    *sum += z * difference;
                    *out = self.factor * difference + correction as f32;
                }
            }
            sum += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
        }
        sum
    }
}

/// ⟨z_i, (KZ)_i⟩ of one row.
fn quadratic_row(similarity: &SparseMatrix, latent: &[f32], columns: usize, row: usize) -> f64 {
    let of = |row: usize| &latent[row * columns..(row + 1) * columns];
    let dot = |other: usize| -> f64 {
        of(row).iter().zip(of(other)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let view = similarity.view();
    let values = view.values(row);
    let neighbours = view.columns(row).iter().enumerate();
    let along: f64 = neighbours
        .map(|(at, &other)| {
            values.map_or(1.0, |values| f64::from(values[at])) * dot(other as usize)
        })
        .sum();
    dot(row) - along
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, check};
    use proptest::prelude::*;

    /// A random graph as S, and K.
    fn graphs() -> impl Strategy<Value = (Arc<SparseMatrix>, Reference)> {
        (1usize..8, prop::collection::vec((0usize..8, 0usize..8), 0..16)).prop_map(
            |(nodes, pairs)| {
                let mut adjacent = vec![vec![false; nodes]; nodes];
                for (a, b) in
                    pairs.iter().map(|(a, b)| (a % nodes, b % nodes)).filter(|(a, b)| a != b)
                {
                    adjacent[a][b] = true;
                    adjacent[b][a] = true;
                }
                let degree =
                    |node: usize| adjacent[node].iter().filter(|&&edge| edge).count() as f64;
                let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
                let mut field =
                    Reference::new(Shape::new(nodes, nodes), |a, b| f64::from(u8::from(a == b)));
                for (a, neighbours) in adjacent.iter().enumerate() {
                    for b in (0..nodes).filter(|&b| neighbours[b]) {
                        let value = 1.0 / (degree(a) * degree(b)).sqrt();
                        columns.push(b as u32);
                        values.push(value as f32);
                        field.values[a * nodes + b] -= f64::from(value as f32);
                    }
                    offsets.push(columns.len());
                }
                (Arc::new(SparseMatrix::symmetric(offsets, columns, Some(values))), field)
            },
        )
    }

    fn trace(field: &Reference, latent: &Reference) -> f64 {
        let product = latent.transposed().product(&field.product(latent));
        (0..latent.shape.columns).map(|k| product.at(k, k)).sum()
    }

    /// log|A| by elimination, with no square roots.
    fn log_determinant(matrix: &Reference) -> f64 {
        let size = matrix.shape.rows;
        let mut rest = matrix.clone();
        let mut sum = 0.0;
        for k in 0..size {
            sum += rest.at(k, k).ln();
            for i in k + 1..size {
                let factor = rest.at(i, k) / rest.at(k, k);
                for j in k..size {
                    rest.values[i * size + j] -= factor * rest.at(k, j);
                }
            }
        }
        sum
    }

    fn of_identity_plus(gram: &Reference, beta: f64) -> f64 {
        log_determinant(&Reference::new(gram.shape, |i, j| {
            gram.at(i, j) / beta + f64::from(u8::from(i == j))
        }))
    }

    proptest! {
        #[test]
        fn the_regulariser_and_its_gradient(
            (similarity, field) in graphs(), width in 1usize..20, beta in 0.1f32..2.0,
        ) {
            check(
                &[Shape::new(field.shape.rows, width)],
                |_, z| z[0].field_regulariser(&similarity, beta),
                |z| {
                    let gram = z[0].transposed().product(&z[0]);
                    let determinant = of_identity_plus(&gram, f64::from(beta));
                    Reference::scalar(trace(&field, &z[0]) - 0.5 * determinant)
                },
            );
        }

        /// The reference does have the n × n matrix Σ.
        #[test]
        fn the_divergence_and_its_gradients(
            (similarity, field) in graphs(), width in 1usize..6, rank in 1usize..6,
            beta in 0.1f32..2.0,
        ) {
            let nodes = field.shape.rows;
            check(
                &[Shape::new(nodes, width), Shape::new(nodes, rank)],
                |_, x| x[0].field_divergence(x[1], &similarity, beta),
                |x| {
                    let beta = f64::from(beta);
                    let mut sigma = x[1].product(&x[1].transposed());
                    (0..nodes).for_each(|i| sigma.values[i * nodes + i] += beta);
                    let product = field.product(&sigma);
                    let traced: f64 = (0..nodes).map(|i| product.at(i, i)).sum();
                    let mean = trace(&field, &x[0]) / width as f64;
                    Reference::scalar(0.5 * (mean + traced - log_determinant(&sigma)))
                },
            );
        }
    }

    #[test]
    fn the_energy_is_the_same_without_its_derivative() {
        use crate::{Initial, Plan, Program, Session};
        let matrix = SparseMatrix::symmetric(vec![0, 1, 2, 2], vec![1, 0], None);
        let similarity = Arc::new(matrix);
        let build = |with_gradient: bool| {
            let program = Program::new("test");
            let z = program.parameter("z", [3, 40], Initial::Normal(1.0));
            let energy = z.field_regulariser(&similarity, 0.1);
            program.output("energy", energy);
            if with_gradient {
                program.output("gradient", program.differentiate(energy, &["z"])[0]);
            }
            let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
            let mut session = Session::new(plan, 3);
            session.run("test").expect("a run");
            session.scalar("test", "energy").expect("an output")
        };
        assert!((build(true) / build(false) - 1.0).abs() < 1e-5);
    }
}
