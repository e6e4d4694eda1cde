//! Where attributed walks go, and what is known of every place: nodes first, then one attribute a
//! feature, then one blank place.
//!
//!   F = [ X known, rows of length 1 ]
//!       [ identity                  ]        (nodes + features + 1) × features
//!       [ 0                         ]
//!
//! A node without known attributes has a row of zeros, as the blank place has.

use std::sync::Arc;

use graphfill_data::{CellMask, UndirectedGraph};
use graphfill_engine::SparseMatrix;

use crate::attribute_links::{each_attribute_link, edges};
use crate::features::Features;

/// Links from every place, for drawing.
#[derive(Debug)]
pub(super) struct Places {
    nodes: usize,
    attributes: usize,
    /// Of nodes to nodes.
    edges: Links,
    /// Of nodes to attributes.
    owned: Links,
    /// Of attributes to nodes.
    owners: Links,
}

/// Links of rows, with the running sum of their weights.
#[derive(Debug)]
struct Links {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    sums: Vec<f64>,
}

impl Links {
    fn of(rows: &[Vec<(u32, f64)>]) -> Self {
        let (mut offsets, mut targets, mut sums) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            let mut sum = 0.0;
            for &(target, weight) in row {
                sum += weight;
                targets.push(target);
                sums.push(sum);
            }
            offsets.push(targets.len());
        }
        Links { offsets, targets, sums }
    }

    fn is_empty(&self, row: usize) -> bool {
        self.offsets[row] == self.offsets[row + 1]
    }

    /// The target that a number in 0..1 falls on; there is one.
    fn drawn(&self, row: usize, number: f32) -> u32 {
        let own = self.offsets[row]..self.offsets[row + 1];
        let sums = &self.sums[own.clone()];
        self.targets[own.start + found(sums, f64::from(number) * sums[sums.len() - 1])]
    }

    /// The same, but for one target, as if it were not there; none where it is the only one.
    fn drawn_but(&self, row: usize, number: f32, secret: u32) -> Option<u32> {
        let own = self.offsets[row]..self.offsets[row + 1];
        let sums = &self.sums[own.clone()];
        let all = sums[sums.len() - 1];
        let place = f64::from(number) * all;
        let at = found(sums, place);
        if self.targets[own.start + at] != secret {
            return Some(self.targets[own.start + at]);
        }
        // Where within its share the number fell is a new number in 0..1.
        let before = if at == 0 { 0.0 } else { sums[at - 1] };
        let share = sums[at] - before;
        let mut place = (place - before) / share * (all - share);
        if place >= before {
            place += share;
        }
        (sums.len() > 1).then(|| self.targets[own.start + found(sums, place)])
    }
}

/// The share that a place falls on.
fn found(sums: &[f64], place: f64) -> usize {
    sums.partition_point(|&sum| sum <= place).min(sums.len() - 1)
}

impl Places {
    /// The places of a table of which `unknown` may not be seen, and F.
    pub(super) fn new(
        graph: &UndirectedGraph,
        features: &Features<'_>,
        unknown: &CellMask,
    ) -> (Self, Arc<SparseMatrix>) {
        let (nodes, attributes) = (graph.nodes(), features.width());
        let neighbours: Vec<_> = (0..nodes).map(|node| edges(graph, node)).collect();
        let mut owned = vec![Vec::new(); nodes];
        let mut owners = vec![Vec::new(); attributes];
        each_attribute_link(features, unknown, &mut |row, feature, weight| {
            owned[row].push(((nodes + feature) as u32, weight));
            owners[feature].push((row as u32, weight));
        });
        let inputs = Arc::new(inputs(&owned, nodes, attributes));
        let (edges, owned) = (Links::of(&neighbours), Links::of(&owned));
        (Places { nodes, attributes, edges, owned, owners: Links::of(&owners) }, inputs)
    }

    /// The place that nothing is known of.
    pub(super) fn blank(&self) -> u32 {
        (self.nodes + self.attributes) as u32
    }

    /// How many links there are between nodes and attributes.
    pub(super) fn attribute_links(&self) -> usize {
        self.owned.targets.len()
    }

    /// The place after `place`: from a node along an edge with probability `alpha`, else to one of
    /// its attributes; from an attribute to one of its nodes. `numbers` are in 0..1. A place without
    /// a way out is not left, and no way leads between `secret` and an attribute: who comes to a node
    /// from an attribute knows that the node has it.
    pub(super) fn next(&self, place: u32, secret: u32, alpha: f32, numbers: [f32; 2]) -> u32 {
        let at = place as usize;
        if at >= self.nodes {
            let owner = self.owners.drawn_but(at - self.nodes, numbers[1], secret);
            return owner.unwrap_or(place);
        }
        let has_edge = !self.edges.is_empty(at);
        let has_attribute = place != secret && !self.owned.is_empty(at);
        match (has_edge, has_attribute) {
            (false, false) => place,
            (true, true) if numbers[0] >= alpha => self.owned.drawn(at, numbers[1]),
            (false, true) => self.owned.drawn(at, numbers[1]),
            (true, _) => self.edges.drawn(at, numbers[1]),
        }
    }
}

fn inputs(owned: &[Vec<(u32, f64)>], nodes: usize, attributes: usize) -> SparseMatrix {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in owned {
        let length = row.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        columns.extend(row.iter().map(|&(place, _)| place - nodes as u32));
        values.extend(row.iter().map(|&(_, weight)| (weight / length) as f32));
        offsets.push(columns.len());
    }
    for attribute in 0..attributes as u32 {
        columns.push(attribute);
        values.push(1.0);
        offsets.push(columns.len());
    }
    offsets.push(columns.len());
    SparseMatrix::new(offsets, columns, Some(values), attributes)
}
