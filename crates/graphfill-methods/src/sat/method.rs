//! SAT as a method.

use std::iter;
use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, TensorStore};

use super::model::{DISCRIMINATOR, GENERATOR, Known, Model, PREDICTION};
use super::place::Backbone;
use crate::encoder::NormalisedGraph;
use crate::error::Result;
use crate::learning::{
    DecoderSpec, Likelihoods, Network, NumericBlocks, Observed, Prepared, Purpose, SavedModel,
    TrainableModel, TrainedImputer, default_dropout, known_rows, only_binary_blocks,
    published_likelihoods,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters;
use crate::parameters::{Allowed, Parameterised, Parameters, Tuning};

parameters! {
    /// Structure-attribute transformer: rows and positions in the graph in one latent space.
    pub struct Sat {
        /// how a node's position in the graph is encoded
        backbone: Option<Backbone> = None, Allowed::Words(Backbone::WORDS),
            tuned Tuning::Words(Backbone::WORDS), default "gat for 0/1 blocks, gcn for other tables";
        /// width of the hidden layers
        hidden: usize = 200, Allowed::WIDTH;
        /// width of the latent space
        latent: usize = 64, Allowed::WIDTH;
        /// weight of features decoded from positions and edges decoded from rows
        cross: f32 = 10.0, Allowed::WEIGHT, tuned Tuning::Numbers(&[1.0, 10.0, 50.0]), default "10";
        /// steps of encoders and decoders for each step of the discriminator
        generator_steps: usize = 2, Allowed::Whole { min: 1.0, max: 100.0 },
            tuned Tuning::Numbers(&[2.0, 5.0]);
        /// of Adam
        learning_rate: f32 = 0.001, Allowed::LEARNING_RATE, tuned Tuning::Numbers(&[3e-4, 1e-3, 3e-3]);
        /// share of hidden numbers dropped in training
        dropout: Option<f32> = None, Allowed::DROPOUT, tuned Tuning::Numbers(&[0.0, 0.2, 0.5]),
            default "0.5 for 0/1 blocks, 0.2 for other tables";
        /// weight of the penalty on squared weights
        weight_decay: f32 = 0.0, Allowed::Number { min: 0.0, max: 1.0 },
            tuned Tuning::Numbers(&[0.0, 1e-5, 5e-4]), default "0";
        /// scaling of numeric blocks
        scaling: NumericBlocks = NumericBlocks::Standardised, Allowed::Words(NumericBlocks::WORDS),
            default "standard";
        /// updates without a better validation score before training ends
        patience: u64 = 300, Allowed::UPDATES;
    }
}

impl Sat {
    fn network(&self) -> Network {
        Network {
            learning_rate: self.learning_rate,
            dropout: self.dropout.unwrap_or(0.0),
            weight_decay: self.weight_decay,
            patience: self.patience,
        }
    }
}

impl Method for Sat {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "sat",
            title: "Structure-attribute transformer",
            about: "Encodes rows and positions in the graph into one latent space, held together by an adversary and by decoding each to what the other knows.",
            reference: "Chen, Chen, Yao, Zheng, Zhang and Tsang: Learning on Attribute-Missing Graphs, TPAMI 2022",
            edges: "takes edges as undirected; edge weights count with graph convolutions",
            parameters: Sat::PARAMETERS,
        }
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        let mut method = self.clone();
        let backbone = if only_binary_blocks(task) { Backbone::Gat } else { Backbone::Gcn };
        method.backbone.get_or_insert(backbone);
        method.dropout.get_or_insert(default_dropout(task));
        let model = SatModel::new(method, task, None)?;
        Ok(Box::new(TrainedImputer::fit(&model, &model.method.network().config(), task)?))
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let saved = SavedModel::read(state, task)?;
        saved.check_same_graph("sat", task.graph)?;
        let method = self.configured(&saved.parameters)?;
        let model = SatModel::new(method, task, Some(saved.likelihoods))?;
        Ok(Box::new(TrainedImputer::restore(&model, task, state)?))
    }
}

struct SatModel {
    method: Sat,
    graph: NormalisedGraph,
    /// The edges, each once.
    edges: Arc<[[u32; 2]]>,
    /// Those of a saved model.
    likelihoods: Option<Likelihoods>,
}

impl SatModel {
    fn new(method: Sat, task: &Task<'_>, likelihoods: Option<Likelihoods>) -> Result<Self> {
        let graph = NormalisedGraph::new(task.graph)?;
        let edges = task.graph.iter().map(|(one, other, _)| [one, other]);
        Ok(SatModel { method, graph, edges: edges.collect(), likelihoods })
    }
}

impl TrainableModel for SatModel {
    fn name(&self) -> &'static str {
        "sat"
    }

    fn parameters(&self) -> Parameters {
        self.method.parameters()
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        let generator = iter::repeat_n(GENERATOR, self.method.generator_steps);
        iter::once(DISCRIMINATOR).chain(generator).collect()
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", "sat.hidden".to_owned(), self.method.hidden)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared> {
        let options = published_likelihoods(self.method.scaling);
        let fitted = || Likelihoods::fit(task.features, unknown, options);
        let likelihoods = self.likelihoods.clone().unwrap_or_else(fitted);
        let model = Model {
            backbone: self.method.backbone.unwrap_or(Backbone::Gcn),
            hidden: self.method.hidden,
            latent: self.method.latent,
            cross: self.method.cross,
            network: self.method.network(),
        };
        let mut programs = vec![model.prediction(&self.graph)?];
        if purpose == Purpose::Training {
            let features = Observed::features(task.features, unknown, &likelihoods)?;
            let position =
                |node: u32| features.rows.binary_search(&node).ok().map(|position| position as u32);
            let both = |&[one, other]: &[u32; 2]| Some([position(one)?, position(other)?]);
            let known = Known {
                graph: &self.graph,
                features: &features,
                rows: Arc::new(known_rows(task.features, unknown, &likelihoods, &features.rows)),
                edges: Arc::clone(&self.edges),
                observed_edges: self.edges.iter().filter_map(both).collect(),
            };
            programs.splice(0..0, [model.generator(&known)?, model.discriminator(&known)?]);
        }
        let spec = DecoderSpec::linear(task, PREDICTION, likelihoods, &["loss", "features"]);
        Ok(Prepared { plan: Plan::new(programs)?, inputs: Vec::new(), spec })
    }
}
