//! The graph on which attributed walks go: nodes first, then one attribute a feature.
//!
//!   B = [ A    wX ]       S = D^-½ B D^-½       D = diag(B 1)      all (nodes + features)²
//!       [ wXᵀ  0  ]
//!
//! X has the known cells as weights ≥ 0, as `attribute_links` says. w is the
//! weight of an attribute against an edge.

use graphfill_data::{CellMask, UndirectedGraph};
use graphfill_engine::SparseView;

use crate::attribute_links::{each_attribute_link, edges};
use crate::features::Features;

/// What stands for the logarithm of no link at all: less than any sum of weights.
const UNLINKED: f32 = -30.0;

/// Nodes and attributes as one weighted graph.
#[derive(Debug)]
pub struct JointGraph {
    nodes: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    /// S, entry by entry.
    values: Vec<f32>,
    /// D^-½; zero where nothing is linked.
    inverse_roots: Vec<f32>,
    volume: f64,
}

impl JointGraph {
    /// The graph of a table of which `unknown` may not be seen.
    pub fn new(
        graph: &UndirectedGraph,
        features: &Features<'_>,
        unknown: &CellMask,
        attribute_weight: f64,
    ) -> Self {
        let nodes = graph.nodes();
        let mut rows: Vec<Vec<(u32, f64)>> = (0..nodes).map(|node| edges(graph, node)).collect();
        rows.resize_with(nodes + features.width(), Vec::new);
        each_attribute_link(features, unknown, &mut |row, feature, weight| {
            let (attribute, weight) = (nodes + feature, attribute_weight * weight);
            rows[row].push((attribute as u32, weight));
            rows[attribute].push((row as u32, weight));
        });
        JointGraph::of_rows(nodes, &rows)
    }

    fn of_rows(nodes: usize, rows: &[Vec<(u32, f64)>]) -> Self {
        let degree = |row: &Vec<(u32, f64)>| row.iter().map(|&(_, weight)| weight).sum::<f64>();
        let degrees: Vec<f64> = rows.iter().map(degree).collect();
        let root = |&degree: &f64| if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 };
        let roots: Vec<f64> = degrees.iter().map(root).collect();
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (row, root) in rows.iter().zip(&roots) {
            for &(column, weight) in row {
                columns.push(column);
                values.push((root * weight * roots[column as usize]) as f32);
            }
            offsets.push(columns.len());
        }
        let inverse_roots = roots.iter().map(|&root| root as f32).collect();
        JointGraph { nodes, offsets, columns, values, inverse_roots, volume: degrees.iter().sum() }
    }

    /// The number of nodes of the table's graph.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of nodes and attributes together.
    pub fn size(&self) -> usize {
        self.inverse_roots.len()
    }

    /// S.
    pub fn similarity(&self) -> SparseView<'_> {
        SparseView::new(&self.offsets, &self.columns, Some(&self.values), self.size())
    }

    /// D^-½.
    pub fn inverse_roots(&self) -> &[f32] {
        &self.inverse_roots
    }

    /// The logarithm of every attribute's degree.
    pub fn log_attribute_degrees(&self) -> Vec<f32> {
        let of_root = |&root: &f32| if root > 0.0 { -2.0 * root.ln() } else { UNLINKED };
        self.inverse_roots[self.nodes..].iter().map(of_root).collect()
    }

    /// How many links there are between nodes and attributes.
    pub fn attribute_links(&self) -> usize {
        self.columns.len() - self.offsets[self.nodes]
    }

    /// The sum of all degrees.
    pub fn volume(&self) -> f64 {
        self.volume
    }
}
