//! Uncertainty: calibrated intervals, probabilities and prediction sets for every estimated cell.
//!
//! Cross-conformal prediction. Observed cells are hidden as the missing ones are missing
//! ([`calibration_folds`]), and the whole method (choice of parameters, training, early stopping,
//! choice among methods) is run once more without them. Their errors say how far estimates are off:
//!
//! | column | what is calibrated |
//! |---|---|
//! | number, count, date, numeric block | intervals, from errors over their expected size ([`NumberCalibration`]) |
//! | boolean, category | probabilities, and adaptive prediction sets ([`LevelCalibration`]) |
//! | 0/1 block | the probability of each estimated one ([`OnesCalibration`]) |
//!
//! Hidden cells are unknown to that second run and choose nothing. The estimates are those of the first
//! run, which reads everything: they are the same with and without calibration. Intervals, probabilities and
//! sets are those of the second run, for whose estimates the errors on hidden cells speak, even where the
//! two runs chose another method or other parameters; an interval is widened where it lacks the estimate.
//!
//! Coverage holds on average over cells with like surroundings (column, degree, whether the row has
//! anything), if a missing cell is to be expected to be like a hidden one. It is not promised
//! where values decide what is missing, or for nodes of a later table.

mod cells;
mod check;
mod classes;
mod distributions;
mod draws;
mod error_inputs;
mod estimates;
mod hidden;
mod hiding;
mod joint;
mod levels;
mod normal;
mod notes;
mod numbers;
mod ones;
mod scale;
mod surroundings;
mod table;

use graphfill_data::CellMask;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::Result;
use crate::learning::StopReason;
use crate::method::{EstimateSink, Estimates, Method, Task};

pub use cells::CellSource;
pub use check::{CheckedColumn, CheckedLevel, CheckedNumber, CoverageCheck};
pub use classes::MIN_CALIBRATION_CELLS;
pub use distributions::{ColumnCells, ColumnDistributions, LevelCell, OneCell, Uncertainty};
pub use hidden::{HiddenCells, HiddenColumn};
pub use hiding::calibration_folds;
pub use joint::ErrorCorrelation;
pub use levels::{HiddenLevel, LevelCalibration};
pub use notes::{notes, undrawn_note};
pub use numbers::{HiddenNumber, NumberCalibration, NumberCell};
pub use ones::OnesCalibration;
pub use surroundings::{Surroundings, hops};
pub use table::{added_columns, levels_of_set, percentage};

pub use estimates::CellEstimates;

use error_inputs::{INPUTS, Standard};
use scale::Scale;

/// The maximum number of cells of a 0/1 block that are calibrated on.
const MAX_BLOCK_CELLS: usize = 1_000_000;
/// The maximum number of missing cells of a 0/1 block that are kept: larger blocks are not drawn.
pub(crate) const MAX_DRAWN_CELLS: usize = 20_000_000;

/// What errors on hidden cells say about estimates, for every column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// One per group of features.
    pub columns: Vec<ColumnCalibration>,
    /// How large errors are expected to be.
    scale: Scale,
    /// How much larger the errors of each class of surroundings are than that.
    factors: Vec<f64>,
    /// How the columns of numbers are standardised.
    standards: Vec<Standard>,
    /// How errors within a row go together.
    pub correlation: ErrorCorrelation,
    /// The seed of random shares in prediction sets.
    pub seed: u64,
}

/// The calibration of one column; none where fewer than about twenty cells could be hidden.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ColumnCalibration {
    /// A number, count or date; one entry per column of a numeric block.
    Numbers(Vec<Option<NumberCalibration>>),
    /// A boolean or category.
    Levels(Option<LevelCalibration>),
    /// A 0/1 block.
    Ones(Option<OnesCalibration>),
}

impl Calibration {
    /// The expected size of an error in a column of numbers.
    fn size_of(&self, column: usize, inputs: &[f32; INPUTS], around: &Surroundings) -> f64 {
        self.scale.of(column, inputs) * self.factors[around.class()]
    }
}

impl ColumnCalibration {
    /// Whether anything was calibrated.
    pub fn is_calibrated(&self) -> bool {
        match self {
            ColumnCalibration::Numbers(columns) => columns.iter().any(Option::is_some),
            ColumnCalibration::Levels(levels) => levels.is_some(),
            ColumnCalibration::Ones(ones) => ones.is_some(),
        }
    }

    /// The fewest hidden cells that one of its columns was calibrated on.
    pub fn cells(&self) -> usize {
        match self {
            ColumnCalibration::Numbers(columns) => {
                let cells = |one: &Option<NumberCalibration>| {
                    one.as_ref().map_or(0, NumberCalibration::cells)
                };
                columns.iter().map(cells).min().unwrap_or(0)
            }
            ColumnCalibration::Levels(levels) => levels.as_ref().map_or(0, LevelCalibration::cells),
            ColumnCalibration::Ones(ones) => ones.as_ref().map_or(0, OnesCalibration::cells),
        }
    }
}

/// Runs a method with observed cells hidden, and returns what it made of them and of the cells that are
/// `wanted`: no hidden cells where the table can spare none, and nothing where the run was stopped before
/// its end.
///
/// `validation` gives the validation sets of a table of which these cells are unknown.
pub fn hide_and_estimate(
    method: &dyn Method,
    task: &Task<'_>,
    wanted: &CellMask,
    validation: &dyn Fn(&CellMask) -> Vec<CellMask>,
) -> Result<Option<HiddenCells>> {
    let seed = task.context.seed;
    let folds = calibration_folds(task.features, task.graph, task.unknown, seed);
    let mut hidden = HiddenCells::new(task);
    for fold in &folds {
        let unknown = task.unknown.union(fold);
        let validation = validation(&unknown);
        // A checkpoint is of the first run; a second one in the same file would replace it.
        let context = Context { checkpoint: None, ..task.context.clone() };
        let task = Task {
            unknown: &unknown,
            validation: &validation,
            held_out: &[],
            watched: &[],
            context: &context,
            ..*task
        };
        let fitted = method.fit_task(&task)?;
        if fitted.stopped_early() == Some(StopReason::Cancelled) {
            return Ok(None);
        }
        let mut estimates = CellEstimates::new(task.features, fold, MAX_BLOCK_CELLS);
        let mut again = CellEstimates::new(task.features, wanted, MAX_DRAWN_CELLS);
        fitted.estimate(&task, &mut Both(&mut estimates, &mut again))?;
        hidden.add(&task, fold, estimates);
        hidden.add_wanted(again);
    }
    Ok(Some(hidden))
}

/// Passes estimates to two sinks.
pub(crate) struct Both<'a>(
    pub(crate) &'a mut dyn EstimateSink,
    pub(crate) &'a mut dyn EstimateSink,
);

impl EstimateSink for Both<'_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        self.0.accept(estimates)?;
        self.1.accept(estimates)
    }
}
