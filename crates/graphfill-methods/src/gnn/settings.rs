//! Everything that can be set about graph networks.

use super::model::Model;
use crate::encoder::EncoderKind;
use crate::error::Result;
use crate::learning::{
    DROPOUT_INFO, NetworkSettings, PATIENCE_INFO, Standing, WEIGHT_DECAY_INFO, learning_rate_info,
};
use crate::method::Task;
use crate::parameters::{Allowed, ParameterInfo, Parameters};

const HIDDEN: &str = "hidden";
const WIDE: &str = "wide";
/// Of `gnn`: which network.
pub(super) const NETWORK: &str = "network";

/// The published 5e-4, for a loss that is half as large.
const WEIGHT_DECAY: f32 = 2.5e-4;
const LEARNING_RATE: f32 = 5e-3;

macro_rules! parameters {
    ($($network:expr)?) => {
        &[
            $($network,)?
            ParameterInfo {
                name: HIDDEN,
                about: "width of the graph layers",
                default: "64",
                allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
            },
            ParameterInfo {
                name: WIDE,
                about: "width of the layer between them and the columns",
                default: "200",
                allowed: Allowed::Whole { least: 1.0, most: 16_384.0 },
            },
            learning_rate_info("0.005"),
            DROPOUT_INFO,
            WEIGHT_DECAY_INFO,
            PATIENCE_INFO,
        ]
    };
}

/// The parameters of one network.
pub(super) const PARAMETERS: &[ParameterInfo] = parameters!();

/// The parameters of the best of three.
pub(super) const BEST_PARAMETERS: &[ParameterInfo] = parameters!(ParameterInfo {
    name: NETWORK,
    about: "which network: one of the three, or the best of them on validation cells",
    default: "best",
    allowed: Allowed::Words(&["best", "gcn", "sage", "gat"]),
});

/// What a graph network is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    /// The method that trains it.
    pub(super) name: &'static str,
    pub(super) kind: EncoderKind,
    pub(super) hidden: usize,
    pub(super) wide: usize,
    pub(super) standing: Standing,
    pub(super) training: NetworkSettings,
}

impl Settings {
    /// What a task is to be trained with, by the method of that name and those parameters.
    pub(super) fn of(
        name: &'static str,
        known: &[ParameterInfo],
        kind: EncoderKind,
        task: &Task<'_>,
    ) -> Result<Self> {
        let fixed = task.fixed.of(name);
        fixed.check(name, known)?;
        let standing = Standing::of(task);
        let width = |name: &str, usual: usize| fixed.get(name).map_or(usual, |own| own as usize);
        Ok(Settings {
            name,
            kind,
            hidden: width(HIDDEN, 64),
            wide: width(WIDE, 200),
            standing,
            training: NetworkSettings::of(&fixed, standing, LEARNING_RATE, WEIGHT_DECAY),
        })
    }

    /// The model of these settings.
    pub(super) fn model(&self) -> Model {
        let Settings { kind, hidden, wide, training, .. } = *self;
        Model { kind, hidden, wide, training }
    }

    /// What was chosen, by name.
    pub(super) fn parameters(&self) -> Parameters {
        let mut parameters =
            Parameters::default().with(HIDDEN, self.hidden as f64).with(WIDE, self.wide as f64);
        if self.name != self.kind.name() {
            parameters.set(NETWORK, self.kind.name());
        }
        self.training.added_to(parameters)
    }
}
