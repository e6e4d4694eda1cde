//! Estimates put into the missing cells of a column, in its own type, spelling and precision.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;

use crate::column::{CellStyle, Column, as_text, is_text, missing_cells, per_second};
use crate::date_style::DAY;
use crate::dictionary::complete_dictionary;
use crate::error::{DataError, Result};
use crate::kind::Kind;
use crate::spelling;

/// How many cells of a typed column tell how many decimals it uses.
const SAMPLE: usize = 1000;
/// The key of the field metadata of columns whose estimates keep all their digits.
pub const EXACT: &str = "graphfill.exact";
/// Digits beyond these are noise in a binary number.
const MAX_DECIMALS: usize = 9;

impl Column {
    /// The same column with the missing cells replaced by numbers: `estimate` has one value per row,
    /// read only where the cell is missing. Whole-number columns get whole numbers, dates get dates.
    pub fn completed_with_numbers(&self, estimate: &[f64]) -> Result<Column> {
        let cells = self.array();
        let observed = self.numbers();
        let estimates: ArrayRef = if is_text(cells.data_type()) {
            Arc::new(self.spell(&as_text(&cells), &observed, estimate))
        } else {
            match cells.data_type() {
                DataType::Boolean => {
                    let known = estimate.iter().map(|&value| Some(value >= 0.5));
                    Arc::new(BooleanArray::from_iter(known))
                }
                DataType::Date32 => moments(&observed, estimate, 1.0 / DAY),
                DataType::Date64 => moments(&observed, estimate, 1e3),
                DataType::Timestamp(unit, _) => moments(&observed, estimate, per_second(*unit)),
                _ if self.kind() == &Kind::Boolean => {
                    let known = estimate.iter().map(|&value| f64::from(u8::from(value >= 0.5)));
                    Arc::new(Float64Array::from_iter_values(known))
                }
                _ => Arc::new(self.round(&observed, estimate)),
            }
        };
        self.with_estimates(&estimates)
    }

    /// The same column with the missing cells replaced by levels: `estimate` has one position in
    /// `names` per row, read only where the cell is missing.
    pub fn completed_with_levels(&self, names: &[String], estimate: &[u32]) -> Result<Column> {
        let chosen = estimate.iter().map(|&code| names.get(code as usize).map(String::as_str));
        let estimates: ArrayRef = Arc::new(StringArray::from_iter(chosen));
        self.with_estimates(&estimates)
    }

    /// The same column with the missing cells replaced by its first known value.
    pub fn completed_with_constant(&self) -> Result<Column> {
        let cells = self.array();
        let missing = missing_cells(&cells);
        let Some(known) = missing.iter().position(|missing| !missing) else {
            return Ok(self.clone());
        };
        let rows = arrow_array::UInt32Array::from_iter_values(
            missing.iter().enumerate().map(|(row, &gap)| if gap { known } else { row } as u32),
        );
        let filled = arrow_select::take::take(&cells, &rows, None);
        filled.map(|cells| self.with_cells(cells)).map_err(|error| self.misfit(&error))
    }

    /// The estimates as text cells.
    fn spell(&self, text: &StringArray, observed: &[f64], estimate: &[f64]) -> StringArray {
        if text.null_count() == text.len() && !self.examples().is_empty() {
            // Nothing is known here: written as in the table that the examples are from.
            let shown = StringArray::from_iter_values(self.examples());
            let numbers = self.with_cells(Arc::new(shown.clone())).numbers();
            return self.spell_as(&shown, &numbers, estimate);
        }
        self.spell_as(text, observed, estimate)
    }

    /// The estimates as text cells, written as these cells are.
    fn spell_as(&self, text: &StringArray, observed: &[f64], estimate: &[f64]) -> StringArray {
        if *self.kind() == Kind::Boolean {
            let words = spelling::BooleanWords::of(text);
            let word = |value: &f64| words.word(*value >= 0.5);
            return StringArray::from_iter_values(estimate.iter().map(word));
        }
        if let CellStyle::Date(style) = self.style() {
            return StringArray::from_iter_values(estimate.iter().map(|&days| style.format(days)));
        }
        let whole = self.is_whole(observed);
        let settle = |value: f64| self.within(if whole { value.round() } else { value });
        let style = match self.style() {
            CellStyle::Number(style) => style.clone(),
            _ => Default::default(),
        };
        let cells = || text.iter().flatten();
        // pandas writes whole numbers of a column that once had a NaN as "44.0".
        let point_zero =
            whole && cells().next().is_some() && cells().all(|cell| cell.trim().ends_with(".0"));
        let decimals = match whole {
            true => 0,
            false => spelling::decimals(cells().map(|cell| style.decimals(cell)), observed),
        };
        // Where all cells have two decimals, 3.4 is written as 3.40.
        let fixed = cells().map(|cell| style.decimals(cell)).min().unwrap_or(0);
        let fixed = if point_zero { 1 } else { fixed.min(decimals) };
        let spell = |value: &f64| style.padded(style.format(settle(*value), decimals), fixed);
        StringArray::from_iter_values(estimate.iter().map(spell))
    }

    /// The estimates as numbers of a typed column, with about as many decimals as its cells have.
    fn round(&self, observed: &[f64], estimate: &[f64]) -> Float64Array {
        let exact = self.field().is_some_and(|field| field.metadata().contains_key(EXACT));
        if exact && *self.kind() != Kind::Count && !self.array().data_type().is_integer() {
            return Float64Array::from_iter_values(estimate.iter().copied());
        }
        let whole = self.is_whole(observed) || self.array().data_type().is_integer();
        let spelt = observed.iter().filter(|value| !value.is_nan()).take(SAMPLE);
        let written = spelt.map(|value| spelling::written_decimals(&value.to_string()));
        let decimals = if whole { 0 } else { spelling::decimals(written, observed) };
        let scale = 10f64.powi(decimals.min(MAX_DECIMALS) as i32);
        let round = |value: f64| match decimals {
            0..=MAX_DECIMALS => self.within((value * scale).round() / scale),
            _ => self.within(value),
        };
        Float64Array::from_iter_values(estimate.iter().map(|&value| round(value)))
    }

    /// Whether estimates must be whole.
    fn is_whole(&self, observed: &[f64]) -> bool {
        *self.kind() == Kind::Count
            || observed.iter().all(|value| value.is_nan() || value.fract() == 0.0)
    }

    /// The estimate, not below zero where the column counts.
    fn within(&self, value: f64) -> f64 {
        if *self.kind() == Kind::Count { value.max(0.0) } else { value }
    }

    /// Takes `estimates` where a cell is missing, in the column's own type.
    fn with_estimates(&self, estimates: &ArrayRef) -> Result<Column> {
        let cells = self.array();
        let missing = missing_cells(&cells);
        let merged = match cells.data_type() {
            DataType::Dictionary(_, _) => {
                complete_dictionary(&cells, &as_text(estimates), &missing)
            }
            plain => arrow_cast::cast(estimates, plain).and_then(|estimates| {
                arrow_select::zip::zip(&BooleanArray::from(missing.clone()), &estimates, &cells)
            }),
        };
        let merged = merged.map_err(|error| self.misfit(&error))?;
        let left = missing_cells(&merged);
        match (0..merged.len()).find(|&row| missing[row] && left[row]) {
            None => Ok(self.with_cells(merged)),
            Some(row) => Err(self.misfit(&format!("row {} has an estimate beyond it", row + 1))),
        }
    }

    fn misfit(&self, problem: &dyn std::fmt::Display) -> DataError {
        DataError::Estimates {
            column: self.name().to_owned(),
            problem: format!("{}: {problem}", self.array().data_type()),
        }
    }
}

/// Estimated moments (days since 1970-01-01) in a unit of which `per_second` make a second: whole days
/// where all known moments are, else whole seconds, else milliseconds.
fn moments(observed: &[f64], estimate: &[f64], per_second: f64) -> ArrayRef {
    let known = || observed.iter().filter(|days| !days.is_nan());
    let multiple =
        |step: f64| known().all(|days| (days * step - (days * step).round()).abs() < 1e-4);
    let steps = if multiple(1.0) {
        1.0
    } else if multiple(DAY) {
        DAY
    } else {
        DAY * 1e3
    };
    let units = DAY * per_second / steps;
    let moment = |&days: &f64| ((days * steps).round() * units).round() as i64;
    Arc::new(Int64Array::from_iter_values(estimate.iter().map(moment)))
}
