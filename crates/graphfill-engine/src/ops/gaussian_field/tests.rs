//! The field against plain references: dense matrices, elimination, central differences.

use super::*;
use crate::testing::{Reference, check, some_numbers};
use crate::{Initial, Plan, Program};
use proptest::prelude::*;

/// A random graph as S, and K.
fn graphs() -> impl Strategy<Value = (Arc<SparseMatrix>, Reference)> {
    shrunk_graphs(1.0)
}

/// A random graph as `factor` · S, and K = I − `factor` · S.
fn shrunk_graphs(factor: f64) -> impl Strategy<Value = (Arc<SparseMatrix>, Reference)> {
    (1usize..8, prop::collection::vec((0usize..8, 0usize..8), 0..16)).prop_map(
        move |(nodes, pairs)| {
            let mut adjacent = vec![vec![false; nodes]; nodes];
            for (a, b) in pairs.iter().map(|(a, b)| (a % nodes, b % nodes)).filter(|(a, b)| a != b)
            {
                adjacent[a][b] = true;
                adjacent[b][a] = true;
            }
            let degree = |node: usize| adjacent[node].iter().filter(|&&edge| edge).count() as f64;
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            let mut field =
                Reference::new(Shape::new(nodes, nodes), |a, b| f64::from(u8::from(a == b)));
            for (a, neighbours) in adjacent.iter().enumerate() {
                for b in (0..nodes).filter(|&b| neighbours[b]) {
                    let value = factor / (degree(a) * degree(b)).sqrt();
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

/// KL(N(mean, Σ) ‖ N(0, P)) = ½ [ tr(P⁻¹Σ) + meanᵀP⁻¹mean − n + log|P| − log|Σ| ].
fn gaussian_divergence(mean: &Reference, sigma: &Reference, prior: &Reference) -> f64 {
    let nodes = prior.shape.rows;
    let whitened = solved(prior, sigma);
    let traced: f64 = (0..nodes).map(|i| whitened.at(i, i)).sum();
    let distance = mean.transposed().product(&solved(prior, mean)).at(0, 0);
    let determinants = log_determinant(prior) - log_determinant(sigma);
    0.5 * (traced + distance - nodes as f64 + determinants)
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

    /// Against the textbook: column by column, KL(N(u, Σ) ‖ N(0, P)) with the n × n matrices Σ and
    /// P = K⁻¹. S is shrunk so that K = I − S is positive definite and P exists. The parts that
    /// depend on P alone, which the operation leaves out, are taken off again.
    #[test]
    fn the_divergence_and_its_gradients(
        (similarity, field) in shrunk_graphs(0.8), width in 1usize..6, rank in 1usize..6,
        beta in 0.1f32..2.0,
    ) {
        let nodes = field.shape.rows;
        let identity = Reference::new(field.shape, |i, j| f64::from(u8::from(i == j)));
        let prior = solved(&field, &identity);
        let of_prior = 0.5 * (log_determinant(&prior) - nodes as f64);
        check(
            &[Shape::new(nodes, width), Shape::new(nodes, rank)],
            |_, x| x[0].field_divergence(x[1], &similarity, beta),
            |x| {
                let mut sigma = x[1].product(&x[1].transposed());
                (0..nodes).for_each(|i| sigma.values[i * nodes + i] += f64::from(beta));
                let columns = (0..width).map(|k| {
                    let mean = Reference::new(Shape::new(nodes, 1), |i, _| x[0].at(i, k));
                    gaussian_divergence(&mean, &sigma, &prior) - of_prior
                });
                Reference::scalar(columns.sum())
            },
        );
    }
}

#[test]
fn the_energy_is_the_same_without_its_derivative() {
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
        let mut session = crate::testing::session(plan, 3);
        session.run("test").expect("a run");
        session.scalar("test", "energy").expect("an output")
    };
    assert!((build(true) / build(false) - 1.0).abs() < 1e-5);
}

/// A⁻¹·X by elimination, in double precision.
fn solved(matrix: &Reference, right: &Reference) -> Reference {
    let size = matrix.shape.rows;
    let (mut left, mut right) = (matrix.clone(), right.clone());
    let columns = right.shape.columns;
    for pivot in 0..size {
        let value = left.at(pivot, pivot);
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = left.at(row, pivot) / value;
            for column in pivot..size {
                left.values[row * size + column] -= factor * left.at(pivot, column);
            }
            for column in 0..columns {
                right.values[row * columns + column] -= factor * right.at(pivot, column);
            }
        }
    }
    Reference::new(right.shape, |row, column| right.at(row, column) / left.at(row, row))
}

/// Wider than any tile of a kernel, and rows that differ by a hundredth: βI + ZᵀZ has a condition of
/// more than 10⁵. The error of the whole derivative is bounded, which has the inverse in it.
#[test]
fn wide_latents_that_are_alike_have_an_exact_derivative() {
    let (nodes, beta) = (90usize, 0.1f32);
    for width in [33, 64, 100] {
        let values: Vec<f32> = some_numbers(nodes * width, width);
        let values: Vec<f32> = values.iter().map(|value| 1.0 + 0.01 * value).collect();
        // A ring: every node has two neighbours of weight one half.
        let offsets = (0..=nodes).map(|node| 2 * node).collect();
        let around = |node: usize| [(node + nodes - 1) % nodes, (node + 1) % nodes];
        let columns = (0..nodes).flat_map(around).map(|node| node as u32).collect();
        let similarity =
            Arc::new(SparseMatrix::symmetric(offsets, columns, Some(vec![0.5; 2 * nodes])));
        let program = Program::new("field");
        let latent = program.parameter("latent", [nodes, width], Initial::ZEROS);
        let energy = latent.field_regulariser(&similarity, beta);
        program.output("derivative", program.differentiate(energy, &["latent"])[0]);
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 0);
        session.write("latent", &values).expect("latents");
        session.scribble();
        session.run("field").expect("a run");
        let found = session.read("field", "derivative").expect("a derivative");

        let shape = Shape::new(nodes, width);
        let exact = Reference { shape, values: values.iter().map(|&v| f64::from(v)).collect() };
        let mut gram = exact.transposed().product(&exact);
        (0..width).for_each(|at| gram.values[at * width + at] += f64::from(beta));
        let back = solved(&gram, &exact.transposed()).transposed();
        let expected = Reference::new(shape, |row, column| {
            let [before, after] = around(row).map(|other| exact.at(other, column));
            2.0 * (exact.at(row, column) - 0.5 * (before + after)) - back.at(row, column)
        });
        let largest = expected.values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        for (found, expected) in found.iter().zip(&expected.values) {
            let error = (f64::from(*found) - expected).abs() / largest;
            assert!(error < 5e-4 * crate::testing::coarseness(), "{width}: {found} {expected}");
        }
    }
}
