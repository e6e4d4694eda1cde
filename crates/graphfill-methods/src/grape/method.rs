//! GRAPE as a method.

use graphfill_data::CellMask;
use graphfill_engine::{Lower, MemoryLimit, Plan, Session, TensorStore};

use super::edges::Edges;
use super::model::{BASE, BIAS, LATENT, UNIT_VECTORS, VALUES, WEIGHT};
use super::settings::{PARAMETERS, Settings};
use crate::error::{MethodError, Result};
use crate::features::{Centres, Features, Group};
use crate::learning::{
    BinaryLoss, Learner, Learnt, Observed, Outlet, Prepared, Saved, ScaleOptions, Scales,
    TrainedModel, texts,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters::Parameters;
use crate::svga::{PREDICTION, TRAINING};
use crate::tuning::{Axis, AxisValues};

/// The table as a graph of rows and features.
#[derive(Debug, Clone, Copy)]
pub struct Grape;

impl Method for Grape {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "grape",
            title: "Graph of rows and features",
            about: "Takes the table itself for a graph, whose edges are the known cells between rows and columns, and learns to tell hidden cells with a graph network. For single missing cells only; the edges between nodes are not used.",
            reference: "You, Ma, Ding, Kochenderfer and Leskovec: Handling Missing Data with Graph Representation Learning, NeurIPS 2020, arXiv 2010.16418",
            parameters: PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        let settings = Settings::of(task)?;
        check_rows(task)?;
        let learner = GrapeLearner { settings, scales: None };
        Ok(Box::new(Learnt::fit(&learner, &settings.config, task)?))
    }

    fn grid(&self) -> &'static [Axis] {
        &[
            Axis { name: "hidden", values: AxisValues::Numbers(&[32.0, 64.0, 128.0]) },
            Axis { name: "depth", values: AxisValues::Numbers(&[1.0, 2.0, 3.0]) },
            Axis { name: "hidden_share", values: AxisValues::Numbers(&[0.15, 0.3, 0.5]) },
            Axis { name: "learning_rate", values: AxisValues::Numbers(&[5e-4, 1e-3, 2e-3, 4e-3]) },
        ]
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        let Saved { fixed, scales, .. } = Saved::read(saved, task)?;
        check_rows(task)?;
        let settings = Settings::of(&Task { fixed: &fixed, ..*task })?;
        let learner = GrapeLearner { settings, scales: Some(scales) };
        Ok(Box::new(Learnt::restore(&learner, task, saved)?))
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

struct GrapeLearner {
    settings: Settings,
    /// Those of a saved model.
    scales: Option<Scales>,
}

impl GrapeLearner {
    /// Fails before anything is made of the cells where even the least that they need is too much.
    fn check_memory(&self, task: &Task<'_>, unknown: &CellMask) -> Result<()> {
        let edges = Edges::count(task.features, unknown) as u64;
        // Messages both ways and the cells themselves, kept for the gradient of each layer.
        let numbers = 3 * self.settings.model.width as u64 * self.settings.model.depth as u64;
        let limit = task.training.memory.unwrap_or(MemoryLimit::Available);
        let largest = || {
            let width = task.features.width();
            format!("{edges} known cells of {width} features, {numbers} numbers for each")
        };
        let (needed, device) = (4 * edges * numbers, &task.training.device);
        Ok(limit.check_on(device, needed, largest, self.memory_parameter())?)
    }
}

impl Learner for GrapeLearner {
    fn name(&self) -> &'static str {
        Grape.info().name
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", "grape.hidden".to_owned(), self.settings.model.width)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        self.check_memory(task, unknown)?;
        let own = || Scales::of(task.features, unknown, ScaleOptions::PLAIN);
        let scales = self.scales.clone().unwrap_or_else(own);
        let edges = Edges::of(task.features, unknown, &scales);
        let binary = BinaryLoss::BalancedBernoulli;
        let known = Observed::features(task.features, unknown, &scales, binary)?;
        let model = &self.settings.model;
        let training = model.training(&edges, &cells_of(task.features), &known)?;
        let plan = Plan::new(vec![training, model.prediction(&edges)?])?;
        let inputs = [
            (UNIT_VECTORS, unit_vectors(edges.features.nodes)),
            (BASE, base(task.features, unknown, &scales)),
            (VALUES, edges.values),
        ];
        let inputs = inputs.map(|(name, values)| (name.to_owned(), values)).into();
        let losses = vec!["loss".to_owned()];
        let found = TensorStore::default();
        Ok(Prepared { plan, inputs, outlet: Outlet { offsets: Vec::new(), scales, losses, found } })
    }

    fn trained(&self, session: &mut Session) -> Result<TrainedModel> {
        session.run(PREDICTION)?;
        let width = self.settings.model.width;
        Ok(TrainedModel {
            latent: session.read(PREDICTION, LATENT)?,
            weight: transposed(&session.read(PREDICTION, WEIGHT)?, width),
            bias: Some(session.read(PREDICTION, BIAS)?),
            factors: Vec::new(),
        })
    }

    fn parameters(&self) -> Parameters {
        self.settings.parameters()
    }

    fn about(&self, task: &Task<'_>, outlet: &Outlet) -> TensorStore {
        let models = self.settings.config.models;
        let texts = texts(self.name(), models, &self.parameters(), &outlet.scales, task);
        TensorStore { texts, ..TensorStore::default() }
    }
}

/// The cell of each feature.
fn cells_of(features: &Features<'_>) -> Vec<u32> {
    let groups = features.groups().iter();
    groups
        .flat_map(|group| group.features.clone().map(|feature| group.cell_of(feature) as u32))
        .collect()
}

/// The score of each column's mean, which for 0 and 1 is a share.
fn base(features: &Features<'_>, unknown: &CellMask, scales: &Scales) -> Vec<f32> {
    let means = Centres::of(features, unknown).means;
    let groups = features.groups().iter().enumerate();
    let of_group = |(group, about): (usize, &Group)| -> Vec<f32> {
        let columns = about.features.clone().enumerate();
        let score = |(column, feature)| scales.score_of_estimate(group, column, means[feature]);
        columns.map(score).collect()
    };
    groups.flat_map(of_group).collect()
}

fn unit_vectors(count: usize) -> Vec<f32> {
    let mut numbers = vec![0.0; count * count];
    (0..count).for_each(|at| numbers[at * count + at] = 1.0);
    numbers
}

/// Rows of `width` numbers as columns.
fn transposed(rows: &[f32], width: usize) -> Vec<f32> {
    let column = |at: usize| rows.iter().skip(at).step_by(width);
    (0..width).flat_map(column).copied().collect()
}
