//! SVGA, SVGA-R and SVGA-U as methods: one struct, three variants.

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, TensorStore};

use super::{Known, Model, Normalisation, NormalisedGraph, PREDICTION, TRAINING};
use crate::encoder::{DEFAULT_DEPTH, EncoderKind};
use crate::error::Result;
use crate::features::ColumnMeans;
use crate::learning::{
    Bias, Criterion, DecoderSpec, EarlyStopping, Likelihoods, NumericBlocks, Observed, Prepared,
    Purpose, SavedModel, TrainableModel, TrainedImputer, TrainingConfig, default_dropout,
    only_binary_blocks, published_likelihoods,
};
use crate::method::{Fitted, LabelUse, Method, MethodInfo, Task};
use crate::parameters;
use crate::parameters::{Allowed, ParameterInfo, Parameterised, Parameters, Tuning, YES_NO};

/// Which of the paper's three models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Algorithm 1.
    Regularised,
    /// Without the GMRF: λ = 0.
    Unregularised,
    /// Algorithm 2: latents are drawn from a Gaussian.
    Stochastic,
}

parameters! {
    /// The structured variational graph autoencoder.
    ///
    /// A table of 0/1 blocks alone is trained as the paper trains Cora (its own comparison finds λ = 1
    /// best on the other binary graphs, too). Any other table has a bias in its decoders, λ = 0.1,
    /// β = 1 and little dropout.
    pub struct Svga [variant: Variant = Variant::Regularised] {
        /// width of hidden and latent rows
        hidden: usize = 256, Allowed::WIDTH, tuned Tuning::Numbers(&[256.0, 512.0]);
        /// how a node's latent is made of the graph
        encoder: EncoderKind = EncoderKind::Gcn, Allowed::Words(EncoderKind::WORDS), default "gcn";
        /// layers of the encoder
        depth: usize = DEFAULT_DEPTH, Allowed::Whole { min: 1.0, max: 16.0 }, default "2";
        /// what latent rows are scaled to
        normalisation: Normalisation = Normalisation::Unit, Allowed::Words(Normalisation::WORDS),
            tuned Tuning::Words(Normalisation::WORDS), default "unit";
        /// whether decoders have a bias
        bias: Option<bool> = None, YES_NO, default "no for 0/1 blocks and yes for other tables";
        /// of Adam
        learning_rate: f32 = 0.001, Allowed::LEARNING_RATE,
            tuned Tuning::Numbers(&[3e-4, 1e-3, 3e-3, 5e-3]);
        /// share of latents dropped before the decoders
        dropout: Option<f32> = None, Allowed::DROPOUT, tuned Tuning::Numbers(&[0.0, 0.5]),
            default "0.5 for 0/1 blocks and 0.2 for other tables";
        /// scaling of numeric blocks
        scaling: NumericBlocks = NumericBlocks::Standardised, Allowed::Words(NumericBlocks::WORDS),
            default "standard";
        /// updates without a better validation score before training ends
        patience: u64 = 2000, Allowed::UPDATES;
        /// λ, weight of the GMRF that keeps neighbours alike
        lambda: Option<f32> = None, Allowed::WEIGHT, tuned Tuning::Numbers(&[0.01, 0.1, 1.0]),
            default "1 for 0/1 blocks, 0.1 for others; svga-u: Algorithm 2's balance, 0.1 / hidden";
        /// β, variance scale of the prior: larger values weaken the GMRF
        beta: Option<f32> = None, Allowed::Number { min: 1e-6, max: 1e6 },
            tuned Tuning::Numbers(&[0.01, 0.1, 1.0]),
            default "0.1 for 0/1 blocks and 1 for other tables";
    }
}

/// The λ that gives the balance of Algorithm 2, which sums over observed cells and has no λ, for 0/1
/// blocks with a share p of ones: n / (2p(1 − p) · observed cells).
fn algorithm_2_lambda(task: &Task<'_>) -> f32 {
    let means = ColumnMeans::of(task.features, task.unknown);
    let cells: f64 = means.known.iter().map(|&known| f64::from(known)).sum();
    let ones: f64 = means.means.iter().zip(&means.known).map(|(m, &k)| m * f64::from(k)).sum();
    let share = (ones / cells.max(1.0)).clamp(1e-6, 0.5);
    (task.graph.nodes() as f64 / (2.0 * share * (1.0 - share) * cells).max(1.0)) as f32
}

/// Without λ and β, which come last.
const UNREGULARISED_PARAMETERS: &[ParameterInfo] =
    Svga::PARAMETERS.split_at(Svga::PARAMETERS.len() - 2).0;

const REFERENCE: &str = "Yoo, Jeon, Jung and Kang: Accurate Node Feature Estimation with Structured Variational Graph Autoencoder, KDD 2022";

impl Svga {
    /// SVGA-R: without the GMRF.
    pub fn unregularised() -> Self {
        Svga { variant: Variant::Unregularised, ..Svga::default() }
    }

    /// SVGA-U: latents are drawn from a Gaussian with learned mean and covariance.
    pub fn stochastic() -> Self {
        Svga { variant: Variant::Stochastic, ..Svga::default() }
    }

    /// Everything that was left open, by the rule for the table.
    fn resolved(&self, task: &Task<'_>) -> Svga {
        let is_binary = only_binary_blocks(task);
        let mut resolved = self.clone();
        resolved.bias.get_or_insert(!is_binary);
        resolved.dropout.get_or_insert(default_dropout(task));
        if self.variant != Variant::Unregularised {
            resolved.lambda.get_or_insert(match self.variant {
                Variant::Stochastic if is_binary => algorithm_2_lambda(task),
                // Its divergence is a sum over the columns of the latents.
                Variant::Stochastic => 0.1 / self.hidden.max(1) as f32,
                _ if is_binary => 1.0,
                _ => 0.1,
            });
            resolved.beta.get_or_insert(if is_binary { 0.1 } else { 1.0 });
        }
        resolved
    }

    /// The paper's 2,000 epochs of 10 updates at most.
    fn config(&self) -> TrainingConfig {
        TrainingConfig {
            stopping: EarlyStopping { epoch: 10, max_updates: 20_000, patience: self.patience },
            models: 1,
            unvalidated_updates: 2_000,
            criterion: Criterion::Published,
        }
    }

    /// The model of resolved parameters.
    fn model(&self) -> Model {
        Model {
            encoder: self.encoder,
            depth: self.depth,
            width: self.hidden,
            normalisation: self.normalisation,
            dropout: self.dropout.unwrap_or(0.0),
            decoder_bias: self.bias.unwrap_or(false),
            lambda: self.lambda.unwrap_or(0.0),
            beta: self.beta.unwrap_or(1.0),
            learning_rate: self.learning_rate,
        }
    }
}

impl Method for Svga {
    fn info(&self) -> &'static MethodInfo {
        match self.variant {
            Variant::Regularised => &MethodInfo {
                name: "svga",
                title: "Structured variational graph autoencoder",
                about: "Learns a latent for every node with a graph network and a Gaussian Markov random field that keeps neighbours alike, and decodes it to all columns.",
                reference: REFERENCE,
                edges: "takes edges as undirected, as published; edge weights count",
                parameters: Svga::PARAMETERS,
            },
            Variant::Unregularised => &MethodInfo {
                name: "svga-r",
                title: "SVGA without regularisation",
                about: "SVGA with λ = 0: what is left without the Gaussian Markov random field.",
                reference: REFERENCE,
                edges: "takes edges as undirected, as published; edge weights count",
                parameters: UNREGULARISED_PARAMETERS,
            },
            Variant::Stochastic => &MethodInfo {
                name: "svga-u",
                title: "SVGA without unified modelling",
                about: "SVGA with stochastic inference: one encoder gives the mean of the latents, another one their covariance, and training draws from that Gaussian.",
                reference: REFERENCE,
                edges: "takes edges as undirected, as published; edge weights count",
                parameters: Svga::PARAMETERS,
            },
        }
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        let model = SvgaModel::new(self.resolved(task), task, None)?;
        Ok(Box::new(TrainedImputer::fit(&model, &model.method.config(), task)?))
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learned
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let saved = SavedModel::read(state, task)?;
        saved.check_same_graph(self.info().name, task.graph)?;
        let method = self.configured(&saved.parameters)?;
        let model = SvgaModel::new(method, task, Some(saved.likelihoods))?;
        Ok(Box::new(TrainedImputer::restore(&model, task, state)?))
    }
}

struct SvgaModel {
    method: Svga,
    model: Model,
    graph: NormalisedGraph,
    /// Those of a saved model.
    likelihoods: Option<Likelihoods>,
}

impl SvgaModel {
    fn new(method: Svga, task: &Task<'_>, likelihoods: Option<Likelihoods>) -> Result<Self> {
        let model = method.model();
        model.check()?;
        let graph = NormalisedGraph::new(task.graph)?;
        Ok(SvgaModel { method, model, graph, likelihoods })
    }
}

impl TrainableModel for SvgaModel {
    fn name(&self) -> &'static str {
        self.method.info().name
    }

    fn parameters(&self) -> Parameters {
        self.method.parameters()
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", format!("{}.hidden", self.name()), self.model.width)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared> {
        let options = published_likelihoods(self.method.scaling);
        let fitted = || Likelihoods::fit(task.features, unknown, options);
        let likelihoods = self.likelihoods.clone().unwrap_or_else(fitted);
        let is_stochastic = self.method.variant == Variant::Stochastic;
        let mut programs = Vec::new();
        let mut losses = vec!["loss", "features"];
        if purpose == Purpose::Training {
            let features = Observed::features(task.features, unknown, &likelihoods)?;
            let known = Known { features, labels: Observed::labels(task.labels)? };
            if known.labels.is_some() {
                losses.push("labels");
            }
            if self.model.lambda > 0.0 {
                losses.push("gmrf");
            }
            programs.push(match is_stochastic {
                true => self.model.stochastic_training(&self.graph, &known)?,
                false => self.model.training(&self.graph, &known)?,
            });
        }
        programs.push(match is_stochastic {
            true => self.model.stochastic_prediction(&self.graph)?,
            false => self.model.prediction(&self.graph)?,
        });
        let bias = match self.model.decoder_bias {
            true => Bias::Parameter("features.bias"),
            false => Bias::None,
        };
        let spec =
            DecoderSpec { bias, ..DecoderSpec::linear(task, PREDICTION, likelihoods, &losses) };
        Ok(Prepared { plan: Plan::new(programs)?, inputs: Vec::new(), spec })
    }
}
