//! GRAPE as a method.

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, TensorStore};

use super::edges::Edges;
use super::model::{BASE, BIAS, Model, UNIT_VECTORS, VALUES, WEIGHT};
use crate::error::{MethodError, Result};
use crate::features::{ColumnMeans, Features, Group};
use crate::learning::{
    Bias, BinaryLoss, Criterion, DecoderSpec, EarlyStopping, LikelihoodOptions, Likelihoods,
    Observed, Prepared, Purpose, SavedModel, TrainableModel, TrainedImputer, TrainingConfig,
    Weight,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters;
use crate::parameters::{Allowed, Parameterised, Parameters, Tuning};
use crate::svga::{PREDICTION, TRAINING};

parameters! {
    /// GRAPE: the table as a graph of rows and features.
    pub struct Grape {
        /// width of rows, features and cells
        hidden: usize = 64, Allowed::Whole { min: 1.0, max: 4096.0 },
            tuned Tuning::Numbers(&[32.0, 64.0, 128.0]);
        /// number of layers
        depth: usize = 3, Allowed::Whole { min: 1.0, max: 16.0 }, tuned Tuning::Numbers(&[1.0, 2.0, 3.0]);
        /// share of known cells that an update hides and learns to estimate
        hidden_share: f32 = 0.3, Allowed::Number { min: 0.01, max: 0.95 },
            tuned Tuning::Numbers(&[0.15, 0.3, 0.5]);
        /// of Adam
        learning_rate: f32 = 0.002, Allowed::LEARNING_RATE,
            tuned Tuning::Numbers(&[5e-4, 1e-3, 2e-3, 4e-3]);
        /// updates without a better validation score before training ends
        patience: u64 = 300, Allowed::UPDATES;
    }
}

impl Grape {
    fn config(&self) -> TrainingConfig {
        TrainingConfig {
            stopping: EarlyStopping { epoch: 25, max_updates: 20_000, patience: self.patience },
            models: 1,
            unvalidated_updates: 1000,
            criterion: Criterion::AllMetrics,
        }
    }

    fn model(&self) -> Model {
        let Grape { hidden: width, depth, hidden_share, learning_rate, .. } = *self;
        Model { width, depth, hidden_share, learning_rate }
    }
}

impl Method for Grape {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "grape",
            title: "Graph of rows and features",
            about: "Takes the table itself for a graph, whose edges are the known cells between rows and columns, and learns to estimate hidden cells with a graph network. For single missing cells only; the edges between nodes are not used.",
            reference: "You, Ma, Ding, Kochenderfer and Leskovec: Handling Missing Data with Graph Representation Learning, NeurIPS 2020, arXiv 2010.16418",
            edges: "uses no edges",
            parameters: Grape::PARAMETERS,
        }
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        check_rows(task)?;
        let model = GrapeModel { method: self.clone(), likelihoods: None };
        Ok(Box::new(TrainedImputer::fit(&model, &self.config(), task)?))
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let saved = SavedModel::read(state, task)?;
        check_rows(task)?;
        let method = self.configured(&saved.parameters)?;
        let model = GrapeModel { method, likelihoods: Some(saved.likelihoods) };
        Ok(Box::new(TrainedImputer::restore(&model, task, state)?))
    }
}

/// Fails where rows are missing as a whole: in the table, or in most of what is to be estimated. A
/// few rows may be blank by chance where single cells are hidden for a test.
fn check_rows(task: &Task<'_>) -> Result<()> {
    let rows = task.features.rows();
    let lacking = task.features.missing().whole_rows();
    let blank = task.unknown.whole_rows();
    let mostly_blank = 2 * blank * task.features.cells() > task.unknown.count();
    if lacking == 0 && (blank == 0 || !mostly_blank) {
        return Ok(());
    }
    let blank = blank.max(lacking);
    Err(MethodError::Table(format!(
        "{blank} of {rows} nodes have no known cell: grape estimates single missing cells from the others of their row, and uses no edges\n  arb, svga and svga-p estimate nodes from their neighbours; auto chooses by itself"
    )))
}

struct GrapeModel {
    method: Grape,
    /// Those of a saved model.
    likelihoods: Option<Likelihoods>,
}

impl GrapeModel {
    /// Fails before anything is made of the cells where even the least that they need is too much.
    fn check_memory(&self, task: &Task<'_>, unknown: &CellMask) -> Result<()> {
        let edges = Edges::count(task.features, unknown) as u64;
        // Messages both ways and the cells themselves, kept for the gradient of each layer.
        let numbers = 3 * self.method.hidden as u64 * self.method.depth as u64;
        let limit = task.context.memory_limit();
        let largest = || {
            let width = task.features.width();
            format!("{edges} known cells of {width} features, {numbers} numbers for each")
        };
        let (needed, device) = (4 * edges * numbers, &task.context.device);
        Ok(limit.check_on(device, needed, largest, self.memory_parameter())?)
    }
}

impl TrainableModel for GrapeModel {
    fn name(&self) -> &'static str {
        "grape"
    }

    fn parameters(&self) -> Parameters {
        self.method.parameters()
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", "grape.hidden".to_owned(), self.method.hidden)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared> {
        self.check_memory(task, unknown)?;
        let options =
            LikelihoodOptions { binary: BinaryLoss::BalancedBernoulli, ..LikelihoodOptions::PLAIN };
        let fitted = || Likelihoods::fit(task.features, unknown, options);
        let likelihoods = self.likelihoods.clone().unwrap_or_else(fitted);
        let edges = Edges::of(task.features, unknown, &likelihoods);
        let model = self.method.model();
        let mut programs = vec![model.prediction(&edges)?];
        if purpose == Purpose::Training {
            let known = Observed::features(task.features, unknown, &likelihoods)?;
            programs.insert(0, model.training(&edges, &cells_of(task.features), &known)?);
        }
        let inputs = [
            (UNIT_VECTORS, unit_vectors(edges.features.nodes)),
            (BASE, base(task.features, unknown, &likelihoods)),
            (VALUES, edges.values),
        ];
        let inputs = inputs.map(|(name, values)| (name.to_owned(), values)).into();
        let spec = DecoderSpec {
            weight: Weight::TransposedOutput { name: WEIGHT, width: model.width },
            bias: Bias::Output(BIAS),
            ..DecoderSpec::linear(task, PREDICTION, likelihoods, &["loss"])
        };
        Ok(Prepared { plan: Plan::new(programs)?, inputs, spec })
    }
}

/// The cell of each feature.
fn cells_of(features: &Features<'_>) -> Vec<u32> {
    let groups = features.groups().iter();
    groups
        .flat_map(|group| group.features.clone().map(|feature| group.cell_of(feature) as u32))
        .collect()
}

/// The logit of each column's mean, which for 0 and 1 is a share.
fn base(features: &Features<'_>, unknown: &CellMask, likelihoods: &Likelihoods) -> Vec<f32> {
    let means = ColumnMeans::of(features, unknown).means;
    let groups = features.groups().iter().enumerate();
    let of_group = |(group, about): (usize, &Group)| -> Vec<f32> {
        let columns = about.features.clone().enumerate();
        let likelihood = likelihoods.group(group);
        let logit = |(column, feature): (usize, usize)| {
            likelihood.logit_of_estimate(column, means[feature])
        };
        columns.map(logit).collect()
    };
    groups.flat_map(of_group).collect()
}

fn unit_vectors(count: usize) -> Vec<f32> {
    let mut numbers = vec![0.0; count * count];
    (0..count).for_each(|at| numbers[at * count + at] = 1.0);
    numbers
}
