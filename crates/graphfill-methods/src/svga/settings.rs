//! Everything that can be set about SVGA, and where each value comes from: what the caller fixed,
//! else the published value of a known data set, else a rule that looks at the table.

use super::Normalisation;
use super::presets::{Preset, published, rule};
use crate::encoder::{DEFAULT_DEPTH, EncoderKind};
use crate::error::{MethodError, Result};
use crate::learning::{Counts, Criterion, ScaleOptions, Schedule, TrainingConfig};
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters, plain};

/// Which of the paper's three models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// Algorithm 1.
    Svga,
    /// Without the field: λ = 0.
    Unregularised,
    /// Algorithm 2: latents are drawn from a Gaussian field.
    Unrestricted,
}

impl Variant {
    /// Its name as a method.
    pub(super) fn name(self) -> &'static str {
        match self {
            Variant::Svga => "svga",
            Variant::Unregularised => "svga-r",
            Variant::Unrestricted => "svga-u",
        }
    }
}

/// What SVGA is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    /// Which model.
    pub(super) variant: Variant,
    /// Sizes and weights.
    pub(super) preset: Preset,
    /// The graph encoder.
    pub(super) encoder: EncoderKind,
    /// Its layers.
    pub(super) depth: usize,
    /// How long it trains.
    pub(super) config: TrainingConfig,
}

/// An epoch of the paper.
const UPDATES_AN_EPOCH: u64 = 10;
/// The paper's 2,000 epochs.
const MOST_UPDATES: u64 = 20_000;
/// Updates without a better validation score after which nothing is to be expected any more.
const PATIENCE: u64 = 2_000;
/// Updates where nothing can be validated.
const UNVALIDATED_UPDATES: u64 = 2_000;

const HIDDEN: &str = "hidden";
const ENCODER: &str = "encoder";
const DEPTH: &str = "depth";
const NORMALISATION: &str = "normalisation";
const BIAS: &str = "bias";
const LAMBDA: &str = "lambda";
const BETA: &str = "beta";
const LEARNING_RATE: &str = "learning_rate";
const DROPOUT: &str = "dropout";
const PATIENCE_NAME: &str = "patience";

macro_rules! parameters {
    ($($lambda:expr)?) => {
        &[
            ParameterInfo {
                name: HIDDEN,
                about: "width of hidden and latent rows",
                default: "published, else 256",
                allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
            },
            ParameterInfo {
                name: ENCODER,
                about: "how a node's latent is made of the graph",
                default: "gcn",
                allowed: Allowed::Words(&["gcn", "sage", "gat", "sgc", "linear"]),
            },
            ParameterInfo {
                name: DEPTH,
                about: "layers of the encoder",
                default: "2",
                allowed: Allowed::Whole { least: 1.0, most: 16.0 },
            },
            ParameterInfo {
                name: NORMALISATION,
                about: "what latent rows are scaled to",
                default: "published, else unit",
                allowed: Allowed::Words(&["unit", "none"]),
            },
            ParameterInfo {
                name: BIAS,
                about: "whether decoders have a bias",
                default: "published, else no for 0/1 blocks and yes for other tables",
                allowed: Allowed::Words(&["yes", "no"]),
            },
            $($lambda,)?
            ParameterInfo {
                name: BETA,
                about: "how free latents are of the field",
                default: "published, else 0.1 for 0/1 blocks and 1 for other tables",
                allowed: Allowed::Number { least: 1e-6, most: 1e6 },
            },
            ParameterInfo {
                name: LEARNING_RATE,
                about: "of Adam",
                default: "published, else 0.001",
                allowed: Allowed::Number { least: 1e-7, most: 1.0 },
            },
            ParameterInfo {
                name: DROPOUT,
                about: "share of latents dropped before the decoders",
                default: "published, else 0.5 for 0/1 blocks and 0.2 for other tables",
                allowed: Allowed::Number { least: 0.0, most: 0.95 },
            },
            ParameterInfo {
                name: PATIENCE_NAME,
                about: "updates without a better validation score before training ends",
                default: "2000",
                allowed: Allowed::Whole { least: 1.0, most: 1e9 },
            },
        ]
    };
}

/// The parameters of SVGA and SVGA-U.
pub(super) const PARAMETERS: &[ParameterInfo] = parameters!(ParameterInfo {
    name: LAMBDA,
    about: "weight of the field that keeps neighbours alike",
    default: "published, else 1 for 0/1 blocks and 0.1 for other tables",
    allowed: Allowed::Number { least: 0.0, most: 1e6 },
});

/// The parameters of SVGA-R, which has no field.
pub(super) const UNREGULARISED_PARAMETERS: &[ParameterInfo] = parameters!();

impl Settings {
    /// What a task is to be trained with.
    pub(super) fn of(variant: Variant, task: &Task<'_>) -> Result<Self> {
        let known = match variant {
            Variant::Unregularised => UNREGULARISED_PARAMETERS,
            _ => PARAMETERS,
        };
        let fixed = task.fixed.of(variant.name());
        fixed.check(variant.name(), known)?;
        let preset = task.training.preset.as_deref().and_then(published);
        let mut preset = preset.unwrap_or_else(|| rule(task.features));
        let number = |name: &str, value: f32| fixed.get(name).map_or(value, |fixed| fixed as f32);
        preset.width = fixed.get(HIDDEN).map_or(preset.width, |fixed| fixed as usize);
        preset.lambda = match variant {
            Variant::Unregularised => 0.0,
            _ => number(LAMBDA, preset.lambda),
        };
        preset.beta = number(BETA, preset.beta);
        preset.learning_rate = number(LEARNING_RATE, preset.learning_rate);
        preset.dropout = number(DROPOUT, preset.dropout);
        preset.normalisation = match fixed.word(NORMALISATION) {
            Some("none") => Normalisation::None,
            Some(_) => Normalisation::Unit,
            None => preset.normalisation,
        };
        preset.decoder_bias = fixed.word(BIAS).map_or(preset.decoder_bias, |word| word == "yes");
        let encoder = match fixed.word(ENCODER) {
            Some(word) => word.parse().map_err(MethodError::Parameter)?,
            None => EncoderKind::Gcn,
        };
        let depth = fixed.get(DEPTH).map_or(DEFAULT_DEPTH, |depth| depth as usize);
        let schedule = Schedule {
            epoch: UPDATES_AN_EPOCH,
            most_updates: MOST_UPDATES,
            patience: fixed.get(PATIENCE_NAME).map_or(PATIENCE, |patience| patience as u64),
        };
        let config = TrainingConfig {
            schedule,
            models: 1,
            unvalidated_updates: UNVALIDATED_UPDATES,
            criterion: Criterion::Published,
        };
        Ok(Settings { variant, preset, encoder, depth, config })
    }

    /// What was chosen, by name.
    pub(super) fn parameters(&self) -> Parameters {
        let Preset { width, normalisation, decoder_bias, lambda, beta, .. } = self.preset;
        let mut parameters = Parameters::default()
            .with(HIDDEN, width as f64)
            .with(ENCODER, self.encoder.to_string())
            .with(DEPTH, self.depth as f64)
            .with(NORMALISATION, if normalisation == Normalisation::Unit { "unit" } else { "none" })
            .with(BIAS, if decoder_bias { "yes" } else { "no" })
            .with(BETA, plain(beta))
            .with(LEARNING_RATE, plain(self.preset.learning_rate))
            .with(DROPOUT, plain(self.preset.dropout));
        if self.variant != Variant::Unregularised {
            parameters.set(LAMBDA, plain(lambda));
        }
        parameters
    }

    /// How columns are scaled.
    pub(super) fn scales(&self) -> ScaleOptions {
        ScaleOptions { blocks: self.preset.numeric_blocks, counts: Counts::Logarithmic }
    }
}
