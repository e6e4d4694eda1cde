//! What a method is: it is fitted to a task, and the fitted model gives estimates.

use std::ops::Range;

use graphfill_data::{CellMask, Labels, NoProgress, Progress, UndirectedGraph};

use graphfill_engine::TensorStore;

use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::learning::{Ended, History, TrainingOptions};
use crate::parameters::{FixedParameters, ParameterInfo, Parameters};
use crate::tuning::Axis;

/// How many of the best-ranked columns count when rankings are compared, if nobody says otherwise.
pub const RANKING_DEPTH: usize = 10;

/// A graph, its features, and which cells a method may look at.
pub struct Task<'a> {
    /// The edges.
    pub graph: &'a UndirectedGraph,
    /// The features; a method sees them through panels, less the unknown cells.
    pub features: &'a Features<'a>,
    /// The cells to estimate, those that the table lacks among them. Their values, where the table
    /// has them, are out of bounds.
    pub unknown: &'a CellMask,
    /// Sets of cells on which parameters are chosen. The table has their values; each set is
    /// unknown to the method while it is scored on it.
    pub validation: &'a [CellMask],
    /// Sets of cells that are scored whenever a training looks at its validation, for its history
    /// alone: nothing is decided by them.
    pub watched: &'a [CellMask],
    /// Classes of nodes that a method may learn from, where there are any.
    pub labels: Option<&'a Labels>,
    /// How many of the best-ranked columns count when rankings are compared.
    pub ranking_depth: usize,
    /// What the caller fixed.
    pub fixed: &'a FixedParameters,
    /// Limits and checkpoints of methods that learn.
    pub training: &'a TrainingOptions,
    /// The seed of everything random.
    pub seed: u64,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

impl<'a> Task<'a> {
    /// A graph, its features and the cells to estimate; nothing to validate on, nothing fixed.
    pub fn new(
        graph: &'a UndirectedGraph,
        features: &'a Features<'a>,
        unknown: &'a CellMask,
    ) -> Self {
        Task {
            graph,
            features,
            unknown,
            validation: &[],
            watched: &[],
            labels: None,
            ranking_depth: RANKING_DEPTH,
            fixed: FixedParameters::NONE,
            training: TrainingOptions::NONE,
            seed: 0,
            progress: &NoProgress,
        }
    }

    /// For each group, whether it has cells to estimate, be it only for validation. The others are
    /// complete: evidence, and nothing to spend time on.
    pub fn wanted(&self) -> Vec<bool> {
        let mut touched = vec![false; self.features.cells()];
        for cells in self.validation.iter().chain([self.unknown]) {
            for row in 0..cells.rows() {
                if cells.is_whole(row) {
                    touched.fill(true);
                    break;
                }
                cells.cells(row).iter().for_each(|&cell| touched[cell as usize] = true);
            }
        }
        let groups = self.features.groups().iter();
        groups.map(|group| touched[group.cells.clone()].contains(&true)).collect()
    }
}

/// What a method is called and what it can do.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in full.
    pub title: &'static str,
    /// What it does, in a sentence or two.
    pub about: &'static str,
    /// Where it was published.
    pub reference: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterInfo],
}

/// A way to estimate missing cells.
pub trait Method: Send + Sync {
    /// Its name and abilities.
    fn info(&self) -> &'static MethodInfo;

    /// Chooses what the caller left open and learns what there is to learn.
    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>>;

    /// The settings that a search for parameters tries; none where validation chooses anyway.
    fn grid(&self) -> &'static [Axis] {
        &[]
    }

    /// What it does with classes of nodes that are known.
    fn label_use(&self) -> LabelUse {
        LabelUse::Ignored
    }

    /// Whether anything of it runs on the device that [`TrainingOptions`] names.
    fn device_use(&self) -> DeviceUse {
        DeviceUse::Training
    }

    /// How good the method is on the validation cells with what is fixed; more is better.
    fn trial(&self, task: &Task<'_>) -> Result<f64> {
        let fitted = self.fit(task)?;
        Ok(fitted.validation_score().unwrap_or(f64::NEG_INFINITY))
    }

    /// The model that an earlier training saved, for the nodes of this task.
    fn restore<'a>(&self, _task: &Task<'a>, _saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        let name = self.info().name;
        Err(MethodError::Parameter(format!("method '{name}' does not learn: it saves no model")))
    }
}

/// What a method does with classes of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelUse {
    /// Nothing.
    Ignored,
    /// It learns from those that are known, and estimates the others.
    Learnt,
}

/// What a method does with a device other than the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceUse {
    /// Nothing.
    Ignored,
    /// It propagates there, and trains nothing.
    Propagation,
    /// Its models are trained there.
    Training,
}

/// A method with everything chosen, ready to estimate.
pub trait Fitted {
    /// What was chosen for each group of features, in their order.
    fn choices(&self) -> &[Choice];

    /// Estimates the unknown cells, a panel at a time.
    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()>;

    /// How many of the task's sets of validation cells, from the first on, can be estimated without
    /// having been seen.
    fn validated(&self, task: &Task<'_>) -> usize {
        task.validation.len()
    }

    /// Estimates the cells of a validation set from what is known without them.
    fn estimate_validation(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        let unknown = task.unknown.union(&task.validation[set]);
        self.estimate(&Task { unknown: &unknown, validation: &[], ..*task }, sink)
    }

    /// The likeliest class of every node, where the method learns from labels.
    fn labels(&self) -> Option<&[u32]> {
        None
    }

    /// How good it is on the validation cells, over all groups; more is better.
    fn validation_score(&self) -> Option<f64> {
        None
    }

    /// What happened in training, where there was any.
    fn history(&self) -> Option<&History> {
        None
    }

    /// Why the training ended before it was done, if it did.
    fn ended_early(&self) -> Option<Ended> {
        None
    }
}

/// What was chosen for one group of features.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The column.
    pub group: String,
    /// The method that estimates it.
    pub method: &'static str,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its score on the validation cells, where there were any.
    pub validation: Option<Score>,
    /// Why, in words, where there was something to weigh.
    pub reason: Option<String>,
}

/// How good estimates were on validation cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// What was measured.
    pub measure: Measure,
    /// The value.
    pub value: f64,
}

/// What validation measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Mean share of a row's ones among its best-ranked columns; more is better.
    Recall {
        /// How many columns count.
        at: usize,
    },
    /// Root of the mean squared error; less is better.
    RootMeanSquaredError,
}

impl Score {
    /// Whether this score is better than another of the same measure.
    pub fn is_better_than(&self, other: &Score) -> bool {
        match self.measure {
            Measure::Recall { .. } => self.value > other.value,
            Measure::RootMeanSquaredError => self.value < other.value,
        }
    }
}

/// Takes estimates as they come.
pub trait EstimateSink {
    /// The estimates of some features, for all nodes.
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()>;
}

/// Estimates of a run of features for all nodes.
#[derive(Debug, Clone, Copy)]
pub struct Estimates<'a> {
    /// The first feature and one past the last.
    pub features: (usize, usize),
    /// The length of a row.
    pub width: usize,
    /// `rows × width`.
    pub values: &'a [f32],
    /// What is to be added to each column.
    pub offsets: &'a [f64],
}

impl Estimates<'_> {
    /// The features that these are estimates of.
    pub fn features(&self) -> Range<usize> {
        self.features.0..self.features.1
    }

    /// The estimates of a run of features of one node.
    pub fn row(&self, row: usize, features: Range<usize>) -> impl Iterator<Item = f64> + '_ {
        let columns = features.start - self.features.0..features.end - self.features.0;
        let values = &self.values[row * self.width + columns.start..row * self.width + columns.end];
        let offsets = &self.offsets[columns];
        values.iter().zip(offsets).map(|(&value, &offset)| f64::from(value) + offset)
    }

    /// The estimate of one feature of one node.
    pub fn value(&self, row: usize, feature: usize) -> f64 {
        let column = feature - self.features.0;
        f64::from(self.values[row * self.width + column]) + self.offsets[column]
    }
}
