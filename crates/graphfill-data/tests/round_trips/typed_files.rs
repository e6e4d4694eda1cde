//! Parquet to Parquet: types, levels, metadata and nullability stay.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    ListArray, RecordBatch, StringArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use graphfill_data::formats::{self, Input, ReadOptions};
use graphfill_data::{
    Column, ColumnData, Dataset, Graph, IdColumn, Kind, NoProgress, NodeIds, NodeTable,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;

fn metadata(key: &str, value: &str) -> HashMap<String, String> {
    HashMap::from([(key.to_owned(), value.to_owned())])
}

fn read(path: &Path) -> Dataset {
    let input = Input::detect(path, None).expect("a table");
    let options = ReadOptions { id: Some("id".into()), ..ReadOptions::default() };
    input.read(&options, &NoProgress).expect("a good table")
}

fn schema(path: &Path) -> SchemaRef {
    let file = File::open(path).expect("the file");
    ParquetRecordBatchReaderBuilder::try_new(file).expect("its schema").schema().clone()
}

/// Sizes with an order that is not the alphabet's, and a level that no row has.
fn sizes() -> (Field, ArrayRef) {
    let levels: ArrayRef = Arc::new(StringArray::from(vec!["S", "M", "L", "XL"]));
    let keys = [Some(2), None, Some(0), Some(2), Some(1), Some(0), None, Some(1)];
    let cells = DictionaryArray::<Int8Type>::try_new(keys.to_vec().into(), levels);
    let cells = cells.expect("keys within the levels");
    let field = Field::new("size", cells.data_type().clone(), true)
        .with_dict_is_ordered(true)
        .with_metadata(metadata("_PL_ENUM_VALUES2", "1;S1;M1;L2;XL"));
    (field, Arc::new(cells))
}

fn levels(dataset: &Dataset) -> Vec<String> {
    let ColumnData::Array(cells) = dataset.table.column("size").expect("sizes").data() else {
        panic!("no array")
    };
    let values = cells.as_any_dictionary().values().clone();
    let values = values.as_string::<i32>();
    values.iter().flatten().map(str::to_owned).collect()
}

#[test]
fn ordered_levels_stay_ordered_and_the_unused_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sizes.parquet");
    let (field, cells) = sizes();
    let column = Column::new("size", Kind::Category, cells).with_field(Some(Arc::new(field)));
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(8), vec![column], None)
        .expect("a table");
    let dataset =
        Dataset::new("sizes", "by hand", table, Graph::without_arcs(8)).expect("a data set");
    formats::write_nodes(&dataset, &path).expect("a written table");
    let again = read(&path);
    assert_eq!(levels(&again), ["S", "M", "L", "XL"]);

    let column = again.table.column("size").expect("sizes");
    assert_eq!(*column.kind(), Kind::Category);
    let names = ["XL", "M", "S"].map(str::to_owned);
    let filled =
        column.completed_with_levels(&names, &[0, 0, 2, 2, 2, 2, 1, 1]).expect("estimates");
    let table = again.table.with_columns(vec![filled]).expect("a table");
    let path = folder.path().join("filled.parquet");
    formats::write_nodes(&Dataset { table, ..again }, &path).expect("a written table");
    let filled = read(&path);
    assert_eq!(levels(&filled), ["S", "M", "L", "XL"]);
    let text = filled.table.column("size").expect("sizes").text();
    let text: Vec<_> = text.iter().flatten().collect();
    assert_eq!(text, ["L", "XL", "S", "L", "M", "S", "M", "M"]);
    let written = schema(&path);
    let field = written.field_with_name("size").expect("sizes");
    assert_eq!(field.dict_is_ordered(), Some(true));
    assert_eq!(
        field.metadata().get("_PL_ENUM_VALUES2").map(ToString::to_string).as_deref(),
        Some("1;S1;M1;L2;XL")
    );
    assert_eq!(
        *field.data_type(),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
    );
}

#[test]
fn more_rows_than_a_row_group_share_their_levels() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("many.parquet");
    let rows = (1 << 20) + 5;
    let levels: ArrayRef = Arc::new(StringArray::from(vec!["c", "unused", "a", "b"]));
    let keys = (0..rows).map(|row| match row % 5 {
        0 => None,
        1 => Some(0i8),
        remainder => Some(remainder as i8 % 2 + 2),
    });
    let cells = DictionaryArray::<Int8Type>::try_new(keys.collect(), levels).expect("in bounds");
    let cells: ArrayRef = Arc::new(cells);
    let column = Column::new("size", Kind::Category, cells.clone());
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(rows), vec![column], None)
        .expect("a table");
    let dataset =
        Dataset::new("many", "by hand", table, Graph::without_arcs(rows)).expect("a data set");
    formats::write_nodes(&dataset, &path).expect("a written table");
    let again = read(&path);
    let ColumnData::Array(read) = again.table.column("size").expect("sizes").data() else {
        panic!("no array")
    };
    assert_eq!(read.as_ref(), cells.as_ref());
}

#[test]
fn small_row_groups_share_their_levels() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("small.parquet");
    let (field, cells) = sizes();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..8));
    let fields = vec![Field::new("id", DataType::Int64, false), field];
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![ids, cells]);
    let batch = batch.expect("a batch");
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3)).build();
    let file = File::create(&path).expect("a file");
    let mut writer =
        ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("written");
    // This writer keeps the levels that rows use, in their order, per row group.
    let dataset = read(&path);
    assert_eq!(levels(&dataset), ["L", "S", "M"]);
    let text = dataset.table.column("size").expect("sizes").text();
    let text: Vec<_> = text.iter().map(|cell| cell.unwrap_or("-")).collect();
    assert_eq!(text, ["L", "-", "S", "L", "M", "S", "-", "M"]);
}

#[test]
fn fields_keep_their_metadata_and_nullability() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (before, after) = (folder.path().join("a.parquet"), folder.path().join("b.parquet"));
    let item = Field::new("element", DataType::Float32, true).with_metadata(metadata("k", "v"));
    let items: ArrayRef =
        Arc::new(Float32Array::from((0..21).map(|i| i as f32).collect::<Vec<_>>()));
    let valid = NullBuffer::from_iter((0..8).map(|row| row != 3));
    let offsets = OffsetBuffer::from_lengths([3, 3, 3, 0, 3, 3, 3, 3]);
    let lists = ListArray::new(Arc::new(item), offsets, items, Some(valid));
    let (size, cells) = sizes();
    let fields = vec![
        Field::new("id", DataType::Int64, false).with_metadata(metadata("unit", "key")),
        Field::new("x", DataType::Float64, true).with_metadata(metadata("unit", "m")),
        Field::new("age", DataType::Int32, false).with_metadata(metadata("about", "years")),
        Field::new("point", lists.data_type().clone(), true).with_metadata(metadata("of", "town")),
        Field::new("note", DataType::Utf8, true).with_metadata(metadata("free", "yes")),
        size,
    ];
    let wanted = Arc::new(Schema::new(fields).with_metadata(metadata("owner", "the town")));
    let notes = (0..8).map(|row| Some(format!("note {row}")));
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(10..18)),
        Arc::new(Float64Array::from(
            (0..8).map(|r| (r != 2).then_some(0.5 + r as f64)).collect::<Vec<_>>(),
        )),
        Arc::new(Int32Array::from_iter_values(40..48)),
        Arc::new(lists),
        Arc::new(notes.collect::<StringArray>()),
        cells,
    ];
    let batch = RecordBatch::try_new(wanted.clone(), arrays).expect("a batch");
    let file = File::create(&before).expect("a file");
    let mut writer = ArrowWriter::try_new(file, wanted.clone(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("written");
    let dataset = read(&before);
    formats::write_nodes(&dataset, &after).expect("a written table");
    let found = schema(&after);
    for (wanted, found) in wanted.fields().iter().zip(found.fields()) {
        let mut found = Field::clone(found);
        found.metadata_mut().remove("graphfill.kind");
        assert_eq!(&found, wanted.as_ref());
        assert_eq!(found.dict_is_ordered(), wanted.dict_is_ordered());
    }
    assert_eq!(found.metadata().get("owner").map(ToString::to_string).as_deref(), Some("the town"));
    // A node that only edges name has no age: the column must then allow it.
    let table = dataset.table.with_new_nodes(&["99".to_owned()]);
    let dataset = Dataset { table, graph: Graph::without_arcs(9), ..dataset };
    formats::write_nodes(&dataset, &after).expect("a written table");
    assert!(schema(&after).field_with_name("age").expect("ages").is_nullable());
}
