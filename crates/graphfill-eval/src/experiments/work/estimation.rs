//! Hidden rows are estimated and scored; and classifiers learn from the estimates.

use std::time::Instant;

use graphfill_engine::MemoryLimit;
use graphfill_methods::features::Features;
use graphfill_methods::{EstimateSink, Estimates, MethodError, Parameters, Result};

use super::Place;
use crate::classification::{Classification, ClassificationOptions, Estimated, classify};
use crate::experiments::cell::{Outcome, Work};
use crate::report::ChosenParameters;
use crate::run::{Nobody, Run, Scored, shown_labels};

impl Place<'_> {
    /// Scores of the estimates of the test rows.
    pub(super) fn estimation(&self, labels: f64) -> Result<Vec<(Work, Outcome)>> {
        let outcome = self.estimated(labels, &mut Nobody)?;
        Ok(vec![(Work::Estimation { labels }, outcome)])
    }

    /// Accuracies of classifiers on the estimates of the test rows; their scores come on the way.
    pub(super) fn classification(&self) -> Result<Vec<(Work, Outcome)>> {
        let begin = Instant::now();
        let subject = self.subject;
        let features = Features::of(&subject.dataset.table);
        let seed = self.cell.seed;
        let hidden = subject.hiding.for_seed(&subject.dataset.table, &features, seed)?;
        let rows = hidden.test.touched_rows();
        let width = features.width();
        let mut kept = Rows { rows: &rows, width, values: vec![0.0; rows.len() * width] };
        let estimation = self.estimated(0.0, &mut kept)?;
        let labels = subject.dataset.table.labels();
        let labels = labels.ok_or_else(|| MethodError::Table("there are no labels".to_owned()))?;
        let own: Vec<Option<u32>> = rows.iter().map(|&row| labels.codes[row as usize]).collect();
        let estimated = Estimated {
            nodes: &rows,
            features: &kept.values,
            labels: &own,
            classes: labels.classes.len(),
        };
        let progress = self.progress;
        let memory = self.training.memory.unwrap_or(MemoryLimit::Available);
        let (usual, device) = (ClassificationOptions::default(), &self.training.device);
        let options = ClassificationOptions { seed, device, memory, progress, ..usual };
        let Classification { mlp, gcn } = classify(&estimated, &subject.graph, &options)?;
        let accuracies = [
            ("mlp_best_epoch", mlp.best_epoch),
            ("mlp_inner_validation", mlp.inner_validation),
            ("gcn_best_epoch", gcn.best_epoch),
            ("gcn_inner_validation", gcn.inner_validation),
        ];
        let classification = Outcome {
            card: self.card(Work::Classification),
            metrics: accuracies.map(|(name, value)| (name.to_owned(), value)).into(),
            seconds: begin.elapsed().as_secs_f64(),
            ..estimation.clone()
        };
        Ok(vec![
            (Work::Estimation { labels: 0.0 }, estimation),
            (Work::Classification, classification),
        ])
    }

    fn estimated(&self, labels: f64, also: &mut dyn EstimateSink) -> Result<Outcome> {
        let subject = self.subject;
        let features = Features::of(&subject.dataset.table);
        let seed = self.cell.seed;
        let hidden = subject.hiding.for_seed(&subject.dataset.table, &features, seed)?;
        let shown = shown_labels(&subject.dataset, labels, seed);
        let run = Run {
            graph: &subject.graph,
            features: &features,
            hidden: &hidden,
            depths: &subject.depths,
            labels: shown.as_ref(),
            watched: &[],
            fixed: self.fixed,
            training: self.training,
            seed,
            progress: self.progress,
        };
        let Scored { evaluation, ended_early, .. } = run.score(self.cell.method, also)?;
        Ok(Outcome {
            labels,
            metrics: evaluation.test.table,
            parameters: parameters(&evaluation.parameters),
            seconds: evaluation.seconds,
            ended_early: ended_early.is_some(),
            ..self.blank(Work::Estimation { labels })
        })
    }
}

/// The parameters on which all columns agree.
pub(super) fn parameters(chosen: &ChosenParameters) -> Parameters {
    match chosen {
        ChosenParameters::Table(chosen) => chosen.parameters.clone(),
        ChosenParameters::Columns(columns) => {
            let mut all = columns.values().map(|chosen| chosen.parameters.clone());
            let first = all.next().unwrap_or_default();
            all.fold(first, |agreed, own| agreed.shared_with(&own))
        }
    }
}

/// Keeps the estimates of some rows.
struct Rows<'a> {
    rows: &'a [u32],
    width: usize,
    values: Vec<f32>,
}

impl EstimateSink for Rows<'_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let features = estimates.features();
        for (&row, values) in self.rows.iter().zip(self.values.chunks_exact_mut(self.width.max(1)))
        {
            let own = estimates.row(row as usize, features.clone());
            values[features.clone()]
                .iter_mut()
                .zip(own)
                .for_each(|(value, own)| *value = own as f32);
        }
        Ok(())
    }
}
