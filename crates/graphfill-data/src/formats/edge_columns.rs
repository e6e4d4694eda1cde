//! Which columns of an edge file are what.

use std::path::Path;

use crate::did_you_mean::did_you_mean;
use crate::error::{DataError, Place, Result};
use crate::formats::column_names::plain;
use crate::formats::options::WeightColumn;
use crate::hint::{Hint, Setting};

/// Positions of the columns that matter, and the names of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EdgeColumns {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    pub(crate) names: Vec<String>,
    /// Whether the first record of a text file has the names.
    pub(crate) has_header: bool,
}

impl EdgeColumns {
    /// The columns that are neither an end nor the weight.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        let used =
            move |at: &usize| *at == self.source || *at == self.target || Some(*at) == self.weight;
        self.names
            .iter()
            .enumerate()
            .filter(move |(at, _)| !used(at))
            .map(|(_, name)| name.as_str())
    }
}

/// The column that holds weights.
pub(crate) fn weight_column(
    path: &Path,
    names: &[String],
    weight: &WeightColumn,
) -> Result<Option<usize>> {
    match weight {
        WeightColumn::Ignored => Ok(None),
        WeightColumn::Named(name) => position(path, names, name).map(Some),
        WeightColumn::IfNamedWeight => Ok(names.iter().position(|name| plain(name) == "weight")),
    }
}

/// The position of a column that the caller names.
pub(crate) fn position(path: &Path, names: &[String], wanted: &str) -> Result<usize> {
    names.iter().position(|name| name == wanted).ok_or_else(|| {
        let close = did_you_mean(wanted, names.iter().map(String::as_str));
        let shown: Vec<_> = names.iter().take(20).map(|name| format!("'{name}'")).collect();
        let more = if names.len() > 20 { ", …" } else { "" };
        let close = close.map_or(String::new(), |name| format!("did you mean '{name}'? "));
        let hint = format!("{close}its columns are {}{more}", shown.join(", "));
        let place = Place::file(path);
        DataError::UnknownColumn { place, name: wanted.to_owned(), hint: hint.into() }
    })
}

/// Fails where an edge file has fewer than two columns.
pub(crate) fn check_two_columns(path: &Path, columns: usize) -> Result<()> {
    if columns >= 2 {
        return Ok(());
    }
    let hint = Hint::new("check the separator, and that this is the edge file");
    Err(DataError::malformed(
        Place::line(path, 1),
        format!("an edge file needs two columns, this one has {columns}"),
        hint.with(Setting::Delimiter),
    ))
}
