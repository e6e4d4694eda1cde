//! The known cells of a table as the edges between its rows and its features.

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::SparseMatrix;

use crate::features::Features;
use crate::learning::Likelihoods;

/// Values stay within this: one wild cell is not to drown a mean.
const LARGEST_VALUE: f32 = 4.0;

/// Edges, row by row.
pub(super) struct Edges {
    /// Row and feature of each.
    pub(super) pairs: Arc<[[u32; 2]]>,
    /// The score of each.
    pub(super) values: Vec<f32>,
    /// Rows and features.
    pub(super) rows: Side,
    /// See `rows`.
    pub(super) features: Side,
}

/// One end of the edges.
pub(super) struct Side {
    /// The number of nodes.
    pub(super) nodes: usize,
    /// Which node each edge has: edges × nodes.
    pub(super) of_edge: Arc<SparseMatrix>,
}

impl Side {
    fn new(nodes: usize, of_edge: &[u32]) -> Self {
        Side { nodes, of_edge: Arc::new(SparseMatrix::selection(of_edge, nodes)) }
    }
}

impl Edges {
    /// The cells that are not `unknown`.
    pub(super) fn of(
        features: &Features<'_>,
        unknown: &CellMask,
        likelihoods: &Likelihoods,
    ) -> Self {
        let (mut pairs, mut values) = (Vec::new(), Vec::new());
        for row in 0..features.rows() {
            for (group, about) in features.groups().iter().enumerate() {
                for (column, feature) in about.features.clone().enumerate() {
                    if !unknown.contains(row, about.cell_of(feature)) {
                        let value = features.value(group, row, feature);
                        let score = likelihoods.logit(group, column, value);
                        pairs.push([row as u32, feature as u32]);
                        values.push(score.clamp(-LARGEST_VALUE, LARGEST_VALUE));
                    }
                }
            }
        }
        let ends = |side: usize| pairs.iter().map(|pair| pair[side]).collect::<Vec<u32>>();
        let rows = Side::new(features.rows(), &ends(0));
        let features = Side::new(features.width(), &ends(1));
        Edges { pairs: pairs.into(), values, rows, features }
    }

    /// How many there will be.
    pub(super) fn count(features: &Features<'_>, unknown: &CellMask) -> usize {
        let in_row = |row: usize| -> usize {
            if unknown.is_whole(row) {
                return 0;
            }
            let known = |about: &crate::features::Group| {
                let is_known = |&feature: &usize| !unknown.contains(row, about.cell_of(feature));
                about.features.clone().filter(is_known).count()
            };
            features.groups().iter().map(known).sum()
        };
        (0..features.rows()).map(in_row).sum()
    }
}
