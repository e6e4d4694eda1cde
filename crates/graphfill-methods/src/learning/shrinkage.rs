//! Shrinkage of trained models towards their prior, per group: all, half or none of what training
//! changed is kept, by validation.
//!
//!   logits = share · (Z W + b + s ∘ o) + (1 − share) · o          o: the prior logits

use serde::{Deserialize, Serialize};

use super::decoded::Decoded;
use super::decoder::TrainedModel;
use super::validator::Validator;
use crate::error::Result;
use crate::features::Features;

/// Shares that are compared; of equals the first wins.
const SHARES: [f32; 3] = [1.0, 0.5, 0.0];

/// The share of what was learned that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Shrinkage {
    /// None: all that was learned is kept.
    None,
    /// By group.
    Groups(Vec<f32>),
}

impl Shrinkage {
    /// The best share of every group, given the model before training.
    pub fn choose(
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
                    let mut shrunk = trained.clone();
                    Shrinkage::Groups(vec![share; groups]).apply(&mut shrunk, validator.features());
                    validator.scores(&shrunk)?
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
        Ok(Shrinkage::Groups(chosen))
    }

    /// Shrinks models.
    pub fn apply(&self, models: &mut Decoded, features: &Features<'_>) {
        let Shrinkage::Groups(shares) = self else { return };
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
                let shrunk =
                    |(feature, share): (usize, &f32)| share * factor(feature) + (1.0 - share);
                *factors = of_feature.iter().enumerate().map(shrunk).collect();
            }
        }
    }
}
