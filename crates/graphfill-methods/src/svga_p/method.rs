//! SVGA-P as a method.

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, Session, TensorStore};

use super::evidence;
use super::model::{INPUT, Model, OFFSET, OFFSET_SCALE};
use super::prior::{Input, Prior, RowInput, SavedPrior, rows_of};
use super::row_model::{CONTEXT, KNOWN, RowModel, VALUES};
use super::settings::{Network, PARAMETERS, Settings};
use crate::error::Result;
use crate::learning::{
    Bias, BinaryLoss, Decoding, Learner, Learnt, Observed, Outlet, Prepared, Saved, ScaleOptions,
    Scales, TrainedModel, likeliest_classes, texts,
};
use crate::method::{Fitted, LabelUse, Method, MethodInfo, Task};
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
        Ok(Box::new(Learnt::fit(&learner, &learner.settings.config, task)?))
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learnt
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
        let prior = SavedPrior::read(saved)?;
        learner.network = prior.network();
        learner.saved = Some((scales, prior));
        Ok(Box::new(Learnt::restore(&learner, task, saved)?))
    }
}

/// The inputs of programs, by name.
type Inputs = Vec<(String, Vec<f32>)>;

struct SvgaPLearner {
    settings: Settings,
    graph: NormalisedGraph,
    /// The prior of a saved model.
    saved: Option<(Scales, SavedPrior)>,
    nodes: usize,
    classes: usize,
    network: Network,
}

impl SvgaPLearner {
    fn new(settings: Settings, task: &Task<'_>) -> Result<Self> {
        let graph = NormalisedGraph::new(task.graph)?;
        let classes = task.labels.map_or(0, |labels| labels.classes.len());
        let network = match evidence::is_there(task, task.unknown) {
            true => Network::Rows,
            false => Network::Graph,
        };
        let nodes = task.graph.nodes();
        Ok(SvgaPLearner { settings, graph, saved: None, nodes, classes, network })
    }

    /// The programs where rows have known cells of their own.
    fn row_programs(
        &self,
        task: &Task<'_>,
        unknown: &CellMask,
        scales: &Scales,
        input: RowInput,
    ) -> Result<(Plan, Inputs, Known)> {
        let Settings { row_width: width, row_learning_rate: learning_rate, .. } = self.settings;
        let model = RowModel {
            rows: self.nodes,
            width,
            context: input.context.len() / self.nodes.max(1),
            cells: evidence::cells_of(task.features),
            hidden_rows: evidence::hidden_rows(task.features, unknown),
            learning_rate,
        };
        let rows = (0..self.nodes as u32).collect();
        let binary = BinaryLoss::Multinomial;
        let features = Observed::of_rows(task.features, unknown, scales, binary, rows)?;
        let labels = task.labels.map(Observed::labels).transpose()?.flatten();
        let known = Known { features, labels };
        let plan = Plan::new(vec![model.training(&known)?, model.prediction()?])?;
        let inputs = vec![
            (VALUES.to_owned(), input.values),
            (KNOWN.to_owned(), input.known),
            (CONTEXT.to_owned(), input.context),
        ];
        Ok((plan, inputs, known))
    }

    /// The programs where rows are known or unknown as a whole.
    fn graph_programs(
        &self,
        task: &Task<'_>,
        unknown: &CellMask,
        scales: &Scales,
        (input, inputs): (Vec<f32>, usize),
    ) -> Result<(Plan, Inputs, Known)> {
        let features = Observed::features(task.features, unknown, scales, BinaryLoss::Multinomial)?;
        let labels = task.labels.map(Observed::labels).transpose()?.flatten();
        let known = Known { features, labels };
        let model = self.model(inputs);
        let training = model.training(&self.graph, &known)?;
        let plan = Plan::new(vec![training, model.prediction(&self.graph)?])?;
        Ok((plan, vec![(INPUT.to_owned(), input)], known))
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

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", "svga-p.hidden".to_owned(), self.settings.width)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        let scales = match &self.saved {
            Some((scales, _)) => scales.clone(),
            None => Scales::of(task.features, unknown, ScaleOptions::PLAIN),
        };
        let saved = self.saved.as_ref().map(|(_, prior)| prior);
        let prior = Prior::of(task, unknown, &scales, self.network, saved)?;
        let (plan, mut inputs, known) = match prior.input {
            Input::Rows(input) => self.row_programs(task, unknown, &scales, input)?,
            Input::Prior(input, columns) => {
                self.graph_programs(task, unknown, &scales, (input, columns))?
            }
        };
        let offset = rows_of(&prior.scores, &known.features.rows, task.features.width());
        inputs.push((OFFSET.to_owned(), offset));
        let mut losses = vec!["loss".to_owned(), "features".to_owned()];
        losses.extend(known.labels.iter().map(|_| "labels".to_owned()));
        if self.network == Network::Graph && self.settings.lambda > 0.0 {
            losses.push("field".to_owned());
        }
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

    fn decoding(&self) -> Option<Decoding> {
        Some(Decoding {
            prediction: PREDICTION,
            weight: "features.weight",
            bias: Bias::Row("features.bias"),
            factors: vec![OFFSET_SCALE],
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

    fn untrained(&self, outlet: &Outlet) -> Option<TrainedModel> {
        let width = match self.network {
            Network::Graph => self.settings.width,
            Network::Rows => self.settings.row_width,
        };
        let features = outlet.offsets[0].len() / self.nodes.max(1);
        Some(TrainedModel {
            latent: vec![0.0; self.nodes * width],
            weight: vec![0.0; width * features],
            bias: Some(vec![0.0; features]),
            factors: vec![vec![1.0; features]],
        })
    }

    fn parameters(&self) -> Parameters {
        self.settings.parameters(self.network)
    }

    fn about(&self, task: &Task<'_>, outlet: &Outlet) -> TensorStore {
        let models = self.settings.config.models;
        let mut about = outlet.found.clone();
        about.texts.extend(texts(self.name(), models, &self.parameters(), &outlet.scales, task));
        about
    }
}

/// About how long training takes on this machine, in seconds: the products of all updates, at a rate
/// that any processor, or any card, of the last years reaches.
pub fn expected_seconds(task: &Task<'_>) -> f64 {
    const UPDATES: f64 = 600.0;
    const OPERATIONS_A_SECOND: f64 = 3e10;
    const CARD_TO_PROCESSOR: f64 = 50.0;
    let width = 256.0;
    let (nodes, features) = (task.features.rows() as f64, task.features.width() as f64);
    let observed = nodes - task.unknown.whole_rows() as f64;
    let inputs = features.min(256.0);
    let an_update = 6.0 * width * (nodes * (inputs + 2.0 * width) + observed * features);
    let threads = rayon::current_num_threads().min(8) as f64;
    let seconds = UPDATES * an_update / (OPERATIONS_A_SECOND * threads);
    if task.training.device.is_cuda() { seconds / CARD_TO_PROCESSOR } else { seconds }
}
