//! Graph networks as methods: gcn, sage, gat, and the best of the three.

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, TensorStore};

use super::best;
use super::model::{Model, PREDICTION, TRAINING};
use crate::encoder::{EncoderKind, NormalisedGraph};
use crate::error::Result;
use crate::learning::{
    DecoderSpec, Likelihoods, Network, NumericBlocks, Observed, Prepared, Purpose, SavedModel,
    TrainableModel, TrainedImputer, default_dropout, published_likelihoods,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters::{Allowed, ParameterInfo, Parameterised, Parameters, Tuning};
use crate::{parameters, word_parameter};

word_parameter! {
    /// Which graph network.
    pub enum NetworkChoice {
        /// The best of the three on validation cells.
        Best = "best",
        /// Graph convolution.
        Gcn = "gcn",
        /// Own rows beside means over neighbours.
        Sage = "sage",
        /// Graph attention.
        Gat = "gat",
    }
}

parameters! {
    /// A graph network with a learned row for every node.
    pub struct GraphNetwork [name: &'static str = "gnn"] {
        /// width of the graph layers
        hidden: usize = 64, Allowed::WIDTH, tuned Tuning::Numbers(&[64.0, 128.0, 256.0]);
        /// width of the layer between them and the columns
        decoder_hidden: usize = 200, Allowed::WIDTH, tuned Tuning::Numbers(&[100.0, 200.0, 400.0]);
        /// of Adam
        learning_rate: f32 = 0.005, Allowed::LEARNING_RATE, tuned Tuning::Numbers(&[1e-3, 2e-3, 5e-3]);
        /// share of hidden numbers dropped in training
        dropout: Option<f32> = None, Allowed::DROPOUT, tuned Tuning::Numbers(&[0.0, 0.2, 0.5]),
            default "0.5 for 0/1 blocks, 0.2 for other tables";
        /// weight of the penalty on squared weights
        weight_decay: f32 = 0.0, Allowed::Number { min: 0.0, max: 1.0 },
            tuned Tuning::Numbers(&[0.0, 1e-5, 2.5e-4]), default "0";
        /// scaling of numeric blocks
        scaling: NumericBlocks = NumericBlocks::Standardised, Allowed::Words(NumericBlocks::WORDS),
            default "standard";
        /// updates without a better validation score before training ends
        patience: u64 = 300, Allowed::UPDATES;
        /// which network: one of the three, or the best of them on validation cells
        network: NetworkChoice = NetworkChoice::Best, Allowed::Words(NetworkChoice::WORDS),
            default "best";
    }
}

/// The parameters of a single network, which has no choice of networks.
const SINGLE_PARAMETERS: &[ParameterInfo] =
    GraphNetwork::PARAMETERS.split_at(GraphNetwork::PARAMETERS.len() - 1).0;

impl GraphNetwork {
    /// A graph convolutional network.
    pub fn gcn() -> Self {
        GraphNetwork { name: "gcn", network: NetworkChoice::Gcn, ..Self::default() }
    }

    /// GraphSAGE.
    pub fn sage() -> Self {
        GraphNetwork { name: "sage", network: NetworkChoice::Sage, ..Self::default() }
    }

    /// A graph attention network.
    pub fn gat() -> Self {
        GraphNetwork { name: "gat", network: NetworkChoice::Gat, ..Self::default() }
    }

    /// The encoder, where one is chosen.
    pub(super) fn kind(&self) -> Option<EncoderKind> {
        match self.network {
            NetworkChoice::Best => None,
            NetworkChoice::Gcn => Some(EncoderKind::Gcn),
            NetworkChoice::Sage => Some(EncoderKind::Sage),
            NetworkChoice::Gat => Some(EncoderKind::Gat),
        }
    }

    /// Trains the chosen network, or graph convolution where none is chosen.
    pub(super) fn train(&self, task: &Task<'_>) -> Result<TrainedImputer> {
        let mut method = self.clone();
        method.dropout.get_or_insert(default_dropout(task));
        let model = NetworkModel::new(method, task, None)?;
        TrainedImputer::fit(&model, &model.model.network.config(), task)
    }
}

impl Method for GraphNetwork {
    fn info(&self) -> &'static MethodInfo {
        match self.name {
            "gcn" => &MethodInfo {
                name: "gcn",
                title: "Graph convolutional network",
                about: "Learns a row for every node, averages over neighbours twice, and decodes the result to all columns.",
                reference: "Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017",
                edges: "takes edges as undirected; edge weights count",
                parameters: SINGLE_PARAMETERS,
            },
            "sage" => &MethodInfo {
                name: "sage",
                title: "GraphSAGE",
                about: "Like gcn, but a node's own row stays apart from the mean of its neighbours'.",
                reference: "Hamilton, Ying and Leskovec: Inductive Representation Learning on Large Graphs, NeurIPS 2017",
                edges: "takes edges as undirected; edge weights count",
                parameters: SINGLE_PARAMETERS,
            },
            "gat" => &MethodInfo {
                name: "gat",
                title: "Graph attention network",
                about: "Like gcn, but how much a neighbour counts is learned.",
                reference: "Veličković and others: Graph Attention Networks, ICLR 2018",
                edges: "takes edges as undirected; edge weights do not count",
                parameters: SINGLE_PARAMETERS,
            },
            _ => &MethodInfo {
                name: "gnn",
                title: "Best of three graph networks",
                about: "Trains gcn, sage and gat, and takes the one that does best on values hidden from it.",
                reference: "",
                edges: "takes edges as undirected; edge weights count for gcn and sage",
                parameters: GraphNetwork::PARAMETERS,
            },
        }
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        match self.network {
            NetworkChoice::Best => best::fit(self, task),
            _ => Ok(Box::new(self.train(task)?)),
        }
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let saved = SavedModel::read(state, task)?;
        saved.check_same_graph(self.name, task.graph)?;
        let method = self.configured(&saved.parameters)?;
        let model = NetworkModel::new(method, task, Some(saved.likelihoods))?;
        Ok(Box::new(TrainedImputer::restore(&model, task, state)?))
    }
}

struct NetworkModel {
    method: GraphNetwork,
    model: Model,
    graph: NormalisedGraph,
    /// Those of a saved model.
    likelihoods: Option<Likelihoods>,
}

impl NetworkModel {
    fn new(
        method: GraphNetwork,
        task: &Task<'_>,
        likelihoods: Option<Likelihoods>,
    ) -> Result<Self> {
        let network = Network {
            learning_rate: method.learning_rate,
            dropout: method.dropout.unwrap_or(0.0),
            weight_decay: method.weight_decay,
            patience: method.patience,
        };
        let model = Model {
            kind: method.kind().unwrap_or(EncoderKind::Gcn),
            hidden: method.hidden,
            decoder_hidden: method.decoder_hidden,
            network,
        };
        model.check()?;
        let graph = NormalisedGraph::new(task.graph)?;
        Ok(NetworkModel { method, model, graph, likelihoods })
    }
}

impl TrainableModel for NetworkModel {
    fn name(&self) -> &'static str {
        self.method.name
    }

    fn parameters(&self) -> Parameters {
        self.method.parameters()
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        let parameter = format!("{}.hidden", self.name());
        Lower::halved("the width of the graph layers", parameter, self.model.hidden)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared> {
        let options = published_likelihoods(self.method.scaling);
        let fitted = || Likelihoods::fit(task.features, unknown, options);
        let likelihoods = self.likelihoods.clone().unwrap_or_else(fitted);
        let mut programs = vec![self.model.prediction(&self.graph)?];
        if purpose == Purpose::Training {
            let known = Observed::features(task.features, unknown, &likelihoods)?;
            programs.insert(0, self.model.training(&self.graph, &known)?);
        }
        let spec = DecoderSpec::linear(task, PREDICTION, likelihoods, &["loss"]);
        Ok(Prepared { plan: Plan::new(programs)?, inputs: Vec::new(), spec })
    }
}
