//! Whether the first record of a text file has the names of the columns. No row is ever lost: what
//! cannot be told is an error.

use hashbrown::HashSet;

use super::column_names::is_edge_table;
use super::options::{Header, ReadOptions, WeightColumn};
use super::raw_table::{RawCells, RawTable};
use super::resolve::{Candidate, EdgeSample};
use crate::error::{DataError, Place, Result};
use crate::hint::{Hint, Setting};
use crate::ids::canonical_integer;
use crate::spelling;

/// How many cells tell whether a column holds numbers.
const GLANCE: usize = 1000;

/// Whether the first record of the edges has names. It is an edge where one of its cells is an id, or
/// where it has numbers in every column that is all numbers below.
pub(super) fn edges_have_header(
    candidates: &[Candidate],
    sample: &EdgeSample,
    options: &ReadOptions,
) -> Result<bool> {
    if sample.first_line.is_none() {
        return Ok(true);
    }
    match options.edges.header {
        Some(Header::Yes) => return Ok(true),
        Some(Header::No) => return Ok(false),
        None => {}
    }
    let named = options.source.is_some()
        || options.target.is_some()
        || matches!(options.weight, WeightColumn::Named(_));
    let has = |name: &Option<String>| name.as_ref().is_none_or(|name| sample.first.contains(name));
    if named && has(&options.source) && has(&options.target) {
        return Ok(true);
    }
    let numbers = numeric_columns(&sample.rows, sample.first.len());
    let number = |cell: &String| spelling::number(cell).is_some();
    if !numbers.is_empty() {
        // Row numbers and number ids: names of columns are hardly ever numbers.
        return Ok(!numbers.iter().all(|&at| number(&sample.first[at])));
    }
    let is_id =
        |cell: &String| candidates.iter().any(|candidate| candidate.known.contains(cell.trim()));
    // Words can be nodes: a graph of them may well have the nodes "from" and "to".
    if is_edge_table(&sample.first) {
        return Ok(true);
    }
    let below = |at: usize| sample.rows.iter().any(|row| row.get(at) == Some(&sample.first[at]));
    Ok(!((0..sample.first.len().min(2)).any(|at| is_id(&sample.first[at]) || below(at))))
}

/// Which columns hold nothing but numbers.
pub(super) fn numeric_columns(rows: &[Vec<String>], columns: usize) -> Vec<usize> {
    let number = |cell: Option<&String>| cell.is_some_and(|cell| spelling::number(cell).is_some());
    (0..columns)
        .filter(|&at| !rows.is_empty() && rows.iter().all(|row| number(row.get(at))))
        .collect()
}

/// Whether the first record of a node file has names; an error where it cannot be told.
pub(crate) fn nodes_have_header(
    raw: &RawTable,
    sample: Option<&EdgeSample>,
    options: &ReadOptions,
) -> Result<bool> {
    let Some(first) = &raw.first_row else { return Ok(true) };
    match options.nodes.header {
        Some(Header::Yes) => return Ok(true),
        Some(Header::No) => return Ok(false),
        None => {}
    }
    let named = |name: &str| first.iter().any(|cell| cell == name);
    if options.id.as_deref().is_some_and(named) || options.types.iter().any(|(name, _)| named(name))
    {
        return Ok(true);
    }
    let numbers: Vec<usize> =
        (0..first.len()).filter(|&at| mostly_numbers(&raw.columns[at].cells)).collect();
    let number = |cell: &str| spelling::number(cell).is_some() && !cell.trim().is_empty();
    if raw.rows() == 0 || numbers.is_empty() || !numbers.iter().all(|&at| number(&first[at])) {
        // Without a column of numbers a row looks like a line of names: the edges tell.
        let ends: HashSet<&str> = sample
            .into_iter()
            .flat_map(|sample| sample.rows.iter().flatten())
            .map(|cell| cell.trim())
            .collect();
        let is_end = first.iter().any(|cell| !cell.trim().is_empty() && ends.contains(cell.trim()));
        if !is_end || !numbers.is_empty() || raw.rows() == 0 {
            return Ok(true);
        }
        return Err(undecided_header(raw, first));
    }
    // pandas numbers columns without a name: id, 0, 1, 2, ….
    let counted: Option<Vec<i64>> =
        numbers.iter().map(|&at| canonical_integer(&first[at])).collect();
    let counts_up = counted.is_some_and(|numbers| {
        numbers.len() > 1
            && numbers[0] <= 1
            && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
    });
    if !counts_up {
        return Ok(false);
    }
    let all = numbers.len() == first.len();
    if all { Err(undecided_header(raw, first)) } else { Ok(true) }
}

/// Whether the cells that are there are numbers, but for a few.
fn mostly_numbers(cells: &RawCells) -> bool {
    let head = match cells {
        RawCells::Bytes(bytes) => RawCells::Bytes(bytes[..bytes.len().min(GLANCE)].to_vec()),
        RawCells::Array(array) => RawCells::Array(array.slice(0, array.len().min(GLANCE))),
    };
    let Some(text) = head.text() else { return false };
    let known = text.iter().flatten().filter(|cell| !crate::missing_words::is_usual(cell));
    let (mut all, mut numbers) = (0usize, 0usize);
    for cell in known {
        all += 1;
        numbers += usize::from(spelling::number(cell).is_some());
    }
    all > 0 && numbers * 10 >= all * 9
}

fn undecided_header(raw: &RawTable, first: &[String]) -> DataError {
    let shown: Vec<&str> = first.iter().take(6).map(String::as_str).collect();
    let place = Place::line(raw.path(), 1);
    let found = format!(
        "the first line ('{}') may be a row or the names of the columns",
        shown.join("', '")
    );
    DataError::malformed(place, found, Hint::new("say which it is").with(Setting::Header))
}
