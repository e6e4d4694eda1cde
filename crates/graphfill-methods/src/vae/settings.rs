//! Everything that can be set about the VAE.

use crate::error::Result;
use crate::learning::{
    DROPOUT_INFO, NetworkSettings, PATIENCE_INFO, Standing, WEIGHT_DECAY_INFO, learning_rate_info,
};
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters, plain};

/// Its name as a method.
pub(super) const NAME: &str = "vae";

const HIDDEN: &str = "hidden";
const LATENT: &str = "latent";
const DIVERGENCE: &str = "divergence";
const ORPHANS: &str = "orphans";

/// The published weight decay.
const WEIGHT_DECAY: f32 = 5e-4;
const LEARNING_RATE: f32 = 1e-3;

/// The parameters.
pub(super) const PARAMETERS: &[ParameterInfo] = &[
    ParameterInfo {
        name: HIDDEN,
        about: "width of the hidden layers",
        default: "200",
        allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
    },
    ParameterInfo {
        name: LATENT,
        about: "width of a node's latent",
        default: "64",
        allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
    },
    ParameterInfo {
        name: DIVERGENCE,
        about: "weight of the divergence of a row's latent from the prior",
        default: "published: the number of observed rows; else 1 by the number of features",
        allowed: Allowed::Number { least: 0.0, most: 1e9 },
    },
    ParameterInfo {
        name: ORPHANS,
        about: "what nodes without observed neighbours get: what the prior's mean decodes to, or zeros",
        default: "published: zeros; else prior",
        allowed: Allowed::Words(&["prior", "zeros"]),
    },
    learning_rate_info("0.001"),
    DROPOUT_INFO,
    WEIGHT_DECAY_INFO,
    PATIENCE_INFO,
];

/// What a node without observed neighbours gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphans {
    /// What the mean of the prior decodes to.
    Prior,
    /// Zeros for scores.
    Zeros,
}

/// What a VAE is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub(super) hidden: usize,
    pub(super) latent: usize,
    /// None: the number of observed rows.
    pub(super) divergence: Option<f32>,
    pub(super) orphans: Orphans,
    pub(super) standing: Standing,
    pub(super) training: NetworkSettings,
}

impl Settings {
    /// What a task is to be trained with.
    pub(super) fn of(task: &Task<'_>) -> Result<Self> {
        let fixed = task.fixed.of(NAME);
        fixed.check(NAME, PARAMETERS)?;
        let standing = Standing::of(task);
        let of_a_row = 1.0 / task.features.width().max(1) as f32;
        let usual = if standing == Standing::Published { None } else { Some(of_a_row) };
        let orphans = match (fixed.word(ORPHANS), standing) {
            (Some("zeros"), _) | (None, Standing::Published) => Orphans::Zeros,
            _ => Orphans::Prior,
        };
        let width = |name: &str, usual: usize| fixed.get(name).map_or(usual, |own| own as usize);
        Ok(Settings {
            hidden: width(HIDDEN, 200),
            latent: width(LATENT, 64),
            divergence: fixed.get(DIVERGENCE).map(|weight| weight as f32).or(usual),
            orphans,
            standing,
            training: NetworkSettings::of(&fixed, standing, LEARNING_RATE, WEIGHT_DECAY),
        })
    }

    /// What was chosen, by name.
    pub(super) fn parameters(&self) -> Parameters {
        let orphans = if self.orphans == Orphans::Prior { "prior" } else { "zeros" };
        let mut parameters = Parameters::default()
            .with(HIDDEN, self.hidden as f64)
            .with(LATENT, self.latent as f64)
            .with(ORPHANS, orphans);
        if let Some(divergence) = self.divergence {
            parameters.set(DIVERGENCE, plain(divergence));
        }
        self.training.added_to(parameters)
    }
}
