//! One method on one split: fitted to what is left, scored on what was hidden.

use std::time::Instant;

use graphfill_data::splits;
use graphfill_data::{CellMask, Dataset, Labels, UndirectedGraph};
use graphfill_methods::features::Features;
use graphfill_methods::learning::StopReason;
use graphfill_methods::uncertainty::{CellEstimates, Uncertainty, hide_and_estimate};
use graphfill_methods::{Context, EstimateSink, Estimates, Method, Result, Task};

use crate::hiding::Hidden;
use crate::memory;
use crate::report::{ChosenParameters, SeedEvaluation};
use crate::score::{Metrics, Scorer};
use crate::uncertainty;

/// Everything that a method is run on.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) graph: &'a UndirectedGraph,
    pub(crate) features: &'a Features<'a>,
    pub(crate) hidden: &'a Hidden,
    /// The k of recall@k and nDCG@k; the first selects.
    pub(crate) depths: &'a [usize],
    pub(crate) labels: Option<&'a Labels>,
    /// Cells whose scores the history of a training has.
    pub(crate) watched: &'a [CellMask],
    /// The coverages at which intervals and sets are scored.
    pub(crate) coverages: &'a [f64],
    pub(crate) context: &'a Context<'a>,
}

/// What a run found.
pub(crate) struct Scored {
    pub(crate) evaluation: SeedEvaluation,
    /// The metric by which methods are compared.
    pub(crate) primary: Option<String>,
    /// Why training ended early, if it did.
    pub(crate) stopped_early: Option<StopReason>,
}

impl<'a> Run<'a> {
    /// What the method gets to see.
    pub(crate) fn task(&self) -> Task<'a> {
        let validation = match self.hidden.validation.is_empty() {
            true => &[],
            false => std::slice::from_ref(&self.hidden.validation),
        };
        Task {
            validation,
            watched: self.watched,
            labels: self.labels,
            ranking_depth: self.depths[0],
            ..Task::new(self.graph, self.features, &self.hidden.unknown, self.context)
        }
    }

    /// Fits and scores; `also` gets the estimates, too.
    pub(crate) fn score(&self, method: &dyn Method, also: &mut dyn EstimateSink) -> Result<Scored> {
        memory::reset_peak();
        let started = Instant::now();
        let task = self.task();
        let fitted = method.fit_task(&task)?;
        // Half-trained methods are not compared.
        self.context.progress.check()?;
        let mut validation = Scorer::new(self.features, &self.hidden.validation, self.depths);
        let mut test = Scorer::new(self.features, &self.hidden.test, self.depths);
        let mut cells = (!self.coverages.is_empty())
            .then(|| CellEstimates::new(self.features, &self.hidden.test, MAX_BLOCK_CELLS));
        let mut sinks: Vec<&mut dyn EstimateSink> = vec![&mut validation, &mut test, also];
        sinks.extend(cells.as_mut().map(|cells| cells as &mut dyn EstimateSink));
        fitted.estimate(&task, &mut Several(sinks))?;
        let seconds = started.elapsed().as_secs_f64();
        let mut test_metrics = test.finish();
        if let Some(cells) = cells {
            test_metrics.add(self.score_uncertainty(method, &task, cells)?);
        }
        let evaluation = SeedEvaluation {
            seed: self.context.seed,
            parameters: ChosenParameters::of(method.info().name, fitted.choices()),
            validation: validation.finish(),
            test: test_metrics,
            seconds,
            peak_memory_bytes: memory::peak_bytes(),
            by_row: test.primary_by_row(),
            history: fitted.history().cloned(),
        };
        Ok(Scored { evaluation, primary: test.primary(), stopped_early: fitted.stopped_early() })
    }

    /// Calibrates the method on observed cells, and scores the intervals and sets of the test cells.
    fn score_uncertainty(
        &self,
        method: &dyn Method,
        task: &Task<'a>,
        cells: CellEstimates<'_>,
    ) -> Result<Metrics> {
        let validation = |_: &CellMask| task.validation.to_vec();
        let hidden = hide_and_estimate(method, task, &self.hidden.test, &validation)?;
        let Some(hidden) = hidden.filter(|hidden| !hidden.is_empty()) else {
            return Ok(Metrics::default());
        };
        let calibration = hidden.calibrate(&|_| true);
        let nothing = std::collections::BTreeMap::new();
        let uncertainty =
            Uncertainty::new(&calibration, task, cells, Some(&hidden), &nothing, &|_| None);
        Ok(uncertainty::score(&uncertainty, self.features, task.unknown, self.coverages))
    }
}

/// The maximum number of cells of a 0/1 block whose probabilities are scored.
const MAX_BLOCK_CELLS: usize = 1_000_000;

/// Passes estimates to several sinks.
struct Several<'a>(Vec<&'a mut dyn EstimateSink>);

impl EstimateSink for Several<'_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        self.0.iter_mut().try_for_each(|sink| sink.accept(estimates))
    }
}

/// Discards estimates.
pub(crate) struct DiscardEstimates;

impl EstimateSink for DiscardEstimates {
    fn accept(&mut self, _estimates: &Estimates<'_>) -> Result<()> {
        Ok(())
    }
}

/// The labels of a share of the nodes; of whole classes alike, as far as chance goes.
pub(crate) fn shown_labels(dataset: &Dataset, share: f64, seed: u64) -> Option<Labels> {
    let mut labels = dataset.table.labels()?.clone();
    let labelled = labels.codes.iter().enumerate().filter(|(_, class)| class.is_some());
    let labelled: Vec<u32> = labelled.map(|(node, _)| node as u32).collect();
    let shown = (labelled.len() as f64 * share).round() as usize;
    for &node in splits::shuffled(&labelled, seed).iter().skip(shown) {
        labels.codes[node as usize] = None;
    }
    (shown > 0).then_some(labels)
}
