//! Types of columns, inferred from their cells. In this order:
//!
//! 1. no value at all: unused; one single value: constant (missing cells get it);
//! 2. only 0/1, true/false, yes/no, t/f, y/n (any case): **boolean**;
//! 3. whole numbers ≥ 0 (also when spelt `3.0`): **count**;
//! 4. numbers, also with decimal commas, thousands separators, `%`, currency signs and units: **number**;
//! 5. dates and timestamps: **date**;
//! 6. text (and numbers spelt like codes, as `01234`) with at most 1,000 different values that repeat (on
//!    average at least twice): **category**; other text: unused;
//! 7. lists of one length: **block**; any other type of the file (structs, binary): unused.
//!
//! Words for "missing" ([`crate::MissingWords`]) don't count as values in a column that is estimated;
//! in a column that is not, they stay. A column that is mostly numbers (nine in ten) is an error that
//! names the first cell that is none, since a typing slip is likelier than a category of numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;

use crate::column::{CellStyle, Column, ColumnData, as_text, is_text};
use crate::date_style::{DateOrder, DateStyle, DetectedDates};
use crate::extremes::{self, Extreme};
use crate::formats::UnusableValues;
use crate::hint::{Hint, Setting};
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::missing_words::MissingWords;
use crate::number_style::{DecimalMark, NumberStyle};
use crate::spelling;

/// The most levels that a category may have.
pub const MAX_LEVELS: usize = 1000;
/// Whole numbers with at most so many different values, each seen often, may be codes of classes.
const MAX_CODES: usize = 12;
/// The largest number that is likely to be the code of a class.
const MAX_CODE: f64 = 30.0;
/// How often a code is seen on average.
const MIN_CODE_REPEATS: usize = 5;

/// A cell that does not fit its column's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidCell {
    /// The row of the cell.
    pub row: usize,
    /// What was found and what was expected.
    pub found: String,
    /// What to do about it.
    pub hint: Hint,
}

/// How cells are interpreted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InferOptions<'a> {
    pub(crate) missing_words: &'a MissingWords,
    pub(crate) decimal: Option<DecimalMark>,
    pub(crate) date_order: Option<DateOrder>,
    /// Whether cells are separated by semicolons, as where the comma is the decimal mark.
    pub(crate) semicolons: bool,
    /// What to do with a value that no method can use.
    pub(crate) unusable: UnusableValues,
}

impl InferOptions<'static> {
    /// The usual words for "missing", everything else told from the cells.
    pub(crate) const DEFAULT: InferOptions<'static> = InferOptions {
        missing_words: &MissingWords::Usual,
        decimal: None,
        date_order: None,
        semicolons: false,
        unusable: UnusableValues::Warn,
    };
}

/// A column with its type, and what was guessed on the way.
#[derive(Debug, Clone)]
pub(crate) struct TypedColumn {
    pub(crate) column: Column,
    /// How many cells were missing because of which word.
    pub(crate) missing_words: BTreeMap<String, usize>,
    /// A cell whose comma was taken as a thousands separator though it may be a decimal comma.
    pub(crate) open_decimal: Option<String>,
    /// Few different whole numbers, which may be codes of classes.
    pub(crate) may_be_codes: bool,
    /// A value far away from all others.
    pub(crate) extreme: Option<Extreme>,
}

impl TypedColumn {
    pub(crate) fn new(column: Column) -> Self {
        TypedColumn {
            column,
            missing_words: BTreeMap::new(),
            open_decimal: None,
            may_be_codes: false,
            extreme: None,
        }
    }
}

/// The column with its type inferred, or declared by the caller and checked.
pub fn typed_column(
    name: &str,
    cells: ArrayRef,
    declared: Option<DeclaredKind>,
) -> Result<Column, InvalidCell> {
    interpret(name, cells, declared, &InferOptions::DEFAULT).map(|typed| typed.column)
}

/// [`typed_column`] with options, and with what was guessed on the way.
pub(crate) fn interpret(
    name: &str,
    cells: ArrayRef,
    declared: Option<DeclaredKind>,
    options: &InferOptions<'_>,
) -> Result<TypedColumn, InvalidCell> {
    if declared == Some(DeclaredKind::Unused) {
        let kind = Kind::Unused(Unused::Declared);
        return Ok(TypedColumn::new(Column::new(name, kind, cells)));
    }
    let typed = match cells.data_type() {
        data_type if is_text(data_type) => type_text(name, &cells, declared, options)?,
        DataType::Dictionary(_, _) => {
            let column = Column::new(name, Kind::Category, cells);
            let kind = level_kind(&column, declared);
            TypedColumn::new(column.with_kind(kind))
        }
        DataType::Boolean => {
            type_numbers(Column::new(name, Kind::Boolean, cells), declared, options)?
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) => {
            let column = Column::new(name, Kind::Date, cells);
            let kind = unless_constant(&column.numbers(), Kind::Date);
            TypedColumn::new(column.with_kind(kind))
        }
        data_type if data_type.is_numeric() => {
            let (cells, words) = without_sentinels(cells, options.missing_words);
            let column = Column::new(name, Kind::Number, cells);
            TypedColumn { missing_words: words, ..type_numbers(column, declared, options)? }
        }
        other => {
            let kind = Kind::Unused(Unused::UnsupportedType(other.to_string()));
            return Ok(TypedColumn::new(Column::new(name, kind, cells)));
        }
    };
    Ok(typed)
}

/// A column of text: the words for "missing" are left out, unless the column is carried along.
fn type_text(
    name: &str,
    cells: &ArrayRef,
    declared: Option<DeclaredKind>,
    options: &InferOptions<'_>,
) -> Result<TypedColumn, InvalidCell> {
    let text = as_text(cells);
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |cell: &str| *words.entry(cell.trim().to_owned()).or_default() += 1;
    let says_missing = |cell: &&str| options.missing_words.contains(cell);
    let known: StringArray = match text.iter().flatten().any(|cell| says_missing(&cell)) {
        false => text,
        true => {
            text.iter().flatten().filter(says_missing).for_each(&mut count);
            text.iter().map(|cell| cell.filter(|cell| !says_missing(cell))).collect()
        }
    };
    let known = without_nan(known, options, &mut words);
    let kept = match (words.is_empty(), cells.data_type()) {
        (true, _) => cells.clone(),
        (false, DataType::Utf8) => Arc::new(known.clone()),
        // Layouts of text convert into one another.
        (false, layout) => arrow_cast::cast(&known, layout).unwrap_or_else(|_| cells.clone()),
    };
    let column = Column::new(name, Kind::Category, kept);
    let mut typed = match declared {
        Some(declared) => type_declared_text(column, &known, declared, options)?,
        None => infer_text(column, &known, options)?,
    };
    match typed.column.kind() {
        // All cells stay as they are: nothing was taken as missing.
        Kind::Unused(Unused::Constant)
        | Kind::Number
        | Kind::Count
        | Kind::Boolean
        | Kind::Category
        | Kind::Date => typed.missing_words = words,
        kind => {
            let kind = kind.clone();
            typed.column = Column::new(name, kind, cells.clone());
        }
    }
    Ok(typed)
}

/// In a column of nothing but numbers, words for "missing" count in any case, and NaN always does.
fn without_nan(
    known: StringArray,
    options: &InferOptions<'_>,
    words: &mut BTreeMap<String, usize>,
) -> StringArray {
    let says_missing = |cell: &str| options.missing_words.contains_among_numbers(cell);
    let mut numbers = 0;
    for cell in known.iter().flatten() {
        match spelling::number(cell) {
            Some(_) => numbers += 1,
            None if says_missing(cell) => {}
            None => return known,
        }
    }
    if numbers == 0 || numbers + known.null_count() == known.len() {
        return known;
    }
    let keep = |cell: &&str| spelling::number(cell).is_some();
    for cell in known.iter().flatten().filter(|cell| !keep(cell)) {
        *words.entry(cell.trim().to_owned()).or_default() += 1;
    }
    known.iter().map(|cell| cell.filter(keep)).collect()
}

fn infer_text(
    column: Column,
    text: &StringArray,
    options: &InferOptions<'_>,
) -> Result<TypedColumn, InvalidCell> {
    let cells = || text.iter().flatten();
    let known = cells().count();
    if known > 0 && cells().all(|cell| spelling::boolean(cell).is_some()) {
        return type_numbers(column.with_kind(Kind::Boolean), Some(DeclaredKind::Boolean), options);
    }
    if cells().any(spelling::is_code) {
        let kind = level_kind(&column, None);
        return Ok(TypedColumn::new(column.with_kind(kind)));
    }
    let number = |cell: &str| spelling::number(cell).is_some();
    let plain = known == 0 || (options.decimal.is_none() && cells().all(number));
    let (style, open) = match plain {
        true => (NumberStyle::default(), None),
        false => match NumberStyle::detect(cells(), options.decimal) {
            Some(found) => (found.style, found.open),
            None => (NumberStyle::default(), None),
        },
    };
    let numbers = match plain {
        true => known,
        false => cells().filter(|cell| style.parse(cell).is_some()).count(),
    };
    if known > 0 && numbers == known {
        if let Some(cell) = open.as_ref().filter(|_| options.semicolons) {
            let found = format!("found '{cell}', which is a thousand or a number with decimals");
            let row =
                text.iter().position(|own| own.is_some_and(|own| own.contains(cell.as_str())));
            let hint = Hint::new("say which mark stands before decimals").with(Setting::Decimal);
            return Err(InvalidCell { row: row.unwrap_or(0), found, hint });
        }
        let style = if style.is_plain() { CellStyle::Plain } else { CellStyle::Number(style) };
        let typed = type_numbers(column.with_kind(Kind::Number).with_style(style), None, options)?;
        return Ok(TypedColumn { open_decimal: open, ..typed });
    }
    if numbers * 10 >= known * 9 && known >= 10 {
        let row = text.iter().position(|cell| cell.is_some_and(|cell| style.parse(cell).is_none()));
        let row = row.unwrap_or(0);
        let cell = text.value(row).trim().to_owned();
        let found = format!("found '{cell}', while {numbers} of {known} cells are numbers");
        let hint = Hint::new("correct the cell, leave it empty, say that it means missing, or declare the column's type")
            .with(Setting::MissingValue(cell))
            .with(Setting::Type { column: column.name().to_owned(), kind: DeclaredKind::Category });
        return Err(InvalidCell { row, found, hint });
    }
    let kind = match DateStyle::detect(cells(), options.date_order) {
        DetectedDates::Style(style) => {
            let column = column.with_kind(Kind::Date).with_style(CellStyle::Date(style));
            let kind = unless_constant(&column.numbers(), Kind::Date);
            return Ok(TypedColumn::new(column.with_kind(kind)));
        }
        DetectedDates::Open => Kind::Unused(Unused::OpenDates),
        DetectedDates::None => level_kind(&column, None),
    };
    Ok(TypedColumn::new(column.with_kind(kind)))
}

fn type_declared_text(
    column: Column,
    text: &StringArray,
    declared: DeclaredKind,
    options: &InferOptions<'_>,
) -> Result<TypedColumn, InvalidCell> {
    let cells = || text.iter().flatten();
    match declared {
        DeclaredKind::Category | DeclaredKind::Unused => {
            let kind = level_kind(&column, Some(declared));
            Ok(TypedColumn::new(column.with_kind(kind)))
        }
        DeclaredKind::Boolean => {
            type_numbers(column.with_kind(Kind::Boolean), Some(declared), options)
        }
        DeclaredKind::Date => match DateStyle::detect(cells(), options.date_order) {
            DetectedDates::Style(style) => {
                let column = column.with_kind(Kind::Date).with_style(CellStyle::Date(style));
                let kind = unless_constant(&column.numbers(), Kind::Date);
                Ok(TypedColumn::new(column.with_kind(kind)))
            }
            DetectedDates::Open => Err(InvalidCell {
                row: first_row(text),
                found: "the cells don't tell whether the day or the month stands first".to_owned(),
                hint: Hint::new("say which does").with(Setting::DateOrder),
            }),
            DetectedDates::None if cells().next().is_none() => {
                Ok(TypedColumn::new(column.with_kind(Kind::Unused(Unused::AllMissing))))
            }
            DetectedDates::None => {
                let row = first_row(text);
                let found = format!(
                    "found '{}', while all cells should be dates of one pattern",
                    text.value(row)
                );
                let hint = "correct the cell, leave it empty, or declare another type".into();
                Err(InvalidCell { row, found, hint })
            }
        },
        DeclaredKind::Number | DeclaredKind::Count => {
            let plain = cells().all(|cell| spelling::number(cell).is_some());
            let style = match plain && options.decimal.is_none() {
                true => NumberStyle::default(),
                false => NumberStyle::detect(cells(), options.decimal)
                    .map_or_else(NumberStyle::default, |found| found.style),
            };
            let style = if style.is_plain() { CellStyle::Plain } else { CellStyle::Number(style) };
            type_numbers(column.with_kind(Kind::Number).with_style(style), Some(declared), options)
        }
    }
}

fn first_row(text: &StringArray) -> usize {
    text.iter().position(|cell| cell.is_some()).unwrap_or(0)
}

/// A column whose cells are numbers: which kind, and whether a value stands apart.
fn type_numbers(
    column: Column,
    declared: Option<DeclaredKind>,
    options: &InferOptions<'_>,
) -> Result<TypedColumn, InvalidCell> {
    let numbers = column.numbers();
    let known = || numbers.iter().filter(|value| !value.is_nan());
    let kind = match declared {
        Some(DeclaredKind::Category) => {
            let kind = level_kind(&column, declared);
            return Ok(TypedColumn::new(column.with_kind(kind)));
        }
        Some(declared) => {
            check_declared(&column, &numbers, declared)?;
            match declared {
                DeclaredKind::Boolean => Kind::Boolean,
                DeclaredKind::Count => Kind::Count,
                _ => Kind::Number,
            }
        }
        None if known().all(|&value| value == 0.0 || value == 1.0) => Kind::Boolean,
        None if known().all(|&value| value >= 0.0 && value.fract() == 0.0) => Kind::Count,
        None => Kind::Number,
    };
    if let Some(row) = numbers.iter().position(|value| value.is_infinite()) {
        let hint = "leave the cell empty if the value is unknown, or give a finite number".into();
        return Err(InvalidCell { row, found: "found an infinite value".to_owned(), hint });
    }
    let kind = unless_constant(&numbers, kind);
    let extreme = match kind {
        Kind::Number | Kind::Count => extremes::find(&numbers),
        _ => None,
    };
    if let Some(extreme) = extreme
        && extreme.unusable
        && options.unusable == UnusableValues::Refuse
        && (declared.is_none() || extreme.value.abs() > extremes::MAX_VALUE)
    {
        return Err(unusable(&column, &numbers, &extreme));
    }
    let may_be_codes = declared.is_none() && kind == Kind::Count && are_few(&numbers);
    let column = column.with_kind(kind);
    Ok(TypedColumn { extreme, may_be_codes, ..TypedColumn::new(column) })
}

/// The value in the way of every other estimate, and the ways out.
fn unusable(column: &Column, numbers: &[f64], extreme: &Extreme) -> InvalidCell {
    let row = numbers.iter().position(|&value| value == extreme.value).unwrap_or(0);
    let text = column.text();
    let cell = if text.is_valid(row) { text.value(row).trim().to_owned() } else { String::new() };
    let in_short = |value: f64| match value == 0.0 || (1e-4..1e15).contains(&value.abs()) {
        true => format!("{value}"),
        false => format!("{value:e}"),
    };
    let (least, most) = (in_short(extreme.others.0), in_short(extreme.others.1));
    let found = format!(
        "found '{cell}', so far from the other values ({least} to {most}) that it would decide every estimate"
    );
    let mut hint = Hint::new("correct the cell, or say that it means missing")
        .with(Setting::MissingValue(cell));
    if extreme.value.abs() <= extremes::MAX_VALUE {
        let column = column.name().to_owned();
        hint.advice.push_str("; declare the column's type to keep it");
        hint = hint.with(Setting::Type { column, kind: DeclaredKind::Number });
    }
    InvalidCell { row, found, hint }
}

/// Whether there are few different numbers, small ones, each seen often.
fn are_few(numbers: &[f64]) -> bool {
    let mut distinct: Vec<f64> = Vec::new();
    let mut known = 0;
    for &value in numbers.iter().filter(|value| !value.is_nan()) {
        known += 1;
        if !distinct.contains(&value) {
            distinct.push(value);
        }
        if distinct.len() > MAX_CODES || value > MAX_CODE {
            return false;
        }
    }
    distinct.len() > 2 && distinct.len() * MIN_CODE_REPEATS <= known
}

/// The cells of a typed numeric column without the numbers that the caller says mean "missing".
fn without_sentinels(cells: ArrayRef, words: &MissingWords) -> (ArrayRef, BTreeMap<String, usize>) {
    let sentinels = words.numbers();
    let mut found = BTreeMap::new();
    if sentinels.is_empty() {
        return (cells, found);
    }
    let numbers = Column::new("", Kind::Number, cells.clone()).numbers();
    let hidden: Vec<bool> = numbers.iter().map(|value| sentinels.contains(value)).collect();
    for (value, _) in numbers.iter().zip(&hidden).filter(|(_, hidden)| **hidden) {
        *found.entry(value.to_string()).or_default() += 1;
    }
    let masked = Column::new("", Kind::Number, cells).with_hidden_rows(&hidden);
    (masked.array(), found)
}

/// The kind of a column of levels.
fn level_kind(column: &Column, declared: Option<DeclaredKind>) -> Kind {
    let levels = column.levels();
    let known = levels.codes.iter().flatten().count();
    let distinct = levels.names.len();
    let repeats = distinct <= MAX_LEVELS && distinct * 2 <= known;
    match distinct {
        0 => Kind::Unused(Unused::AllMissing),
        1 => Kind::Unused(Unused::Constant),
        _ if repeats || declared == Some(DeclaredKind::Category) => Kind::Category,
        _ => Kind::Unused(Unused::FreeText { distinct }),
    }
}

fn unless_constant(numbers: &[f64], kind: Kind) -> Kind {
    let mut known = numbers.iter().filter(|value| !value.is_nan());
    match known.next() {
        None => Kind::Unused(Unused::AllMissing),
        Some(first) if known.all(|value| value == first) => Kind::Unused(Unused::Constant),
        Some(_) => kind,
    }
}

fn check_declared(
    column: &Column,
    numbers: &[f64],
    declared: DeclaredKind,
) -> Result<(), InvalidCell> {
    let missing = column.missing();
    let fits = |value: f64| match declared {
        DeclaredKind::Count => value >= 0.0 && value.fract() == 0.0,
        DeclaredKind::Boolean => value == 0.0 || value == 1.0,
        _ => !value.is_nan(),
    };
    let misfit = (0..numbers.len()).find(|&row| !missing[row] && !fits(numbers[row]));
    let Some(row) = misfit else { return Ok(()) };
    let cell = match column.data() {
        ColumnData::Array(cells) if cells.as_string_opt::<i32>().is_some() => {
            cells.as_string::<i32>().value(row).to_owned()
        }
        _ => numbers[row].to_string(),
    };
    Err(InvalidCell {
        row,
        found: format!("found '{cell}', which is no {}", declared.as_str()),
        hint: "correct the cell, leave it empty, or declare another type".into(),
    })
}

#[cfg(test)]
mod tests;
