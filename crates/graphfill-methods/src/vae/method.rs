//! The VAE as a method.

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{Lower, Plan, Session, TensorStore};

use super::model::{Model, PREDICTION, TRAINING};
use super::neighbours::to_nodes;
use super::settings::{NAME, Orphans, PARAMETERS, Settings};
use crate::error::Result;
use crate::learning::{
    Bias, BinaryLoss, Decoding, Learner, Learnt, Observed, Outlet, Prepared, Saved, Scales,
    TrainedModel, known_rows, texts,
};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters::Parameters;
use crate::tuning::{Axis, AxisValues};

/// A variational autoencoder of rows.
#[derive(Debug, Clone, Copy)]
pub struct Vae;

impl Method for Vae {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: NAME,
            title: "Variational autoencoder",
            about: "Learns to encode and decode the rows that are known; a node of which nothing is known is decoded from the mean of its neighbours' codes.",
            reference: "Kingma and Welling: Auto-Encoding Variational Bayes, ICLR 2014",
            parameters: PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        let learner = VaeLearner::new(Settings::of(task)?);
        Ok(Box::new(Learnt::fit(&learner, &learner.settings.training.config(), task)?))
    }

    fn grid(&self) -> &'static [Axis] {
        &[
            Axis { name: "hidden", values: AxisValues::Numbers(&[100.0, 200.0, 400.0]) },
            Axis { name: "latent", values: AxisValues::Numbers(&[32.0, 64.0, 128.0]) },
            Axis { name: "divergence", values: AxisValues::Numbers(&[0.0, 1e-4, 1e-3, 1e-2]) },
            Axis { name: "dropout", values: AxisValues::Numbers(&[0.0, 0.2, 0.5]) },
            Axis { name: "weight_decay", values: AxisValues::Numbers(&[0.0, 1e-5, 5e-4]) },
            Axis { name: "learning_rate", values: AxisValues::Numbers(&[3e-4, 1e-3, 3e-3]) },
        ]
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        let Saved { fixed, scales, .. } = Saved::read(saved, task)?;
        let settings = Settings::of(&Task { fixed: &fixed, ..*task })?;
        let learner = VaeLearner { scales: Some(scales), ..VaeLearner::new(settings) };
        Ok(Box::new(Learnt::restore(&learner, task, saved)?))
    }
}

struct VaeLearner {
    settings: Settings,
    /// Those of a saved model.
    scales: Option<Scales>,
}

impl VaeLearner {
    fn new(settings: Settings) -> Self {
        VaeLearner { settings, scales: None }
    }
}

impl Learner for VaeLearner {
    fn name(&self) -> &'static str {
        NAME
    }

    fn update(&self, _number: u64) -> Vec<&str> {
        vec![TRAINING]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", format!("{NAME}.hidden"), self.settings.hidden)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        let Settings { hidden, latent, divergence, orphans, standing, training } = self.settings;
        let own = || Scales::of(task.features, unknown, standing.scales());
        let scales = self.scales.clone().unwrap_or_else(own);
        let binary = BinaryLoss::BalancedBernoulli;
        let known = Observed::features(task.features, unknown, &scales, binary)?;
        let divergence = divergence.unwrap_or(known.rows.len() as f32);
        let model = Model { hidden, latent, divergence, orphans, training };
        let to_nodes = Arc::new(to_nodes(task.graph, &known.rows));
        let rows = Arc::new(known_rows(task.features, unknown, &scales, &known.rows));
        let programs = vec![model.training(&rows, &known)?, model.prediction(&rows, &to_nodes)?];
        let plan = Plan::new(programs)?;
        let losses = vec!["loss".to_owned(), "features".to_owned()];
        Ok(Prepared {
            plan,
            inputs: Vec::new(),
            outlet: Outlet { offsets: Vec::new(), scales, losses, found: TensorStore::default() },
        })
    }

    fn trained(&self, session: &mut Session) -> Result<TrainedModel> {
        session.run(PREDICTION)?;
        let latent = session.read(PREDICTION, "latent")?;
        let mut weight = session.buffer("features.weight")?;
        let bias = session.buffer("features.bias")?;
        let bias = match self.settings.orphans {
            Orphans::Prior => Some(bias),
            Orphans::Zeros => {
                weight.extend(bias);
                None
            }
        };
        Ok(TrainedModel { latent, weight, bias, factors: Vec::new() })
    }

    fn decoding(&self) -> Option<Decoding> {
        Some(Decoding {
            prediction: PREDICTION,
            weight: "features.weight",
            bias: match self.settings.orphans {
                Orphans::Prior => Bias::Row("features.bias"),
                Orphans::Zeros => Bias::ByNode("features.bias"),
            },
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
