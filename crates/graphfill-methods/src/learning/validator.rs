//! The score of estimates on validation cells: one number over groups of every kind.
//!
//!   score = mean over groups of   recall@k, or all metrics       where columns are ranked
//!                                 − RMSE / RMSE of the mean      elsewhere
//!
//! Higher is better. A table of one block is scored by that block's own metric.

use graphfill_data::CellMask;

use super::decoded::Decoded;
use crate::error::Result;
use crate::features::{ColumnMeans, Features};
use crate::method::{EstimateSink, Estimates, Measure, Score, Task};
use crate::selection::{Detail, ScoredCells, Scores, ValidationRows};

/// The metric of rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// Recall at the task's depth, as the paper does.
    Published,
    /// The mean of recall and nDCG at this depth, at twice and at five times as much: less noisy.
    AllMetrics,
}

/// Scores estimates of some validation cells.
pub struct Validator<'a> {
    pub(super) features: &'a Features<'a>,
    pub(super) cells: CellMask,
    pub(super) rows: [ValidationRows; 1],
    pub(super) depth: usize,
    pub(super) wanted: Vec<bool>,
    pub(super) criterion: Criterion,
    /// The RMSE of the column means, by group.
    pub(super) baseline: Vec<Option<f64>>,
    /// The means of what is known.
    known: ColumnMeans,
}

impl<'a> Validator<'a> {
    /// Scores estimates of `cells`, which are all `unknown`.
    pub fn new(task: &Task<'a>, cells: CellMask, unknown: &CellMask, criterion: Criterion) -> Self {
        let features = task.features;
        let rows = [ValidationRows::of(features, &cells)];
        let mut validator = Validator {
            features,
            cells,
            rows,
            depth: task.ranking_depth,
            wanted: task.wanted(),
            criterion,
            baseline: Vec::new(),
            known: ColumnMeans::of(features, unknown),
        };
        let scores = validator.scores_of_means();
        validator.baseline = scores
            .into_iter()
            .map(|score| {
                score.filter(|score| {
                    score.measure == Measure::RootMeanSquaredError && score.value > 0.0
                })
            })
            .map(|score| score.map(|score| score.value))
            .collect();
        validator
    }

    /// The table.
    pub fn features(&self) -> &'a Features<'a> {
        self.features
    }

    /// The score of models.
    pub fn score(&self, models: &Decoded) -> Result<f64> {
        let scores = self.estimated(models, self.blank())?;
        let rankings = match self.criterion {
            Criterion::Published => Vec::new(),
            Criterion::AllMetrics => scores.ranking_quality(&self.rows),
        };
        Ok(self.combined(&scores.finish(&self.rows), &rankings))
    }

    /// The score of each group, with hit rates.
    pub fn scores(&self, models: &Decoded) -> Result<Vec<Option<Score>>> {
        let blank = self.blank().with_hit_rates(self.features, &self.rows, &self.known);
        Ok(self.estimated(models, blank)?.finish(&self.rows))
    }

    /// Scores to which the estimates of models are added.
    fn estimated(&self, models: &Decoded, scores: Scores) -> Result<Scores> {
        let mut sink = Sink { validator: self, scores };
        models.estimate(self.features, &self.wanted, Some(self.rows[0].rows()), &mut sink)?;
        Ok(sink.scores)
    }

    fn combined(&self, scores: &[Option<Score>], rankings: &[Option<f64>]) -> f64 {
        let groups = scores.iter().zip(&self.baseline).enumerate();
        let parts = groups.filter_map(|(group, (score, baseline))| {
            let score = (*score)?;
            Some(match score.measure {
                Measure::Recall { .. } => {
                    rankings.get(group).copied().flatten().unwrap_or(score.value)
                }
                Measure::RootMeanSquaredError => -score.value / (*baseline)?,
            })
        });
        let (sum, count) = parts.fold((0.0, 0.0), |(sum, count), part| (sum + part, count + 1.0));
        sum / f64::max(count, 1.0)
    }

    fn scores_of_means(&self) -> Vec<Option<Score>> {
        let mut sink = Sink { validator: self, scores: self.blank() };
        for group in self.features.groups().iter().filter(|group| !group.is_ranking()) {
            let range = group.features.clone();
            let values = vec![0.0; self.features.rows() * range.len()];
            sink.add(&Estimates {
                features: (range.start, range.end),
                width: range.len(),
                values: &values,
                column_means: &self.known.means[range],
                scales: None,
            });
        }
        sink.scores.finish(&self.rows)
    }

    fn blank(&self) -> Scores {
        let detail = match self.criterion {
            Criterion::Published => Detail::Totals,
            Criterion::AllMetrics => Detail::Losses,
        };
        Scores::new(self.features, &self.rows, self.depth, detail)
    }
}

struct Sink<'a, 'b> {
    validator: &'b Validator<'a>,
    scores: Scores,
}

impl Sink<'_, '_> {
    fn add(&mut self, estimates: &Estimates<'_>) {
        let Validator { features, rows, cells, .. } = self.validator;
        let cells = ScoredCells::new(features, &rows[0], cells, estimates.features());
        self.scores.add(&cells, &[], estimates);
    }
}

impl EstimateSink for Sink<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        self.add(estimates);
        Ok(())
    }
}
