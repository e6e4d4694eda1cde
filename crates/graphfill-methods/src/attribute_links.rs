//! A node's links for walks: to its neighbours, and to the attributes that it is known to have.
//!
//! Every feature is an attribute. The weight of a link, above 0, is what is known of the cell: 1 for ones
//! of 0/1 blocks and for a category's level, the value in units of the mean for blocks without
//! negative numbers, the place between the smallest and the largest known value (0..1) for all other
//! columns. A weight of zero is no link, and neither is an unknown cell.

use graphfill_data::{CellMask, UndirectedGraph};

use crate::features::{Features, GroupKind};

/// Hands out all links between nodes and attributes, as node, feature and weight; those of one group
/// after the other, and of one node after the other.
pub(crate) fn each_attribute_link(
    features: &Features<'_>,
    unknown: &CellMask,
    each: &mut dyn FnMut(usize, usize, f64),
) {
    for (group, about) in features.groups().iter().enumerate() {
        let unit = Unit::of(features, unknown, group);
        for row in (0..features.rows()).filter(|&row| !unknown.is_whole(row)) {
            unit.each_weight(features, unknown, group, row, &mut |column, weight| {
                each(row, about.features.start + column, weight);
            });
        }
    }
}

/// The neighbours of a node and the weights of its edges.
pub(crate) fn edges(graph: &UndirectedGraph, node: usize) -> Vec<(u32, f64)> {
    graph.weighted_neighbours(node).filter(|(_, weight)| *weight > 0.0).collect()
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
        (value >= 0.0).then_some((sum + value, if value > 0.0 { count + 1.0 } else { count }))
    })?;
    Some(if sum > 0.0 { sum / count } else { 1.0 })
}
