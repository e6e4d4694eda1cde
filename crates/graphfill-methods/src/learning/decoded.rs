//! Estimates of trained models: latents times decoders, averaged over models, in the columns' own
//! scale.
//!
//!   scores = mean over models of (Z W + b + Σ_p s_p ∘ O_p)      nodes × features
//!
//! Some columns at a time, so that the scores of a wide table never exist as a whole. Averages of
//! scores rank the columns of a row as averages of log-softmax would: the two differ by one number
//! a row.

use std::ops::Range;
use std::sync::Arc;

use graphfill_engine::cpu::multiply;
use rayon::prelude::*;

use super::fit::Outlet;
use super::scales::Scales;
use crate::error::Result;
use crate::features::{Features, GroupKind};
use crate::method::{EstimateSink, Estimates, Task};

/// The memory that the scores of some columns may take, and the most columns worth taking at once.
const SCORE_BYTES: usize = 1 << 26;
const MOST_COLUMNS: usize = 256;

/// One trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedModel {
    /// Z, nodes × width.
    pub latent: Vec<f32>,
    /// W, width × features.
    pub weight: Vec<f32>,
    /// b, where there is one.
    pub bias: Option<Vec<f32>>,
    /// The factor of each offset: one number, or one a feature.
    pub factors: Vec<Vec<f32>>,
}

/// Trained models and what their scores begin with.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The number of nodes.
    pub nodes: usize,
    /// The models, at least one.
    pub models: Vec<TrainedModel>,
    /// O_p, nodes × features each.
    pub offsets: Vec<Arc<Vec<f32>>>,
    /// From scores to values.
    pub scales: Scales,
}

impl Decoded {
    /// Models of a table.
    pub(super) fn of(task: &Task<'_>, outlet: &Outlet, models: Vec<TrainedModel>) -> Self {
        Decoded {
            nodes: task.features.rows(),
            models,
            offsets: outlet.offsets.clone(),
            scales: outlet.scales.clone(),
        }
    }

    /// Estimates of some rows (all where none are named), for the groups that are wanted. Rows that
    /// are not named come as zeros.
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
            let mut scores = vec![0.0f32; count * width];
            for (at, model) in self.models.iter().enumerate() {
                let latent = latents.get(at).unwrap_or(&model.latent);
                self.add_scores(model, latent, features.width(), range.clone(), &mut scores);
            }
            let share = 1.0 / self.models.len() as f32;
            let factors = self.mean_factors(range.clone(), features.width());
            let groups: Vec<(usize, Range<usize>)> = features
                .groups_in(range.clone())
                .map(|(group, _, inside)| (group, inside))
                .collect();
            scores.par_chunks_mut(width).enumerate().for_each(|(at, scores)| {
                let row = rows.map_or(at, |rows| rows[at] as usize);
                scores.iter_mut().for_each(|score| *score *= share);
                for (offset, factors) in self.offsets.iter().zip(&factors) {
                    let begin = row * features.width();
                    let offset = &offset[begin + range.start..begin + range.end];
                    for ((score, offset), factor) in scores.iter_mut().zip(offset).zip(factors) {
                        *score += factor * offset;
                    }
                }
                for (group, inside) in &groups {
                    let inside = inside.start - range.start..inside.end - range.start;
                    self.scales.restore(*group, &mut scores[inside]);
                }
            });
            if let Some(rows) = rows {
                scores = scattered(&scores, rows, width, self.nodes);
            }
            let offsets: Vec<f64> = groups
                .iter()
                .flat_map(|(group, inside)| {
                    let first = features.groups()[*group].features.start;
                    self.scales.offsets(*group, inside.start - first..inside.end - first)
                })
                .collect();
            sink.accept(&Estimates {
                features: (range.start, range.end),
                width,
                values: &scores,
                offsets: &offsets,
            })?;
        }
        Ok(())
    }

    /// Feature ranges of wanted groups: only blocks are cut.
    fn ranges(&self, features: &Features<'_>, wanted: &[bool]) -> Vec<Range<usize>> {
        let most = (SCORE_BYTES / 4 / self.nodes.max(1)).clamp(16, MOST_COLUMNS);
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
    fn add_scores(
        &self,
        model: &TrainedModel,
        latent: &[f32],
        features: usize,
        range: Range<usize>,
        scores: &mut [f32],
    ) {
        let inner = model.weight.len() / features.max(1);
        let weight: Vec<f32> = model
            .weight
            .chunks_exact(features.max(1))
            .flat_map(|row| &row[range.clone()])
            .copied()
            .collect();
        let width = range.len();
        let mut own = vec![0.0f32; scores.len()];
        multiply(latent, scores.len() / width, inner, &weight, width, &mut own);
        let bias = model.bias.as_ref().map(|bias| &bias[range]);
        scores.par_chunks_mut(width).zip(own.par_chunks(width)).for_each(|(scores, own)| {
            for (column, (score, own)) in scores.iter_mut().zip(own).enumerate() {
                *score += own + bias.map_or(0.0, |bias| bias[column]);
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
        (0..self.offsets.len()).map(of_offset).collect()
    }
}

/// Rows put where they belong among all nodes.
fn scattered(scores: &[f32], rows: &[u32], width: usize, nodes: usize) -> Vec<f32> {
    let mut all = vec![0.0f32; nodes * width];
    for (&row, scores) in rows.iter().zip(scores.chunks_exact(width)) {
        all[row as usize * width..][..width].copy_from_slice(scores);
    }
    all
}
