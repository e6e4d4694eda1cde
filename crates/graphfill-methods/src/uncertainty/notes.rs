//! Warnings about estimates that have no interval, set or draw.

use graphfill_data::{NodeTable, Note};

use super::classes::MIN_CALIBRATION_CELLS;
use super::distributions::{ColumnCells, ColumnDistributions, Uncertainty};
use super::table::percentage;
use crate::method::Choice;

/// How many columns a warning names.
const MAX_NAMED: usize = 5;

/// Which columns have no intervals of these coverages, and why. `uncertainty` is none where the run was
/// stopped before it was known.
pub fn notes(
    uncertainty: Option<&Uncertainty>,
    choices: &[Choice],
    coverages: &[f64],
) -> Vec<Note> {
    let Some(uncertainty) = uncertainty else {
        return vec![Note::warning(
            "how sure the estimates are is unknown: the run was stopped before it could be found out",
        )];
    };
    let mut notes = Vec::new();
    let unknown: Vec<&str> = uncertainty
        .columns
        .iter()
        .filter(|column| !uncertainty.calibration().columns[column.group].is_calibrated())
        .filter(|column| choices.iter().any(|choice| choice.group == column.name))
        .map(|column| column.name.as_str())
        .collect();
    if !unknown.is_empty() {
        notes.push(Note::warning(format!(
            "how sure the estimates of {} are is unknown: fewer than {MIN_CALIBRATION_CELLS} observed cells could be hidden to find out, so there are no intervals",
            named(&unknown)
        )));
    }
    for &coverage in coverages {
        let lacking: Vec<&str> = uncertainty
            .columns
            .iter()
            .filter(|column| lacks_intervals(uncertainty, column, coverage))
            .map(|column| column.name.as_str())
            .collect();
        if !lacking.is_empty() {
            notes.push(Note::warning(format!(
                "some cells of {} have no {}% interval or set: too few cells could be hidden to tell one of that coverage",
                named(&lacking),
                percentage(coverage)
            )));
        }
    }
    notes
}

/// A warning where draws repeat the estimates of some columns. `table` is the table before it was filled.
pub fn undrawn_note(uncertainty: &Uncertainty, table: &NodeTable) -> Option<Note> {
    let undrawn = uncertainty.undrawn(table);
    (!undrawn.is_empty()).then(|| {
        Note::warning(format!(
            "all draws repeat the estimates of {}: how sure they are is unknown, or they are too many to be drawn",
            named(&undrawn)
        ))
    })
}

/// Whether a calibrated column has cells without an interval or set of this coverage.
fn lacks_intervals(uncertainty: &Uncertainty, column: &ColumnDistributions, coverage: f64) -> bool {
    let group = column.group;
    match &column.cells {
        ColumnCells::Numbers(features) => features.iter().enumerate().any(|(feature, cells)| {
            uncertainty
                .number_calibration(group, feature)
                .is_some_and(|own| cells.iter().any(|cell| own.interval(cell, coverage).is_none()))
        }),
        ColumnCells::Levels(cells) => cells.iter().any(|cell| {
            !cell.probabilities.is_empty() && uncertainty.set(group, cell, coverage).is_none()
        }),
        ColumnCells::Ones(_) => false,
    }
}

/// The first of some columns in quotes, and how many there are beyond them.
fn named(columns: &[&str]) -> String {
    let first = columns[..columns.len().min(MAX_NAMED)].join("', '");
    match columns.len().saturating_sub(MAX_NAMED) {
        0 => format!("'{first}'"),
        more => format!("'{first}' and {more} more"),
    }
}
