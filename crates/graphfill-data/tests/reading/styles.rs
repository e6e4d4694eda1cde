//! Numbers, booleans and dates as people write them; estimates in the same style.

use graphfill_data::formats::ReadOptions;
use graphfill_data::{Dataset, DateOrder, DecimalMark, Kind};

use crate::{Files, column_of, kind, notes, ring};

fn read(cells: &[&str]) -> Dataset {
    Files::new(column_of(cells), ring(cells.len())).read()
}

/// The cells of the column with its missing ones replaced by `estimate`.
fn filled(dataset: &Dataset, estimate: f64) -> Vec<String> {
    let column = dataset.table.column("v").expect("the column");
    let estimates = vec![estimate; column.rows()];
    let filled = column.completed_with_numbers(&estimates).expect("estimates").text();
    (0..column.rows()).map(|row| filled.value(row).to_owned()).collect()
}

#[test]
fn numbers_are_read_in_their_style_and_estimates_written_in_it() {
    let cases: [(&[&str], f64, Kind, f64, &str); 9] = [
        (&["1,5", "32,25", ""], 1.5, Kind::Number, 3.126, "3,13"),
        (&["1.234,50", "7,25", ""], 1234.5, Kind::Number, 9876.5, "9.876,50"),
        (&["$1,200", "$9,500,000", ""], 1200.0, Kind::Count, 12345.0, "$12,345"),
        (&["12.5%", "77.0%", ""], 12.5, Kind::Number, 3.12, "3.1%"),
        (&["1 200 €", "30 €", ""], 1200.0, Kind::Count, 4321.0, "4 321 €"),
        (&["70 kg", "181.5 kg", ""], 70.0, Kind::Number, 75.26, "75.3 kg"),
        (&["44.0", "45.0", ""], 44.0, Kind::Count, 46.2, "46.0"),
        (&["1.50", "22.25", ""], 1.5, Kind::Number, 3.1, "3.10"),
        (&["-1.5", "2", ""], -1.5, Kind::Number, 0.25, "0.25"),
    ];
    for (cells, first, expected, estimate, written) in cases {
        let dataset = read(cells);
        assert_eq!(kind(&dataset, "v"), expected, "{cells:?} {}", notes(&dataset));
        let column = dataset.table.column("v").expect("the column");
        assert_eq!(column.numbers()[0], first, "{cells:?}");
        let text = filled(&dataset, estimate);
        assert_eq!(text[..2], cells[..2], "observed cells stay");
        assert_eq!(text[2], written, "{cells:?}");
    }
}

#[test]
fn a_style_that_was_guessed_is_said() {
    let dataset = read(&["1,5", "2,25", ""]);
    assert!(notes(&dataset).contains("decimal commas"), "{}", notes(&dataset));
    // Semicolons and a comma before three digits: it could be either, so the caller is asked.
    let files = Files::new(column_of(&["1,234", "5,678", ""]), ring(3));
    let error = files.error();
    assert!(error.contains("'1,234'") && error.contains("Decimal"), "{error}");
    let options = ReadOptions { decimal: Some(DecimalMark::Comma), ..ReadOptions::default() };
    let dataset = files.try_read(&options).expect("read");
    assert_eq!(dataset.table.column("v").expect("the column").numbers()[0], 1.234);
}

#[test]
fn dates_are_numbers_and_come_back_as_dates() {
    let dataset = read(&["2021-03-04", "2021-03-08", ""]);
    assert_eq!(kind(&dataset, "v"), Kind::Date);
    assert_eq!(dataset.table.column("v").expect("the column").numbers()[..2], [18690.0, 18694.0]);
    assert_eq!(filled(&dataset, 18692.4)[2], "2021-03-06");
    let dataset = read(&["31.12.2020", "04.03.2021", ""]);
    assert_eq!(filled(&dataset, 18690.0)[2], "04.03.2021");
    let dataset = read(&["2021-03-04 12:00:00", "2021-03-04 18:30:15", ""]);
    assert_eq!(filled(&dataset, 18690.25)[2], "2021-03-04 06:00:00");
    // No cell tells day from month.
    let files = Files::new(column_of(&["03/04/2021", "05/06/2021", ""]), ring(3));
    let dataset = files.read();
    assert!(!kind(&dataset, "v").is_used());
    assert!(notes(&dataset).contains("DateOrder"), "{}", notes(&dataset));
    let options = ReadOptions { date_order: Some(DateOrder::DayFirst), ..ReadOptions::default() };
    let dataset = files.try_read(&options).expect("read");
    assert_eq!(filled(&dataset, 18721.0)[2], "04/04/2021");
}

#[test]
fn booleans_keep_their_words() {
    let dataset = read(&["Y", "N", "Y", ""]);
    assert_eq!(kind(&dataset, "v"), Kind::Boolean);
    assert_eq!(filled(&dataset, 0.2)[3], "N");
    let dataset = read(&["1.0", "0.0", ""]);
    assert_eq!(kind(&dataset, "v"), Kind::Boolean);
    assert_eq!(filled(&dataset, 0.9)[2], "1.0");
}

#[test]
fn constant_columns_are_completed_with_their_constant() {
    for cells in [["CH", "CH", ""], ["7", "7", ""], ["2021-01-01", "2021-01-01", ""]] {
        let dataset = read(&cells);
        let column = dataset.table.column("v").expect("the column");
        assert!(!column.kind().is_used());
        let filled = column.completed_with_constant().expect("filled");
        assert_eq!(filled.text().value(2), cells[0]);
    }
}
