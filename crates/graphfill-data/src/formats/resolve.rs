//! Which column of the nodes holds the ids, and which two columns of the edges are their ends: told by
//! the evidence, not by position.
//!
//! The values of a sample of edges are looked up in every column of the nodes that could hold ids (no
//! cell missing, no value twice). A column scores the share of edge ends that it matches; names decide
//! between columns that match equally well. What cannot be told is an error that names the candidates.

use std::path::{Path, PathBuf};

use arrow_array::Array;
use hashbrown::{HashMap, HashSet};

use super::assemble::ids_of;
use super::column_names::{end_pair, id_rank, is_attribute, is_edge_table};
use super::csv::dictionary_weight;
use super::edge_columns::{EdgeColumns, check_two_columns, position, weight_column};
use super::headers::{edges_have_header, numeric_columns};
use super::options::{Header, ReadOptions, UnknownNodes, WeightColumn};
use super::raw_table::{RawCells, RawColumn, RawTable, numbered_name};
use crate::error::{DataError, Place, Result};
use crate::hint::{Hint, Setting};
use crate::ids::{NodeIds, canonical_integer};
use crate::spelling;

/// The share of edge ends that a column must match to be taken without being named.
const MIN_MATCH: f64 = 0.95;
/// Columns whose matches differ by less than this match equally well.
const SAME_MATCH: f64 = 0.02;
/// How many cells tell at a glance that a column has repeated or missing values.
const GLANCE: usize = 1000;

/// The first records of an edge file.
#[derive(Debug, Clone)]
pub(crate) struct EdgeSample {
    pub(crate) path: PathBuf,
    /// The first record of a text file; the column names of a typed one.
    pub(crate) first: Vec<String>,
    /// The line of the first record; none where it is known to be names.
    pub(crate) first_line: Option<u64>,
    /// The records behind it.
    pub(crate) rows: Vec<Vec<String>>,
}

/// Where the ids are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdSource {
    Column(usize),
    /// No column holds them: nodes are numbered from 0.
    RowNumbers,
}

/// Decides for each text file whether its first record is a header, then finds ids and edge columns.
pub(crate) fn resolve(
    raw: &RawTable,
    sample: Option<&EdgeSample>,
    options: &ReadOptions,
) -> Result<(IdSource, Option<EdgeColumns>)> {
    let names: Vec<String> = raw.columns.iter().map(|column| column.name.clone()).collect();
    let named = options.id.as_deref().map(|id| position(raw.path(), &names, id)).transpose()?;
    let Some(sample) = sample else {
        return Ok((without_edges(raw, &names, named), None));
    };
    check_two_columns(&sample.path, sample.first.len())?;
    let candidates = candidates(raw, sample, named);
    let has_header = edges_have_header(&candidates, sample, options)?;
    let ends = EndTable::new(sample, has_header, &candidates);
    let given = given_ends(sample, &ends.names, options)?;
    let mut scored: Vec<Scored> = candidates
        .iter()
        .enumerate()
        .map(|(at, candidate)| ends.score(at, candidate, &names[candidate.column], given))
        .collect();
    // The best match first; among those that match as well, the one whose name suggests ids most.
    let most = scored.iter().map(|scored| scored.share).fold(0.0, f64::max);
    scored.sort_by(|a, b| {
        let rank = |scored: &Scored| (most - scored.share < SAME_MATCH).then_some(scored.rank);
        rank(b).cmp(&rank(a)).then(b.share.total_cmp(&a.share)).then(a.column.cmp(&b.column))
    });
    let edge_columns = |pair: (usize, usize)| -> Result<EdgeColumns> {
        let weight = ends.weight(sample, &options.weight)?;
        let (source, target) = pair;
        Ok(EdgeColumns { source, target, weight, names: ends.names.clone(), has_header })
    };
    let numbered = IdSource::RowNumbers;
    let row_pair = given.unwrap_or_else(|| ends.pair_of_row_numbers(raw.rows()));
    let Some(best) = scored.first() else {
        return Ok((numbered, Some(edge_columns(row_pair)?)));
    };
    let fits = best.share >= MIN_MATCH;
    if named.is_none() && !fits && best.rank < 2 && ends.are_row_numbers(row_pair, raw.rows()) {
        return Ok((numbered, Some(edge_columns(row_pair)?)));
    }
    let rivals = scored
        .iter()
        .skip(1)
        .filter(|other| fits && best.share - other.share < SAME_MATCH && other.rank == best.rank);
    if let Some(rival) = rivals.clone().next() {
        let columns = [best, rival].map(|scored| names[scored.column].clone());
        return Err(undecided_ids(raw.path(), &columns, best.share));
    }
    if let Ambiguity::Several(columns) = &best.ambiguity {
        return Err(undecided_ends(&sample.path, &ends.names, columns));
    }
    let clear = named.is_some() || best.rank >= 2 || scored.len() == 1;
    let expected = options.unknown_nodes != UnknownNodes::Error;
    let ends_are_clear = given.is_some() || best.by_name;
    // An edge that doesn't match stops with its line below; here only the columns are in doubt.
    if !fits && !(clear && (ends_are_clear || !expected)) {
        return Err(poor_match(raw.path(), &names, &scored, &ends.names));
    }
    Ok((IdSource::Column(best.column), Some(edge_columns(best.pair)?)))
}

/// Without edges, the column whose name suggests ids most, else a first column of distinct values.
fn without_edges(raw: &RawTable, names: &[String], named: Option<usize>) -> IdSource {
    if let Some(column) = named {
        return IdSource::Column(column);
    }
    let rank = |at: usize| id_rank(&names[at], ["", ""]);
    let best = (0..names.len()).filter(|&at| rank(at) == 3).min();
    let best = best.or_else(|| {
        (0..names.len())
            .filter(|&at| rank(at) >= 2 || at == 0)
            .filter(|&at| is_distinct(raw, at))
            .max_by_key(|&at| (rank(at), std::cmp::Reverse(at)))
    });
    best.map_or(IdSource::RowNumbers, IdSource::Column)
}

fn is_distinct(raw: &RawTable, column: usize) -> bool {
    let ids = ids_of(&raw.columns[column].cells, raw.is_text());
    ids.is_some_and(|ids| ids.index().is_ok())
}

/// A column of the nodes that could hold ids, with the values of the edges that it has.
pub(super) struct Candidate {
    column: usize,
    pub(super) known: HashSet<String>,
}

/// The columns without missing and repeated values, or the one that the caller names.
fn candidates(raw: &RawTable, sample: &EdgeSample, named: Option<usize>) -> Vec<Candidate> {
    let wanted: HashSet<&str> = std::iter::once(&sample.first)
        .chain(&sample.rows)
        .flatten()
        .map(|cell| cell.trim())
        .collect();
    let columns = match named {
        Some(column) => column..column + 1,
        None => 0..raw.columns.len(),
    };
    let wanted_numbers: HashSet<i64> =
        wanted.iter().filter_map(|cell| canonical_integer(cell)).collect();
    let mut candidates = Vec::new();
    for column in columns {
        let RawColumn { name, cells, .. } = &raw.columns[column];
        // A column that is named like ids is a candidate even where it cannot be one: the error that
        // follows says why.
        let by_name = named.is_some() || id_rank(name, ["", ""]) >= 3;
        if !by_name && !looks_distinct(cells) {
            continue;
        }
        let Some(ids) = ids_of(cells, raw.is_text()) else {
            if by_name {
                candidates.push(Candidate { column, known: HashSet::new() });
            }
            continue;
        };
        let known: HashSet<String> = match &ids {
            NodeIds::Integers(ids) => {
                let known = ids.iter().filter(|id| wanted_numbers.contains(*id));
                known.map(i64::to_string).collect()
            }
            NodeIds::Strings(ids) => {
                let known = ids.iter().flatten().map(str::trim).filter(|id| wanted.contains(id));
                known.map(str::to_owned).collect()
            }
        };
        if by_name || (!known.is_empty() && ids.index().is_ok()) {
            candidates.push(Candidate { column, known });
        }
    }
    candidates
}

/// Whether the first cells are all there and differ.
fn looks_distinct(cells: &RawCells) -> bool {
    match cells {
        RawCells::Bytes(bytes) => {
            let mut seen = [false; 256];
            bytes.len() < 256
                && bytes.iter().all(|&byte| {
                    byte != 0 && !std::mem::replace(&mut seen[usize::from(byte)], true)
                })
        }
        RawCells::Array(array) => {
            let glance = RawCells::Array(array.slice(0, array.len().min(GLANCE)));
            ids_of(&glance, true).is_some_and(|ids| ids.index().is_ok())
        }
    }
}

/// Whether the ends of the edges could be told.
#[derive(Debug, Clone, PartialEq)]
enum Ambiguity {
    None,
    /// More than two columns of the edges match, and nothing tells which are the ends.
    Several(Vec<usize>),
}

struct Scored {
    column: usize,
    pair: (usize, usize),
    /// The share of edge ends that match.
    share: f64,
    rank: u8,
    /// Whether the two ends were found by their names (or given).
    by_name: bool,
    ambiguity: Ambiguity,
}

/// The sampled values of every column of the edges, and how well candidates match them.
struct EndTable {
    names: Vec<String>,
    columns: Vec<Vec<String>>,
    /// `shares[candidate][column]`
    shares: Vec<Vec<f64>>,
}

impl EndTable {
    fn new(sample: &EdgeSample, has_header: bool, candidates: &[Candidate]) -> Self {
        let names: Vec<String> = match has_header {
            true => sample.first.clone(),
            false => (0..sample.first.len()).map(numbered_name).collect(),
        };
        let first = (!has_header).then_some(&sample.first);
        let columns: Vec<Vec<String>> = (0..names.len())
            .map(|at| {
                let rows = first.into_iter().chain(&sample.rows);
                rows.map(|row| row.get(at).map_or("", |cell| cell.trim()).to_owned()).collect()
            })
            .collect();
        let share = |candidate: &Candidate, cells: &Vec<String>| {
            let known = cells.iter().filter(|cell| candidate.known.contains(cell.as_str())).count();
            known as f64 / cells.len().max(1) as f64
        };
        let of_candidate =
            |candidate| columns.iter().map(|cells| share(candidate, cells)).collect::<Vec<f64>>();
        let shares = candidates.iter().map(of_candidate).collect();
        EndTable { names, columns, shares }
    }

    fn score(
        &self,
        at: usize,
        candidate: &Candidate,
        name: &str,
        given: Option<(usize, usize)>,
    ) -> Scored {
        let shares = &self.shares[at];
        let (pair, by_name, ambiguity) = self.pair(shares, given);
        Scored {
            column: candidate.column,
            pair,
            share: (shares[pair.0] + shares[pair.1]) / 2.0,
            rank: id_rank(name, [&self.names[pair.0], &self.names[pair.1]]),
            by_name,
            ambiguity,
        }
    }

    /// The two columns that are the ends, judged by names and by how well they match.
    fn pair(
        &self,
        shares: &[f64],
        given: Option<(usize, usize)>,
    ) -> ((usize, usize), bool, Ambiguity) {
        if let Some(pair) = given {
            return (pair, true, Ambiguity::None);
        }
        let matching: Vec<usize> =
            (0..shares.len()).filter(|&column| shares[column] >= MIN_MATCH).collect();
        let by_name = end_pair(&self.names);
        if let Some(pair) = by_name
            && (matching.len() < 2 || (matching.contains(&pair.0) && matching.contains(&pair.1)))
        {
            return (pair, true, Ambiguity::None);
        }
        if let [source, target] = matching[..] {
            return ((source, target), false, Ambiguity::None);
        }
        if matching.len() > 2 {
            let ends: Vec<usize> =
                matching.iter().copied().filter(|&column| !self.is_attribute(column)).collect();
            return match ends[..] {
                [source, target] => ((source, target), false, Ambiguity::None),
                _ => ((matching[0], matching[1]), false, Ambiguity::Several(matching)),
            };
        }
        let mut best: Vec<usize> = (0..shares.len()).collect();
        best.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
        best.truncate(2);
        best.sort_unstable();
        ((best[0], best[1]), false, Ambiguity::None)
    }

    /// Whether a column is an attribute by its name, or numbers the edges.
    fn is_attribute(&self, column: usize) -> bool {
        let numbers: Option<Vec<i64>> =
            self.columns[column].iter().map(|cell| canonical_integer(cell)).collect();
        let counts_up = |numbers: &[i64]| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
        is_attribute(&self.names[column])
            || numbers.is_some_and(|numbers| numbers.len() > 3 && counts_up(&numbers))
    }

    /// The columns that hold row numbers of the nodes: by name, else the first two that do.
    fn pair_of_row_numbers(&self, rows: usize) -> (usize, usize) {
        if let Some(pair) = end_pair(&self.names) {
            return pair;
        }
        let inside =
            |&column: &usize| self.holds_row_numbers(column, rows) && !self.is_attribute(column);
        let mut columns = (0..self.names.len()).filter(inside);
        match (columns.next(), columns.next()) {
            (Some(source), Some(target)) => (source, target),
            _ => (0, 1),
        }
    }

    fn are_row_numbers(&self, pair: (usize, usize), rows: usize) -> bool {
        self.holds_row_numbers(pair.0, rows) && self.holds_row_numbers(pair.1, rows)
    }

    fn holds_row_numbers(&self, column: usize, rows: usize) -> bool {
        let row = |cell: &String| {
            canonical_integer(cell).is_some_and(|number| (0..rows as i64).contains(&number))
        };
        !self.columns[column].is_empty() && self.columns[column].iter().all(row)
    }

    fn weight(&self, sample: &EdgeSample, weight: &WeightColumn) -> Result<Option<usize>> {
        let by_name = weight_column(&sample.path, &self.names, weight)?;
        let dictionary = |column: usize| {
            self.columns[column].first().is_some_and(|cell| dictionary_weight(cell).is_some())
        };
        Ok(match weight {
            WeightColumn::IfNamedWeight => {
                by_name.or_else(|| (2..self.names.len()).find(|&column| dictionary(column)))
            }
            _ => by_name,
        })
    }
}

/// The source and target columns that the caller names.
fn given_ends(
    sample: &EdgeSample,
    names: &[String],
    options: &ReadOptions,
) -> Result<Option<(usize, usize)>> {
    let find = |name: &Option<String>| {
        name.as_deref().map(|name| position(&sample.path, names, name)).transpose()
    };
    let usual = end_pair(names);
    Ok(match (find(&options.source)?, find(&options.target)?) {
        (Some(source), Some(target)) => Some((source, target)),
        (None, None) => None,
        (Some(source), None) => {
            let other = (0..names.len()).find(|&at| at != source && !is_attribute(&names[at]));
            let partner = usual.filter(|pair| pair.0 == source).map(|pair| pair.1).or(other);
            partner.map(|target| (source, target))
        }
        (None, Some(target)) => {
            let other = (0..names.len()).find(|&at| at != target && !is_attribute(&names[at]));
            let partner = usual.filter(|pair| pair.1 == target).map(|pair| pair.0).or(other);
            partner.map(|source| (source, target))
        }
    })
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn undecided_ids(path: &Path, columns: &[String; 2], share: f64) -> DataError {
    let found = format!(
        "the columns '{}' and '{}' could both be the ids: each matches {} of the edge ends",
        columns[0],
        columns[1],
        percent(share)
    );
    let mut hint = Hint::new("name the id column");
    for column in columns {
        hint = hint.with(Setting::Id(column.clone()));
    }
    DataError::malformed(Place::file(path), found, hint)
}

fn undecided_ends(path: &Path, names: &[String], columns: &[usize]) -> DataError {
    let shown: Vec<String> = columns.iter().map(|&at| format!("'{}'", names[at])).collect();
    let found = format!("the columns {} all hold ids of nodes", shown.join(", "));
    let (source, target) = (names[columns[0]].clone(), names[columns[1]].clone());
    let hint = Hint::new("name the source and the target column");
    DataError::malformed(
        Place::file(path),
        found,
        hint.with(Setting::EdgeColumns { source, target }),
    )
}

fn poor_match(path: &Path, names: &[String], scored: &[Scored], ends: &[String]) -> DataError {
    let shown: Vec<String> = scored
        .iter()
        .take(3)
        .map(|scored| format!("'{}' {}", names[scored.column], percent(scored.share)))
        .collect();
    let found = format!(
        "no column matches the ends of the edges well enough to be the ids: {}",
        shown.join(", ")
    );
    let mut hint = Hint::new("name the id column, and the source and target columns of the edges");
    for scored in scored.iter().take(2) {
        hint = hint.with(Setting::Id(names[scored.column].clone()));
    }
    if let Some(best) = scored.first() {
        let (source, target) = (ends[best.pair.0].clone(), ends[best.pair.1].clone());
        hint = hint.with(Setting::EdgeColumns { source, target });
    }
    DataError::malformed(Place::file(path), found, hint)
}

/// The columns of an edge file without a node table: by name, else the first two that are no attributes.
pub(crate) fn ends_alone(sample: &EdgeSample, options: &ReadOptions) -> Result<EdgeColumns> {
    check_two_columns(&sample.path, sample.first.len())?;
    let first_is_edge = sample.first_line.is_some()
        && match options.edges.header {
            Some(header) => header == Header::No,
            None => {
                let numbers = numeric_columns(&sample.rows, sample.first.len());
                let number = |&at: &usize| spelling::number(&sample.first[at]).is_some();
                let all_numbers = !numbers.is_empty() && numbers.iter().all(number);
                let alone = sample.rows.is_empty()
                    && sample
                        .first
                        .iter()
                        .take(2)
                        .all(|cell| canonical_integer(cell.trim()).is_some());
                let mut seen: HashMap<&str, usize> = HashMap::new();
                for row in &sample.rows {
                    row.iter()
                        .take(2)
                        .for_each(|cell| *seen.entry(cell.as_str()).or_default() += 1);
                }
                let repeated =
                    sample.first.iter().take(2).any(|cell| seen.contains_key(cell.as_str()));
                all_numbers || alone || (repeated && !is_edge_table(&sample.first))
            }
        };
    let ends = EndTable::new(sample, !first_is_edge, &[]);
    let pair = match given_ends(sample, &ends.names, options)?.or_else(|| end_pair(&ends.names)) {
        Some(pair) => pair,
        None => {
            let mut columns = (0..ends.names.len()).filter(|&at| !is_attribute(&ends.names[at]));
            match (columns.next(), columns.next()) {
                (Some(source), Some(target)) => (source, target),
                _ => (0, 1),
            }
        }
    };
    let weight = ends.weight(sample, &options.weight)?;
    Ok(EdgeColumns {
        source: pair.0,
        target: pair.1,
        weight,
        names: ends.names,
        has_header: !first_is_edge,
    })
}
