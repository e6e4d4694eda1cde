//! Directed propagation: how much of a neighbourhood are the in-neighbours.
//!
//!   A_a = 2 (1 − a) A ⊕ 2 a Aᵀ          a, the share of the in-arcs, between 0 and 1
//!   S_a = D_row^-½ A_a D_col^-½         D_row, D_col: the sums of the rows and of the columns of A_a
//!
//! where ⊕ combines the weights of both arcs of an edge as [`DuplicateEdges`] says. With a = 0 a node hears
//! its out-neighbours alone (what a paper cites), with a = 1 its in-neighbours (what cites it), and a = ½ is
//! the undirected graph.
//!
//! At a = 0 and a = 1 a node may have no neighbour left, because all of its arcs point the other way. It
//! keeps its neighbours of the undirected graph, with twice their weights, as the arcs of others have.

use std::sync::OnceLock;

use graphfill_data::{DuplicateEdges, UndirectedGraph};

use crate::error::{MethodError, Result};
use crate::method::Task;
use crate::parameters::{ParameterInfo, Parameters};

/// The name of the parameter a.
pub const IN_SHARE: &str = "in_share";

/// a where directions say nothing.
pub(super) const BOTH: f64 = 0.5;
/// The shares that are compared; of equals the first wins.
pub(super) const IN_SHARES: [f64; 5] = [BOTH, 0.0, 0.25, 0.75, 1.0];

/// A share of in-arcs in words: `out-neighbours only`, `both directions alike`.
pub fn describe_in_share(in_share: f64) -> &'static str {
    match in_share {
        share if share <= 0.0 => "out-neighbours only",
        share if share < BOTH => "mostly out-neighbours",
        BOTH => "both directions alike",
        share if share < 1.0 => "mostly in-neighbours",
        _ => "in-neighbours only",
    }
}

/// The shares that a method compares on a task's graph, or the one that its caller set. None where the
/// graph or the method has no directions.
pub(super) fn candidate_shares(
    method: &str,
    known: &[ParameterInfo],
    fixed: &Parameters,
    task: &Task<'_>,
) -> Result<Option<Vec<f64>>> {
    let fixed = fixed.get(IN_SHARE);
    if !task.graph.is_directed() {
        return match fixed {
            None => Ok(None),
            Some(_) => Err(MethodError::Parameter(format!(
                "{method}.{IN_SHARE} is set, but the graph has no directions, or all of its arcs have a reverse of the same weight: leave {IN_SHARE} out, or declare that edges are directed"
            ))),
        };
    }
    let has_share = known.iter().any(|parameter| parameter.name == IN_SHARE);
    Ok(has_share.then(|| fixed.map_or_else(|| IN_SHARES.to_vec(), |share| vec![share])))
}

/// A_a and S_a.
pub(crate) struct DirectedWeights {
    /// a.
    pub(super) in_share: f64,
    /// A_a, beside the neighbours of the undirected graph.
    pub(super) adjacency: Vec<f32>,
    symmetric: OnceLock<Vec<f32>>,
}

impl DirectedWeights {
    /// The weights of a share; none where they are those of the undirected graph.
    pub(super) fn new(graph: &UndirectedGraph, in_share: f64) -> Option<Self> {
        if in_share == BOTH || !graph.is_directed() {
            return None;
        }
        let mut adjacency = Vec::with_capacity(graph.all_neighbours().len());
        for node in 0..graph.nodes() {
            let (out, into) = (graph.out_weights(node)?, graph.in_weights(node)?);
            let start = adjacency.len();
            let both = out.iter().zip(into);
            adjacency.extend(both.map(|(&out, &into)| {
                combine(graph.duplicate_edges(), in_share, f64::from(out), f64::from(into)) as f32
            }));
            if adjacency[start..].iter().all(|&weight| weight == 0.0) {
                let undirected = graph.weighted_neighbours(node);
                adjacency.truncate(start);
                adjacency.extend(undirected.map(|(_, weight)| 2.0 * weight as f32));
            }
        }
        Some(DirectedWeights { in_share, adjacency, symmetric: OnceLock::new() })
    }

    /// S_a.
    pub(super) fn symmetric(&self, graph: &UndirectedGraph) -> &[f32] {
        self.symmetric.get_or_init(|| self.normalised(graph))
    }

    fn normalised(&self, graph: &UndirectedGraph) -> Vec<f32> {
        let (indptr, neighbours) = (graph.indptr(), graph.all_neighbours());
        let mut columns = vec![0.0f64; graph.nodes()];
        for (&other, &weight) in neighbours.iter().zip(&self.adjacency) {
            columns[other as usize] += f64::from(weight);
        }
        let inverse_root = |sum: f64| if sum > 0.0 { 1.0 / sum.sqrt() } else { 0.0 };
        let columns: Vec<f64> = columns.into_iter().map(inverse_root).collect();
        let mut values = Vec::with_capacity(neighbours.len());
        for row in indptr.windows(2) {
            let weights = &self.adjacency[row[0]..row[1]];
            let scale = inverse_root(weights.iter().map(|&weight| f64::from(weight)).sum());
            let cells = neighbours[row[0]..row[1]].iter().zip(weights);
            values.extend(cells.map(|(&other, &weight)| {
                (scale * f64::from(weight) * columns[other as usize]) as f32
            }));
        }
        values
    }
}

/// The weight of an edge in A_a, from the weights of its arcs; 0 stands for no arc.
fn combine(policy: DuplicateEdges, in_share: f64, out: f64, into: f64) -> f64 {
    let (from_out, from_in) = (2.0 * (1.0 - in_share) * out, 2.0 * in_share * into);
    match policy {
        DuplicateEdges::Sum => from_out + from_in,
        // The mean of a = ½, stretched so that A is all at a = 0, and Aᵀ at a = 1.
        DuplicateEdges::Mean if out > 0.0 && into > 0.0 => {
            in_share.max(1.0 - in_share) * (from_out + from_in)
        }
        _ => from_out.max(from_in),
    }
}
