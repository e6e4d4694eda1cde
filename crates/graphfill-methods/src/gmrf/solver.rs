//! Conjugate gradients for (M + σ² Q) ẑ = M x, all columns of a panel side by side.
//!
//!   Q v = (L / d̄ + κ I)^ν v     ν sparse products                                 nodes × columns
//!
//! preconditioned by the diagonal of M + σ² Q (of Q: that of its factor to the power ν).

use graphfill_engine::cpu::{FinishRow, sparse_product};
use rayon::prelude::*;

use crate::features::Panel;
use crate::propagation::Operators;

/// Iterations after which the solution is taken as it is.
const MAX_ITERATIONS: usize = 60;
/// Rows that are summed up by one task.
const CHUNK: usize = 512;

/// A field, and the noise of its observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Field {
    /// ν.
    pub(crate) smoothness: usize,
    /// κ.
    pub(crate) kappa: f32,
    /// σ².
    pub(crate) noise: f32,
}

/// ẑ, for every node: rows × width of the panel. A column is solved when its residual is at most
/// `tolerance` times its right-hand side.
pub(crate) fn solve(
    operators: &Operators<'_>,
    panel: &Panel,
    field: Field,
    tolerance: f64,
) -> Vec<f32> {
    let system = System::new(operators, panel, field);
    let width = panel.width;
    // The panel has zeros where a cell is not known: it is M x.
    let mut residual = panel.values.clone();
    let mut solution = vec![0.0f32; residual.len()];
    let mut scaled = system.preconditioned(&residual);
    let mut direction = scaled.clone();
    let mut product = vec![0.0f32; residual.len()];
    let mut spare = vec![0.0f32; residual.len()];
    let mut energy = column_dots(&residual, &scaled, width);
    let target: Vec<f64> = energy.iter().map(|start| start * tolerance * tolerance).collect();
    for _ in 0..MAX_ITERATIONS {
        let is_done = |column: usize| energy[column] <= target[column];
        if (0..width).all(is_done) {
            break;
        }
        system.apply(&direction, &mut product, &mut spare);
        let curvature = column_dots(&direction, &product, width);
        let step: Vec<f32> = (0..width)
            .map(|column| match curvature[column] > 0.0 && !is_done(column) {
                true => (energy[column] / curvature[column]) as f32,
                false => 0.0,
            })
            .collect();
        add_scaled(&mut solution, &direction, &step, 1.0);
        add_scaled(&mut residual, &product, &step, -1.0);
        scaled = system.preconditioned(&residual);
        let next = column_dots(&residual, &scaled, width);
        let ratio: Vec<f32> = (0..width)
            .map(
                |column| if is_done(column) { 0.0 } else { (next[column] / energy[column]) as f32 },
            )
            .collect();
        let rows = direction.par_chunks_mut(width).zip(scaled.par_chunks(width));
        rows.for_each(|(direction, scaled)| {
            for ((direction, scaled), ratio) in direction.iter_mut().zip(scaled).zip(&ratio) {
                *direction = scaled + ratio * *direction;
            }
        });
        for column in 0..width {
            if energy[column] > target[column] {
                energy[column] = next[column];
            }
        }
    }
    clamp(&mut solution, panel);
    solution
}

/// Keeps every column within its known values: smooth fields run away where nothing is known nearby.
fn clamp(solution: &mut [f32], panel: &Panel) {
    let width = panel.width;
    let mut ranges = vec![(0.0f32, 0.0f32); width];
    for (values, known) in panel.values.chunks_exact(width).zip(&panel.known) {
        for (column, (value, range)) in values.iter().zip(&mut ranges).enumerate() {
            if known >> column & 1 == 1 {
                *range = (range.0.min(*value), range.1.max(*value));
            }
        }
    }
    solution.par_chunks_mut(width).for_each(|row| {
        for (value, (low, high)) in row.iter_mut().zip(&ranges) {
            *value = value.clamp(*low, *high);
        }
    });
}

/// M + σ² Q.
struct System<'a> {
    operators: &'a Operators<'a>,
    panel: &'a Panel,
    field: Field,
    /// Weighted degrees over their mean.
    degrees: Vec<f32>,
    /// 1 / d̄.
    scale: f32,
}

impl<'a> System<'a> {
    fn new(operators: &'a Operators<'a>, panel: &'a Panel, field: Field) -> Self {
        let graph = operators.graph();
        let degree = |node: usize| match graph.weights(node) {
            Some(weights) => weights.iter().map(|&weight| f64::from(weight)).sum(),
            None => graph.degree(node) as f64,
        };
        let degrees: Vec<f64> = (0..graph.nodes()).map(degree).collect();
        let mean = degrees.iter().sum::<f64>() / degrees.len().max(1) as f64;
        let scale = if mean > 0.0 { 1.0 / mean } else { 1.0 };
        let degrees = degrees.iter().map(|degree| (degree * scale) as f32).collect();
        System { operators, panel, field, degrees, scale: scale as f32 }
    }

    /// to ← (M + σ² Q) v.
    fn apply(&self, v: &[f32], to: &mut Vec<f32>, spare: &mut Vec<f32>) {
        let width = self.panel.width;
        for factor in 0..self.field.smoothness {
            let from: &[f32] = if factor == 0 { v } else { spare };
            let shifted = Shifted { system: self, from };
            sparse_product(self.operators.adjacency(), from, width, to, &shifted);
            if factor + 1 < self.field.smoothness {
                std::mem::swap(to, spare);
            }
        }
        let noise = self.field.noise;
        let rows = to.par_chunks_mut(width).zip(v.par_chunks(width)).zip(&self.panel.known);
        rows.for_each(|((to, v), known)| {
            for (column, (to, v)) in to.iter_mut().zip(v).enumerate() {
                let known = (known >> column & 1) as f32;
                *to = noise * *to + known * v;
            }
        });
    }

    /// Divided by the diagonal.
    fn preconditioned(&self, v: &[f32]) -> Vec<f32> {
        let width = self.panel.width;
        let mut out = v.to_vec();
        let rows = out.par_chunks_mut(width).zip(&self.panel.known).zip(&self.degrees);
        rows.for_each(|((out, known), degree)| {
            let factor = degree + self.field.kappa;
            let own = self.field.noise * factor.powi(self.field.smoothness as i32);
            for (column, value) in out.iter_mut().enumerate() {
                *value /= own + (known >> column & 1) as f32;
            }
        });
        out
    }
}

/// One row of (L / d̄ + κ I) v: (degree / d̄ + κ) v − (sum over neighbours) / d̄.
struct Shifted<'a> {
    system: &'a System<'a>,
    from: &'a [f32],
}

impl FinishRow for Shifted<'_> {
    #[inline(always)]
    fn finish(&self, row: usize, sum: &[f32], out: &mut [f32]) {
        let own = self.system.degrees[row] + self.system.field.kappa;
        let from = &self.from[row * sum.len()..(row + 1) * sum.len()];
        for ((out, sum), from) in out.iter_mut().zip(sum).zip(from) {
            *out = own * from - self.system.scale * sum;
        }
    }
}

/// The product of two columns each: Σ over rows a b.
fn column_dots(a: &[f32], b: &[f32], width: usize) -> Vec<f64> {
    let chunks = a.par_chunks(width * CHUNK).zip(b.par_chunks(width * CHUNK));
    let partial: Vec<Vec<f64>> = chunks
        .map(|(a, b)| {
            let mut sums = vec![0.0f64; width];
            for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
                for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                    *sum += f64::from(*a) * f64::from(*b);
                }
            }
            sums
        })
        .collect();
    // In the order of the rows: the same sum whatever the number of threads.
    let mut sums = vec![0.0f64; width];
    for part in partial {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sums
}

/// to ← to + sign · step ∘ v, the steps being those of the columns.
fn add_scaled(to: &mut [f32], v: &[f32], step: &[f32], sign: f32) {
    let rows = to.par_chunks_mut(step.len()).zip(v.par_chunks(step.len()));
    rows.for_each(|(to, v)| {
        for ((to, v), step) in to.iter_mut().zip(v).zip(step) {
            *to += sign * step * v;
        }
    });
}

#[cfg(test)]
mod tests {
    use graphfill_data::{Direction, EdgeList, UndirectedGraph};

    use super::*;
    use crate::reference::Dense;

    const NODES: usize = 12;

    fn graph() -> UndirectedGraph {
        let mut edges = EdgeList::weighted();
        for node in 0..NODES as u32 - 1 {
            edges.push(node, (node + 1) % NODES as u32, 1.0 + node as f32 / 4.0);
            edges.push(node, (node * 5 + 2) % NODES as u32, 0.5);
        }
        edges.into_graph(NODES, Direction::Undirected).expect("valid arcs").undirected()
    }

    #[test]
    fn it_solves_the_equation_of_the_documentation() {
        let graph = graph();
        let operators = Operators::new(&graph);
        let width = 8;
        let known: Vec<u64> =
            (0..NODES).map(|row| if row % 3 == 0 { 0b01 } else { 0b11 }).collect();
        let is_known = |row: usize, column: usize| known[row] >> column & 1 == 1;
        let mut values = vec![0.0f32; NODES * width];
        for (at, value) in values.iter_mut().enumerate() {
            let (row, column) = (at / width, at % width);
            if is_known(row, column) {
                *value = ((row * 7 + column * 3) % 5) as f32 - 2.0;
            }
        }
        let mut adjacency = Dense::new(NODES, NODES, |_, _| 0.0);
        for row in 0..NODES {
            for (other, weight) in graph.weighted_neighbours(row) {
                adjacency.set(row, other as usize, weight);
            }
        }
        let degrees = adjacency.product(&Dense::new(NODES, 1, |_, _| 1.0));
        let mean = degrees.column_sums().at(0, 0) / NODES as f64;
        let factor = Dense::new(NODES, NODES, |row, column| {
            let own = if row == column { degrees.at(row, 0) / mean + 0.2 } else { 0.0 };
            own - adjacency.at(row, column) / mean
        });
        let panel =
            Panel { features: 0..2, width, values, known: known.clone(), offsets: vec![0.0; 2] };
        for smoothness in 1..=3 {
            let found =
                solve(&operators, &panel, Field { smoothness, kappa: 0.2, noise: 0.4 }, 1e-5);
            let precision = (1..smoothness).fold(factor.clone(), |q, _| q.product(&factor));
            for column in 0..2 {
                let seen = Dense::new(NODES, NODES, |row, other| {
                    f64::from(u8::from(row == other && is_known(row, column)))
                });
                let x =
                    Dense::new(NODES, 1, |row, _| f64::from(panel.values[row * width + column]));
                let system = precision.scaled(0.4).plus(&seen);
                let expected = system.log_determinant_and_inverse().1.product(&x);
                for row in 0..NODES {
                    let off = f64::from(found[row * width + column]) - expected.at(row, 0);
                    assert!(off.abs() < 1e-4, "ν {smoothness}, row {row} is off by {off}");
                }
            }
        }
    }

    #[test]
    fn estimates_stay_within_the_known_values() {
        let graph = graph();
        let operators = Operators::new(&graph);
        let known: Vec<u64> = (0..NODES as u64).map(|row| u64::from(row < 4)).collect();
        let mut values = vec![0.0f32; NODES * 8];
        (0..4).for_each(|row| values[row * 8] = row as f32);
        let panel = Panel { features: 0..1, width: 8, values, known, offsets: vec![0.0] };
        let found =
            solve(&operators, &panel, Field { smoothness: 3, kappa: 0.001, noise: 0.001 }, 1e-5);
        assert!(found.iter().all(|value| (0.0..=3.0).contains(value)), "{found:?}");
    }
}
