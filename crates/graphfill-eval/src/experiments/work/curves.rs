//! A model is trained for a given number of updates, and its scores on training rows and on test rows
//! are watched. Validation plays no part in what is drawn: nothing is stopped, nothing is chosen.

use std::collections::BTreeMap;
use std::time::Instant;

use graphfill_data::CellMask;
use graphfill_methods::features::Features;
use graphfill_methods::learning::TrainingOptions;
use graphfill_methods::{MethodError, Result};

use super::Place;
use super::estimation::parameters;
use crate::experiments::cell::{Outcome, Work};
use crate::report::ChosenParameters;
use crate::run::Run;

/// Updates where the caller names none.
const UPDATES: u64 = 2_000;

impl Place<'_> {
    /// The series `update`, `training`, `test` and `loss`.
    pub(super) fn curves(&self) -> Result<Vec<(Work, Outcome)>> {
        let subject = self.subject;
        let features = Features::of(&subject.dataset.table);
        let seed = self.cell.seed;
        let hidden = subject.hiding.for_seed(&subject.dataset.table, &features, seed)?;
        let seen = (0..features.rows()).filter(|&row| !hidden.unknown.is_whole(row));
        let seen = CellMask::of_rows(features.rows(), features.cells(), seen);
        let watched = [seen.without(&features.missing()), hidden.test.clone()];
        let most_updates = self.training.most_updates.unwrap_or(UPDATES);
        let training =
            TrainingOptions { most_updates: Some(most_updates), ..self.training.clone() };
        let info = self.cell.method.info();
        let mut fixed = self.fixed.clone();
        if info.parameters.iter().any(|parameter| parameter.name == "patience") {
            fixed.fix(info.name, "patience", most_updates as f64);
        }
        let run = Run {
            graph: &subject.graph,
            features: &features,
            hidden: &hidden,
            depths: &subject.depths,
            labels: None,
            watched: &watched,
            fixed: &fixed,
            training: &training,
            seed,
            progress: self.progress,
        };
        let begin = Instant::now();
        let fitted = self.cell.method.fit(&run.task())?;
        self.progress.check()?;
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
            ended_early: fitted.ended_early().is_some(),
            ..self.blank(Work::Curves)
        };
        Ok(vec![(Work::Curves, outcome)])
    }
}
