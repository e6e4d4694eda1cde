//! P, which takes latents of observed rows to all nodes:                      nodes × rows
//!
//!   (P z)_i = z_i                                         where i is observed
//!           = Σ_j a_ij z_j / Σ_j a_ij,  j observed        elsewhere; 0, the prior's mean, of none

use graphfill_data::UndirectedGraph;
use graphfill_engine::SparseMatrix;

/// P, for rows that are observed, ascending.
pub(super) fn to_nodes(graph: &UndirectedGraph, observed: &[u32]) -> SparseMatrix {
    let place = |node: u32| observed.binary_search(&node).ok().map(|place| place as u32);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for node in 0..graph.nodes() as u32 {
        let own = place(node).map(|place| vec![(place, 1.0)]);
        let entries = own.unwrap_or_else(|| neighbours(graph, node, &place));
        columns.extend(entries.iter().map(|(place, _)| *place));
        values.extend(entries.iter().map(|(_, share)| *share));
        offsets.push(columns.len());
    }
    SparseMatrix::new(offsets, columns, Some(values), observed.len())
}

/// The places of a node's observed neighbours, and the share of each.
fn neighbours(
    graph: &UndirectedGraph,
    node: u32,
    place: &impl Fn(u32) -> Option<u32>,
) -> Vec<(u32, f32)> {
    let all = graph.weighted_neighbours(node as usize);
    let observed: Vec<(u32, f64)> = all
        .filter_map(|(other, weight)| Some((place(other)?, weight)))
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    let sum: f64 = observed.iter().map(|(_, weight)| weight).sum();
    observed.into_iter().map(|(place, weight)| (place, (weight / sum) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use graphfill_data::{Direction, EdgeList};

    use super::*;

    #[test]
    fn missing_nodes_have_the_mean_of_observed_neighbours() {
        let mut edges = EdgeList::unweighted();
        for (one, other) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
            edges.push(one, other, 1.0);
        }
        let graph = edges.into_graph(6, Direction::Undirected).expect("valid arcs");
        let graph = graph.undirected();
        let matrix = to_nodes(&graph, &[0, 2]);
        let row = |node: usize| -> Vec<(u32, f32)> {
            let (columns, values) = (matrix.view().columns(node), matrix.view().values(node));
            let value = |at: usize| values.map_or(1.0, |values| values[at]);
            columns.iter().enumerate().map(|(at, &column)| (column, value(at))).collect()
        };
        assert_eq!(row(0), [(0, 1.0)], "observed: its own");
        assert_eq!(row(1), [(0, 0.5), (1, 0.5)], "between two observed");
        assert_eq!(row(3), [(1, 1.0)], "one of its two neighbours is observed");
        assert_eq!((row(4), row(5)), (vec![], vec![]), "no neighbour is observed");
    }
}
