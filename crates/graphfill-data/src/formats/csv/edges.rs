//! Edge lists from text: two columns of ids, perhaps a weight, with or without a line of names.
//!
//! The first records are read ahead as a sample, from which [`crate::formats::resolve`] tells what the
//! columns are; then all records go to the collector.

use csv::StringRecord;

use super::dialect::Dialect;
use super::records::{Comments, Records};
use crate::error::{DataError, Place, Result};
use crate::formats::edge_collector::{EdgeCollector, Weight};
use crate::formats::edge_columns::EdgeColumns;
use crate::formats::new_nodes::EdgeEnd;
use crate::formats::opened::Text;
use crate::formats::options::ReadOptions;
use crate::formats::resolve::EdgeSample;
use crate::hint::{Hint, Setting};
use crate::progress::Progress;
use crate::spelling;

/// How many edges pass between two reports of progress.
const REPORT_INTERVAL: u64 = 1 << 16;
/// How many records, and how many bytes of them, tell what the columns are.
const SAMPLE_RECORDS: usize = 2000;
const SAMPLE_BYTES: usize = 4 << 20;

/// A text file of edges whose first records have been read.
pub(crate) struct TextEdges {
    path: std::path::PathBuf,
    records: Records,
    sample: Vec<StringRecord>,
}

impl TextEdges {
    /// Reads the first records.
    pub(crate) fn open(text: Text, options: &ReadOptions) -> Result<Self> {
        let path = text.path.clone();
        let dialect = Dialect::of(&text, options.edges.delimiter);
        let mut records = Records::new(text, &dialect, Comments::Skipped);
        let mut sample = Vec::new();
        let mut bytes = 0;
        let mut record = StringRecord::new();
        while sample.len() < SAMPLE_RECORDS && bytes < SAMPLE_BYTES && records.read(&mut record)? {
            bytes += record.as_slice().len();
            sample.push(record.clone());
        }
        if sample.is_empty() {
            return Err(DataError::malformed(
                Place::file(&path),
                "the file is empty",
                "an edge file has one row per edge: source and target",
            ));
        }
        Ok(TextEdges { path, records, sample })
    }

    /// The first records as cells.
    pub(crate) fn sample(&self) -> EdgeSample {
        let cells = |record: &StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let mut rows: Vec<Vec<String>> = self.sample.iter().map(cells).collect();
        let first = rows.remove(0);
        let line = self.sample[0].position().map_or(1, csv::Position::line);
        EdgeSample { path: self.path.clone(), first, first_line: Some(line), rows }
    }

    /// Gives every edge to the collector.
    pub(crate) fn read_into(
        mut self,
        columns: &EdgeColumns,
        edges: &mut EdgeCollector<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        edges.begin_file(&self.path, columns.weight.is_some())?;
        progress.begin("reading edges", None);
        let first = usize::from(columns.has_header);
        let mut count = 0u64;
        let path = self.path;
        let mut push = |record: &StringRecord| {
            push_record(&path, record, columns, edges)?;
            count += 1;
            if count.is_multiple_of(REPORT_INTERVAL) {
                progress.advance(REPORT_INTERVAL);
                progress.check()?;
            }
            Ok::<(), DataError>(())
        };
        for record in self.sample.drain(..).skip(first) {
            push(&record)?;
        }
        let mut record = StringRecord::new();
        while self.records.read(&mut record)? {
            push(&record)?;
        }
        progress.end();
        Ok(())
    }
}

fn push_record(
    path: &std::path::Path,
    record: &StringRecord,
    columns: &EdgeColumns,
    edges: &mut EdgeCollector<'_>,
) -> Result<()> {
    let line = || record.position().map_or(0, csv::Position::line);
    let cell = |column: usize| record.get(column).unwrap_or_default();
    let ids = (cell(columns.source), cell(columns.target));
    if ids.0.trim().is_empty() || ids.1.trim().is_empty() {
        return Err(DataError::malformed(
            Place::line(path, line()),
            "the edge lacks its source or its target",
            "remove the row, or name both ends",
        ));
    }
    let weight = match columns.weight {
        None => None,
        Some(column) => Some(weight_of(cell(column)).ok_or_else(|| {
            let hint = Hint::new("correct the weight, or read no weights");
            DataError::malformed(
                Place::line(path, line()).column(&columns.names[column]),
                format!("found '{}', which is no number", cell(column)),
                hint.with(Setting::Weight(None)),
            )
        })?),
    };
    edges.push(path, line(), (EdgeEnd::Text(ids.0), EdgeEnd::Text(ids.1)), weight)
}

/// The weight that a cell spells: a number, or the entry `weight` of a Python dictionary.
fn weight_of(cell: &str) -> Option<Weight> {
    let spelt = if cell.starts_with('{') { dictionary_weight(cell)? } else { cell };
    let value = spelling::number(spelt)?;
    let digits = spelt.bytes().filter(u8::is_ascii_digit).count();
    Some(Weight { value, may_round: digits > 6 })
}

/// The entry `weight` of a Python dictionary, as networkx writes the data of an edge.
pub(crate) fn dictionary_weight(cell: &str) -> Option<&str> {
    let at =
        ["'weight':", "\"weight\":"].iter().find_map(|key| Some(cell.find(key)? + key.len()))?;
    Some(cell[at..].split([',', '}']).next()?.trim())
}
