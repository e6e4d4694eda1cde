//! SAT as a method.

use std::iter;
use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, Session, TensorStore};

use super::model::{DISCRIMINATOR, GENERATOR, Known, Model, PREDICTION};
use super::settings::{NAME, PARAMETERS, Settings};
use crate::encoder::NormalisedGraph;
use crate::error::Result;
use crate::learning::{
    Bias, BinaryLoss, Decoding, Learner, Learnt, Observed, Outlet, Prepared, Saved, Scales,
    TrainedModel, known_rows, texts,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters::Parameters;
use crate::tuning::{Axis, AxisValues};

/// Rows and places in one latent space.
#[derive(Debug, Clone, Copy)]
pub struct Sat;

impl Method for Sat {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: NAME,
            title: "Structure-attribute transformer",
            about: "Encodes rows and places in the graph into one latent space, held together by an adversary and by decoding each to what the other knows.",
            reference: "Chen, Chen, Yao, Zheng, Zhang and Tsang: Learning on Attribute-Missing Graphs, TPAMI 2022",
            parameters: PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        let learner = SatLearner::new(Settings::of(task)?, task)?;
        Ok(Box::new(Learnt::fit(&learner, &learner.settings.training.config(), task)?))
    }

    fn grid(&self) -> &'static [Axis] {
        &[
            Axis { name: "backbone", values: AxisValues::Words(&["gcn", "gat"]) },
            Axis { name: "cross", values: AxisValues::Numbers(&[1.0, 10.0, 50.0]) },
            Axis { name: "generator_steps", values: AxisValues::Numbers(&[2.0, 5.0]) },
            Axis { name: "dropout", values: AxisValues::Numbers(&[0.0, 0.2, 0.5]) },
            Axis { name: "weight_decay", values: AxisValues::Numbers(&[0.0, 1e-5, 5e-4]) },
            Axis { name: "learning_rate", values: AxisValues::Numbers(&[3e-4, 1e-3, 3e-3]) },
        ]
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        let about = Saved::read(saved, task)?;
        about.check_same_graph(NAME)?;
        let Saved { fixed, scales, .. } = about;
        let settings = Settings::of(&Task { fixed: &fixed, ..*task })?;
        let learner = SatLearner { scales: Some(scales), ..SatLearner::new(settings, task)? };
        Ok(Box::new(Learnt::restore(&learner, task, saved)?))
    }
}

struct SatLearner {
    settings: Settings,
    graph: NormalisedGraph,
    /// The edges, each once.
    edges: Arc<[[u32; 2]]>,
    /// Those of a saved model.
    scales: Option<Scales>,
}

impl SatLearner {
    fn new(settings: Settings, task: &Task<'_>) -> Result<Self> {
        let graph = NormalisedGraph::new(task.graph)?;
        let edges = task.graph.iter().map(|(one, other, _)| [one, other]);
        Ok(SatLearner { settings, graph, edges: edges.collect(), scales: None })
    }
}

impl Learner for SatLearner {
    fn name(&self) -> &'static str {
        NAME
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        let generator = iter::repeat_n(GENERATOR, self.settings.generator_steps);
        iter::once(DISCRIMINATOR).chain(generator).collect()
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", format!("{NAME}.hidden"), self.settings.hidden)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        let Settings { backbone, hidden, latent, cross, standing, training, .. } = self.settings;
        let own = || Scales::of(task.features, unknown, standing.scales());
        let scales = self.scales.clone().unwrap_or_else(own);
        let binary = BinaryLoss::BalancedBernoulli;
        let features = Observed::features(task.features, unknown, &scales, binary)?;
        let place = |node: u32| features.rows.binary_search(&node).ok().map(|place| place as u32);
        let both = |&[one, other]: &[u32; 2]| Some([place(one)?, place(other)?]);
        let known = Known {
            graph: &self.graph,
            features: &features,
            rows: Arc::new(known_rows(task.features, unknown, &scales, &features.rows)),
            edges: Arc::clone(&self.edges),
            observed_edges: self.edges.iter().filter_map(both).collect(),
        };
        let model = Model { backbone, hidden, latent, cross, training };
        let plan = Plan::new(vec![
            model.generator(&known)?,
            model.discriminator(&known)?,
            model.prediction(&self.graph)?,
        ])?;
        let losses = vec!["loss".to_owned(), "features".to_owned()];
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
        let texts = texts(NAME, 1, &self.parameters(), &outlet.scales, task);
        TensorStore { texts, ..TensorStore::default() }
    }
}
