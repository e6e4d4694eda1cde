//! Edges in Arrow record batches, of a Parquet file or a data frame: a sample that tells which columns
//! are the ends, and every edge as a pair of ids.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema};

use crate::column::Column;
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::{EdgeCollector, Weight};
use crate::formats::edge_columns::EdgeColumns;
use crate::formats::new_nodes::EdgeEnd;
use crate::formats::resolve::EdgeSample;
use crate::hint::{Hint, Setting};
use crate::kind::Kind;
use crate::progress::Progress;

/// How many edges tell what the columns are.
const SAMPLE: usize = 2000;

/// The first edges as text; errors name `path`.
pub(crate) fn sample(path: &Path, schema: &Schema, first: Option<&RecordBatch>) -> EdgeSample {
    let mut rows = Vec::new();
    if let Some(batch) = first {
        let batch = batch.slice(0, batch.num_rows().min(SAMPLE));
        let text = |cells: &ArrayRef| Column::new("", Kind::Category, cells.clone()).text();
        let columns: Vec<StringArray> = batch.columns().iter().map(text).collect();
        let cell = |column: &StringArray, row| match column.is_null(row) {
            true => String::new(),
            false => column.value(row).to_owned(),
        };
        rows = (0..batch.num_rows())
            .map(|row| columns.iter().map(|column| cell(column, row)).collect())
            .collect();
    }
    let first = schema.fields().iter().map(|field| field.name().clone()).collect();
    EdgeSample { path: path.to_path_buf(), first, first_line: None, rows }
}

/// The positions of the columns that [`collect`] reads, ascending.
pub(crate) fn used_columns(columns: &EdgeColumns) -> Vec<usize> {
    let ends = [columns.source, columns.target];
    let mut used: Vec<usize> = ends.into_iter().chain(columns.weight).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Gives every edge to the collector. The batches have the [`used_columns`] alone, in their order.
pub(crate) fn collect(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    columns: &EdgeColumns,
    edges: &mut EdgeCollector<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let names = &columns.names;
    edges.begin_file(path, columns.weight.is_some())?;
    let (ends, weight) = ([columns.source, columns.target], columns.weight);
    let data_type = |column: usize| schema.field(column).data_type();
    let whole = ends.iter().all(|&end| data_type(end).is_integer());
    for column in ends.iter().chain(&weight) {
        if data_type(*column).is_nested() {
            return Err(wrong_type(path, &names[*column], data_type(*column), "ids or weights"));
        }
    }
    let used = used_columns(columns);
    let position = |column: usize| used.partition_point(|&other| other < column);
    progress.begin("reading edges", None);
    let mut row = 0u64;
    for batch in batches {
        let batch = batch?;
        let cells = |column: usize| batch.column(position(column));
        let weights = match weight {
            None => None,
            Some(column) => Some(numbers(path, &names[column], cells(column))?),
        };
        let ends = ends.map(|end| end_column(path, &names[end], cells(end), whole));
        let [source, target] = ends;
        let (source, target) = (source?, target?);
        for at in 0..batch.num_rows() {
            row += 1;
            if source.is_null(at) || target.is_null(at) {
                return Err(DataError::malformed(
                    Place::line(path, row),
                    "the edge lacks its source or its target",
                    "remove the row, or name both ends",
                ));
            }
            let weight = weights.as_ref().map(|weights| Weight {
                value: if weights.is_null(at) { f64::NAN } else { weights.value(at) },
                may_round: true,
            });
            let ends = [&source, &target].map(|end| match end.as_primitive_opt::<Int64Type>() {
                Some(numbers) => EdgeEnd::Integer(numbers.value(at)),
                None => EdgeEnd::Text(end.as_string::<i32>().value(at)),
            });
            edges.push(path, row, ends.into(), weight)?;
        }
        progress.advance(batch.num_rows() as u64);
        progress.check()?;
    }
    progress.end();
    Ok(())
}

fn end_column(path: &Path, name: &str, cells: &ArrayRef, whole: bool) -> Result<ArrayRef> {
    let wanted = if whole { DataType::Int64 } else { DataType::Utf8 };
    arrow_cast::cast(cells, &wanted)
        .map_err(|_| wrong_type(path, name, cells.data_type(), "ids, which are text or integers"))
}

fn numbers(path: &Path, name: &str, cells: &ArrayRef) -> Result<Float64Array> {
    let cast = arrow_cast::cast(cells, &DataType::Float64);
    cast.map(|numbers| numbers.as_primitive::<Float64Type>().clone())
        .map_err(|_| wrong_type(path, name, cells.data_type(), "weights, which are numbers"))
}

fn wrong_type(path: &Path, name: &str, found: &DataType, wanted: &str) -> DataError {
    let hint = Hint::new("name the columns of the source, the target and the weight")
        .with(Setting::EdgeColumns { source: "SOURCE".to_owned(), target: "TARGET".to_owned() })
        .with(Setting::Weight(None));
    let found = format!("its type is {found}, which cannot hold {wanted}");
    DataError::malformed(Place::file(path).column(name), found, hint)
}
