//! Everything that can be set about SAT.

use super::place::Backbone;
use crate::error::Result;
use crate::learning::{
    DROPOUT_INFO, NetworkSettings, PATIENCE_INFO, Standing, WEIGHT_DECAY_INFO, learning_rate_info,
    only_binary_blocks,
};
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters, plain};

/// Its name as a method.
pub(super) const NAME: &str = "sat";

const BACKBONE: &str = "backbone";
const HIDDEN: &str = "hidden";
const LATENT: &str = "latent";
const CROSS: &str = "cross";
const STEPS: &str = "generator_steps";

/// The published weight decay.
const WEIGHT_DECAY: f32 = 5e-4;
const LEARNING_RATE: f32 = 1e-3;

/// The parameters.
pub(super) const PARAMETERS: &[ParameterInfo] = &[
    ParameterInfo {
        name: BACKBONE,
        about: "how a node's place in the graph is encoded",
        default: "gat for 0/1 blocks, gcn for other tables",
        allowed: Allowed::Words(&["gcn", "gat"]),
    },
    ParameterInfo {
        name: HIDDEN,
        about: "width of the hidden layers",
        default: "200",
        allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
    },
    ParameterInfo {
        name: LATENT,
        about: "width of the latent space",
        default: "64",
        allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
    },
    ParameterInfo {
        name: CROSS,
        about: "weight of features told from places and edges told from rows",
        default: "published, else 10",
        allowed: Allowed::Number { least: 0.0, most: 1e6 },
    },
    ParameterInfo {
        name: STEPS,
        about: "steps of encoders and decoders for one of the discriminator",
        default: "published, else 2",
        allowed: Allowed::Whole { least: 1.0, most: 100.0 },
    },
    learning_rate_info("0.001"),
    DROPOUT_INFO,
    WEIGHT_DECAY_INFO,
    PATIENCE_INFO,
];

/// What SAT is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub(super) backbone: Backbone,
    pub(super) hidden: usize,
    pub(super) latent: usize,
    pub(super) cross: f32,
    pub(super) generator_steps: usize,
    pub(super) standing: Standing,
    pub(super) training: NetworkSettings,
}

impl Settings {
    /// What a task is to be trained with.
    pub(super) fn of(task: &Task<'_>) -> Result<Self> {
        let fixed = task.fixed.of(NAME);
        fixed.check(NAME, PARAMETERS)?;
        let standing = Standing::of(task);
        let (cross, steps) = match task.training.preset.as_deref() {
            Some("pubmed") => (50.0, 5.0),
            Some("steam") => (10.0, 5.0),
            _ => (10.0, 2.0),
        };
        let backbone = match (fixed.word(BACKBONE), only_binary_blocks(task)) {
            (Some("gat"), _) | (None, true) => Backbone::Gat,
            _ => Backbone::Gcn,
        };
        let number = |name: &str, usual: f64| fixed.get(name).unwrap_or(usual);
        Ok(Settings {
            backbone,
            hidden: number(HIDDEN, 200.0) as usize,
            latent: number(LATENT, 64.0) as usize,
            cross: number(CROSS, cross) as f32,
            generator_steps: number(STEPS, steps) as usize,
            standing,
            training: NetworkSettings::of(&fixed, standing, LEARNING_RATE, WEIGHT_DECAY),
        })
    }

    /// What was chosen, by name.
    pub(super) fn parameters(&self) -> Parameters {
        let parameters = Parameters::default()
            .with(BACKBONE, self.backbone.to_string())
            .with(HIDDEN, self.hidden as f64)
            .with(LATENT, self.latent as f64)
            .with(CROSS, plain(self.cross))
            .with(STEPS, self.generator_steps as f64);
        self.training.added_to(parameters)
    }
}
