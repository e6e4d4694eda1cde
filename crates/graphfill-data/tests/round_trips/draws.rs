//! Several completions of a table in one file.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type};
use arrow_array::{Array, DictionaryArray, Float64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use graphfill_data::formats::{self, DRAW_COLUMN, Input, ReadOptions};
use graphfill_data::{Column, DataError, IdColumn, Kind, NoProgress, NodeIds, NodeTable};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Three people, one of unknown height; the ids stand in the second column.
fn people(folder: &Path) -> NodeTable {
    let path = folder.join("people.csv");
    fs::write(&path, "height;name;town\n1,5;ann;Bonn\n;bob;Rome\n1,75;eve;Rome\n")
        .expect("written");
    let input = Input::detect(&path, None).expect("a table");
    let options = ReadOptions { id: Some("name".into()), ..ReadOptions::default() };
    input.read(&options, &NoProgress).expect("a good table").table
}

/// The table with a height that tells the draw.
fn drawn(table: &NodeTable, number: u32) -> Result<NodeTable, DataError> {
    let height = table.column("height").expect("heights");
    let filled = height.completed_with_numbers(&[f64::from(number) / 4.0; 3])?;
    let mut columns = table.columns().to_vec();
    columns[0] = filled;
    table.with_columns(columns)
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).expect("the file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
    reader.build().expect("a reader").map(|batch| batch.expect("a batch")).collect()
}

#[test]
fn text_has_one_header_and_the_dialect_of_the_input() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = people(folder.path());
    let path = folder.path().join("draws.csv");
    formats::write_draws(2, &path, &mut |number| drawn(&table, number)).expect("written");
    let text = fs::read_to_string(&path).expect("the file");
    let wanted = "draw;height;name;town\n\
                  1;1,5;ann;Bonn\n1;0,25;bob;Rome\n1;1,75;eve;Rome\n\
                  2;1,5;ann;Bonn\n2;0,5;bob;Rome\n2;1,75;eve;Rome\n";
    assert_eq!(text, wanted);
    let path = folder.path().join("draws.tsv");
    formats::write_draws(1, &path, &mut |number| drawn(&table, number)).expect("written");
    let tabs = fs::read_to_string(&path).expect("the file");
    assert!(tabs.starts_with("draw\theight\tname\ttown\n1\t1,5\tann\t"), "{tabs}");
}

#[test]
fn parquet_has_the_types_of_the_columns_and_numbers_draws() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let levels = StringArray::from(vec!["S", "M", "L"]);
    let keys = [Some(2), None, Some(0)].to_vec().into();
    let sizes = DictionaryArray::<Int8Type>::try_new(keys, Arc::new(levels)).expect("sizes");
    let columns = vec![
        Column::new("v", Kind::Number, Arc::new(Float64Array::from(vec![Some(1.0), None, None]))),
        Column::new("size", Kind::Category, Arc::new(sizes)),
    ];
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(3), columns, None);
    let table = table.expect("columns of one length");
    let names = ["S", "M", "L"].map(str::to_owned);
    let path = folder.path().join("draws.parquet");
    const DRAWS: u32 = 40;
    formats::write_draws(DRAWS, &path, &mut |number| -> Result<_, DataError> {
        let [v, size] = table.columns() else { panic!("two columns") };
        let v = v.completed_with_numbers(&[f64::from(number); 3])?;
        table.with_columns(vec![v, size.completed_with_levels(&names, &[number % 3; 3])?])
    })
    .expect("written");
    let mut row = 0u32;
    for batch in batches(&path) {
        assert_eq!(batch.schema().field(0).name(), DRAW_COLUMN);
        let draws = batch.column(0).as_primitive::<Int32Type>();
        let values = batch.column_by_name("v").expect("v").as_primitive::<Float64Type>();
        let sizes = batch.column_by_name("size").expect("sizes");
        assert!(matches!(sizes.data_type(), DataType::Dictionary(_, _)), "{:?}", sizes.data_type());
        let sizes = cast(sizes, &DataType::Utf8).expect("text");
        let sizes = sizes.as_string::<i32>();
        assert_eq!(values.null_count() + sizes.null_count() + draws.null_count(), 0);
        for at in 0..batch.num_rows() {
            let (draw, person) = (row / 3 + 1, row % 3);
            assert_eq!(draws.value(at), draw as i32);
            assert_eq!(values.value(at), if person == 0 { 1.0 } else { f64::from(draw) });
            let drawn = names[draw as usize % 3].as_str();
            let wanted = ["L", drawn, "S"][person as usize];
            assert_eq!(sizes.value(at), wanted, "draw {draw}, person {person}");
            row += 1;
        }
    }
    assert_eq!(row, 3 * DRAWS);
}

#[test]
fn a_failing_draw_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = people(folder.path());
    for (ending, failing) in [("csv", 1), ("csv", 3), ("parquet", 1), ("parquet", 3)] {
        let path = folder.path().join(format!("draws.{ending}"));
        let mut asked = Vec::new();
        let done = formats::write_draws(5, &path, &mut |number| {
            asked.push(number);
            if number == failing { Err(DataError::Cancelled) } else { drawn(&table, number) }
        });
        assert!(matches!(done, Err(DataError::Cancelled)), "{ending}: {done:?}");
        assert_eq!(asked, (1..=failing).collect::<Vec<_>>(), "{ending}");
        assert!(!path.exists(), "{ending}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1, "the table alone");
}

#[test]
fn a_taken_name_and_npz_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = people(folder.path());
    let refused = |table: &NodeTable, name: &str| {
        let path = folder.path().join(name);
        let mut same = |_| -> Result<_, DataError> { Ok(table.clone()) };
        let error = formats::write_draws(2, &path, &mut same).expect_err("no draws");
        assert!(!path.exists(), "{name}");
        error.to_string()
    };
    assert!(refused(&table, "draws.npz").contains("cannot hold several tables"));
    let mut columns = table.columns().to_vec();
    columns[1] = columns[1].clone().renamed(DRAW_COLUMN);
    let taken = table.with_columns(columns).expect("a table");
    assert!(refused(&taken, "draws.csv").contains("the table has a column 'draw'"));
    let mut taken = table.clone();
    taken.id_column.name = DRAW_COLUMN.to_owned();
    assert!(refused(&taken, "draws.parquet").contains("the table has a column 'draw'"));
}
