//! Types of columns and what is said about them.

use super::*;
use arrow_array::{Float64Array, StringArray};
use std::sync::Arc;

fn infer(cells: ArrayRef, declared: Option<DeclaredKind>) -> Result<Column, InvalidCell> {
    typed_column("c", cells, declared)
}

fn kind_of(cells: &[&str]) -> Kind {
    let cells: StringArray = cells.iter().map(|&cell| (!cell.is_empty()).then_some(cell)).collect();
    infer(Arc::new(cells), None).expect("a kind").kind().clone()
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
    let invalid = infer(Arc::new(StringArray::from(cells)), None).unwrap_err();
    assert_eq!(invalid.row, 13);
    assert!(invalid.found.contains("12x"), "{}", invalid.found);
}

#[test]
fn floats_that_are_whole_count() {
    let cells = Float64Array::from(vec![Some(3.0), None, Some(f64::NAN), Some(0.0)]);
    let column = infer(Arc::new(cells), None).expect("a kind");
    assert_eq!(*column.kind(), Kind::Count);
    assert_eq!(column.missing(), [false, true, true, false]);
    let full = column.completed_with_numbers(&[9.0, 1.6, -4.0, 9.0]).expect("estimates");
    assert_eq!(full.numbers(), [3.0, 2.0, 0.0, 0.0]);
}

#[test]
fn declarations_are_checked() {
    let cells: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "-3"]));
    let invalid = infer(cells.clone(), Some(DeclaredKind::Count)).unwrap_err();
    assert_eq!(invalid.row, 2);
    let levels = infer(cells, Some(DeclaredKind::Category)).expect("a kind");
    assert_eq!(levels.levels().names, ["-3", "1", "2"]);
}

#[test]
fn words_for_missing_count_only_where_cells_are_estimated() {
    let typed = |cells: &[&str]| {
        let cells: ArrayRef = Arc::new(StringArray::from(cells.to_vec()));
        interpret("c", cells, None, &InferOptions::DEFAULT).expect("a kind")
    };
    let numbers = typed(&["1.5", "NA", "?", "2.5", "-"]);
    assert_eq!(*numbers.column.kind(), Kind::Number);
    assert_eq!(numbers.column.missing(), [false, true, true, false, true]);
    assert_eq!(numbers.missing_words.values().sum::<usize>(), 3);
    let levels = typed(&["red", "NULL", "red", "blue", "blue"]);
    assert_eq!(levels.column.levels().names, ["blue", "red"]);
    let names = typed(&["Ann", "Nan", "None", "Bob"]);
    assert!(matches!(names.column.kind(), Kind::Unused(Unused::FreeText { .. })));
    assert_eq!(names.column.missing_count(), 0);
    assert!(names.missing_words.is_empty());
}

#[test]
fn numbers_and_dates_are_known_in_their_styles() {
    assert_eq!(kind_of(&["1,5", "2,25", "-3,0"]), Kind::Number);
    assert_eq!(kind_of(&["$1,200", "$5", "$7.50"]), Kind::Number);
    assert_eq!(kind_of(&["12%", "7%", "NA"]), Kind::Count);
    assert_eq!(kind_of(&["2021-03-04", "", "2022-01-01"]), Kind::Date);
    assert_eq!(kind_of(&["03/04/2021", "05/06/2021"]), Kind::Unused(Unused::OpenDates));
}

#[test]
fn what_stands_apart_is_told_or_refused() {
    let cells = |last: &str| -> ArrayRef {
        Arc::new(StringArray::from(vec!["4.8", "5.1", "5.3", "4.9", "5.0", last]))
    };
    let typed = interpret("c", cells("-999"), None, &InferOptions::DEFAULT);
    assert_eq!(typed.expect("a kind").extreme.map(|extreme| extreme.value), Some(-999.0));
    let refuse = InferOptions { unusable: UnusableValues::Refuse, ..InferOptions::DEFAULT };
    let infer = |cells, declared| interpret("c", cells, declared, &refuse);
    let invalid = infer(cells("1e160"), None).unwrap_err();
    assert_eq!(invalid.row, 5);
    assert!(invalid.found.contains("'1e160'"), "{}", invalid.found);
    assert!(infer(cells("1e9"), None).is_err());
    assert!(infer(cells("1e9"), Some(DeclaredKind::Number)).is_ok());
    let words = MissingWords::Only(vec!["1e160".into()]);
    let options = InferOptions { missing_words: &words, ..InferOptions::DEFAULT };
    let typed = interpret("c", cells("1e160"), None, &options).expect("a kind");
    assert_eq!(typed.column.missing_count(), 1);
}
