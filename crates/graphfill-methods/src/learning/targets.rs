//! What a model learns from: the known cells of a table as a [`Likelihood`], and known labels.
//!
//! Scores have the columns of the [`Features`], rows are those with any known cell. Each group of
//! features is one block with its own loss, a mean over its known cells; every group weighs the
//! same, however many columns it has, and all together weigh one.

use std::sync::Arc;

use graphfill_data::{CellMask, Labels};
use graphfill_engine::{Likelihood, MISSING_CATEGORY, SparseRows, Targets};

use super::scales::Scales;
use crate::error::Result;
use crate::features::{Features, GroupKind};

/// How a binary block is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryLoss {
    /// Cell by cell, ones and zeros together weighing the same: SVGA's.
    BalancedBernoulli,
    /// A row's ones as draws from one distribution over all columns.
    Multinomial,
}

/// Rows, and what is known of them.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The rows, ascending.
    pub rows: Vec<u32>,
    /// What is known, one row of it for each of `rows`.
    pub likelihood: Arc<Likelihood>,
}

impl Observed {
    /// The cells that are not `unknown`.
    pub fn features(
        features: &Features<'_>,
        unknown: &CellMask,
        scales: &Scales,
        binary: BinaryLoss,
    ) -> Result<Self> {
        let seen = |row: &u32| !unknown.is_whole(*row as usize);
        let rows: Vec<u32> = (0..features.rows() as u32).filter(seen).collect();
        Self::of_rows(features, unknown, scales, binary, rows)
    }

    /// The cells of some rows that are not `unknown`.
    pub fn of_rows(
        features: &Features<'_>,
        unknown: &CellMask,
        scales: &Scales,
        binary: BinaryLoss,
        rows: Vec<u32>,
    ) -> Result<Self> {
        let weight = 1.0 / features.groups().len().max(1) as f32;
        let mut likelihood = Likelihood::new(rows.len());
        for (group, about) in features.groups().iter().enumerate() {
            let part = Part { features, unknown, scales, rows: &rows, group };
            likelihood = match &about.kind {
                GroupKind::Number | GroupKind::Count => {
                    likelihood.squared_error(part.dense(), weight)?
                }
                GroupKind::NumericBlock => likelihood.squared_error(part.best(), weight)?,
                GroupKind::Boolean => likelihood.bernoulli(part.dense(), weight)?,
                GroupKind::Category(levels) => {
                    likelihood.categorical(levels.len(), part.levels(), weight)?
                }
                GroupKind::BinaryBlock => match binary {
                    BinaryLoss::BalancedBernoulli => {
                        likelihood.balanced_bernoulli(part.best(), weight)?
                    }
                    BinaryLoss::Multinomial => likelihood.multinomial(part.best(), weight)?,
                },
            };
        }
        Ok(Observed { rows, likelihood: Arc::new(likelihood) })
    }

    /// The labels that are known; nothing where none is.
    pub fn labels(labels: &Labels) -> Result<Option<Self>> {
        let known = labels.codes.iter().enumerate();
        let (rows, classes): (Vec<u32>, Vec<u32>) =
            known.filter_map(|(row, class)| Some((row as u32, (*class)?))).unzip();
        if rows.is_empty() {
            return Ok(None);
        }
        let likelihood = Likelihood::new(rows.len());
        let likelihood = likelihood.categorical(labels.classes.len(), classes, 1.0)?;
        Ok(Some(Observed { rows, likelihood: Arc::new(likelihood) }))
    }
}

/// One group's cells in some rows.
struct Part<'a> {
    features: &'a Features<'a>,
    unknown: &'a CellMask,
    scales: &'a Scales,
    rows: &'a [u32],
    group: usize,
}

impl Part<'_> {
    /// A block whose rows are known throughout stays sparse, if its zeros are zeros as scores too.
    fn best(&self) -> Targets {
        let whole = self.rows.iter().all(|&row| self.holes(row as usize) == 0);
        let centred = self.scales.score(self.group, 0, 0.0) != 0.0;
        if whole && !centred { self.sparse() } else { self.dense() }
    }

    /// How many of the group's cells are unknown in a row.
    fn holes(&self, row: usize) -> usize {
        let cells = &self.features.groups()[self.group].cells;
        if self.unknown.is_whole(row) {
            return cells.len();
        }
        let holes = self.unknown.cells(row);
        let from = holes.partition_point(|&hole| (hole as usize) < cells.start);
        let to = holes.partition_point(|&hole| (hole as usize) < cells.end);
        to - from
    }

    fn sparse(&self) -> Targets {
        let width = self.features.groups()[self.group].features.len();
        let block = self.features.block(self.group);
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in self.rows {
            let cells = block.into_iter().flat_map(|block| block.cells(row as usize));
            for (column, value) in cells.filter(|&(_, value)| value != 0.0) {
                columns.push(column);
                values.push(self.scales.score(self.group, column as usize, value));
            }
            offsets.push(columns.len());
        }
        let ones = values.iter().all(|&value| value == 1.0);
        Targets::Sparse(SparseRows::new(offsets, columns, (!ones).then_some(values), width))
    }

    /// Cell by cell, NaN where unknown.
    fn dense(&self) -> Targets {
        let about = &self.features.groups()[self.group];
        let width = about.features.len();
        let mut values = vec![f32::NAN; self.rows.len() * width];
        for (&row, values) in self.rows.iter().zip(values.chunks_exact_mut(width.max(1))) {
            let row = row as usize;
            if self.holes(row) == about.cells.len() {
                continue;
            }
            for (column, (feature, value)) in about.features.clone().zip(&mut *values).enumerate() {
                if !self.unknown.contains(row, about.cell_of(feature)) {
                    let found = self.features.value(self.group, row, feature);
                    *value = self.scales.score(self.group, column, found);
                }
            }
        }
        Targets::dense([self.rows.len(), width], values)
    }

    fn levels(&self) -> Vec<u32> {
        let level = |&row: &u32| {
            let known = self.holes(row as usize) == 0;
            let level = self.features.level(self.group, row as usize);
            level.filter(|_| known).unwrap_or(MISSING_CATEGORY)
        };
        self.rows.iter().map(level).collect()
    }
}
