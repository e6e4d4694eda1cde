//! What a column holds, inferred from its cells. In this order:
//!
//! 1. no value at all, or one single value: unused;
//! 2. only 0/1, true/false, yes/no, t/f, y/n (any case): **boolean**;
//! 3. whole numbers ≥ 0 (also when spelt `3.0`): **count**;
//! 4. numbers: **number**;
//! 5. text (and numbers spelt like codes, as `01234`) with at most 1,000 different values that repeat (on average at least twice):
//!    **category**; other text: unused;
//! 6. lists of one length: **block**; any other type of the file (dates, structs): unused.
//!
//! A column that is mostly numbers (nine in ten, or all but words such as NA) is an error that names the first
//! offending cell, since a typing slip is likelier than a category of numbers.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use crate::column::Column;
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::spelling;

/// The most levels that a category may have.
pub const MAX_LEVELS: usize = 1000;

/// A cell that stands in the way of a column's kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidCell {
    /// The row of the cell.
    pub row: usize,
    /// What was found and what was expected.
    pub found: String,
    /// What to do about it.
    pub remedy: String,
}

/// The column with its kind inferred, or declared by the caller and checked.
pub fn typed_column(
    name: &str,
    cells: ArrayRef,
    declared: Option<DeclaredKind>,
) -> Result<Column, InvalidCell> {
    let column = Column::new(name, Kind::Number, cells);
    let kind = match declared {
        Some(declared) => check_declared(&column, declared)?,
        None => infer(&column)?,
    };
    Ok(column.with_kind(kind))
}

fn infer(column: &Column) -> Result<Kind, InvalidCell> {
    let crate::column::ColumnData::Array(cells) = column.data() else {
        return Ok(column.kind().clone());
    };
    match cells.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => infer_text(column),
        DataType::Dictionary(_, _) => Ok(infer_levels(column)),
        DataType::Boolean => Ok(unless_constant(&column.numbers(), Kind::Boolean)),
        other if other.is_numeric() => infer_numbers(column),
        other => Ok(Kind::Unused(Unused::UnsupportedType(other.to_string()))),
    }
}

/// A column of CSV cells, or a text column of a typed file.
fn infer_text(column: &Column) -> Result<Kind, InvalidCell> {
    let text = column.text();
    let cells =
        || (0..text.len()).filter(|&row| text.is_valid(row)).map(|row| (row, text.value(row)));
    let known = cells().count();
    if known > 0 && cells().all(|(_, cell)| spelling::boolean(cell).is_some()) {
        let as_boolean = column.clone().with_kind(Kind::Boolean);
        return Ok(unless_constant(&as_boolean.numbers(), Kind::Boolean));
    }
    if cells().any(|(_, cell)| spelling::is_code(cell)) {
        return Ok(infer_levels(column));
    }
    let numbers = cells().filter(|(_, cell)| spelling::number(cell).is_some()).count();
    let unlike = || cells().filter(|(_, cell)| spelling::number(cell).is_none());
    let say_missing = numbers > 0 && numbers < known && unlike().all(|(_, c)| says_missing(c));
    if known > 0 && numbers == known {
        return infer_numbers(column);
    }
    if say_missing || (numbers * 10 >= known * 9 && known >= 10) {
        let (row, cell) = unlike().next().unwrap_or_default();
        return Err(InvalidCell {
            row,
            found: format!("found '{cell}', while {numbers} of {known} cells are numbers"),
            remedy: format!(
                "correct the cell, leave it empty, name it with --missing-values, or declare the column with --type '{}=category'",
                column.name()
            ),
        });
    }
    Ok(infer_levels(column))
}

/// Words that mean "missing" in many files, yet may be a level in others.
fn says_missing(cell: &str) -> bool {
    let words = ["na", "n/a", "null", "none", "nil", "missing", "unknown", "-", "--", "?", "."];
    words.iter().any(|word| cell.trim().eq_ignore_ascii_case(word))
}

fn infer_numbers(column: &Column) -> Result<Kind, InvalidCell> {
    let numbers = column.numbers();
    check_finite(&numbers)?;
    let known = || numbers.iter().filter(|value| !value.is_nan());
    let kind = if known().all(|&value| value == 0.0 || value == 1.0) {
        Kind::Boolean
    } else if known().all(|&value| value >= 0.0 && value.fract() == 0.0) {
        Kind::Count
    } else {
        Kind::Number
    };
    Ok(unless_constant(&numbers, kind))
}

fn infer_levels(column: &Column) -> Kind {
    let levels = column.levels();
    let known = levels.codes.iter().flatten().count();
    let distinct = levels.names.len();
    match distinct {
        0 => Kind::Unused(Unused::AllMissing),
        1 => Kind::Unused(Unused::Constant),
        _ if distinct <= MAX_LEVELS && distinct * 2 <= known => Kind::Category,
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

fn check_finite(numbers: &[f64]) -> Result<(), InvalidCell> {
    match numbers.iter().position(|value| value.is_infinite()) {
        None => Ok(()),
        Some(row) => Err(InvalidCell {
            row,
            found: "found an infinite value".to_owned(),
            remedy: "leave the cell empty if the value is unknown, or give a finite number".into(),
        }),
    }
}

fn check_declared(column: &Column, declared: DeclaredKind) -> Result<Kind, InvalidCell> {
    let crate::column::ColumnData::Array(cells) = column.data() else {
        return Ok(column.kind().clone());
    };
    let kind = match declared {
        DeclaredKind::Unused => return Ok(Kind::Unused(Unused::Declared)),
        DeclaredKind::Category => {
            let levels = column.levels().names.len();
            return Ok(match levels {
                0 => Kind::Unused(Unused::AllMissing),
                1 => Kind::Unused(Unused::Constant),
                _ => Kind::Category,
            });
        }
        DeclaredKind::Number => Kind::Number,
        DeclaredKind::Count => Kind::Count,
        DeclaredKind::Boolean => Kind::Boolean,
    };
    let column = column.clone().with_kind(kind.clone());
    let numbers = column.numbers();
    let missing = column.missing();
    let fits = |value: f64| match kind {
        Kind::Count => value >= 0.0 && value.fract() == 0.0,
        Kind::Boolean => value == 0.0 || value == 1.0,
        _ => !value.is_nan(),
    };
    let misfit = (0..numbers.len()).find(|&row| !missing[row] && !fits(numbers[row]));
    if let Some(row) = misfit {
        let cell = match cells.as_string_opt::<i32>() {
            Some(text) => text.value(row).to_owned(),
            None => numbers[row].to_string(),
        };
        return Err(InvalidCell {
            row,
            found: format!("found '{cell}', which is no {}", declared.as_str()),
            remedy: "correct the cell, leave it empty, or declare another type".to_owned(),
        });
    }
    check_finite(&numbers)?;
    Ok(unless_constant(&numbers, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Float64Array, StringArray};
    use std::sync::Arc;

    fn kind_of(cells: &[&str]) -> Kind {
        let cells: StringArray =
            cells.iter().map(|&cell| (!cell.is_empty()).then_some(cell)).collect();
        typed_column("c", Arc::new(cells), None).expect("a kind").kind().clone()
    }

    #[test]
    fn follows_the_rules_in_order() {
        assert_eq!(kind_of(&["", ""]), Kind::Unused(Unused::AllMissing));
        assert_eq!(kind_of(&["7", "", "7"]), Kind::Unused(Unused::Constant));
        assert_eq!(kind_of(&["Yes", "no", ""]), Kind::Boolean);
        assert_eq!(kind_of(&["0", "1.0", "1"]), Kind::Boolean);
        assert_eq!(kind_of(&["0", "2", "3.0"]), Kind::Count);
        assert_eq!(kind_of(&["-1", "2"]), Kind::Number);
        assert_eq!(kind_of(&["0.5", "2"]), Kind::Number);
        assert_eq!(kind_of(&["red", "red", "blue", "blue"]), Kind::Category);
        assert_eq!(kind_of(&["a", "b", "c"]), Kind::Unused(Unused::FreeText { distinct: 3 }));
    }

    #[test]
    fn a_slip_among_numbers_is_an_error_at_its_row() {
        let mut cells: Vec<String> = (0..20).map(|n| format!("{n}.5")).collect();
        cells[13] = "12x".into();
        let invalid = typed_column("c", Arc::new(StringArray::from(cells)), None).unwrap_err();
        assert_eq!(invalid.row, 13);
        assert!(invalid.found.contains("12x"), "{}", invalid.found);
    }

    #[test]
    fn floats_that_are_whole_count() {
        let cells = Float64Array::from(vec![Some(3.0), None, Some(f64::NAN), Some(0.0)]);
        let column = typed_column("c", Arc::new(cells), None).expect("a kind");
        assert_eq!(*column.kind(), Kind::Count);
        assert_eq!(column.missing(), [false, true, true, false]);
        let full = column.completed_with_numbers(&[9.0, 1.6, -4.0, 9.0]);
        assert_eq!(full.numbers(), [3.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn declarations_are_checked() {
        let cells: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "-3"]));
        let invalid = typed_column("c", cells.clone(), Some(DeclaredKind::Count)).unwrap_err();
        assert_eq!(invalid.row, 2);
        let levels = typed_column("c", cells, Some(DeclaredKind::Category)).expect("a kind");
        assert_eq!(levels.levels().names, ["-3", "1", "2"]);
    }
}
