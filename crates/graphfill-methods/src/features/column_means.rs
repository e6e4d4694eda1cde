//! The mean of every feature over its known cells.

use graphfill_data::CellMask;

use super::{Features, GroupKind, Values};

/// A later table with fewer known cells of a column says too little about the column.
pub(crate) const MIN_KNOWN: u32 = 20;

/// Means of features, and how many cells they were taken over.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMeans {
    /// The mean of each feature; zero where no cell is known.
    pub means: Vec<f64>,
    /// The number of known cells of each feature.
    pub known: Vec<u32>,
}

impl ColumnMeans {
    /// The means over all cells that are not in `unknown`.
    pub fn of(features: &Features<'_>, unknown: &CellMask) -> Self {
        let mut sums = vec![0.0; features.width()];
        let mut known = vec![0u32; features.width()];
        for (group, values) in features.groups.iter().zip(&features.values) {
            let start = group.features.start;
            let cell = group.cells.start;
            match values {
                Values::Numbers(numbers) => {
                    for (row, value) in numbers.iter().enumerate() {
                        if !value.is_nan() && !unknown.contains(row, cell) {
                            sums[start] += value;
                            known[start] += 1;
                        }
                    }
                }
                Values::Levels(levels) => {
                    let mut count = 0;
                    for (row, level) in levels.iter().enumerate() {
                        if let (Some(level), false) = (level, unknown.contains(row, cell)) {
                            sums[start + *level as usize] += 1.0;
                            count += 1;
                        }
                    }
                    known[group.features.clone()].fill(count);
                }
                Values::Block(block) => {
                    let (mut visible, mut hidden) = (0u32, vec![0u32; group.features.len()]);
                    for row in (0..features.rows).filter(|&row| !unknown.is_whole(row)) {
                        let holes = unknown.cells(row);
                        for (column, value) in block.cells(row) {
                            if holes.binary_search(&(cell as u32 + column)).is_err() {
                                sums[start + column as usize] += value;
                            }
                        }
                        visible += 1;
                        let inside =
                            holes.iter().filter(|&&hole| group.cells.contains(&(hole as usize)));
                        for &hole in inside {
                            hidden[hole as usize - cell] += 1;
                        }
                    }
                    for (count, hidden) in known[group.features.clone()].iter_mut().zip(hidden) {
                        *count = visible - hidden;
                    }
                }
            }
        }
        let mean =
            |(&sum, &count): (&f64, &u32)| if count == 0 { 0.0 } else { sum / f64::from(count) };
        let mut means: Vec<f64> = sums.iter().zip(&known).map(mean).collect();
        // A later table has the means of the table that its model was trained on.
        for (feature, mean) in means.iter_mut().enumerate() {
            *mean = features.trained_mean(feature).unwrap_or(*mean);
        }
        ColumnMeans { means, known }
    }

    /// What is subtracted before a method sees a value: the mean, or nothing for binary blocks.
    pub fn offsets(&self, features: &Features<'_>) -> Vec<f64> {
        let mut offsets = self.means.clone();
        for group in features.groups.iter().filter(|group| group.kind == GroupKind::BinaryBlock) {
            offsets[group.features.clone()].fill(0.0);
        }
        offsets
    }
}
