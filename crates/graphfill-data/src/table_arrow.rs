//! Node tables from Arrow record batches, and back.
//!
//! A table that was written by graphfill reads back the same: declared kinds and the blocks of
//! columns are in the field metadata, as in a Parquet file.

use std::path::Path;

use arrow_array::RecordBatch;

use crate::error::{DataError, Place, Result};
use crate::formats::ReadOptions;
use crate::formats::arrow_table::TextCells;
use crate::formats::{arrow_table, assemble, resolve};
use crate::progress::NoProgress;
use crate::table::NodeTable;
use crate::types_file::DeclaredTypes;

/// What errors name in place of a file.
const PLACE: &str = "record batches";

impl NodeTable {
    /// A table of the rows of all batches, which must have the same fields.
    ///
    /// `id` names the id column; if there is none, it is found as in a file. Column kinds are
    /// declared in `types` or inferred; list columns of numbers become blocks.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use graphfill_data::arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    /// use graphfill_data::{DeclaredTypes, NodeTable};
    ///
    /// let names: ArrayRef = Arc::new(StringArray::from(vec!["ada", "bob", "eve"]));
    /// let heights: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.7), None, Some(1.6)]));
    /// let batch = RecordBatch::try_from_iter([("name", names), ("height", heights)])?;
    /// let types = DeclaredTypes::default();
    /// let table = NodeTable::from_record_batches(&[batch.clone()], Some("name"), &types)?;
    /// assert_eq!((table.ids().text(1), table.missing().count()), ("bob".to_owned(), 1));
    /// assert_eq!(table.to_record_batch()?.columns(), batch.columns());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_record_batches(
        batches: &[RecordBatch],
        id: Option<&str>,
        types: &DeclaredTypes,
    ) -> Result<NodeTable> {
        let path = Path::new(PLACE);
        let Some(first) = batches.first() else {
            return Err(DataError::request("there is no record batch", "give at least one"));
        };
        let schema = first.schema();
        let types_of = |batch: &RecordBatch| -> Vec<_> {
            let schema = batch.schema();
            let fields = schema.fields().iter();
            fields.map(|field| (field.name().clone(), field.data_type().clone())).collect()
        };
        if let Some(at) = batches.iter().position(|batch| types_of(batch) != types_of(first)) {
            return Err(DataError::malformed(
                Place::file(path),
                format!("batch {at} has other fields than batch 0"),
                "give batches of one table",
            ));
        }
        let options = ReadOptions {
            id: id.map(str::to_owned),
            types: types.clone(),
            ..ReadOptions::default()
        };
        let rows = batches.iter().map(|batch| Ok(batch.columns().to_vec()));
        let raw = arrow_table::raw_table(path, &schema, rows, &NoProgress)?;
        let (ids, _) = resolve::resolve(&raw, None, &options)?;
        Ok(assemble::assemble(raw, ids, &options)?.0)
    }

    /// The table as one record batch, with the columns and types that it was read with; text columns
    /// of numbers or booleans become typed ones.
    ///
    /// Fails if two columns have the same name.
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        arrow_table::record_batch(self, Path::new(PLACE), TextCells::Typed)
    }

    /// The table as one record batch with exactly the types that it was read with, and without metadata of
    /// graphfill: what a data frame gets back.
    ///
    /// Fails if two columns have the same name.
    pub fn to_frame(&self) -> Result<RecordBatch> {
        arrow_table::record_batch(self, Path::new(PLACE), TextCells::Kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::ColumnData;
    use crate::generator::{GeneratorConfig, generate};
    use arrow_array::builder::{Float32Builder, ListBuilder};
    use arrow_array::{ArrayRef, Int32Array, Int64Array};
    use std::sync::Arc;

    fn read(batches: &[RecordBatch], id: &str) -> Result<NodeTable> {
        NodeTable::from_record_batches(batches, Some(id), &DeclaredTypes::default())
    }

    #[test]
    fn a_table_survives_in_one_batch_and_in_several() {
        let config = GeneratorConfig { nodes: 60, ..GeneratorConfig::default() };
        let table = generate(&config).expect("a table").dataset.table;
        let batch = table.to_record_batch().expect("a batch");
        for batches in [vec![batch.clone()], vec![batch.slice(0, 25), batch.slice(25, 35)]] {
            let again = read(&batches, "id").expect("the same table");
            assert_eq!(again.ids(), table.ids());
            assert_eq!(again.missing(), table.missing());
            for (column, same) in table.columns().iter().zip(again.columns()) {
                assert_eq!((column.name(), column.rows()), (same.name(), same.rows()));
                match (column.data(), same.data()) {
                    (ColumnData::Array(cells), ColumnData::Array(same)) => assert_eq!(cells, same),
                    (ColumnData::Block(cells), ColumnData::Block(same)) => {
                        assert_eq!(cells.missing(), same.missing());
                        let rows = 0..cells.rows();
                        rows.for_each(|row| assert_eq!(cells.columns(row), same.columns(row)));
                    }
                    _ => panic!("'{}' is of another form", column.name()),
                }
            }
            assert_eq!(again.to_record_batch().expect("a batch").columns(), batch.columns());
        }
    }

    #[test]
    fn lists_are_blocks_and_come_back_as_they_were() {
        let mut lists = ListBuilder::new(Float32Builder::new());
        lists.append_value([Some(0.5), None]);
        lists.append_null();
        let lists: ArrayRef = Arc::new(lists.finish());
        let ids: ArrayRef = Arc::new(Int32Array::from(vec![7, 3]));
        let batch = RecordBatch::try_from_iter([("x", lists), ("key", ids)]).expect("a batch");
        let table = read(std::slice::from_ref(&batch), "key").expect("a table");
        assert_eq!((table.features(), table.missing().count()), (2, 3));
        let again = table.to_record_batch().expect("a batch");
        assert_eq!(again.columns(), batch.columns());
    }

    #[test]
    fn batches_that_are_no_table_are_refused() {
        let batch = |name: &str, ids: Vec<i64>| {
            let ids: ArrayRef = Arc::new(Int64Array::from(ids));
            RecordBatch::try_from_iter([(name, ids)]).expect("a batch")
        };
        for (batches, told) in [
            (vec![], "no record batch"),
            (vec![batch("id", vec![])], "no row"),
            (vec![batch("id", vec![1]), batch("key", vec![2])], "batch 1 has other fields"),
            (vec![batch("id", vec![1]), batch("id", vec![1])], "'1'"),
            (vec![batch("key", vec![1])], "no column 'id'"),
        ] {
            let error = read(&batches, "id").expect_err(told).to_string();
            assert!(error.contains(told), "{told}: {error}");
        }
    }
}
