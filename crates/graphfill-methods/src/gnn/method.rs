//! Each of the three networks as a method.

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, Session, TensorStore};

use super::model::{Model, PREDICTION, TRAINING};
use super::settings::{PARAMETERS, Settings};
use crate::encoder::{EncoderKind, NormalisedGraph};
use crate::error::Result;
use crate::learning::{
    Bias, BinaryLoss, Decoding, Learner, Learnt, Observed, Outlet, Prepared, Saved, Scales,
    TrainedModel, texts,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters::Parameters;
use crate::tuning::{Axis, AxisValues};

/// A graph network with a learnt row for every node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphNetwork {
    /// Graph convolution.
    Gcn,
    /// Own rows beside means over neighbours.
    Sage,
    /// Graph attention.
    Gat,
}

/// What a search tries.
pub(super) const GRID: &[Axis] = &[
    Axis { name: "hidden", values: AxisValues::Numbers(&[64.0, 128.0, 256.0]) },
    Axis { name: "wide", values: AxisValues::Numbers(&[100.0, 200.0, 400.0]) },
    Axis { name: "dropout", values: AxisValues::Numbers(&[0.0, 0.2, 0.5]) },
    Axis { name: "weight_decay", values: AxisValues::Numbers(&[0.0, 1e-5, 2.5e-4]) },
    Axis { name: "learning_rate", values: AxisValues::Numbers(&[1e-3, 2e-3, 5e-3]) },
];

impl GraphNetwork {
    fn kind(self) -> EncoderKind {
        match self {
            GraphNetwork::Gcn => EncoderKind::Gcn,
            GraphNetwork::Sage => EncoderKind::Sage,
            GraphNetwork::Gat => EncoderKind::Gat,
        }
    }
}

impl Method for GraphNetwork {
    fn info(&self) -> &'static MethodInfo {
        match self {
            GraphNetwork::Gcn => &MethodInfo {
                name: "gcn",
                title: "Graph convolutional network",
                about: "Learns a row for every node, averages over neighbours twice, and decodes the result to all columns.",
                reference: "Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017",
                parameters: PARAMETERS,
            },
            GraphNetwork::Sage => &MethodInfo {
                name: "sage",
                title: "GraphSAGE",
                about: "Like gcn, but a node's own row stays apart from the mean of its neighbours'.",
                reference: "Hamilton, Ying and Leskovec: Inductive Representation Learning on Large Graphs, NeurIPS 2017",
                parameters: PARAMETERS,
            },
            GraphNetwork::Gat => &MethodInfo {
                name: "gat",
                title: "Graph attention network",
                about: "Like gcn, but how much a neighbour counts is learnt.",
                reference: "Veličković and others: Graph Attention Networks, ICLR 2018",
                parameters: PARAMETERS,
            },
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        let settings = Settings::of(self.info().name, PARAMETERS, self.kind(), task)?;
        Ok(Box::new(fit(settings, task)?))
    }

    fn grid(&self) -> &'static [Axis] {
        GRID
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        restore(task, saved, |task| Settings::of(self.info().name, PARAMETERS, self.kind(), task))
    }
}

/// Trains a network.
pub(super) fn fit(settings: Settings, task: &Task<'_>) -> Result<Learnt> {
    let learner = NetworkLearner::new(settings, task)?;
    Learnt::fit(&learner, &settings.training.config(), task)
}

/// The network that was saved, with the settings that its parameters give.
pub(super) fn restore<'a>(
    task: &Task<'a>,
    saved: &TensorStore,
    settings: impl Fn(&Task<'_>) -> Result<Settings>,
) -> Result<Box<dyn Fitted + 'a>> {
    let about = Saved::read(saved, task)?;
    let settings = settings(&Task { fixed: &about.fixed, ..*task })?;
    about.check_same_graph(settings.name)?;
    let Saved { scales, .. } = about;
    let learner = NetworkLearner { scales: Some(scales), ..NetworkLearner::new(settings, task)? };
    Ok(Box::new(Learnt::restore(&learner, task, saved)?))
}

struct NetworkLearner {
    settings: Settings,
    model: Model,
    graph: NormalisedGraph,
    /// Those of a saved model.
    scales: Option<Scales>,
}

impl NetworkLearner {
    fn new(settings: Settings, task: &Task<'_>) -> Result<Self> {
        let model = settings.model();
        model.check()?;
        let graph = NormalisedGraph::new(task.graph)?;
        Ok(NetworkLearner { settings, model, graph, scales: None })
    }
}

impl Learner for NetworkLearner {
    fn name(&self) -> &'static str {
        self.settings.name
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved(
            "the width of the graph layers",
            format!("{}.hidden", self.name()),
            self.settings.hidden,
        )
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        let own = || Scales::of(task.features, unknown, self.settings.standing.scales());
        let scales = self.scales.clone().unwrap_or_else(own);
        let binary = BinaryLoss::BalancedBernoulli;
        let known = Observed::features(task.features, unknown, &scales, binary)?;
        let training = self.model.training(&self.graph, &known)?;
        let plan = Plan::new(vec![training, self.model.prediction(&self.graph)?])?;
        let losses = vec!["loss".to_owned()];
        Ok(Prepared {
            plan,
            inputs: Vec::new(),
            outlet: Outlet { offsets: Vec::new(), scales, losses, found: TensorStore::default() },
        })
    }

    fn trained(&self, session: &mut Session) -> Result<TrainedModel> {
        session.run(PREDICTION)?;
        Ok(TrainedModel {
            latent: session.read(PREDICTION, "latent")?,
            weight: session.buffer("features.weight")?,
            bias: Some(session.buffer("features.bias")?),
            factors: Vec::new(),
        })
    }

    fn decoding(&self) -> Option<Decoding> {
        Some(Decoding {
            prediction: PREDICTION,
            weight: "features.weight",
            bias: Bias::Row("features.bias"),
            factors: Vec::new(),
        })
    }

    fn parameters(&self) -> Parameters {
        self.settings.parameters()
    }

    fn about(&self, task: &Task<'_>, outlet: &Outlet) -> TensorStore {
        let texts = texts(self.name(), 1, &self.parameters(), &outlet.scales, task);
        TensorStore { texts, ..TensorStore::default() }
    }
}
