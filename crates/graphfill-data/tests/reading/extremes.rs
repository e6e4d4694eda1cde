//! Values far from all others.

use graphfill_data::formats::ReadOptions;
use graphfill_data::{DeclaredKind, Severity};

use crate::{Files, column_of, notes, ring};

fn with(last: &str) -> Files {
    let cells = ["4.8", "5.1", "5.3", "4.9", "5.0", "5.2", "", last];
    Files::new(column_of(&cells), ring(cells.len()))
}

#[test]
fn a_lone_sentinel_is_named_with_its_column() {
    for sentinel in ["-999", "9999"] {
        let dataset = with(sentinel).read();
        let note = dataset.notes.iter().find(|note| note.severity == Severity::Warning);
        let note = note.unwrap_or_else(|| panic!("{sentinel}: {}", notes(&dataset)));
        assert!(note.text.contains("'v'") && note.text.contains(sentinel), "{note}");
    }
    let dataset = with("5.4").read();
    assert!(dataset.notes.is_empty(), "{}", notes(&dataset));
}

#[test]
fn what_no_method_can_use_is_refused_with_its_line() {
    for value in ["1e160", "1e20", "-1e200"] {
        let error = with(value).error();
        assert!(error.contains("line 9, column 'v'") && error.contains(value), "{error}");
        assert!(error.contains("MissingValue"), "{error}");
    }
    // A value that single precision still holds can be insisted on.
    let files = with("1e9");
    assert!(files.error().contains("Type"));
    let mut options = ReadOptions::default();
    options.types.declare("v", DeclaredKind::Number);
    assert!(!files.try_read(&options).expect("read").notes.is_empty());
}

#[test]
fn codes_of_classes_are_pointed_out() {
    let cells: Vec<&str> = ["1", "2", "3", "4"].into_iter().cycle().take(40).collect();
    let dataset = Files::new(column_of(&cells), ring(40)).read();
    assert!(notes(&dataset).contains("few different whole numbers"), "{}", notes(&dataset));
    let cells: Vec<String> = (0..40).map(|n| (n * 17 % 400).to_string()).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let dataset = Files::new(column_of(&cells), ring(40)).read();
    assert!(dataset.notes.is_empty(), "{}", notes(&dataset));
}
