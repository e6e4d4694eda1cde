//! How much is observed around a cell: neighbours with that cell, hops to the nearest, the cell's own row.
//!
//! Estimates are better where more is observed around them; intervals are calibrated for cells of like
//! surroundings.

use std::collections::VecDeque;
use std::sync::OnceLock;

use graphfill_data::{CellMask, UndirectedGraph};

use crate::features::Features;

/// What is observed around one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surroundings {
    /// Neighbours of the node whose cell in this column is observed.
    pub neighbours: u32,
    /// All neighbours of the node.
    pub degree: u32,
    /// Hops to the nearest node whose cell is observed; none where no path leads to one.
    pub hops: Option<u32>,
    /// The share of the row's columns that are observed.
    pub row_share: f32,
}

/// The number of classes of [`Surroundings::class`].
pub(super) const CLASSES: usize = 6;

impl Surroundings {
    /// The class of cells that are calibrated together: whether anything of the row is observed, and
    /// whether the degree is at most 3, at most 7, or more.
    pub(super) fn class(&self) -> usize {
        let degree = match self.degree {
            0..=3 => 0,
            4..=7 => 1,
            _ => 2,
        };
        usize::from(self.row_share > 0.0) * CLASSES / 2 + degree
    }
}

/// Which cells are observed, seen from the nodes of a graph.
pub(super) struct ObservedCells<'a> {
    graph: &'a UndirectedGraph,
    unknown: &'a CellMask,
    row_shares: Vec<f32>,
}

impl<'a> ObservedCells<'a> {
    /// The cells of a table that are not in `unknown`.
    pub(super) fn new(
        features: &Features<'_>,
        graph: &'a UndirectedGraph,
        unknown: &'a CellMask,
    ) -> Self {
        let groups = features.groups();
        let share = |row: usize| {
            if unknown.is_whole(row) {
                return 0.0;
            }
            if unknown.is_clear(row) {
                return 1.0;
            }
            let cells = unknown.cells(row);
            let is_observed = |group: &&crate::features::Group| {
                let from = cells.partition_point(|&cell| (cell as usize) < group.cells.start);
                let to = cells.partition_point(|&cell| (cell as usize) < group.cells.end);
                to - from < group.cells.len()
            };
            groups.iter().filter(is_observed).count() as f32 / groups.len().max(1) as f32
        };
        let row_shares = (0..features.rows()).map(share).collect();
        ObservedCells { graph, unknown, row_shares }
    }

    /// Which rows have this cell.
    pub(super) fn of_cell(&self, cell: usize) -> RowsWithCell {
        let has_cell = (0..self.unknown.rows()).map(|row| !self.unknown.contains(row, cell));
        RowsWithCell { has_cell: has_cell.collect(), hops: OnceLock::new() }
    }

    /// The surroundings of a row's cell, given which rows have that cell.
    pub(super) fn around(&self, row: usize, with_cell: &RowsWithCell) -> Surroundings {
        let neighbours = self.graph.neighbours(row);
        let has_cell = &with_cell.has_cell;
        let observed = neighbours.iter().filter(|&&other| has_cell[other as usize]).count();
        let hops = match observed {
            // Few cells have no observed neighbour: only then are all hops worked out.
            0 => with_cell.hops.get_or_init(|| hops(self.graph, has_cell))[row],
            _ => Some(1),
        };
        Surroundings {
            neighbours: observed as u32,
            degree: neighbours.len() as u32,
            hops,
            row_share: self.row_shares[row],
        }
    }
}

/// The rows that have one cell.
pub(super) struct RowsWithCell {
    pub(super) has_cell: Vec<bool>,
    hops: OnceLock<Vec<Option<u32>>>,
}

/// Hops from every node to the nearest one that is observed: 0 for an observed node, none where no
/// path leads to one.
pub fn hops(graph: &UndirectedGraph, observed: &[bool]) -> Vec<Option<u32>> {
    let mut hops: Vec<Option<u32>> = observed.iter().map(|&is| is.then_some(0)).collect();
    let mut queue: VecDeque<u32> =
        (0..observed.len() as u32).filter(|&node| observed[node as usize]).collect();
    while let Some(node) = queue.pop_front() {
        let next = hops[node as usize].map(|hops| hops + 1);
        for &other in graph.neighbours(node as usize) {
            if hops[other as usize].is_none() {
                hops[other as usize] = next;
                queue.push_back(other);
            }
        }
    }
    hops
}
