//! Keeps the estimates of a set of cells as a method passes them on.

use graphfill_data::CellMask;

use crate::error::Result;
use crate::features::{Features, GroupKind};
use crate::method::{EstimateSink, Estimates};

/// The estimates of some cells, by group.
pub struct CellEstimates<'a> {
    features: &'a Features<'a>,
    cells: &'a CellMask,
    /// The rows that have cells of the set.
    rows: Vec<u32>,
    /// The maximum number of cells that are kept of a 0/1 block, in whole rows.
    max_block_cells: usize,
    pub(super) groups: Vec<GroupEstimates>,
}

/// The estimates of one group.
#[derive(Debug, Clone)]
pub(super) enum GroupEstimates {
    /// Rows and estimates, one list per feature, rows ascending.
    Numbers(Vec<Vec<(u32, f64)>>),
    /// Rows ascending, and `rows × levels` estimates; a boolean has the levels false and true.
    Levels { rows: Vec<u32>, values: Vec<f32> },
    /// Scores of the cells of a 0/1 block: row, column, score.
    Ones(Vec<(u32, u32, f32)>),
}

impl GroupEstimates {
    /// Moves every estimate by a share of the way to that of the same cell in another run.
    pub(super) fn move_towards(&mut self, other: &GroupEstimates, share: f64) {
        let moved = |own: f32, other: f32| own + (other - own) * share as f32;
        match (self, other) {
            (GroupEstimates::Numbers(own), GroupEstimates::Numbers(other)) => {
                let cells = own.iter_mut().flatten().zip(other.iter().flatten());
                cells.for_each(|(own, other)| own.1 += (other.1 - own.1) * share);
            }
            (
                GroupEstimates::Levels { values: own, .. },
                GroupEstimates::Levels { values: other, .. },
            ) => own.iter_mut().zip(other).for_each(|(own, other)| *own = moved(*own, *other)),
            (GroupEstimates::Ones(own), GroupEstimates::Ones(other)) => {
                own.iter_mut().zip(other).for_each(|(own, other)| own.2 = moved(own.2, other.2));
            }
            _ => {}
        }
    }
}

impl<'a> CellEstimates<'a> {
    /// Keeps estimates of `cells`, of a 0/1 block at most so many.
    pub fn new(features: &'a Features<'a>, cells: &'a CellMask, max_block_cells: usize) -> Self {
        let rows = cells.touched_rows();
        let groups = features.groups().iter().map(|group| match group.kind {
            GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock => {
                GroupEstimates::Numbers(vec![Vec::new(); group.features.len()])
            }
            GroupKind::Boolean | GroupKind::Category(_) => {
                let own = |row: &u32| cells.contains(*row as usize, group.cells.start);
                let rows: Vec<u32> = rows.iter().copied().filter(own).collect();
                let width = group.features.len().max(2);
                GroupEstimates::Levels { values: vec![0.0; rows.len() * width], rows }
            }
            GroupKind::BinaryBlock => GroupEstimates::Ones(Vec::new()),
        });
        let groups = groups.collect();
        CellEstimates { features, cells, rows, max_block_cells, groups }
    }
}

impl EstimateSink for CellEstimates<'_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        for (at, about, inside) in self.features.groups_in(estimates.features()) {
            let first = about.features.start;
            match &mut self.groups[at] {
                GroupEstimates::Numbers(columns) => {
                    for feature in inside {
                        let cell = about.cell_of(feature);
                        let own = |row: &&u32| self.cells.contains(**row as usize, cell);
                        let estimate = |&row: &u32| (row, estimates.mean(row as usize, feature));
                        columns[feature - first].extend(self.rows.iter().filter(own).map(estimate));
                    }
                }
                GroupEstimates::Levels { rows, values } => {
                    let width = about.features.len().max(2);
                    for (row, values) in rows.iter().zip(values.chunks_exact_mut(width)) {
                        for feature in inside.clone() {
                            let estimate = estimates.mean(*row as usize, feature) as f32;
                            match about.features.len() {
                                1 => values.copy_from_slice(&[1.0 - estimate, estimate]),
                                _ => values[feature - first] = estimate,
                            }
                        }
                    }
                }
                GroupEstimates::Ones(scores) => {
                    let kept = self.max_block_cells / about.features.len().max(1);
                    for &row in self.rows.iter().take(kept) {
                        for feature in inside.clone() {
                            if self.cells.contains(row as usize, about.cell_of(feature)) {
                                let score = estimates.mean(row as usize, feature) as f32;
                                scores.push((row, (feature - first) as u32, score));
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
