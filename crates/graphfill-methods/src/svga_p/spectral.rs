//! A spectral embedding of the graph, and regression on it: one more component for numbers.
//!
//!   S u = μ u                      the k largest eigenvalues of S = D^-½ A D^-½        nodes × k
//!   F = (√k u_i / ‖u_i‖ or √n u_i, ln(1 + degree), its square), columns centred and scaled
//!   P = F W,  W = (FᵀF + a n I)⁻¹ Fᵀ X
//!
//! Nodes have a position in the whole graph, which no number of rounds of propagation tells: SVGA learns such
//! positions, one vector per node. Here they are computed, by Lanczos' method with full orthogonalisation, and
//! k, the scaling and a are cross-validated. The estimate of a known row comes from the other folds of rows.

use std::ops::Range;

use graphfill_data::UndirectedGraph;
use graphfill_engine::cpu::multiply;
use graphfill_engine::random::{Key, normals};
use rayon::prelude::*;

use crate::eigen::eigen;
use crate::row_gaussian::dense::{Cholesky, add_to_diagonal, dot, product, transposed};

/// Larger graphs do without: every step of Lanczos' method looks at all steps before it.
const MAX_NODES: usize = 30_000;
/// Fewer known rows are not regressed.
const MIN_ROWS: usize = 100;
/// Steps of Lanczos' method.
const STEPS: usize = 256;
/// k and a that are compared.
const DIMENSIONS: [usize; 5] = [8, 16, 32, 64, 128];
const PENALTIES: [f64; 7] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];
/// Columns on which they are compared.
const MAX_COLUMNS: usize = 24;
/// Rows that one task handles.
const CHUNK: usize = 2048;

/// Whether a graph is small enough, and enough rows are known.
pub(super) fn is_possible(graph: &UndirectedGraph, known_rows: usize) -> bool {
    graph.nodes() <= MAX_NODES && known_rows >= MIN_ROWS && !graph.all_neighbours().is_empty()
}

/// The leading eigenvectors of S: one slice of nodes each, by falling eigenvalue.
pub(super) struct Embedding {
    vectors: Vec<Vec<f64>>,
    /// ln(1 + degree).
    degrees: Vec<f64>,
}

impl Embedding {
    /// Of a graph.
    pub(super) fn of(graph: &UndirectedGraph) -> Self {
        let nodes = graph.nodes();
        let (basis, diagonal, beside) = lanczos(graph, STEPS.min(nodes));
        let steps = basis.len();
        let mut small = vec![0.0; steps * steps];
        for at in 0..steps {
            small[at * steps + at] = diagonal[at];
            if at + 1 < steps {
                small[at * steps + at + 1] = beside[at];
                small[(at + 1) * steps + at] = beside[at];
            }
        }
        let (values, turns) = eigen(small, steps);
        let mut order: Vec<usize> = (0..steps).collect();
        order.sort_by(|&one, &other| values[other].total_cmp(&values[one]).then(one.cmp(&other)));
        order.truncate(DIMENSIONS[DIMENSIONS.len() - 1]);
        let vectors = order.par_iter().map(|&at| {
            let mut vector = vec![0.0; nodes];
            for (basis, turn) in basis.iter().zip(&turns[at * steps..(at + 1) * steps]) {
                vector.iter_mut().zip(basis).for_each(|(sum, own)| *sum += turn * own);
            }
            vector
        });
        let vectors = vectors.collect();
        let degree = |node: usize| (graph.degree(node) as f64).ln_1p();
        Embedding { vectors, degrees: (0..nodes).map(degree).collect() }
    }

    /// F, nodes × columns, and its columns.
    fn inputs(&self, dimensions: usize, scaling: Scaling) -> (Vec<f64>, usize) {
        let (nodes, k) = (self.degrees.len(), dimensions.min(self.vectors.len()));
        let columns = k + 2;
        let mut inputs = vec![0.0; nodes * columns];
        for (node, row) in inputs.chunks_exact_mut(columns).enumerate() {
            for (to, vector) in row.iter_mut().zip(&self.vectors[..k]) {
                *to = vector[node];
            }
            let length = row[..k].iter().map(|value| value * value).sum::<f64>().sqrt();
            let factor = match scaling {
                Scaling::Plain => (nodes as f64).sqrt(),
                Scaling::Rows if length < 1e-9 => 0.0,
                Scaling::Rows => (k as f64).sqrt() / length,
            };
            row[..k].iter_mut().for_each(|value| *value *= factor);
            row[k] = self.degrees[node];
            row[k + 1] = self.degrees[node] * self.degrees[node];
        }
        for column in 0..columns {
            let values = || inputs.iter().skip(column).step_by(columns);
            let mean = values().sum::<f64>() / nodes as f64;
            let square = values().map(|value| (value - mean).powi(2)).sum::<f64>() / nodes as f64;
            let factor = if square > 1e-18 { square.sqrt().recip() } else { 0.0 };
            for value in inputs.iter_mut().skip(column).step_by(columns) {
                *value = (*value - mean) * factor;
            }
        }
        (inputs, columns)
    }
}

/// How the rows of eigenvectors are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scaling {
    Plain,
    Rows,
}

/// An orthonormal basis of the Krylov space of S, and the tridiagonal matrix of S in it.
fn lanczos(graph: &UndirectedGraph, steps: usize) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
    let nodes = graph.nodes();
    let degree = |node: usize| -> f64 { graph.weighted_neighbours(node).map(|(_, w)| w).sum() };
    let scale: Vec<f64> = (0..nodes)
        .map(degree)
        .map(|degree| if degree > 0.0 { degree.sqrt().recip() } else { 0.0 })
        .collect();
    let times = |x: &[f64]| -> Vec<f64> {
        let row = |node: usize| {
            let terms = graph.weighted_neighbours(node);
            let sum: f64 =
                terms.map(|(other, w)| w * scale[other as usize] * x[other as usize]).sum();
            scale[node] * sum
        };
        (0..nodes).into_par_iter().map(row).collect()
    };
    let fresh = |number: usize| -> Vec<f64> {
        let mut start = vec![0.0f32; nodes];
        normals(Key::new(0, 0, number as u64), 0, &mut start);
        start.into_iter().map(f64::from).collect()
    };
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(steps);
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut next = fresh(0);
    while basis.len() < steps {
        orthogonalise(&mut next, &basis);
        let mut length = dot(&next, &next).sqrt();
        if length < 1e-8 {
            // The space is invariant: go on in another one, beside which S is nothing.
            next = fresh(basis.len() + 1);
            orthogonalise(&mut next, &basis);
            length = dot(&next, &next).sqrt();
            if length < 1e-8 {
                break;
            }
            if let Some(last) = beside.last_mut() {
                *last = 0.0;
            }
        }
        next.iter_mut().for_each(|value| *value /= length);
        let mut image = times(&next);
        diagonal.push(dot(&image, &next));
        basis.push(std::mem::take(&mut next));
        orthogonalise(&mut image, &basis);
        beside.push(dot(&image, &image).sqrt());
        next = image;
    }
    (basis, diagonal, beside)
}

/// Takes out of a vector what lies in the space of a basis, twice for steadiness.
fn orthogonalise(vector: &mut [f64], basis: &[Vec<f64>]) {
    for _ in 0..2 {
        let shares: Vec<f64> = basis.par_iter().map(|own| dot(own, vector)).collect();
        vector.par_chunks_mut(CHUNK).enumerate().for_each(|(at, vector)| {
            for (own, share) in basis.iter().zip(&shares) {
                let own = &own[at * CHUNK..][..vector.len()];
                vector.iter_mut().zip(own).for_each(|(value, own)| *value -= share * own);
            }
        });
    }
}

/// Regression on an embedding, whose rows are known or unknown as a whole.
pub(super) struct SpectralRegression {
    /// F, nodes × columns.
    inputs: Vec<f32>,
    columns: usize,
    /// Of FᵀF + a n I without the rows of each fold, then with all known rows.
    factors: Vec<Cholesky>,
    /// The rows of each fold.
    folds: Vec<Vec<usize>>,
}

impl SpectralRegression {
    /// Chooses k, the scaling and a by how well known rows of some columns are told by the other folds.
    /// `values` has the targets, nodes × `width`; `folds` the fold of each known row.
    pub(super) fn fit(
        embedding: &Embedding,
        folds: &[Option<u8>],
        fold_count: u8,
        values: &[f32],
        width: usize,
    ) -> Option<Self> {
        let rows_of = |fold: u8| (0..folds.len()).filter(move |&row| folds[row] == Some(fold));
        let folds: Vec<Vec<usize>> = (0..fold_count).map(|fold| rows_of(fold).collect()).collect();
        let step = width.div_ceil(MAX_COLUMNS).max(1);
        let sampled: Vec<usize> = (0..width).step_by(step).collect();
        let target = |row: usize, at: usize| f64::from(values[row * width + sampled[at]]);
        let settings: Vec<(usize, Scaling)> = DIMENSIONS
            .iter()
            .filter(|&&k| k <= embedding.vectors.len())
            .flat_map(|&k| [(k, Scaling::Rows), (k, Scaling::Plain)])
            .collect();
        let scored = settings.par_iter().map(|&(k, scaling)| {
            let (inputs, columns) = embedding.inputs(k, scaling);
            let sums = Sums::new(&inputs, columns, &folds, sampled.len(), &target);
            let mut best = (f64::INFINITY, 0.0);
            for penalty in PENALTIES {
                let error = sums.error(&inputs, &folds, penalty, &target);
                if error < best.0 {
                    best = (error, penalty);
                }
            }
            (best.0, best.1, k, scaling)
        });
        let scored: Vec<(f64, f64, usize, Scaling)> = scored.collect();
        let best = scored.into_iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
        let (inputs, columns) = embedding.inputs(best.2, best.3);
        let sums = Sums::new(&inputs, columns, &folds, 0, &|_, _| 0.0);
        let factors = (0..=folds.len()).map(|fold| sums.factor(fold, best.1)).collect();
        let inputs = inputs.into_iter().map(|value| value as f32).collect();
        Some(SpectralRegression { inputs, columns, factors, folds })
    }

    /// P of some targets, nodes × `width` with zeros in unknown rows; estimates stay within the known
    /// values.
    pub(super) fn estimates(&self, values: &[f32], width: usize) -> Vec<f32> {
        let nodes = self.inputs.len() / self.columns;
        let mut products: Vec<Vec<f64>> = self
            .folds
            .iter()
            .map(|rows| {
                let inputs = gathered(&self.inputs, self.columns, rows);
                let targets = gathered(values, width, rows);
                let transposed = transposed_singles(&inputs, self.columns);
                let mut out = vec![0.0f32; self.columns * width];
                multiply(&transposed, self.columns, rows.len(), &targets, width, &mut out);
                out.into_iter().map(f64::from).collect()
            })
            .collect();
        let mut all = vec![0.0; self.columns * width];
        for product in &products {
            all.iter_mut().zip(product).for_each(|(sum, own)| *sum += own);
        }
        for product in &mut products {
            product.iter_mut().zip(&all).for_each(|(own, all)| *own = all - *own);
        }
        products.push(all);
        let weights: Vec<Vec<f32>> = products
            .par_iter()
            .zip(&self.factors)
            .map(|(product, factor)| {
                let mut by_column = transposed(product, self.columns);
                by_column.chunks_exact_mut(self.columns).for_each(|own| factor.solve(own));
                let weights = transposed(&by_column, width);
                weights.into_iter().map(|weight| weight as f32).collect()
            })
            .collect();
        let mut estimates = vec![0.0f32; nodes * width];
        let last = &weights[self.folds.len()];
        multiply(&self.inputs, nodes, self.columns, last, width, &mut estimates);
        for (rows, weights) in self.folds.iter().zip(&weights) {
            let inputs = gathered(&self.inputs, self.columns, rows);
            let mut own = vec![0.0f32; rows.len() * width];
            multiply(&inputs, rows.len(), self.columns, weights, width, &mut own);
            for (own, &row) in own.chunks_exact(width.max(1)).zip(rows) {
                estimates[row * width..(row + 1) * width].copy_from_slice(own);
            }
        }
        self.clamp(values, width, &mut estimates);
        estimates
    }

    fn clamp(&self, values: &[f32], width: usize, estimates: &mut [f32]) {
        let mut ranges = vec![(0.0f32, 0.0f32); width];
        for &row in self.folds.iter().flatten() {
            for (value, range) in values[row * width..(row + 1) * width].iter().zip(&mut ranges) {
                *range = (range.0.min(*value), range.1.max(*value));
            }
        }
        estimates.par_chunks_mut(width.max(1)).for_each(|row| {
            for (value, range) in row.iter_mut().zip(&ranges) {
                *value = value.clamp(range.0, range.1);
            }
        });
    }
}

/// FᵀF and FᵀX of each fold.
struct Sums {
    columns: usize,
    rows: Vec<f64>,
    squares: Vec<Vec<f64>>,
    /// Targets × columns.
    products: Vec<Vec<f64>>,
}

impl Sums {
    fn new(
        inputs: &[f64],
        columns: usize,
        folds: &[Vec<usize>],
        targets: usize,
        target: &(dyn Fn(usize, usize) -> f64 + Sync),
    ) -> Self {
        let of_fold = |rows: &Vec<usize>| {
            let own: Vec<f64> = rows
                .iter()
                .flat_map(|&row| inputs[row * columns..(row + 1) * columns].iter().copied())
                .collect();
            let by_column = transposed(&own, rows.len());
            let squares = product(&by_column, &by_column, columns, columns);
            let wanted: Vec<f64> =
                (0..targets).flat_map(|at| rows.iter().map(move |&row| target(row, at))).collect();
            (squares, product(&wanted, &by_column, targets, columns))
        };
        let both: Vec<(Vec<f64>, Vec<f64>)> = folds.iter().map(of_fold).collect();
        let rows = folds.iter().map(|rows| rows.len() as f64).collect();
        let (squares, products) = both.into_iter().unzip();
        Sums { columns, rows, squares, products }
    }

    /// Everything but a fold; everything where there is no such fold.
    fn without(&self, fold: usize, of: &[Vec<f64>]) -> Vec<f64> {
        let mut sum = vec![0.0; of.first().map_or(0, Vec::len)];
        for own in of.iter().enumerate().filter(|(at, _)| *at != fold).map(|(_, own)| own) {
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        sum
    }

    fn factor(&self, fold: usize, penalty: f64) -> Cholesky {
        let mut squares = self.without(fold, &self.squares);
        let rows: f64 =
            self.rows.iter().enumerate().filter(|(at, _)| *at != fold).map(|(_, rows)| rows).sum();
        add_to_diagonal(&mut squares, self.columns, penalty * rows.max(1.0));
        Cholesky::new(squares, self.columns)
    }

    /// The squared error of all folds, each told by the others.
    fn error(
        &self,
        inputs: &[f64],
        folds: &[Vec<usize>],
        penalty: f64,
        target: &(dyn Fn(usize, usize) -> f64 + Sync),
    ) -> f64 {
        let mut error = 0.0;
        for (fold, rows) in folds.iter().enumerate() {
            let factor = self.factor(fold, penalty);
            let mut weights = self.without(fold, &self.products);
            weights.chunks_exact_mut(self.columns).for_each(|own| factor.solve(own));
            for &row in rows {
                let own = &inputs[row * self.columns..(row + 1) * self.columns];
                for (at, weights) in weights.chunks_exact(self.columns).enumerate() {
                    error += (dot(own, weights) - target(row, at)).powi(2);
                }
            }
        }
        error
    }
}

fn gathered(matrix: &[f32], columns: usize, rows: &[usize]) -> Vec<f32> {
    let range = |&row: &usize| -> Range<usize> { row * columns..(row + 1) * columns };
    rows.iter().flat_map(|row| matrix[range(row)].iter().copied()).collect()
}

fn transposed_singles(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns.max(1);
    let mut out = vec![0.0; matrix.len()];
    for (row, values) in matrix.chunks_exact(columns.max(1)).enumerate() {
        for (column, value) in values.iter().enumerate() {
            out[column * rows + row] = *value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use graphfill_data::{Direction, EdgeList};

    use super::*;

    const NODES: usize = 240;

    /// A ring with some chords.
    fn graph() -> UndirectedGraph {
        let mut edges = EdgeList::unweighted();
        for node in 0..NODES as u32 {
            edges.push(node, (node + 1) % NODES as u32, 1.0);
            edges.push(node, (node + 2 + node % 3) % NODES as u32, 1.0);
        }
        edges.into_graph(NODES, Direction::Undirected).expect("valid arcs").undirected()
    }

    #[test]
    fn vectors_are_eigenvectors() {
        let graph = graph();
        let embedding = Embedding::of(&graph);
        let degree = |node: usize| graph.degree(node) as f64;
        for vector in &embedding.vectors[..40] {
            let image = |node: usize| -> f64 {
                let terms = graph.neighbours(node).iter().map(|&other| {
                    vector[other as usize] / (degree(node) * degree(other as usize)).sqrt()
                });
                terms.sum()
            };
            let image: Vec<f64> = (0..NODES).map(image).collect();
            let value = dot(&image, vector);
            for (image, own) in image.iter().zip(vector) {
                assert!((image - value * own).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_smooth_function_of_the_position_is_found_and_a_row_has_no_part_in_its_own_estimate() {
        let graph = graph();
        let embedding = Embedding::of(&graph);
        let folds: Vec<Option<u8>> =
            (0..NODES).map(|row| (row % 3 != 0).then_some((row % 10) as u8)).collect();
        let value = |row: usize, changed: Option<usize>| match (folds[row], changed) {
            (None, _) => 0.0,
            (_, Some(changed)) if changed == row => 0.5,
            _ => (row as f32 / NODES as f32 * std::f32::consts::TAU).sin(),
        };
        let estimates = |changed: Option<usize>| {
            let values: Vec<f32> = (0..NODES).map(|row| value(row, changed)).collect();
            let fitted = SpectralRegression::fit(&embedding, &folds, 10, &values, 1);
            fitted.expect("a regression").estimates(&values, 1)
        };
        let before = estimates(None);
        for (row, estimate) in before.iter().enumerate() {
            let wanted = (row as f32 / NODES as f32 * std::f32::consts::TAU).sin();
            assert!((estimate - wanted).abs() < 0.2, "row {row}: {estimate}, {wanted}");
        }
        let after = estimates(Some(100));
        assert_ne!(before, after, "others are told");
        let moved = (before[100] - after[100]).abs();
        assert!(moved < 1e-5, "row 100 has seen its own value: moved by {moved}");
    }
}
