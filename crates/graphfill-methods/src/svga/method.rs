//! SVGA, SVGA-R and SVGA-U as methods.

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, Session, TensorStore};

use super::settings::{PARAMETERS, Settings, UNREGULARISED_PARAMETERS, Variant};
use super::{Known, Model, NormalisedGraph, PREDICTION, TRAINING};
use crate::error::Result;
use crate::learning::{
    Bias, BinaryLoss, Decoding, Learner, Learnt, Observed, Outlet, Prepared, Saved, Scales,
    TrainedModel, likeliest_classes, texts,
};
use crate::method::{Fitted, LabelUse, Method, MethodInfo, Task};
use crate::parameters::Parameters;
use crate::tuning::{Axis, AxisValues};

/// The paper's method.
#[derive(Debug, Clone, Copy)]
pub struct Svga;

/// SVGA without its field.
#[derive(Debug, Clone, Copy)]
pub struct SvgaR;

/// SVGA with latents drawn from a Gaussian field.
#[derive(Debug, Clone, Copy)]
pub struct SvgaU;

const REFERENCE: &str = "Yoo, Jeon, Jung and Kang: Accurate Node Feature Estimation with Structured Variational Graph Autoencoder, KDD 2022";

/// What the paper searched, and the learning rate.
const GRID: &[Axis] = &[
    Axis { name: "lambda", values: AxisValues::Numbers(&[0.01, 0.1, 1.0]) },
    Axis { name: "beta", values: AxisValues::Numbers(&[0.01, 0.1, 1.0]) },
    Axis { name: "hidden", values: AxisValues::Numbers(&[256.0, 512.0]) },
    Axis { name: "dropout", values: AxisValues::Numbers(&[0.0, 0.5]) },
    Axis { name: "normalisation", values: AxisValues::Words(&["unit", "none"]) },
    Axis { name: "learning_rate", values: AxisValues::Numbers(&[3e-4, 1e-3, 3e-3, 5e-3]) },
];

impl Method for Svga {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "svga",
            title: "Structured variational graph autoencoder",
            about: "Learns a latent for every node with a graph network and a Gaussian field that keeps neighbours alike, and decodes it to all columns.",
            reference: REFERENCE,
            parameters: PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        fit(Variant::Svga, task)
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learnt
    }

    fn grid(&self) -> &'static [Axis] {
        GRID
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        restore(Variant::Svga, task, saved)
    }
}

impl Method for SvgaR {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "svga-r",
            title: "SVGA without regularisation",
            about: "SVGA with λ = 0: what is left without the Gaussian field.",
            reference: REFERENCE,
            parameters: UNREGULARISED_PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        fit(Variant::Unregularised, task)
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learnt
    }

    fn grid(&self) -> &'static [Axis] {
        &GRID[2..]
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        restore(Variant::Unregularised, task, saved)
    }
}

impl Method for SvgaU {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "svga-u",
            title: "SVGA with stochastic latents",
            about: "SVGA before its simplification: latents are drawn from a Gaussian field with learnt mean and covariance.",
            reference: REFERENCE,
            parameters: PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        fit(Variant::Unrestricted, task)
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learnt
    }

    fn grid(&self) -> &'static [Axis] {
        GRID
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        restore(Variant::Unrestricted, task, saved)
    }
}

fn fit<'a>(variant: Variant, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
    let learner = SvgaLearner::new(Settings::of(variant, task)?, task)?;
    Ok(Box::new(Learnt::fit(&learner, &learner.settings.config, task)?))
}

fn restore<'a>(
    variant: Variant,
    task: &Task<'a>,
    saved: &TensorStore,
) -> Result<Box<dyn Fitted + 'a>> {
    let about = Saved::read(saved, task)?;
    about.check_same_graph(variant.name())?;
    let Saved { fixed, scales, .. } = about;
    let settings = Settings::of(variant, &Task { fixed: &fixed, ..*task })?;
    let learner = SvgaLearner { scales: Some(scales), ..SvgaLearner::new(settings, task)? };
    Ok(Box::new(Learnt::restore(&learner, task, saved)?))
}

struct SvgaLearner {
    settings: Settings,
    model: Model,
    graph: NormalisedGraph,
    /// Those of a saved model.
    scales: Option<Scales>,
    nodes: usize,
    classes: usize,
}

impl SvgaLearner {
    fn new(settings: Settings, task: &Task<'_>) -> Result<Self> {
        let model = Model {
            encoder: settings.encoder,
            depth: settings.depth,
            width: settings.preset.width,
            normalisation: settings.preset.normalisation,
            dropout: settings.preset.dropout,
            decoder_bias: settings.preset.decoder_bias,
            lambda: settings.preset.lambda,
            beta: settings.preset.beta,
            learning_rate: settings.preset.learning_rate,
        };
        model.check()?;
        let graph = NormalisedGraph::new(task.graph)?;
        let classes = task.labels.map_or(0, |labels| labels.classes.len());
        let nodes = task.graph.nodes();
        Ok(SvgaLearner { settings, model, graph, scales: None, nodes, classes })
    }
}

impl Learner for SvgaLearner {
    fn name(&self) -> &'static str {
        self.settings.variant.name()
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved(
            "the hidden width",
            format!("{}.hidden", self.name()),
            self.settings.preset.width,
        )
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        let own = || Scales::of(task.features, unknown, self.settings.scales());
        let scales = self.scales.clone().unwrap_or_else(own);
        let binary = BinaryLoss::BalancedBernoulli;
        let features = Observed::features(task.features, unknown, &scales, binary)?;
        let labels = task.labels.map(Observed::labels).transpose()?.flatten();
        let mut losses = vec!["loss".to_owned(), "features".to_owned()];
        if labels.is_some() {
            losses.push("labels".to_owned());
        }
        if self.model.lambda > 0.0 {
            losses.push("field".to_owned());
        }
        let known = Known { features, labels };
        let (training, prediction) = match self.settings.variant {
            Variant::Unrestricted => (
                self.model.unrestricted_training(&self.graph, &known)?,
                self.model.unrestricted_prediction(&self.graph)?,
            ),
            _ => (self.model.training(&self.graph, &known)?, self.model.prediction(&self.graph)?),
        };
        let plan = Plan::new(vec![training, prediction])?;
        Ok(Prepared {
            plan,
            inputs: Vec::new(),
            outlet: Outlet { offsets: Vec::new(), scales, losses, found: TensorStore::default() },
        })
    }

    fn trained(&self, session: &mut Session) -> Result<TrainedModel> {
        session.run(PREDICTION)?;
        let bias = self.settings.preset.decoder_bias.then(|| session.buffer("features.bias"));
        Ok(TrainedModel {
            latent: session.read(PREDICTION, "latent")?,
            weight: session.buffer("features.weight")?,
            bias: bias.transpose()?,
            factors: Vec::new(),
        })
    }

    fn decoding(&self) -> Option<Decoding> {
        Some(Decoding {
            prediction: PREDICTION,
            weight: "features.weight",
            bias: match self.settings.preset.decoder_bias {
                true => Bias::Row("features.bias"),
                false => Bias::None,
            },
            factors: Vec::new(),
        })
    }

    fn classes(&self, session: &mut Session) -> Result<Option<Vec<u32>>> {
        if !session.parameters().any(|name| name == "labels.weight") {
            return Ok(None);
        }
        session.run(PREDICTION)?;
        let latent = session.read(PREDICTION, "latent")?;
        let weight = session.buffer("labels.weight")?;
        let bias = match self.settings.preset.decoder_bias {
            true => session.buffer("labels.bias")?,
            false => vec![0.0; self.classes],
        };
        Ok(Some(likeliest_classes(&latent, self.nodes, &weight, &bias, self.classes)))
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
