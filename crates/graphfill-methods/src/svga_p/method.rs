//! SVGA-P as a method.

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{Plan, Session, TensorStore};

use super::model::{INPUT, Model, OFFSET, OFFSET_SCALE};
use super::prior::{Prior, SavedPrior};
use super::settings::{PARAMETERS, Settings};
use crate::error::Result;
use crate::learning::{
    BinaryLoss, Learner, Learnt, NumericBlocks, Observed, Outlet, Prepared, Saved, Scales,
    TrainedModel, likeliest_classes, texts,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters::Parameters;
use crate::svga::{Known, NormalisedGraph, PREDICTION, TRAINING};
use crate::tuning::{Axis, AxisValues};

/// SVGA on a propagation prior.
#[derive(Debug, Clone, Copy)]
pub struct SvgaP;

impl Method for SvgaP {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "svga-p",
            title: "SVGA on a propagation prior",
            about: "Blends several propagations into a prior for every cell, as if it were unknown, and learns with a graph network and SVGA's Gaussian field where the prior is wrong. Needs a tenth of SVGA's updates.",
            reference: "",
            parameters: PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        let learner = SvgaPLearner::new(Settings::of(task)?, task)?;
        Ok(Box::new(Learnt::fit(&learner, &learner.settings.recipe, task)?))
    }

    fn grid(&self) -> &'static [Axis] {
        &[
            Axis { name: "lambda", values: AxisValues::Numbers(&[0.0, 0.01, 0.1, 1.0]) },
            Axis { name: "beta", values: AxisValues::Numbers(&[0.1, 1.0]) },
            Axis { name: "hidden", values: AxisValues::Numbers(&[128.0, 256.0, 512.0]) },
            Axis { name: "dropout", values: AxisValues::Numbers(&[0.0, 0.5]) },
            Axis { name: "learning_rate", values: AxisValues::Numbers(&[5e-4, 1e-3, 2e-3, 4e-3]) },
        ]
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        let Saved { fixed, scales, seed, .. } = Saved::read(saved, task)?;
        // The folds of the prior follow the seed: the same estimates need the same folds.
        let task = &Task { seed, ..*task };
        let settings = Settings::of(&Task { fixed: &fixed, ..*task })?;
        let mut learner = SvgaPLearner::new(settings, task)?;
        learner.saved = Some((scales, SavedPrior::read(saved)?));
        Ok(Box::new(Learnt::restore(&learner, task, saved)?))
    }
}

struct SvgaPLearner {
    settings: Settings,
    graph: NormalisedGraph,
    /// The prior of a saved model.
    saved: Option<(Scales, SavedPrior)>,
    nodes: usize,
    classes: usize,
}

impl SvgaPLearner {
    fn new(settings: Settings, task: &Task<'_>) -> Result<Self> {
        let graph = NormalisedGraph::new(task.graph)?;
        let classes = task.labels.map_or(0, |labels| labels.classes.len());
        Ok(SvgaPLearner { settings, graph, saved: None, nodes: task.graph.nodes(), classes })
    }

    fn model(&self, inputs: usize) -> Model {
        let Settings { width, dropout, lambda, beta, learning_rate, .. } = self.settings;
        Model { width, inputs, dropout, lambda, beta, learning_rate }
    }
}

impl Learner for SvgaPLearner {
    fn name(&self) -> &'static str {
        SvgaP.info().name
    }

    fn program(&self) -> &'static str {
        TRAINING
    }

    fn memory_parameter(&self) -> String {
        format!("--param svga-p.hidden={}", (self.settings.width / 2).max(1))
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        let scales = match &self.saved {
            Some((scales, _)) => scales.clone(),
            None => Scales::of(task.features, unknown, NumericBlocks::Standardised),
        };
        let prior = Prior::of(task, unknown, &scales, self.saved.as_ref().map(|(_, prior)| prior))?;
        let features =
            Observed::features(task.features, unknown, &scales, BinaryLoss::Multinomial)?;
        let offset = prior.rows(&features.rows, task.features.width());
        let labels = task.labels.map(Observed::labels).transpose()?.flatten();
        let mut losses = vec!["loss".to_owned(), "features".to_owned()];
        losses.extend(labels.iter().map(|_| "labels".to_owned()));
        if self.settings.lambda > 0.0 {
            losses.push("field".to_owned());
        }
        let known = Known { features, labels };
        let model = self.model(prior.inputs);
        let training = model.training(&self.graph, &known)?;
        let plan = Plan::new(vec![training, model.prediction(&self.graph)?])?;
        let inputs = vec![(INPUT.to_owned(), prior.input), (OFFSET.to_owned(), offset)];
        let found = prior.saved.write();
        let outlet = Outlet { offsets: vec![Arc::new(prior.scores)], scales, losses, found };
        Ok(Prepared { plan, inputs, outlet })
    }

    fn trained(&self, session: &mut Session) -> Result<TrainedModel> {
        session.run(PREDICTION)?;
        Ok(TrainedModel {
            latent: session.read(PREDICTION, "latent")?,
            weight: session.buffer("features.weight")?,
            bias: Some(session.buffer("features.bias")?),
            factors: vec![session.buffer(OFFSET_SCALE)?],
        })
    }

    fn classes(&self, session: &mut Session) -> Result<Option<Vec<u32>>> {
        if !session.parameters().any(|name| name == "labels.weight") {
            return Ok(None);
        }
        session.run(PREDICTION)?;
        let latent = session.read(PREDICTION, "latent")?;
        let (weight, bias) = (session.buffer("labels.weight")?, session.buffer("labels.bias")?);
        Ok(Some(likeliest_classes(&latent, self.nodes, &weight, &bias, self.classes)))
    }

    fn parameters(&self) -> Parameters {
        self.settings.parameters()
    }

    fn about(&self, task: &Task<'_>, outlet: &Outlet) -> TensorStore {
        let models = self.settings.recipe.models;
        let mut about = outlet.found.clone();
        about.texts.extend(texts(self.name(), models, &self.parameters(), &outlet.scales, task));
        about
    }
}

/// About how long training takes on this machine, in seconds: the products of all updates, at a rate
/// that any processor of the last years reaches.
pub fn expected_seconds(task: &Task<'_>) -> f64 {
    const UPDATES: f64 = 600.0;
    const OPERATIONS_A_SECOND: f64 = 3e10;
    let width = 256.0;
    let (nodes, features) = (task.features.rows() as f64, task.features.width() as f64);
    let observed = nodes - task.unknown.whole_rows() as f64;
    let inputs = features.min(256.0);
    let an_update = 6.0 * width * (nodes * (inputs + 2.0 * width) + observed * features);
    let threads = rayon::current_num_threads().min(8) as f64;
    UPDATES * an_update / (OPERATIONS_A_SECOND * threads)
}
