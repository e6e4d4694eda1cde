//! Estimates of hidden rows and their scores, and the accuracies of classifiers trained on them.

use std::time::Instant;

use graphfill_methods::features::Features;
use graphfill_methods::{
    Context, Deadline, EstimateSink, Estimates, MethodError, Parameters, Result,
};

use super::JobContext;
use super::tuning::Tuned;
use crate::classification::{Classification, ClassificationOptions, Estimated, classify};
use crate::experiments::job::{Outcome, Work};
use crate::report::ChosenParameters;
use crate::run::{DiscardEstimates, Run, Scored, shown_labels};

impl JobContext<'_> {
    /// Scores of the estimates of the test rows.
    pub(super) fn estimation(&self, labels: f64) -> Result<Vec<(Work, Outcome)>> {
        let outcome = self.estimated(labels, &mut DiscardEstimates)?;
        Ok(vec![(Work::Estimation { labels }, outcome)])
    }

    /// Accuracies of classifiers on the estimates of the test rows; their scores are the first outcome.
    pub(super) fn classification(&self) -> Result<Vec<(Work, Outcome)>> {
        let begin = Instant::now();
        let benchmark = self.benchmark;
        let features = Features::of(&benchmark.dataset.table);
        let seed = self.job.seed;
        let hidden = benchmark.hiding.for_seed(&benchmark.dataset.table, &features, seed)?;
        let rows = hidden.test.touched_rows();
        let width = features.width();
        let mut kept = Rows { rows: &rows, width, values: vec![0.0; rows.len() * width] };
        let estimation = self.estimated(0.0, &mut kept)?;
        let labels = benchmark.dataset.table.labels();
        let labels = labels.ok_or_else(|| MethodError::Table("there are no labels".to_owned()))?;
        let own: Vec<Option<u32>> = rows.iter().map(|&row| labels.codes[row as usize]).collect();
        let estimated = Estimated {
            nodes: &rows,
            features: &kept.values,
            labels: &own,
            classes: labels.classes.len(),
        };
        let progress = self.context.progress;
        let memory = self.context.memory_limit();
        let (usual, device) = (ClassificationOptions::default(), &self.context.device);
        let options = ClassificationOptions { seed, device, memory, progress, ..usual };
        let Classification { mlp, gcn } = classify(&estimated, &benchmark.graph, &options)?;
        let accuracies = [
            ("mlp_best_epoch", mlp.best_epoch),
            ("mlp_inner_validation", mlp.inner_validation),
            ("gcn_best_epoch", gcn.best_epoch),
            ("gcn_inner_validation", gcn.inner_validation),
        ];
        let classification = Outcome {
            gpu: self.gpu(Work::Classification),
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
        let benchmark = self.benchmark;
        let features = Features::of(&benchmark.dataset.table);
        let seed = self.job.seed;
        let hidden = benchmark.hiding.for_seed(&benchmark.dataset.table, &features, seed)?;
        let shown = shown_labels(&benchmark.dataset, labels, seed);
        let run = Run {
            graph: &benchmark.graph,
            features: &features,
            hidden: &hidden,
            depths: &benchmark.depths,
            labels: shown.as_ref(),
            watched: &[],
            coverages: &[],
            context: self.context,
        };
        let tuned = match self.job.is_tuned() {
            true => self.tuned(&run.task())?,
            false => Tuned { parameters: self.parameters.clone(), seconds: 0.0 },
        };
        // The time limit is one of training, of a trial as of the model that is scored.
        let deadline = self.context.deadline.as_ref().map(Deadline::restarted);
        let context = Context { deadline, ..self.context.clone() };
        let run = Run { context: &context, ..run };
        let method = self.method(&tuned.parameters)?;
        let Scored { evaluation, stopped_early, .. } = run.score(&*method, also)?;
        Ok(Outcome {
            labels,
            metrics: evaluation.test.table,
            parameters: parameters(&evaluation.parameters),
            seconds: tuned.seconds + evaluation.seconds,
            ended_early: stopped_early.is_some(),
            ..self.empty_outcome(Work::Estimation { labels })
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
