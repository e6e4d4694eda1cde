//! What the references of the models share: dense matrices in double precision, a small graph, a
//! small table with its losses, and Adam with gradients by central differences.
//!
//! A reference writes the equations of one model with these, as a function of its parameters. The
//! recorded program is then run for three updates; the loss of each update and every parameter after
//! it have to agree. Only random draws are taken from the engine: a program of the same name in which
//! random operations are recorded in the same order draws the same numbers.

#[allow(dead_code, reason = "shared with the reference of SVGA, which needs more of it")]
#[path = "../../tests/svga_reference/dense.rs"]
mod dense;
mod table;
mod updates;

use std::collections::BTreeMap;
use std::sync::Arc;

use graphfill_data::{Direction, EdgeList, UndirectedGraph};
use graphfill_engine::random::{Key, uniforms};
use graphfill_engine::{Matrix, Plan, Program, SparseMatrix};

pub(crate) use dense::Dense;
pub(crate) use table::{Block, Kind, Table};
pub(crate) use updates::{Learning, Updates};

/// Matrices by name.
pub(crate) type Matrices = BTreeMap<String, Dense>;

/// The seed of all sessions.
pub(crate) const SEED: u64 = 11;

/// Uniform numbers in −1 ≤ number < 1.
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut numbers = vec![0.0; count];
    uniforms(Key::new(seed, 0x5245_4645, 0), &mut numbers);
    numbers.iter().map(|number| 2.0 * number - 1.0).collect()
}

/// A ring of all nodes but the last, which has no edges, and a few chords.
pub(crate) fn edges(nodes: usize) -> Vec<[u32; 2]> {
    let ring = nodes as u32 - 1;
    let chords = (0..ring / 3).map(|at| [at, at + ring / 2]);
    (0..ring).map(|at| [at, (at + 1) % ring]).chain(chords).collect()
}

pub(crate) fn graph(nodes: usize) -> UndirectedGraph {
    let mut list = EdgeList::unweighted();
    edges(nodes).iter().for_each(|&[one, other]| list.push(one, other, 1.0));
    list.into_graph(nodes, Direction::Undirected).expect("valid arcs").undirected()
}

/// A of the graph, nodes × nodes.
pub(crate) fn adjacency(nodes: usize) -> Dense {
    let mut adjacency = Dense::new(nodes, nodes, |_, _| 0.0);
    for [one, other] in edges(nodes) {
        adjacency.set(one as usize, other as usize, 1.0);
        adjacency.set(other as usize, one as usize, 1.0);
    }
    adjacency
}

/// D^-½ A D^-½; rows without entries stay zero.
pub(crate) fn normalised(adjacency: &Dense) -> Dense {
    let degree = |node: usize| adjacency.row(node).iter().sum::<f64>();
    Dense::new(adjacency.rows, adjacency.columns, |row, column| match adjacency.at(row, column) {
        0.0 => 0.0,
        value => value / (degree(row) * degree(column)).sqrt(),
    })
}

/// Â = D̃^-½ (A + I) D̃^-½.
pub(crate) fn with_self_loops(nodes: usize) -> Dense {
    normalised(&adjacency(nodes).plus(&Dense::identity(nodes)))
}

/// SVGA's regulariser  tr(ZᵀKZ) − ½ log|I + ZᵀZ/β|  with K = I − D^-½ A D^-½.
pub(crate) fn field(nodes: usize, latent: &Dense, beta: f64) -> f64 {
    let k = Dense::identity(nodes).plus(&normalised(&adjacency(nodes)).scaled(-1.0));
    let smooth = latent.transposed().product(&k.product(latent)).trace();
    let gram = latent.transposed().product(latent).scaled(1.0 / beta);
    let (log_determinant, _) =
        gram.plus(&Dense::identity(latent.columns)).log_determinant_and_inverse();
    smooth - 0.5 * log_determinant
}

/// x W + b, of the parameters `name.weight` and `name.bias`.
pub(crate) fn linear(parameters: &Matrices, name: &str, rows: &Dense) -> Dense {
    let [weight, bias] = ["weight", "bias"].map(|part| &parameters[&format!("{name}.{part}")]);
    rows.product(weight).plus_row(bias)
}

pub(crate) fn relu(rows: &Dense) -> Dense {
    rows.map(|x| x.max(0.0))
}

pub(crate) fn elu(rows: &Dense) -> Dense {
    rows.map(|x| if x < 0.0 { x.exp_m1() } else { x })
}

/// Rows of length one.
pub(crate) fn unit(rows: &Dense) -> Dense {
    let length = |row: usize| rows.row(row).iter().map(|x| x * x).sum::<f64>().sqrt();
    Dense::new(rows.rows, rows.columns, |row, column| rows.at(row, column) / length(row))
}

pub(crate) fn gathered(rows: &Dense, chosen: &[u32]) -> Dense {
    Dense::new(chosen.len(), rows.columns, |row, column| rows.at(chosen[row] as usize, column))
}

/// The columns of both, side by side.
pub(crate) fn beside(left: &Dense, right: &Dense) -> Dense {
    Dense::new(left.rows, left.columns + right.columns, |row, column| {
        if column < left.columns {
            left.at(row, column)
        } else {
            right.at(row, column - left.columns)
        }
    })
}

/// The mean logistic loss of logits that should all be large (`true`) or all far below zero.
pub(crate) fn logistic(logits: &Dense, label: bool) -> f64 {
    let cell = |x: &f64| if label { (-x).exp().ln_1p() } else { x.exp().ln_1p() };
    logits.values().iter().map(cell).sum::<f64>() / logits.values().len() as f64
}

/// What a program of this name draws in its step number `step`, counted from 0. `record` records the
/// random operations in the order of the program, as outputs; `wanted` says how many columns each has.
pub(crate) fn drawn(
    name: &str,
    step: usize,
    record: impl for<'p> Fn(&'p Program),
    wanted: &[(&str, usize)],
) -> Matrices {
    let program = Program::new(name);
    record(&program);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::device::session(plan, SEED);
    (0..=step).for_each(|_| session.run(name).expect("a run"));
    let read = |&(output, columns): &(&str, usize)| {
        let values = session.read(name, output).expect("an output");
        (output.to_owned(), Dense::of_singles(columns, &values))
    };
    wanted.iter().map(read).collect()
}

/// The number rows · i + j of each pair [i, j] that `sampled_pair_scores` draws of so many rows.
pub(crate) fn sampled_pairs(program: &Program, rows: usize, count: usize) -> Matrix<'_> {
    let values = (0..rows).map(|row| row as f32).collect();
    let index = SparseMatrix::new((0..=rows).collect(), vec![0; rows], Some(values), 1);
    let index = program.sparse_product(&Arc::new(index), program.constant([1, 1], 1.0));
    let ones = program.constant([rows, 1], 1.0);
    let (left, right) = (index.scale(rows as f32).concatenate(ones), ones.concatenate(index));
    left.sampled_pair_scores(right, count)
}

/// The pairs of numbers that [`sampled_pairs`] gave.
pub(crate) fn as_pairs(numbers: &Dense, rows: usize) -> Vec<[u32; 2]> {
    let pair = |&number: &f64| {
        let number = number.round() as usize;
        [(number / rows) as u32, (number % rows) as u32]
    };
    numbers.values().iter().map(pair).collect()
}

/// A dense matrix as the engine takes constants; zeros are not stored.
pub(crate) fn sparse(matrix: &Dense) -> Arc<SparseMatrix> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..matrix.rows {
        for (column, &value) in matrix.row(row).iter().enumerate().filter(|cell| *cell.1 != 0.0) {
            columns.push(column as u32);
            values.push(value as f32);
        }
        offsets.push(columns.len());
    }
    Arc::new(SparseMatrix::new(offsets, columns, Some(values), matrix.columns))
}

/// Numbers for a buffer of the engine.
pub(crate) fn singles(matrix: &Dense) -> Vec<f32> {
    matrix.values().iter().map(|&value| value as f32).collect()
}
