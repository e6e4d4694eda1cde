//! One column of a node table: the cells exactly as the file had them, and what they mean.
//!
//! Cells stay in the file's own type (CSV cells as their text), so that writing a table back
//! changes nothing but the missing cells. Methods see numbers and levels through the views here.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, FieldRef};

use crate::block::Block;
use crate::dictionary::complete_dictionary;
use crate::kind::Kind;
use crate::spelling;

/// How many cells of a typed column tell how many decimals it uses.
const SAMPLE: usize = 1000;
/// Digits beyond these are noise in a binary number.
const MAX_DECIMALS: usize = 9;

/// A named column.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    kind: Kind,
    data: ColumnData,
    field: Option<FieldRef>,
}

/// The cells of a column.
#[derive(Debug, Clone)]
pub enum ColumnData {
    /// One value a row; null (or NaN) where it is missing.
    Array(ArrayRef),
    /// Many values a row.
    Block(Block),
}

/// The levels of a category column.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The name of each level, in order.
    pub names: Vec<String>,
    /// The level of each row, as a position in `names`; none where it is missing.
    pub codes: Vec<Option<u32>>,
}

impl Column {
    /// A column of single values.
    pub fn new(name: impl Into<String>, kind: Kind, cells: ArrayRef) -> Self {
        Column { name: name.into(), kind, data: ColumnData::Array(cells), field: None }
    }

    /// A column that is a block.
    pub fn block(name: impl Into<String>, block: Block) -> Self {
        let kind = Kind::Block(block.kind());
        Column { name: name.into(), kind, data: ColumnData::Block(block), field: None }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The same cells, meaning something else.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same cells as they stood in a typed file: with this metadata, and null or not.
    #[must_use]
    pub fn with_field(mut self, field: Option<FieldRef>) -> Self {
        self.field = field;
        self
    }

    /// Its field in the typed file that it was read from.
    pub fn field(&self) -> Option<&FieldRef> {
        self.field.as_ref()
    }

    /// The same column with another block.
    #[must_use]
    pub fn with_block(&self, block: Block) -> Self {
        Column { data: ColumnData::Block(block), ..self.clone() }
    }

    fn with_cells(&self, cells: ArrayRef) -> Self {
        Column::new(self.name.clone(), self.kind.clone(), cells).with_field(self.field.clone())
    }

    /// Its cells.
    pub fn data(&self) -> &ColumnData {
        &self.data
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match &self.data {
            ColumnData::Array(cells) => cells.len(),
            ColumnData::Block(block) => block.rows(),
        }
    }

    /// The number of missing cells.
    pub fn missing_count(&self) -> usize {
        match &self.data {
            ColumnData::Array(cells) => missing_cells(cells).iter().filter(|&&m| m).count(),
            ColumnData::Block(block) => block.missing().count(),
        }
    }

    /// The cells as numbers (booleans as 0 and 1); NaN where one is missing or is no number.
    ///
    /// # Panics
    /// If the column is a block.
    pub fn numbers(&self) -> Vec<f64> {
        let cells = self.array();
        match cells.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                let text = as_text(cells);
                let read: fn(&str) -> Option<f64> = match self.kind {
                    Kind::Boolean => |text| spelling::boolean(text).map(|b| f64::from(u8::from(b))),
                    _ => spelling::number,
                };
                let number = |row| read(text.value(row)).unwrap_or(f64::NAN);
                (0..text.len())
                    .map(|row| if text.is_null(row) { f64::NAN } else { number(row) })
                    .collect()
            }
            DataType::Boolean => {
                let cells = cells.as_boolean();
                cells.iter().map(|cell| cell.map_or(f64::NAN, |b| f64::from(u8::from(b)))).collect()
            }
            _ => match arrow_cast::cast(cells, &DataType::Float64) {
                Ok(numbers) => numbers
                    .as_primitive::<Float64Type>()
                    .iter()
                    .map(|cell| cell.unwrap_or(f64::NAN))
                    .collect(),
                Err(_) => vec![f64::NAN; cells.len()],
            },
        }
    }

    /// The cells as levels: by value where they are numbers, alphabetically otherwise.
    ///
    /// # Panics
    /// If the column is a block.
    pub fn levels(&self) -> Levels {
        let missing = missing_cells(self.array());
        let text = self.text();
        let mut names: Vec<&str> =
            (0..text.len()).filter(|&row| !missing[row]).map(|row| text.value(row)).collect();
        names.sort_unstable();
        names.dedup();
        let mut codes = hashbrown::HashMap::new();
        if let Some(numbers) =
            names.iter().map(|name| spelling::number(name)).collect::<Option<Vec<_>>>()
        {
            let mut order: Vec<usize> = (0..names.len()).collect();
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
            names = order.into_iter().map(|position| names[position]).collect();
        }
        for (code, name) in names.iter().enumerate() {
            codes.insert(*name, code as u32);
        }
        let codes = (0..text.len())
            .map(|row| if missing[row] { None } else { codes.get(text.value(row)).copied() })
            .collect();
        Levels { names: names.iter().map(|&name| name.to_owned()).collect(), codes }
    }

    /// The cells as text; null where one is missing.
    ///
    /// # Panics
    /// If the column is a block.
    pub fn text(&self) -> StringArray {
        let cells = self.array();
        if let Some(text) = cells.as_string_opt::<i32>() {
            return text.clone();
        }
        let missing = missing_cells(cells);
        let options = FormatOptions::default();
        let Ok(formatter) = ArrayFormatter::try_new(cells.as_ref(), &options) else {
            return StringArray::new_null(cells.len());
        };
        (0..cells.len())
            .map(|row| (!missing[row]).then(|| formatter.value(row).to_string()))
            .collect()
    }

    /// Which rows are missing.
    ///
    /// # Panics
    /// If the column is a block.
    pub fn missing(&self) -> Vec<bool> {
        missing_cells(self.array())
    }

    fn array(&self) -> &ArrayRef {
        match &self.data {
            ColumnData::Array(cells) => cells,
            ColumnData::Block(_) => panic!("column '{}' is a block", self.name),
        }
    }

    /// The same column with the missing cells replaced by numbers: `estimate` has one value a
    /// row, read only where the cell is missing. Whole-number columns get whole numbers.
    #[must_use]
    pub fn completed_with_numbers(&self, estimate: &[f64]) -> Column {
        let cells = self.array();
        let observed = self.numbers();
        let whole = self.kind == Kind::Count
            || cells.data_type().is_integer()
            || observed.iter().all(|value| value.is_nan() || value.fract() == 0.0);
        let floor = if self.kind == Kind::Count { 0.0 } else { f64::NEG_INFINITY };
        let settle = |value: f64| if whole { value.round().max(floor) } else { value };
        let estimates: ArrayRef = match cells.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
                if self.kind == Kind::Boolean =>
            {
                let words = spelling::BooleanWords::of(&as_text(cells));
                let word = |value: &f64| words.word(*value >= 0.5);
                Arc::new(StringArray::from_iter_values(estimate.iter().map(word)))
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                let text = as_text(cells);
                let decimals = match whole {
                    true => 0,
                    false => spelling::decimals(text.iter().flatten(), &observed),
                };
                let spell = |value: &f64| spelling::format_number(settle(*value), decimals);
                Arc::new(StringArray::from_iter_values(estimate.iter().map(spell)))
            }
            DataType::Boolean => {
                Arc::new(BooleanArray::from_iter(estimate.iter().map(|&value| Some(value >= 0.5))))
            }
            _ if self.kind == Kind::Boolean => Arc::new(Float64Array::from_iter_values(
                estimate.iter().map(|&value| if value >= 0.5 { 1.0 } else { 0.0 }),
            )),
            _ => {
                let spelt = observed.iter().filter(|value| !value.is_nan()).map(f64::to_string);
                let spelt: Vec<String> = spelt.take(SAMPLE).collect();
                let decimals = spelling::decimals(spelt.iter().map(String::as_str), &observed);
                let scale = 10f64.powi(decimals.min(MAX_DECIMALS) as i32);
                let round = |value: f64| match decimals {
                    0..=MAX_DECIMALS => (settle(value) * scale).round() / scale,
                    _ => settle(value),
                };
                Arc::new(Float64Array::from_iter_values(estimate.iter().map(|&v| round(v))))
            }
        };
        self.with_estimates(&estimates)
    }

    /// The same column with the missing cells replaced by levels: `estimate` has one position in
    /// `names` a row, read only where the cell is missing.
    #[must_use]
    pub fn completed_with_levels(&self, names: &[String], estimate: &[u32]) -> Column {
        let chosen = estimate.iter().map(|&code| names.get(code as usize).map(String::as_str));
        let estimates: ArrayRef = Arc::new(StringArray::from_iter(chosen));
        self.with_estimates(&estimates)
    }

    /// Takes `estimates` where a cell is missing, in the column's own type.
    fn with_estimates(&self, estimates: &ArrayRef) -> Column {
        let cells = self.array();
        let missing = missing_cells(cells);
        let merged = match cells.data_type() {
            DataType::Dictionary(_, _) => complete_dictionary(cells, &as_text(estimates), &missing),
            plain => arrow_cast::cast(estimates, plain).and_then(|estimates| {
                arrow_select::zip::zip(&BooleanArray::from(missing), &estimates, cells)
            }),
        };
        // A cast between a column's own type and numbers or text, which its kind vouches for.
        let merged = merged.unwrap_or_else(|_| cells.clone());
        self.with_cells(merged)
    }

    /// The same column with the cells of `hidden` missing.
    ///
    /// # Panics
    /// If the column is a block.
    #[must_use]
    pub fn with_hidden_rows(&self, hidden: &[bool]) -> Column {
        let cells = self.array();
        let mask = BooleanArray::from(hidden.to_vec());
        let holed = arrow_select::nullif::nullif(cells, &mask).unwrap_or_else(|_| cells.clone());
        self.with_cells(holed)
    }

    /// The column with `rows` missing rows behind its own.
    #[must_use]
    pub fn with_missing_rows(&self, rows: usize) -> Column {
        match &self.data {
            ColumnData::Block(block) => self.with_block(block.with_missing_rows(rows)),
            ColumnData::Array(cells) => {
                let empty = arrow_array::new_null_array(cells.data_type(), rows);
                let longer = arrow_select::concat::concat(&[cells.as_ref(), empty.as_ref()]);
                // Two arrays of one type always join.
                let longer = longer.unwrap_or_else(|_| cells.clone());
                self.with_cells(longer)
            }
        }
    }
}

/// A text column of any layout.
fn as_text(cells: &ArrayRef) -> StringArray {
    let text = arrow_cast::cast(cells, &DataType::Utf8);
    // Layouts of text convert into one another.
    text.map_or_else(|_| StringArray::new_null(cells.len()), |text| text.as_string::<i32>().clone())
}

/// Null, or a number that is not one.
fn missing_cells(cells: &ArrayRef) -> Vec<bool> {
    let is_nan: Box<dyn Fn(usize) -> bool> = match cells.data_type() {
        DataType::Float64 => {
            let numbers = cells.as_primitive::<Float64Type>();
            Box::new(|row| numbers.value(row).is_nan())
        }
        DataType::Float32 => {
            let numbers = cells.as_primitive::<Float32Type>();
            Box::new(|row| numbers.value(row).is_nan())
        }
        DataType::Float16 => {
            let numbers = cells.as_primitive::<Float16Type>();
            Box::new(|row| numbers.value(row).is_nan())
        }
        _ => Box::new(|_| false),
    };
    let nulls = cells.logical_nulls();
    (0..cells.len())
        .map(|row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) || is_nan(row))
        .collect()
}
