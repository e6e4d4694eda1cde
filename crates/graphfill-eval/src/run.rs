//! One method on one split: fitted to what is left, scored on what was hidden.

use std::time::Instant;

use graphfill_data::splits;
use graphfill_data::{CellMask, Dataset, Labels, UndirectedGraph};
use graphfill_methods::features::Features;
use graphfill_methods::learning::StopReason;
use graphfill_methods::{Context, EstimateSink, Estimates, Method, Result, Task};

use crate::hiding::Hidden;
use crate::memory;
use crate::report::{ChosenParameters, SeedEvaluation};
use crate::score::Scorer;

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
        fitted.estimate(&task, &mut Several(&mut validation, &mut test, also))?;
        let evaluation = SeedEvaluation {
            seed: self.context.seed,
            parameters: ChosenParameters::of(method.info().name, fitted.choices()),
            validation: validation.finish(),
            test: test.finish(),
            seconds: started.elapsed().as_secs_f64(),
            peak_memory_bytes: memory::peak_bytes(),
            by_row: test.primary_by_row(),
            history: fitted.history().cloned(),
        };
        Ok(Scored { evaluation, primary: test.primary(), stopped_early: fitted.stopped_early() })
    }
}

/// Hands estimates to scorers and to somebody else at once.
struct Several<'a, 'b>(&'b mut Scorer<'a>, &'b mut Scorer<'a>, &'b mut dyn EstimateSink);

impl EstimateSink for Several<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        self.0.accept(estimates)?;
        self.1.accept(estimates)?;
        self.2.accept(estimates)
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
