//! How far training is trusted, group by group: by the whole of what it changed, by half, or not at
//! all, whatever is best on the validation cells.
//!
//!   scores = share · (Z W + b + s ∘ o) + (1 − share) · o
//!
//! where o is what the model says before training.

use serde::{Deserialize, Serialize};

use super::decoded::{Decoded, TrainedModel};
use super::validator::Validator;
use crate::error::{MethodError, Result};
use crate::features::Features;

/// Shares that are compared; of equals the first wins.
const SHARES: [f32; 3] = [1.0, 0.5, 0.0];

/// The share of each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Trust {
    /// All of it.
    Full,
    /// By group.
    Groups(Vec<f32>),
}

impl Trust {
    /// The best share of every group, given the model before training.
    pub fn weigh(
        validator: &Validator<'_>,
        trained: &Decoded,
        untrained: TrainedModel,
    ) -> Result<Self> {
        let before = Decoded { models: vec![untrained], ..trained.clone() };
        let groups = validator.features().groups().len();
        let mut chosen: Vec<f32> = vec![1.0; groups];
        let mut best = validator.scores(trained)?;
        for share in &SHARES[1..] {
            let scores = match *share {
                0.0 => validator.scores(&before)?,
                share => {
                    let mut damped = trained.clone();
                    Trust::Groups(vec![share; groups]).apply(&mut damped, validator.features());
                    validator.scores(&damped)?
                }
            };
            for ((chosen, best), score) in chosen.iter_mut().zip(&mut best).zip(scores) {
                if let (Some(own), Some(other)) = (score, *best)
                    && own.is_better_than(&other)
                {
                    (*chosen, *best) = (*share, Some(own));
                }
            }
        }
        Ok(Trust::Groups(chosen))
    }

    /// To be saved with a model.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What [`Trust::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| MethodError::Table(format!("the model's trust: {error}")))
    }

    /// Damps what models have learnt.
    pub fn apply(&self, models: &mut Decoded, features: &Features<'_>) {
        let Trust::Groups(shares) = self else { return };
        let mut of_feature = vec![1.0; features.width()];
        for (group, share) in features.groups().iter().zip(shares) {
            of_feature[group.features.clone()].fill(*share);
        }
        for model in &mut models.models {
            for row in model.weight.chunks_exact_mut(of_feature.len().max(1)) {
                row.iter_mut().zip(&of_feature).for_each(|(weight, share)| *weight *= share);
            }
            if let Some(bias) = &mut model.bias {
                bias.iter_mut().zip(&of_feature).for_each(|(bias, share)| *bias *= share);
            }
            for factors in &mut model.factors {
                let factor = |feature: usize| factors[if factors.len() == 1 { 0 } else { feature }];
                let damped =
                    |(feature, share): (usize, &f32)| share * factor(feature) + (1.0 - share);
                *factors = of_feature.iter().enumerate().map(damped).collect();
            }
        }
    }
}
