//! The interfaces of methods: a [`Method`] is fitted to a [`Task`], and the [`Fitted`] result estimates
//! cells.

use std::fmt;
use std::ops::Range;

use graphfill_data::{CellMask, Labels, NodeTable, UndirectedGraph};
use graphfill_engine::TensorStore;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::learning::{History, StopReason};
use crate::model::Model;
use crate::parameters::{ParameterInfo, Parameterised, Parameters};

/// How many of the best-ranked columns count when rankings are compared, by default.
pub const RANKING_DEPTH: usize = 10;

/// A graph, the features of its nodes, and which cells a method may read.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The edges.
    pub graph: &'a UndirectedGraph,
    /// The features. Methods read them through panels, without the unknown cells.
    pub features: &'a Features<'a>,
    /// Cells to estimate, including those that the table lacks. A method must not read their values,
    /// even where the table has them.
    pub unknown: &'a CellMask,
    /// Sets of cells on which parameters are chosen and training is stopped. The table has their
    /// values; a method must not read the values of a set while it is scored on that set.
    pub validation: &'a [CellMask],
    /// Sets of cells on which fitted methods are compared with one another. They choose nothing
    /// within a method: neither parameters nor the end of training.
    pub held_out: &'a [CellMask],
    /// Sets of cells that are scored during training for its history alone.
    pub watched: &'a [CellMask],
    /// Classes of nodes that a method may learn from, where there are any.
    pub labels: Option<&'a Labels>,
    /// How many of the best-ranked columns count when rankings are compared.
    pub ranking_depth: usize,
    /// The groups that the caller needs estimates of; all that have unknown cells where none are named.
    pub groups: Option<&'a [bool]>,
    /// Seed, device, limits and progress.
    pub context: &'a Context<'a>,
}

impl<'a> Task<'a> {
    /// A graph, its features and the cells to estimate, without validation cells.
    pub fn new(
        graph: &'a UndirectedGraph,
        features: &'a Features<'a>,
        unknown: &'a CellMask,
        context: &'a Context<'a>,
    ) -> Self {
        Task {
            graph,
            features,
            unknown,
            validation: &[],
            held_out: &[],
            watched: &[],
            labels: None,
            ranking_depth: RANKING_DEPTH,
            groups: None,
            context,
        }
    }

    /// For each group, whether it has cells to estimate, be it only for validation. The others are
    /// complete: they are evidence, and need no estimates.
    pub fn wanted(&self) -> Vec<bool> {
        let mut touched = vec![false; self.features.cells()];
        for cells in self.validation.iter().chain(self.held_out).chain([self.unknown]) {
            for row in 0..cells.rows() {
                if cells.is_whole(row) {
                    touched.fill(true);
                    break;
                }
                cells.cells(row).iter().for_each(|&cell| touched[cell as usize] = true);
            }
        }
        let groups = self.features.groups().iter().enumerate();
        let asked = |group: usize| self.groups.is_none_or(|groups| groups[group]);
        groups
            .map(|(at, group)| asked(at) && touched[group.cells.clone()].contains(&true))
            .collect()
    }
}

/// What a method is called and where it comes from.
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
    /// What it does with the directions and weights of edges, in a phrase.
    pub edges: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterInfo],
}

impl MethodInfo {
    /// Whether a search has any parameter to try values of.
    pub fn is_tunable(&self) -> bool {
        self.parameters.iter().any(|parameter| !parameter.tuning.is_empty())
    }
}

/// A method with its parameters, ready to be fitted.
///
/// A type that [`parameters!`](crate::parameters) declares becomes a method with two functions:
/// [`Method::info`] and [`Method::fit_task`].
pub trait Method: Parameterised + Send + Sync {
    /// Its name and parameters.
    fn info(&self) -> &'static MethodInfo;

    /// Chooses open parameters on the validation cells and learns from the known cells.
    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>>;

    /// The fitted method of a saved [state](Fitted::state), for the nodes of this task.
    ///
    /// By default the method is fitted again with the parameters that were chosen.
    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let parameters = state.texts.get(PARAMETERS).map(String::as_str).unwrap_or_default();
        let parameters: Parameters = serde_json::from_str(parameters)
            .map_err(|error| MethodError::Model(format!("its parameters: {error}")))?;
        self.with_parameters(&parameters)?.fit_task(&Task {
            validation: &[],
            held_out: &[],
            ..*task
        })
    }

    /// Fits the method to a table: validation cells are hidden as the missing ones are missing.
    ///
    /// ```
    /// # use graphfill_data::generator::{GeneratorConfig, generate};
    /// use graphfill_methods::{Context, Method, svga_p::SvgaP};
    ///
    /// # let town = generate(&GeneratorConfig { nodes: 200, ..GeneratorConfig::default() })?.dataset;
    /// # let (table, graph) = (town.table, town.graph.undirected());
    /// let model = SvgaP::new().hidden(32).models(1).fit(&table, &graph, &Context::default())?;
    /// let filled = model.transform(&table, &graph, &Context::default())?;
    /// assert!(filled.table.missing().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn fit(
        &self,
        table: &NodeTable,
        graph: &UndirectedGraph,
        context: &Context<'_>,
    ) -> Result<Model> {
        Model::fit(self.with_parameters(&Parameters::default())?, table, graph, context)
    }

    /// What it does with classes of nodes that are known.
    fn label_use(&self) -> LabelUse {
        LabelUse::Ignored
    }

    /// Which of its work runs on the device of the [`Context`].
    fn device_use(&self) -> DeviceUse {
        DeviceUse::Training
    }

    /// About how many seconds it takes to fit, where that can be told beforehand.
    fn expected_seconds(&self, _task: &Task<'_>) -> Option<f64> {
        None
    }

    /// The method with sub-methods from a list, where it has any.
    fn with_candidates(
        &self,
        _methods: &[std::sync::Arc<dyn Method>],
    ) -> Option<std::sync::Arc<dyn Method>> {
        None
    }

    /// The score of the method on the validation cells; higher is better.
    fn trial(&self, task: &Task<'_>) -> Result<f64> {
        let fitted = self.fit_task(task)?;
        Ok(fitted.validation_score().unwrap_or(f64::NEG_INFINITY))
    }
}

impl fmt::Debug for dyn Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", self.info().name, self.parameters())
    }
}

/// The text of a state that has the chosen parameters.
pub(crate) const PARAMETERS: &str = "parameters";

/// What a method does with classes of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelUse {
    /// Nothing.
    Ignored,
    /// It learns from those that are known, and estimates the others.
    Learned,
}

/// What a method does with a device other than the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceUse {
    /// Nothing.
    Ignored,
    /// It propagates there, and trains nothing.
    Propagation,
    /// Its models are trained there.
    Training,
}

/// A fitted method: owned, and free of the task that it was fitted to.
pub trait Fitted: Send + Sync {
    /// What was chosen for each group of features, in their order.
    fn choices(&self) -> &[Choice];

    /// Estimates the unknown cells of the task that it was fitted to, or restored for, a panel of
    /// columns at a time.
    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()>;

    /// How many of the task's held-out sets, from the first on, can be estimated by a fit that has
    /// not read them.
    fn held_out_sets(&self, task: &Task<'_>) -> usize {
        task.held_out.len()
    }

    /// Estimates the cells of a held-out set from what is known without them.
    fn estimate_held_out(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        let unknown = task.unknown.union(&task.held_out[set]);
        self.estimate(&Task { unknown: &unknown, validation: &[], held_out: &[], ..*task }, sink)
    }

    /// Everything that [`Method::restore`] needs to estimate other nodes.
    fn state(&self) -> Result<TensorStore> {
        let mut store = TensorStore::default();
        let parameters = self.choices().first().map(|choice| choice.parameters.clone());
        let text = serde_json::to_string(&parameters.unwrap_or_default());
        store.texts.insert(PARAMETERS.to_owned(), text.unwrap_or_default());
        Ok(store)
    }

    /// The likeliest class of every node, where the method learns from labels.
    fn labels(&self) -> Option<&[u32]> {
        None
    }

    /// The score on the validation cells over all groups; higher is better.
    fn validation_score(&self) -> Option<f64> {
        None
    }

    /// Losses and scores of the training, where there was any.
    fn history(&self) -> Option<&History> {
        None
    }

    /// Why training ended early, if it did.
    fn stopped_early(&self) -> Option<StopReason> {
        None
    }
}

/// What was chosen for one group of features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The column.
    pub group: String,
    /// The method that estimates it.
    pub method: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its score on the validation cells, where there were any.
    pub validation: Option<Score>,
    /// Why, in words, where there was something to weigh.
    pub reason: Option<String>,
}

/// How good estimates were on validation cells.
///
/// Scores are compared by `measure` and `value`. Of booleans and categories these are the error of
/// probabilities, which says little to a reader: they have a hit rate beside it, and are displayed as that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// What was measured.
    pub measure: Measure,
    /// The value.
    pub value: f64,
    /// The hit rate of a boolean or category, where it was measured.
    pub hit_rate: Option<HitRate>,
}

/// How often the estimated level of a boolean or category was the observed one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HitRate {
    /// The share of the cells whose level was estimated right.
    pub value: f64,
    /// The share that the most frequent level would have got right.
    pub most_frequent: f64,
}

/// What validation measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// A score without a hit rate.
    pub fn new(measure: Measure, value: f64) -> Self {
        Score { measure, value, hit_rate: None }
    }

    /// Whether this score is better than another of the same measure.
    pub fn is_better_than(&self, other: &Score) -> bool {
        match self.measure {
            Measure::Recall { .. } => self.value > other.value,
            Measure::RootMeanSquaredError => self.value < other.value,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Recall { at } => write!(formatter, "recall@{at}"),
            Measure::RootMeanSquaredError => formatter.write_str("RMSE"),
        }
    }
}

/// `RMSE 0.312`, `recall@10 0.214`, `hit rate 0.870 (most frequent level: 0.610)`.
impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hit_rate {
            Some(HitRate { value, most_frequent }) => {
                let (value, most_frequent) = (significant(value), significant(most_frequent));
                write!(formatter, "hit rate {value} (most frequent level: {most_frequent})")
            }
            None => write!(formatter, "{} {}", self.measure, significant(self.value)),
        }
    }
}

/// Three significant digits, plainly.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = 2 - value.abs().log10().floor() as i64;
    match digits {
        0..=8 => format!("{value:.*}", digits as usize),
        ..0 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    }
}

/// Receives estimates, some features at a time.
pub trait EstimateSink {
    /// The estimates of some features, for all nodes.
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()>;
}

/// Estimates of a range of features for all nodes, as distributions.
///
/// A number, count or numeric column has a mean and, where the method knows one, a scale (standard
/// deviation). A boolean has the probability of true, a category one probability per level; the
/// columns of a 0/1 block have scores that rank them.
#[derive(Debug, Clone, Copy)]
pub struct Estimates<'a> {
    /// The first feature and one past the last.
    pub features: (usize, usize),
    /// The length of a row of `values`.
    pub width: usize,
    /// Means less the column means: `rows × width`.
    pub values: &'a [f32],
    /// The column means, which are added to `values`.
    pub column_means: &'a [f64],
    /// The standard deviation of what is not explained, one per feature; none where it is not known.
    pub scales: Option<&'a [f64]>,
}

impl<'a> Estimates<'a> {
    /// The features that these are estimates of.
    pub fn features(&self) -> Range<usize> {
        self.features.0..self.features.1
    }

    /// The estimates of some of these features.
    #[must_use]
    pub fn part(&self, features: Range<usize>) -> Estimates<'a> {
        let column = features.start - self.features.0;
        Estimates {
            features: (features.start, features.end),
            width: self.width,
            values: &self.values[column..],
            column_means: &self.column_means[column..],
            scales: self.scales.map(|scales| &scales[column..]),
        }
    }

    /// The means of a range of features of one node.
    pub fn row(&self, row: usize, features: Range<usize>) -> impl Iterator<Item = f64> + '_ {
        let columns = features.start - self.features.0..features.end - self.features.0;
        let values = &self.values[row * self.width + columns.start..row * self.width + columns.end];
        let means = &self.column_means[columns];
        values.iter().zip(means).map(|(&value, &mean)| f64::from(value) + mean)
    }

    /// The mean of one feature of one node.
    pub fn mean(&self, row: usize, feature: usize) -> f64 {
        let column = feature - self.features.0;
        f64::from(self.values[row * self.width + column]) + self.column_means[column]
    }

    /// The standard deviation of one feature, where the method knows it.
    pub fn scale(&self, feature: usize) -> Option<f64> {
        self.scales
            .map(|scales| scales[feature - self.features.0])
            .filter(|scale| scale.is_finite())
    }
}
