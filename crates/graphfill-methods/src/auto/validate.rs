//! The losses of a fitted method on the validation cells.

use crate::error::Result;
use crate::method::{EstimateSink, Estimates, Fitted, Task};
use crate::selection::{Detail, ScoredCells, Scores, ValidationRows};

/// Scores a fitted method on every set of validation cells, each unknown while it is scored.
pub(super) fn validate(
    fitted: &dyn Fitted,
    task: &Task<'_>,
    sets: &[ValidationRows],
) -> Result<Scores> {
    let mut scores = Scores::new(task.features, sets, task.ranking_depth, Detail::Losses);
    for set in 0..sets.len() {
        let mut sink = ScoringSink { task, sets, set, scores: &mut scores };
        fitted.estimate_validation(task, set, &mut sink)?;
    }
    Ok(scores)
}

struct ScoringSink<'a, 'b> {
    task: &'b Task<'a>,
    sets: &'b [ValidationRows],
    set: usize,
    scores: &'b mut Scores,
}

impl EstimateSink for ScoringSink<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let rows = &self.sets[self.set];
        let hidden = &self.task.validation[self.set];
        let cells = ScoredCells::new(self.task.features, rows, hidden, estimates.features());
        self.scores.add(&cells, &self.sets[..self.set], estimates);
        Ok(())
    }
}
