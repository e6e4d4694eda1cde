//! Estimates of trained models on the CPU: logits averaged over models, then the inverse link.
//!
//!   logits = mean over models of (Z W + b + Σ_p s_p ∘ O_p)      nodes × features
//!
//! Some columns at a time, so that the logits of a wide table never exist as a whole. Averages of
//! logits rank the columns of a row as averages of log-softmax would: the two differ by one number
//! per row.

use std::ops::Range;
use std::sync::Arc;

use graphfill_engine::cpu::multiply;
use rayon::prelude::*;

use super::decoder::{DecoderSpec, TrainedModel};
use super::likelihood::Likelihoods;
use crate::error::Result;
use crate::features::{Features, GroupKind};
use crate::method::{EstimateSink, Estimates, Task};

/// The memory that the logits of some columns may take, and the maximum number of columns at once.
const LOGIT_BYTES: usize = 1 << 26;
const MAX_COLUMNS: usize = 256;

/// Trained models and their prior logits.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The number of nodes.
    pub nodes: usize,
    /// The models, at least one.
    pub models: Vec<TrainedModel>,
    /// O_p, nodes × features each.
    pub prior_logits: Vec<Arc<Vec<f32>>>,
    /// From logits to estimates.
    pub likelihoods: Likelihoods,
    /// The standard deviation of what is not explained, one per feature, where validation has shown it.
    pub residuals: Option<Vec<f64>>,
}

impl Decoded {
    /// Models of a table.
    pub(super) fn of(task: &Task<'_>, spec: &DecoderSpec, models: Vec<TrainedModel>) -> Self {
        Decoded {
            nodes: task.features.rows(),
            models,
            prior_logits: spec.prior_logits.iter().map(|(prior, _)| Arc::clone(prior)).collect(),
            likelihoods: spec.likelihoods.clone(),
            residuals: None,
        }
    }

    /// Estimates of some rows (all where none are named), for the groups that are wanted. Rows that
    /// are not named are zero.
    pub fn estimate(
        &self,
        features: &Features<'_>,
        wanted: &[bool],
        rows: Option<&[u32]>,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        let latents: Vec<Vec<f32>> = match rows {
            Some(rows) => self.models.iter().map(|model| self.gathered(model, rows)).collect(),
            None => Vec::new(),
        };
        for range in self.ranges(features, wanted) {
            let width = range.len();
            let count = rows.map_or(self.nodes, <[u32]>::len);
            let mut logits = vec![0.0f32; count * width];
            for (at, model) in self.models.iter().enumerate() {
                let latent = latents.get(at).unwrap_or(&model.latent);
                self.add_logits(model, latent, features.width(), range.clone(), &mut logits);
            }
            let share = 1.0 / self.models.len() as f32;
            let factors = self.mean_factors(range.clone(), features.width());
            let groups: Vec<(usize, Range<usize>)> = features
                .groups_in(range.clone())
                .map(|(group, _, inside)| (group, inside))
                .collect();
            logits.par_chunks_mut(width).enumerate().for_each(|(at, logits)| {
                let row = rows.map_or(at, |rows| rows[at] as usize);
                logits.iter_mut().for_each(|logit| *logit *= share);
                for (offset, factors) in self.prior_logits.iter().zip(&factors) {
                    let begin = row * features.width();
                    let offset = &offset[begin + range.start..begin + range.end];
                    for ((logit, offset), factor) in logits.iter_mut().zip(offset).zip(factors) {
                        *logit += factor * offset;
                    }
                }
                for (group, inside) in &groups {
                    let inside = inside.start - range.start..inside.end - range.start;
                    self.likelihoods.group(*group).inverse_link(&mut logits[inside]);
                }
            });
            if let Some(rows) = rows {
                logits = scattered(&logits, rows, width, self.nodes);
            }
            let column_means: Vec<f64> = groups
                .iter()
                .flat_map(|(group, inside)| {
                    let first = features.groups()[*group].features.start;
                    let columns = inside.start - first..inside.end - first;
                    self.likelihoods.group(*group).column_means(columns)
                })
                .collect();
            sink.accept(&Estimates {
                features: (range.start, range.end),
                width,
                values: &logits,
                column_means: &column_means,
                scales: self.residuals.as_ref().map(|residuals| &residuals[range.clone()]),
            })?;
        }
        Ok(())
    }

    /// Feature ranges of wanted groups: only blocks are cut.
    fn ranges(&self, features: &Features<'_>, wanted: &[bool]) -> Vec<Range<usize>> {
        let most = (LOGIT_BYTES / 4 / self.nodes.max(1)).clamp(16, MAX_COLUMNS);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (about, _) in features.groups().iter().zip(wanted).filter(|(_, wanted)| **wanted) {
            let is_block = matches!(about.kind, GroupKind::BinaryBlock | GroupKind::NumericBlock);
            let mut rest = about.features.clone();
            while is_block && rest.len() > most {
                ranges.push(rest.start..rest.start + most);
                rest.start += most;
            }
            match ranges.last_mut() {
                Some(last) if last.end == rest.start && last.len() + rest.len() <= most => {
                    last.end = rest.end;
                }
                _ if rest.is_empty() => {}
                _ => ranges.push(rest),
            }
        }
        ranges
    }

    fn gathered(&self, model: &TrainedModel, rows: &[u32]) -> Vec<f32> {
        let width = model.latent.len() / self.nodes.max(1);
        let row = |&row: &u32| &model.latent[row as usize * width..(row as usize + 1) * width];
        rows.iter().flat_map(row).copied().collect()
    }

    /// Z W + b for some features.
    fn add_logits(
        &self,
        model: &TrainedModel,
        latent: &[f32],
        features: usize,
        range: Range<usize>,
        logits: &mut [f32],
    ) {
        let inner = model.weight.len() / features.max(1);
        let weight: Vec<f32> = model
            .weight
            .chunks_exact(features.max(1))
            .flat_map(|row| &row[range.clone()])
            .copied()
            .collect();
        let width = range.len();
        let mut own = vec![0.0f32; logits.len()];
        multiply(latent, logits.len() / width, inner, &weight, width, &mut own);
        let bias = model.bias.as_ref().map(|bias| &bias[range]);
        logits.par_chunks_mut(width).zip(own.par_chunks(width)).for_each(|(logits, own)| {
            for (column, (logit, own)) in logits.iter_mut().zip(own).enumerate() {
                *logit += own + bias.map_or(0.0, |bias| bias[column]);
            }
        });
    }

    /// The factor of every offset for some features, averaged over the models.
    fn mean_factors(&self, range: Range<usize>, features: usize) -> Vec<Vec<f32>> {
        let share = 1.0 / self.models.len() as f32;
        let of_offset = |offset: usize| {
            let of_feature = |feature: usize| {
                let factors = self.models.iter().map(|model| &model.factors[offset]);
                let own = |factors: &Vec<f32>| {
                    factors[if factors.len() == features { feature } else { 0 }]
                };
                factors.map(own).sum::<f32>() * share
            };
            range.clone().map(of_feature).collect()
        };
        (0..self.prior_logits.len()).map(of_offset).collect()
    }
}

/// Rows put where they belong among all nodes.
fn scattered(logits: &[f32], rows: &[u32], width: usize, nodes: usize) -> Vec<f32> {
    let mut all = vec![0.0f32; nodes * width];
    for (&row, logits) in rows.iter().zip(logits.chunks_exact(width)) {
        all[row as usize * width..][..width].copy_from_slice(logits);
    }
    all
}
