//! How estimates follow from a trained model: the one description that the CPU and the GPU share.
//!
//!   logits = Z W + b + Σ_p s_p ∘ O_p                                        nodes × features
//!
//! Z (nodes × width) is the output `latent` of the programs that predict. W (width × features), b
//! (1 × features) and s_p (one number, or one per feature) are parameters; O_p (nodes × features) are
//! the prior logits.

use std::ops::Range;
use std::sync::Arc;

use graphfill_engine::cpu::multiply;
use graphfill_engine::{Matrix, Program, Session, Shape, TensorStore, Tensors};

use super::likelihood::Likelihoods;
use crate::error::{MethodError, Result};
use crate::method::Task;

/// The output of a program that predicts.
pub const LATENT: &str = "latent";

/// The decoder of a model, by the names of its programs and parameters.
#[derive(Debug, Clone)]
pub struct DecoderSpec {
    /// The programs that predict. Their outputs `latent`, one after the other, are Z.
    pub predictions: Vec<String>,
    /// W.
    pub weight: Weight,
    /// b.
    pub bias: Bias,
    /// O_p, and the parameter s_p of each.
    pub prior_logits: Vec<(Arc<Vec<f32>>, &'static str)>,
    /// From logits to estimates.
    pub likelihoods: Likelihoods,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of classes, where labels are learned.
    pub classes: usize,
    /// The outputs of an update that are recorded in the history.
    pub losses: Vec<String>,
    /// What else was found out about the table, saved with the model.
    pub found: TensorStore,
}

/// W.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// A parameter, width × features.
    Parameter(&'static str),
    /// An output of the prediction, features × width.
    TransposedOutput {
        /// Its name.
        name: &'static str,
        /// Its width.
        width: usize,
    },
}

/// b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    /// None.
    None,
    /// A parameter, 1 × features.
    Parameter(&'static str),
    /// The same, times the last column of Z, for which W has no row.
    PerNode(&'static str),
    /// An output of the prediction, 1 × features.
    Output(&'static str),
}

/// The parameters of the decoder of classes, where a model learns from labels.
pub(crate) const LABEL_WEIGHT: &str = "labels.weight";
/// Its bias; a model may do without.
pub(crate) const LABEL_BIAS: &str = "labels.bias";

impl DecoderSpec {
    /// The common case: one program, `features.weight` and `features.bias`.
    pub fn linear(
        task: &Task<'_>,
        prediction: &str,
        likelihoods: Likelihoods,
        losses: &[&str],
    ) -> Self {
        DecoderSpec {
            nodes: task.graph.nodes(),
            classes: task.labels.map_or(0, |labels| labels.classes.len()),
            predictions: vec![prediction.to_owned()],
            weight: Weight::Parameter("features.weight"),
            bias: Bias::Parameter("features.bias"),
            prior_logits: Vec::new(),
            likelihoods,
            losses: losses.iter().map(|&loss| loss.to_owned()).collect(),
            found: TensorStore::default(),
        }
    }

    /// Reads a model from a session. Parameters that only the decoder has are taken from `saved`
    /// where the session has inference programs alone.
    pub fn read(&self, session: &mut Session, saved: Option<&Tensors>) -> Result<TrainedModel> {
        let mut latent = Vec::new();
        for program in &self.predictions {
            session.run(program)?;
            latent.extend(session.read(program, LATENT)?);
        }
        let parameter = |session: &Session, name: &str| parameter_of(session, saved, name);
        let program = &self.predictions[0];
        let mut weight = match self.weight {
            Weight::Parameter(name) => parameter(session, name)?,
            Weight::TransposedOutput { name, width } => {
                let rows = session.read(program, name)?;
                (0..width).flat_map(|at| rows.iter().skip(at).step_by(width)).copied().collect()
            }
        };
        let bias = match self.bias {
            Bias::None => None,
            Bias::Parameter(name) => Some(parameter(session, name)?),
            Bias::Output(name) => Some(session.read(program, name)?),
            Bias::PerNode(name) => {
                weight.extend(parameter(session, name)?);
                None
            }
        };
        let factors = self.prior_logits.iter().map(|(_, name)| parameter(session, name));
        let factors = factors.collect::<Result<_>>()?;
        let has_labels = self.classes > 0 && has_parameter(session, saved, LABEL_WEIGHT);
        let class_logits = match has_labels {
            true => {
                let weight = parameter(session, LABEL_WEIGHT)?;
                let (nodes, classes) = (self.nodes, self.classes);
                let width = latent.len() / nodes.max(1);
                let mut logits = vec![0.0; nodes * classes];
                multiply(&latent, nodes, width, &weight, classes, &mut logits);
                if has_parameter(session, saved, LABEL_BIAS) {
                    add_bias(&mut logits, &parameter(session, LABEL_BIAS)?);
                }
                Some(logits)
            }
            false => None,
        };
        Ok(TrainedModel { latent, weight, bias, factors, class_logits })
    }

    /// Whether a program on the device can decode: its parts are parameters and one prediction.
    pub(super) fn is_on_device(&self) -> bool {
        self.predictions.len() == 1
            && matches!(self.weight, Weight::Parameter(_))
            && !matches!(self.bias, Bias::Output(_))
    }

    /// The decoder of some features, in a program that continues the prediction.
    pub(super) fn record<'p>(&self, program: &'p Program, features: &Range<usize>) -> Decoder<'p> {
        let columns = |name: &str| {
            let whole = program.shared(name);
            let is_all = *features == (0..whole.columns()) || whole.shape() == Shape::SCALAR;
            if is_all { whole } else { whole.slice_columns(features.clone()) }
        };
        let (Weight::Parameter(weight) | Weight::TransposedOutput { name: weight, .. }) =
            self.weight;
        let (bias, is_per_node) = match self.bias {
            Bias::None => (None, false),
            Bias::Parameter(name) | Bias::Output(name) => (Some(columns(name)), false),
            Bias::PerNode(name) => (Some(columns(name)), true),
        };
        Decoder {
            latent: program.result(LATENT),
            weight: columns(weight),
            bias,
            is_per_node,
            factors: self.prior_logits.iter().map(|(_, name)| columns(name)).collect(),
        }
    }
}

/// A decoder of some features in a program that continues the prediction.
#[derive(Debug, Clone)]
pub(super) struct Decoder<'p> {
    latent: Matrix<'p>,
    weight: Matrix<'p>,
    bias: Option<Matrix<'p>>,
    is_per_node: bool,
    factors: Vec<Matrix<'p>>,
}

impl<'p> Decoder<'p> {
    /// The logits of some rows, given O of the same rows and features.
    pub(super) fn logits(&self, rows: &[u32], prior: &[Matrix<'p>]) -> Matrix<'p> {
        let latent = self.latent.gather_rows(rows);
        let mut logits = match self.bias {
            None => latent.exact_product(self.weight),
            Some(bias) if self.is_per_node => {
                let width = self.weight.rows();
                let own = latent.slice_columns(0..width).exact_product(self.weight);
                own + latent.slice_columns(width..width + 1).exact_product(bias)
            }
            Some(bias) => latent.exact_product(self.weight).add_bias(bias),
        };
        for (&prior, &factor) in prior.iter().zip(&self.factors) {
            let scaled = match factor.shape() == Shape::SCALAR {
                true => prior.scale_by(factor),
                false => prior.scale_columns(factor),
            };
            logits = logits + scaled;
        }
        logits
    }
}

/// One trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedModel {
    /// Z, nodes × width.
    pub latent: Vec<f32>,
    /// W, width × features.
    pub weight: Vec<f32>,
    /// b, where there is one.
    pub bias: Option<Vec<f32>>,
    /// s_p: one number, or one per feature.
    pub factors: Vec<Vec<f32>>,
    /// The logits of classes where labels were learned, nodes × classes.
    pub class_logits: Option<Vec<f32>>,
}

impl TrainedModel {
    /// The model before training, where its logits are the prior alone: Z W + b = 0 and s = 1.
    pub(super) fn untrained(&self) -> Option<TrainedModel> {
        let ones = |factors: &Vec<f32>| vec![1.0; factors.len()];
        (!self.factors.is_empty()).then(|| TrainedModel {
            latent: self.latent.clone(),
            weight: vec![0.0; self.weight.len()],
            bias: self.bias.as_ref().map(|bias| vec![0.0; bias.len()]),
            factors: self.factors.iter().map(ones).collect(),
            class_logits: None,
        })
    }

    /// The likeliest of so many classes for each node.
    pub(super) fn classes(&self, classes: usize) -> Option<Vec<u32>> {
        let likeliest = |row: &[f32]| {
            let logits = row.iter().enumerate();
            logits
                .max_by(|one, other| one.1.total_cmp(other.1))
                .map_or(0, |(class, _)| class as u32)
        };
        Some(self.class_logits.as_ref()?.chunks_exact(classes.max(1)).map(likeliest).collect())
    }
}

/// A parameter of a model: a saved one, else that of the session.
pub(crate) fn parameter_of(
    session: &Session,
    saved: Option<&Tensors>,
    name: &str,
) -> Result<Vec<f32>> {
    match saved {
        None => Ok(session.buffer(name)?),
        Some(saved) => match saved.get(name) {
            Some((_, values)) => Ok(values.clone()),
            None => Err(MethodError::Model(format!("it has no parameter '{name}'"))),
        },
    }
}

/// Whether a model has a parameter.
pub(crate) fn has_parameter(session: &Session, saved: Option<&Tensors>, name: &str) -> bool {
    match saved {
        None => session.parameters().any(|own| own == name),
        Some(saved) => saved.contains_key(name),
    }
}

/// Adds a bias to every row.
pub(crate) fn add_bias(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len().max(1)) {
        row.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias);
    }
}
