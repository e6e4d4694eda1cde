//! What "the same graph" means to a person who converts a file.

use graphfill_data::{Block, Column, ColumnData, Dataset, Kind};

/// Fails where two graphs differ in anything that a format is meant to carry. The order of columns
/// may change and text may become typed, but neither names, kinds, values nor missing cells.
pub(crate) fn assert_same(before: &Dataset, after: &Dataset, context: &str) {
    assert_same_ids(before, after, context);
    assert_same_columns(before, after, context);
    assert_eq!(before.table.missing(), after.table.missing(), "{context}: missing cells");
    if let (Some(before), Some(after)) = (before.table.labels(), after.table.labels()) {
        assert_eq!(before, after, "{context}: labels");
    }
    assert_eq!(before.graph.direction(), after.graph.direction(), "{context}: direction");
    let (before, after) = (before.graph.undirected(), after.graph.undirected());
    assert_eq!(before.indptr(), after.indptr(), "{context}: degrees");
    assert_eq!(before.all_neighbours(), after.all_neighbours(), "{context}: neighbours");
    assert_eq!(before.all_weights(), after.all_weights(), "{context}: weights");
}

fn assert_same_ids(before: &Dataset, after: &Dataset, context: &str) {
    let ids = |dataset: &Dataset| -> Vec<String> {
        (0..dataset.table.rows()).map(|row| dataset.table.ids().text(row)).collect()
    };
    assert_eq!(ids(before), ids(after), "{context}: ids");
    let name = |dataset: &Dataset| dataset.table.id_column.name.clone();
    assert_eq!(name(before), name(after), "{context}: name of the id column");
}

fn assert_same_columns(before: &Dataset, after: &Dataset, context: &str) {
    let names = |dataset: &Dataset| {
        let mut names: Vec<String> =
            dataset.table.columns().iter().map(|column| column.name().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(before), names(after), "{context}: columns");
    for column in before.table.columns() {
        let other = after.table.column(column.name()).expect("a column of the same name");
        let context = format!("{context}: column '{}'", column.name());
        assert_eq!(column.kind().as_str(), other.kind().as_str(), "{context}: kind");
        assert_same_cells(column, other, &context);
    }
}

fn assert_same_cells(before: &Column, after: &Column, context: &str) {
    match (before.data(), after.data()) {
        (ColumnData::Block(before), ColumnData::Block(after)) => {
            assert_same_block(before, after, context);
        }
        (ColumnData::Array(_), ColumnData::Array(_)) => {
            assert_eq!(before.missing(), after.missing(), "{context}: missing cells");
            match before.kind() {
                Kind::Category => assert_eq!(before.levels(), after.levels(), "{context}: levels"),
                // What is carried along keeps its text, however numbers are typed meanwhile.
                Kind::Unused(_) => assert_eq!(before.text(), after.text(), "{context}: text"),
                _ => assert_same_numbers(&before.numbers(), &after.numbers(), context),
            }
        }
        _ => panic!("{context}: a block became a single column, or the other way round"),
    }
}

fn assert_same_block(before: &Block, after: &Block, context: &str) {
    assert_eq!(before.width(), after.width(), "{context}: width");
    assert_eq!(before.missing(), after.missing(), "{context}: missing cells");
    for row in 0..before.rows() {
        assert_eq!(before.columns(row), after.columns(row), "{context}: cells of row {row}");
        let values = |block: &Block| block.cells(row).map(|cell| cell.1).collect::<Vec<f64>>();
        assert_same_numbers(&values(before), &values(after), context);
    }
}

/// Equal in single precision: text spells such numbers with the digits that they need and no
/// more, so that reading them in double precision gives a close number, not the same.
fn assert_same_numbers(before: &[f64], after: &[f64], context: &str) {
    let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan()) || close(*a, *b);
    let differs = before.iter().zip(after).position(|pair| !same(pair));
    if let Some(row) = differs {
        panic!("{context}: cell {row} was {} and is {}", before[row], after[row]);
    }
    assert_eq!(before.len(), after.len(), "{context}: cells");
}

fn close(a: f64, b: f64) -> bool {
    // Only a number that single precision held exactly may come back as another double.
    let single = f64::from(a as f32) == a || f64::from(b as f32) == b;
    single && a as f32 == b as f32
}
