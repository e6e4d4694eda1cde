//! Text that is read and written as text keeps every observed cell byte for byte.

use std::fs;

use graphfill_data::formats::{self, Input, ReadOptions, UnusableValues};
use graphfill_data::{ColumnData, Dataset, DeclaredBlock, DeclaredKind, NoProgress};

/// Rows of cells with all the spellings that a rewriting would like to tidy up.
const TABLE: &str = "\
name,decimal,padded,exponent, spaced ,quoted,answer,code,thousand,note
first,1.0,007,1e5, x ,\"a, b\",Yes,0.10,1000,\"two\nlines\"
second,2.50,010,-2E-3,x ,\"say \"\"no\"\"\",no,0.2,+5,ümlaut 漢字 🦀
third,.5,000,1.e2,  y,plain,YES,,2,tab\there
fourth,-0,1,0e0,x ,plain,No,00,3,#hash
fifth,3.,12,1E+5, x ,\"a, b\",no,0.10,1000,'single'
";

#[test]
fn csv_to_csv_leaves_observed_cells_as_they_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (before, after) = (folder.path().join("before.csv"), folder.path().join("after.csv"));
    fs::write(&before, TABLE).expect("a written file");
    let input = Input::detect(&before, None).expect("a table");
    let options = ReadOptions::default();
    let dataset = input.read(&options, &NoProgress).expect("a good table");
    formats::write(&dataset, &after).expect("a written table");
    assert_eq!(fs::read_to_string(&after).expect("the output"), TABLE);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_no_cell() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (before, after) = (folder.path().join("before.csv"), folder.path().join("after.csv"));
    let table = "\u{feff}\"id\",value\r\n7,1.50\r\n8,\r\n9,2.0\r\n";
    fs::write(&before, table).expect("a written file");
    let input = Input::detect(&before, None).expect("a table");
    let options = ReadOptions { id: Some("id".into()), ..ReadOptions::default() };
    let dataset = input.read(&options, &NoProgress).expect("a good table");
    formats::write(&dataset, &after).expect("a written table");
    assert_eq!(
        fs::read_to_string(&after).expect("the output"),
        "\u{feff}id,value\r\n7,1.50\r\n8,\r\n9,2.0\r\n"
    );
}

#[test]
fn a_wide_block_of_zeros_and_ones_keeps_its_cells() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (before, after) = (folder.path().join("before.tsv"), folder.path().join("after.tsv"));
    let names: Vec<String> = (0..120).map(|word| format!("word_{word}")).collect();
    let mut table = format!("id\t{}\n", names.join("\t"));
    for row in 0..5 {
        let cell = |word: usize| match (row + word) % 7 {
            0 => "1",
            1 => "",
            _ => "0",
        };
        let cells: Vec<&str> = (0..120).map(cell).collect();
        table += &format!("n{row}\t{}\n", cells.join("\t"));
    }
    fs::write(&before, &table).expect("a written file");
    let input = Input::detect(&before, None).expect("a table");
    let dataset = input.read(&ReadOptions::default(), &NoProgress).expect("a table");
    assert_eq!(dataset.table.columns().len(), 1, "one block");
    formats::write(&dataset, &after).expect("a written table");
    assert_eq!(fs::read_to_string(&after).expect("the output"), table);
}

#[test]
fn a_declared_block_of_numbers_keeps_the_spelling_of_its_cells() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (before, after) = (folder.path().join("before.csv"), folder.path().join("after.csv"));
    let table = "id,a,b,c,d\nn0,1.50,0.0,1e3,7\nn1,,00.25,-0,7\nn2,+3,0,2.0,\nn3, 4.10 ,.5,1,7\n";
    fs::write(&before, table).expect("a written file");
    let block = DeclaredBlock { name: "x".into(), first: "a".into(), last: "c".into() };
    let options = ReadOptions { blocks: vec![block], ..ReadOptions::default() };
    let input = Input::detect(&before, None).expect("a table");
    let dataset = input.read(&options, &NoProgress).expect("a good table");
    formats::write(&dataset, &after).expect("a written table");
    assert_eq!(fs::read_to_string(&after).expect("the output"), table);

    let column = dataset.table.column("x").expect("a block");
    let ColumnData::Block(block) = column.data() else { panic!("no block") };
    let filled = block.completed(|_, cells| cells.push((0, 2.125)));
    let columns = dataset.table.columns().iter().map(|column| match column.name() {
        "x" => column.with_block(filled.clone()),
        _ => column.clone(),
    });
    let table_after = dataset.table.with_columns(columns.collect()).expect("a table");
    let filled = Dataset { table: table_after, ..dataset };
    formats::write(&filled, &after).expect("a written table");
    let wanted = table.replace("n1,,", "n1,2.125,");
    assert_eq!(fs::read_to_string(&after).expect("the output"), wanted);
}

#[test]
fn whole_numbers_beyond_double_precision_keep_their_digits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let before = folder.path().join("before.csv");
    let table = "id,hash,mass\nn0,9007199254740993,1e20\nn1,9223372036854775807,3\nn2,1,5.0\n";
    fs::write(&before, table).expect("a written file");
    let mut options = ReadOptions::default();
    options.types.declare("hash", DeclaredKind::Count);
    options.unusable_values = UnusableValues::Warn;
    let input = Input::detect(&before, None).expect("a table");
    let dataset = input.read(&options, &NoProgress).expect("a good table");
    let parquet = folder.path().join("between.parquet");
    formats::write(&dataset, &parquet).expect("a written table");
    let input = Input::detect(&parquet, None).expect("a table");
    let options = ReadOptions { unusable_values: UnusableValues::Warn, ..ReadOptions::default() };
    let dataset = input.read(&options, &NoProgress).expect("a table");
    let text = |name: &str| {
        let text = dataset.table.column(name).expect("a column").text();
        text.iter().map(|cell| cell.unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(text("hash"), ["9007199254740993", "9223372036854775807", "1"]);
    let mass = dataset.table.column("mass").expect("a column").numbers();
    assert_eq!(mass, [1e20, 3.0, 5.0]);
}
