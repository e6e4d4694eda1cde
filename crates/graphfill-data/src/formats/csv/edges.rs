//! Edge lists from text: two columns of ids, further columns ignored but for a weight.
//!
//! The first line is a header where it has the usual names, else unless both of its ids are nodes
//! of the table (or, without a table, whole numbers).

use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

use super::{COMMENT, delimiter_of, record_error};
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::EdgeCollector;
use crate::formats::edge_columns::{EdgeColumns, look_like_edges};
use crate::formats::new_nodes::EdgeEnd;
use crate::formats::open;
use crate::formats::options::{ReadOptions, WeightColumn};
use crate::ids::canonical_integer;
use crate::progress::Progress;
use crate::spelling;

/// How many edges pass between two looks at the progress.
const REPORT_INTERVAL: u64 = 1 << 16;

/// Reads the edges of a file into `edges`.
pub(crate) fn read_edges(
    path: &Path,
    options: &ReadOptions,
    edges: &mut EdgeCollector<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let delimiter = delimiter_of(path, options.delimiter)?;
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).comment(Some(COMMENT)).buffer_capacity(1 << 18);
    let mut reader = builder.from_reader(open::open(path)?);
    let mut record = StringRecord::new();
    let mut read = |record: &mut StringRecord| {
        reader.read_record(record).map_err(|error| record_error(path, error))
    };
    if !read(&mut record)? {
        return Err(DataError::malformed(
            Place::file(path),
            "the file is empty",
            "an edge file has one row an edge: source and target",
        ));
    }
    let first: Vec<String> =
        record.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
    let named = options.source.is_some()
        || options.target.is_some()
        || matches!(options.weight, WeightColumn::Named(_));
    // Words can be nodes: a graph of them may well have the nodes "from" and "to".
    let is_header = named || look_like_edges(&first);
    let is_edge = !is_header && first.len() >= 2 && first[..2].iter().all(|id| is_id(edges, id));
    let columns = if is_edge {
        EdgeColumns::first_two(path, &first)?
    } else {
        EdgeColumns::named(path, &first, options)?
    };
    edges.begin_file(path, columns.weight.is_some())?;
    progress.begin("reading edges", None);
    let mut count = 0u64;
    let mut more = if is_edge { true } else { read(&mut record)? };
    while more {
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let ids = (cell(columns.source), cell(columns.target));
        if ids.0.trim().is_empty() || ids.1.trim().is_empty() {
            return Err(DataError::malformed(
                Place::line(path, line),
                "the edge lacks its source or its target",
                "remove the row, or name both ends",
            ));
        }
        let weight = match columns.weight {
            None => None,
            Some(column) => Some(spelling::number(cell(column)).ok_or_else(|| {
                DataError::malformed(
                    Place::line(path, line).column(&first[column]),
                    format!("found '{}', which is no number", cell(column)),
                    "correct the weight, or pass --weight none to leave weights out",
                )
            })?),
        };
        edges.push(path, line, (EdgeEnd::Text(ids.0), EdgeEnd::Text(ids.1)), weight)?;
        count += 1;
        if count.is_multiple_of(REPORT_INTERVAL) {
            progress.advance(REPORT_INTERVAL);
            progress.check()?;
        }
        more = read(&mut record)?;
    }
    progress.end();
    Ok(())
}

fn is_id(edges: &EdgeCollector<'_>, text: &str) -> bool {
    edges.knows(text) || (!edges.has_table() && canonical_integer(text.trim()).is_some())
}
