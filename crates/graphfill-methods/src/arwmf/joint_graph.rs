//! The graph on which attributed walks go: nodes first, then one attribute a feature.
//!
//!   B = [ A    wX ]       S = D^-½ B D^-½       D = diag(B 1)      all (nodes + features)²
//!       [ wXᵀ  0  ]
//!
//! X has the known cells as weights ≥ 0: ones of 0/1 blocks, levels of categories, values of blocks
//! without negative numbers in units of their mean, all other columns brought to 0..1. An unknown cell
//! is no link. w is the weight of an attribute against an edge.

use graphfill_data::{CellMask, UndirectedGraph};
use graphfill_engine::SparseView;

use crate::features::{Features, GroupKind};

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
        for (group, about) in features.groups().iter().enumerate() {
            let unit = Unit::of(features, unknown, group);
            for row in (0..nodes).filter(|&row| !unknown.is_whole(row)) {
                unit.each_weight(features, unknown, group, row, &mut |column, weight| {
                    let attribute = (nodes + about.features.start + column) as u32;
                    let weight = attribute_weight * weight;
                    rows[row].push((attribute, weight));
                    rows[attribute as usize].push((row as u32, weight));
                });
            }
        }
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

fn edges(graph: &UndirectedGraph, node: usize) -> Vec<(u32, f64)> {
    let weights = graph.weights(node);
    let weight = |slot: usize| weights.map_or(1.0, |weights| f64::from(weights[slot]));
    let neighbours = graph.neighbours(node).iter().enumerate();
    neighbours.map(|(slot, &other)| (other, weight(slot))).filter(|edge| edge.1 > 0.0).collect()
}

/// How the cells of a group become weights.
enum Unit {
    /// Stored values over this one.
    Stored(f64),
    /// The smallest known value of each column becomes 0, the largest 1.
    Ranges(Vec<(f64, f64)>),
}

impl Unit {
    fn of(features: &Features<'_>, unknown: &CellMask, group: usize) -> Self {
        let about = &features.groups()[group];
        let stored = match (&about.kind, features.block(group)) {
            (GroupKind::BinaryBlock | GroupKind::Category(_), _) => Some(1.0),
            (GroupKind::NumericBlock, Some(block)) => {
                let rows = (0..features.rows()).filter(|&row| !unknown.is_whole(row));
                let known = rows.flat_map(|row| {
                    let is_known = move |&(column, _): &(u32, f64)| {
                        !unknown.contains(row, about.cells.start + column as usize)
                    };
                    block.cells(row).filter(is_known).map(|(_, value)| value)
                });
                mean_of_positives(known)
            }
            _ => None,
        };
        if let Some(unit) = stored {
            return Unit::Stored(unit);
        }
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); about.features.len()];
        for row in (0..features.rows()).filter(|&row| !unknown.is_whole(row)) {
            for (feature, range) in about.features.clone().zip(&mut ranges) {
                if !unknown.contains(row, about.cell_of(feature)) {
                    let value = features.value(group, row, feature);
                    *range = (range.0.min(value), range.1.max(value));
                }
            }
        }
        Unit::Ranges(ranges)
    }

    /// Hands out the links of a row: columns of the group and their weights.
    fn each_weight(
        &self,
        features: &Features<'_>,
        unknown: &CellMask,
        group: usize,
        row: usize,
        each: &mut dyn FnMut(usize, f64),
    ) {
        let about = &features.groups()[group];
        let known =
            |column: usize| !unknown.contains(row, about.cell_of(about.features.start + column));
        match (self, features.block(group)) {
            (Unit::Stored(unit), Some(block)) => {
                let links = block.cells(row).map(|(column, value)| (column as usize, value / unit));
                links
                    .filter(|&(column, weight)| weight > 0.0 && known(column))
                    .for_each(|(column, weight)| each(column, weight));
            }
            (Unit::Stored(_), None) => {
                if let Some(level) = features.level(group, row).filter(|_| known(0)) {
                    each(level as usize, 1.0);
                }
            }
            (Unit::Ranges(ranges), _) => {
                for (column, (least, most)) in ranges.iter().enumerate() {
                    let value = || features.value(group, row, about.features.start + column);
                    if most > least && known(column) && value() > *least {
                        each(column, (value() - least) / (most - least));
                    }
                }
            }
        }
    }
}

/// The mean of the values above zero; nothing where one is below.
fn mean_of_positives(mut values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.try_fold((0.0, 0.0), |(sum, count), value| {
        (value >= 0.0).then(|| (sum + value, if value > 0.0 { count + 1.0 } else { count }))
    })?;
    Some(if sum > 0.0 { sum / count } else { 1.0 })
}
