//! Trains a model for a given number of updates and records its scores on training rows and on test
//! rows. There is no early stopping and no selection.

use std::collections::BTreeMap;
use std::time::Instant;

use graphfill_data::CellMask;
use graphfill_methods::features::Features;
use graphfill_methods::{Context, MethodError, Result};

use super::JobContext;
use super::estimation::parameters;
use crate::experiments::job::{Outcome, Work};
use crate::report::ChosenParameters;
use crate::run::Run;

/// Updates where the caller names none.
const UPDATES: u64 = 2_000;

impl JobContext<'_> {
    /// The series `update`, `training`, `test` and `loss`.
    pub(super) fn curves(&self) -> Result<Vec<(Work, Outcome)>> {
        let benchmark = self.benchmark;
        let features = Features::of(&benchmark.dataset.table);
        let seed = self.job.seed;
        let hidden = benchmark.hiding.for_seed(&benchmark.dataset.table, &features, seed)?;
        let seen = (0..features.rows()).filter(|&row| !hidden.unknown.is_whole(row));
        let seen = CellMask::of_rows(features.rows(), features.cells(), seen);
        let watched = [seen.without(&features.missing()), hidden.test.clone()];
        let max_updates = self.context.max_updates.unwrap_or(UPDATES);
        let context = Context { max_updates: Some(max_updates), ..self.context.clone() };
        let info = self.job.competitor.method.info();
        let mut fixed = self.parameters.clone();
        if info.parameters.iter().any(|parameter| parameter.name == "patience") {
            fixed.set(info.name, "patience", max_updates as f64);
        }
        let run = Run {
            graph: &benchmark.graph,
            features: &features,
            hidden: &hidden,
            depths: &benchmark.depths,
            labels: None,
            watched: &watched,
            coverages: &[],
            context: &context,
        };
        let begin = Instant::now();
        let fitted = self.method(&fixed)?.fit_task(&run.task())?;
        self.context.progress.check()?;
        let mut series: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let history = fitted.history().filter(|history| history.models.len() == 1);
        let history = history.ok_or_else(|| {
            MethodError::Table(format!("{} does not train one model: it has no curve", info.name))
        })?;
        for line in &history.lines {
            let mut add = |name: &str, value: f64| {
                series.entry(name.to_owned()).or_default().push(value);
            };
            add("update", line.update as f64);
            add("loss", f64::from(line.losses[0]));
            if let [training, test] = line.watched[..] {
                add("training", training);
                add("test", test);
            }
        }
        let chosen = ChosenParameters::of(info.name, fitted.choices());
        let outcome = Outcome {
            series,
            parameters: parameters(&chosen),
            seconds: begin.elapsed().as_secs_f64(),
            ended_early: fitted.stopped_early().is_some(),
            ..self.empty_outcome(Work::Curves)
        };
        Ok(vec![(Work::Curves, outcome)])
    }
}
