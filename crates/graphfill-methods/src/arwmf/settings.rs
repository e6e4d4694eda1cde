//! The settings of ARWMF that validation compares.

use super::Arwmf;
use crate::method::Task;
use crate::parameters::Parameters;

/// What is compared where the caller leaves it open, the default first.
const WINDOWS: &[usize] = &[5, 10];
const NEGATIVES: &[f64] = &[1.0, 5.0];
const RANKS: &[usize] = &[64, 32, 16];

/// The candidates of a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) windows: Vec<usize>,
    /// Ascending.
    pub(super) negatives: Vec<f64>,
    /// Descending.
    pub(super) ranks: Vec<usize>,
    pub(super) attribute_weight: f64,
}

impl Settings {
    pub(super) fn of(method: &Arwmf, task: &Task<'_>) -> Self {
        // Without validation there is nothing to compare.
        let count = if task.validation.is_empty() { 1 } else { usize::MAX };
        fn open<T: Copy>(given: Option<T>, candidates: &[T], count: usize) -> Vec<T> {
            given.map_or_else(|| candidates.iter().copied().take(count).collect(), |own| vec![own])
        }
        Settings {
            windows: open(method.window, WINDOWS, count),
            negatives: open(method.negatives, NEGATIVES, count),
            ranks: open(method.rank, RANKS, count),
            attribute_weight: method.attribute_weight,
        }
    }

    /// The largest rank.
    pub(super) fn max_rank(&self) -> usize {
        self.ranks.iter().copied().max().unwrap_or(1)
    }
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Setting {
    pub(super) window: usize,
    pub(super) negatives: f64,
    pub(super) rank: usize,
    pub(super) attribute_weight: f64,
}

impl Setting {
    /// By name.
    pub(super) fn parameters(&self) -> Parameters {
        Parameters::default()
            .with("window", self.window as f64)
            .with("negatives", self.negatives)
            .with("rank", self.rank as f64)
            .with("attribute_weight", self.attribute_weight)
    }
}
