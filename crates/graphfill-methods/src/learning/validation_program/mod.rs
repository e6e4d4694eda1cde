//! The score of a validator as a program on the device that trains the model: latents and weights stay
//! there, and only a few numbers are downloaded.
//!
//!   latents of the validation rows → logits → ranking quality or errors of each group → 1 × numbers
//!
//! It gives what [`Validator::score`] gives, up to rounding. Blocks of 0 and 1 are ranked on the rows
//! that [`ValidationRows`](crate::selection::ValidationRows) ranks; the other groups are compared a
//! run of neighbours at a time, with one product. Logits of many rows are computed some rows at a time.

mod recorder;
#[cfg(test)]
mod tests;

use std::ops::Range;

use graphfill_engine::{Averaged, Plan, Recorded, Session};

use super::decoder::DecoderSpec;
use super::validator::{Criterion, Validator};
use crate::error::Result;
use crate::features::GroupKind;
use recorder::Recorder;

/// The one output of the program.
const NUMBERS: &str = "numbers";

/// The memory that the logits of some rows may take.
const LOGIT_BYTES: usize = 1 << 26;

/// A program that computes a validator's score.
pub(super) struct ValidationProgram {
    name: String,
    /// What the program is to be given, once.
    pub(super) inputs: Vec<(String, Vec<f32>)>,
    parts: Vec<Part>,
}

/// What one group contributes to the score: worth · mean, or worth · root mean square.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    averaged: Averaged,
    /// Where its numbers are in the output, one for each run of rows.
    numbers: Vec<usize>,
    /// How many rows or cells they are of.
    count: usize,
    /// One, or less than zero for errors.
    worth: f64,
}

impl Part {
    fn value(&self, numbers: &[f32]) -> f64 {
        let own = self.numbers.iter().map(|&at| f64::from(numbers[at]));
        let count = self.count as f64;
        self.worth
            * match self.averaged {
                Averaged::Rows => own.sum::<f64>() / count,
                Averaged::Cells => (own.map(|root| root * root).sum::<f64>() / count).sqrt(),
            }
    }
}

impl ValidationProgram {
    /// The program of a validator, to be added to the plan of a model. None where the CPU has to do
    /// it: where there is nothing to score, or a block that is never estimated has ones to be found.
    pub(super) fn record(
        validator: &Validator<'_>,
        plan: &Plan,
        name: &str,
        spec: &DecoderSpec,
    ) -> Result<Option<(Recorded, Self)>> {
        Self::record_in_runs(validator, plan, name, spec, LOGIT_BYTES)
    }

    fn record_in_runs(
        validator: &Validator<'_>,
        plan: &Plan,
        name: &str,
        spec: &DecoderSpec,
        logit_bytes: usize,
    ) -> Result<Option<(Recorded, Self)>> {
        let Some(compared) = compared(validator) else { return Ok(None) };
        let program = plan.continued(&spec.predictions[0], name)?;
        let mut recorder = Recorder::new(validator, &program, spec, logit_bytes);
        for groups in compared {
            recorder.add(groups);
        }
        let Recorder { numbers, inputs, parts, .. } = recorder;
        let Some(numbers) = numbers else { return Ok(None) };
        program.output(NUMBERS, numbers);
        let recorded = program.finish()?;
        Ok(Some((recorded, ValidationProgram { name: name.to_owned(), inputs, parts })))
    }

    /// The score of the model that a session has now: the mean over groups.
    pub(super) fn score(&self, session: &mut Session) -> Result<f64> {
        session.run(&self.name)?;
        let numbers = session.read(&self.name, NUMBERS)?;
        let sum: f64 = self.parts.iter().map(|part| part.value(&numbers)).sum();
        Ok(sum / self.parts.len().max(1) as f64)
    }
}

/// Groups that are decoded together.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Compared {
    /// One that is ranked.
    Ranked(usize),
    /// Neighbours that are compared on these rows.
    Values { groups: Range<usize>, rows: Rows },
}

/// Which of the rows that validation cells touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    All,
    /// Those that numeric blocks are compared on, where there are many.
    Summed,
}

/// The groups that count, in runs; none where the CPU has to score them.
fn compared(validator: &Validator<'_>) -> Option<Vec<Compared>> {
    let validation_rows = &validator.rows[0];
    let many = validation_rows.summed_count() < validation_rows.rows().len();
    let mut all: Vec<Compared> = Vec::new();
    for (group, about) in validator.features.groups().iter().enumerate() {
        if about.kind == GroupKind::BinaryBlock {
            let has_ones = validation_rows.ones(group).iter().any(|ones| !ones.is_empty());
            match (validator.wanted[group], has_ones) {
                (true, true) => all.push(Compared::Ranked(group)),
                // Nothing is estimated, so nothing is found: the score is 0.
                (false, true) => return None,
                (_, false) => {}
            }
            continue;
        }
        if !validator.wanted[group] || validator.baseline[group].is_none() {
            continue;
        }
        let whole_cells =
            about.kind != GroupKind::NumericBlock && validator.criterion == Criterion::Published;
        let own = if many && !whole_cells { Rows::Summed } else { Rows::All };
        match all.last_mut() {
            Some(Compared::Values { groups, rows }) if groups.end == group && *rows == own => {
                groups.end += 1;
            }
            _ => all.push(Compared::Values { groups: group..group + 1, rows: own }),
        }
    }
    Some(all)
}
