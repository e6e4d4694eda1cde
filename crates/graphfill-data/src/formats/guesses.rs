//! Notes on what was guessed about the columns of a table, gathered so that a table of many columns
//! gives few notes.

use std::collections::BTreeMap;

use crate::column::CellStyle;
use crate::found_columns::grouped;
use crate::hint::Setting;
use crate::infer::TypedColumn;
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::missing_words::MissingWords;
use crate::note::Note;

/// More columns than this are counted rather than listed.
const MAX_LISTED: usize = 8;

/// What was guessed about columns, gathered so that a table of many columns gives few notes.
#[derive(Default)]
pub(super) struct Guesses {
    missing_words: BTreeMap<String, usize>,
    missing_columns: Vec<(String, usize)>,
    styles: Vec<String>,
    codes: Vec<String>,
    pub(super) notes: Vec<Note>,
}

impl Guesses {
    pub(super) fn note(&mut self, typed: &TypedColumn) {
        let name = typed.column.name();
        let missing: usize = typed.missing_words.values().sum();
        if missing > 0 {
            self.missing_columns.push((name.to_owned(), missing));
            for (word, count) in &typed.missing_words {
                *self.missing_words.entry(word.clone()).or_default() += count;
            }
        }
        if let CellStyle::Number(style) = typed.column.style() {
            self.styles.push(format!("'{name}' ({})", style.describe()));
        }
        if let Some(cell) = &typed.open_decimal {
            let text =
                format!("column '{name}': the comma of '{cell}' was taken to separate thousands");
            self.notes.push(Note::warning(text).with(Setting::Decimal));
        }
        if typed.may_be_codes {
            self.codes.push(name.to_owned());
        }
        if *typed.column.kind() == Kind::Unused(Unused::OpenDates) {
            let text = format!(
                "column '{name}': its dates don't tell day from month, so it is left as it is"
            );
            self.notes.push(Note::warning(text).with(Setting::DateOrder));
        }
        if let Some(extreme) = &typed.extreme {
            let cells = match extreme.cells {
                1 => "one cell holds".to_owned(),
                cells => format!("{} cells hold", grouped(cells as u64)),
            };
            let (least, most) = extreme.others;
            let value = extreme.value.to_string();
            let text = format!(
                "column '{name}': {cells} {value}, far from the other values ({least} to {most}); it moves the estimates of other rows"
            );
            self.notes.push(Note::warning(text).with(Setting::MissingValue(value)));
        }
    }

    /// The notes. Cells that are missing because the caller said so (`given`) are no guess.
    pub(super) fn into_notes(self, given: &MissingWords) -> Vec<Note> {
        let mut notes = Vec::new();
        if !self.missing_columns.is_empty() {
            let total: usize = self.missing_columns.iter().map(|(_, count)| count).sum();
            let words: Vec<String> =
                self.missing_words.keys().map(|word| format!("'{word}'")).collect();
            let columns =
                listed(self.missing_columns.iter().map(|(name, count)| format!("{name}: {count}")));
            let cells = if total == 1 { "cell was" } else { "cells were" };
            let text = format!(
                "{} {cells} read as missing because of {} ({columns})",
                grouped(total as u64),
                words.join(", ")
            );
            let is_guess = self.missing_words.keys().any(|word| !given.is_given(word));
            let note = Note::new(text);
            notes.push(if is_guess { note.with(Setting::NoMissingValues) } else { note });
        }
        if !self.styles.is_empty() {
            let text = format!(
                "numbers were read in the style of their column: {}",
                listed(self.styles.into_iter())
            );
            notes.push(Note::new(text).with(Setting::Decimal));
        }
        if !self.codes.is_empty() {
            let first = self.codes[0].clone();
            let text = format!(
                "few different whole numbers, read as counts: {}; declare a column as a category if its numbers are codes",
                listed(self.codes.into_iter())
            );
            notes.push(
                Note::new(text).with(Setting::Type { column: first, kind: DeclaredKind::Category }),
            );
        }
        notes.extend(self.notes);
        notes
    }
}

/// The first items of a list, and how many more there are.
fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(MAX_LISTED);
    let shown: Vec<String> = items.take(MAX_LISTED).collect();
    if more > 0 { format!("{}, and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
