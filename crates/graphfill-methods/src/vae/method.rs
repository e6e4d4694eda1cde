//! The VAE as a method.

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, TensorStore};

use super::model::{Model, PREDICTION, TRAINING};
use super::neighbours::to_nodes;
use crate::error::Result;
use crate::learning::{
    Bias, DecoderSpec, Likelihoods, Network, NumericBlocks, Observed, Prepared, Purpose,
    SavedModel, TrainableModel, TrainedImputer, default_dropout, known_rows, published_likelihoods,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters::{Allowed, Parameterised, Parameters, Tuning};
use crate::{parameters, word_parameter};

word_parameter! {
    /// What a node without observed neighbours gets.
    pub enum NoNeighbours {
        /// What the mean of the prior decodes to.
        Prior = "prior",
        /// Zeros for logits.
        Zeros = "zeros",
    }
}

word_parameter! {
    /// How the KL divergences of the rows are combined.
    pub enum Reduction {
        /// Their mean.
        Mean = "mean",
        /// Their sum.
        Sum = "sum",
    }
}

parameters! {
    /// A variational autoencoder of rows.
    pub struct Vae {
        /// width of the hidden layers
        hidden: usize = 200, Allowed::WIDTH, tuned Tuning::Numbers(&[100.0, 200.0, 400.0]);
        /// width of a node's latent
        latent: usize = 64, Allowed::WIDTH, tuned Tuning::Numbers(&[32.0, 64.0, 128.0]);
        /// weight of the KL divergence of latents from the prior
        kl_weight: Option<f32> = None, Allowed::Number { min: 0.0, max: 1e9 },
            tuned Tuning::Numbers(&[0.0, 1e-4, 1e-3, 1e-2]), default "1 / number of features";
        /// how the KL divergences of the rows are combined
        kl_reduction: Reduction = Reduction::Mean, Allowed::Words(Reduction::WORDS), default "mean";
        /// what nodes without observed neighbours get: what the mean of the prior decodes to, or zeros
        no_observed_neighbours: NoNeighbours = NoNeighbours::Prior,
            Allowed::Words(NoNeighbours::WORDS), default "prior";
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

impl Vae {
    fn network(&self) -> Network {
        Network {
            learning_rate: self.learning_rate,
            dropout: self.dropout.unwrap_or(0.0),
            weight_decay: self.weight_decay,
            patience: self.patience,
        }
    }
}

impl Method for Vae {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "vae",
            title: "Variational autoencoder",
            about: "Learns to encode and decode the rows that are known; a node of which nothing is known is decoded from the mean of its neighbours' codes.",
            reference: "Kingma and Welling: Auto-Encoding Variational Bayes, ICLR 2014",
            edges: "takes edges as undirected; edge weights count",
            parameters: Vae::PARAMETERS,
        }
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        let mut method = self.clone();
        // As strong as in the evidence lower bound where the loss is a mean over cells.
        method.kl_weight.get_or_insert(1.0 / task.features.width().max(1) as f32);
        method.dropout.get_or_insert(default_dropout(task));
        let model = VaeModel { method, likelihoods: None };
        Ok(Box::new(TrainedImputer::fit(&model, &model.method.network().config(), task)?))
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let saved = SavedModel::read(state, task)?;
        let method = self.configured(&saved.parameters)?;
        let model = VaeModel { method, likelihoods: Some(saved.likelihoods) };
        Ok(Box::new(TrainedImputer::restore(&model, task, state)?))
    }
}

struct VaeModel {
    method: Vae,
    /// Those of a saved model.
    likelihoods: Option<Likelihoods>,
}

impl TrainableModel for VaeModel {
    fn name(&self) -> &'static str {
        "vae"
    }

    fn parameters(&self) -> Parameters {
        self.method.parameters()
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", "vae.hidden".to_owned(), self.method.hidden)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared> {
        let options = published_likelihoods(self.method.scaling);
        let fitted = || Likelihoods::fit(task.features, unknown, options);
        let likelihoods = self.likelihoods.clone().unwrap_or_else(fitted);
        let known = Observed::features(task.features, unknown, &likelihoods)?;
        let reduction = match self.method.kl_reduction {
            Reduction::Mean => 1.0,
            Reduction::Sum => known.rows.len() as f32,
        };
        let model = Model {
            hidden: self.method.hidden,
            latent: self.method.latent,
            kl_weight: self.method.kl_weight.unwrap_or(0.0) * reduction,
            no_observed_neighbours: self.method.no_observed_neighbours,
            network: self.method.network(),
        };
        let to_nodes = Arc::new(to_nodes(task.graph, &known.rows));
        let rows = Arc::new(known_rows(task.features, unknown, &likelihoods, &known.rows));
        let mut programs = vec![model.prediction(&rows, &to_nodes)?];
        if purpose == Purpose::Training {
            programs.insert(0, model.training(&rows, &known)?);
        }
        let bias = match self.method.no_observed_neighbours {
            NoNeighbours::Prior => Bias::Parameter("features.bias"),
            NoNeighbours::Zeros => Bias::PerNode("features.bias"),
        };
        let losses = ["loss", "features"];
        let spec =
            DecoderSpec { bias, ..DecoderSpec::linear(task, PREDICTION, likelihoods, &losses) };
        Ok(Prepared { plan: Plan::new(programs)?, inputs: Vec::new(), spec })
    }
}
