//! Which columns of an edge file are what, by the usual names.

use std::path::Path;

use crate::did_you_mean::did_you_mean;
use crate::error::{DataError, Place, Result};
use crate::formats::options::{ReadOptions, WeightColumn};

/// Pairs of names that edge files use, without regard to case and underscores.
const USUAL_ENDS: [(&str, &str); 8] = [
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("sourcenodeid", "targetnodeid"),
    ("sourceid", "targetid"),
    ("edgesrc", "edgedst"),
    ("u", "v"),
    ("node1", "node2"),
];

/// Positions of the columns that matter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EdgeColumns {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
}

impl EdgeColumns {
    /// The first two columns of a file without a header.
    pub(crate) fn first_two(path: &Path, cells: &[String]) -> Result<Self> {
        if cells.len() < 2 {
            return Err(too_few(path, cells.len()));
        }
        Ok(EdgeColumns { source: 0, target: 1, weight: None })
    }

    /// The columns that the caller names, else those with usual names, else the first two.
    pub(crate) fn named(path: &Path, names: &[String], options: &ReadOptions) -> Result<Self> {
        if names.len() < 2 {
            return Err(too_few(path, names.len()));
        }
        let (usual_source, usual_target) = usual_ends(names).unwrap_or((0, 1));
        let find = |name: &Option<String>, usual: usize| match name {
            None => Ok(usual),
            Some(name) => position(path, names, name),
        };
        let weight = match &options.weight {
            WeightColumn::Ignored => None,
            WeightColumn::Named(name) => Some(position(path, names, name)?),
            WeightColumn::IfNamedWeight => names.iter().position(|name| plain(name) == "weight"),
        };
        Ok(EdgeColumns {
            source: find(&options.source, usual_source)?,
            target: find(&options.target, usual_target)?,
            weight,
        })
    }
}

/// Whether a file with these columns is one of edges.
pub(crate) fn look_like_edges(names: &[String]) -> bool {
    usual_ends(names).is_some()
}

fn usual_ends(names: &[String]) -> Option<(usize, usize)> {
    let place = |wanted: &str| names.iter().position(|name| plain(name) == wanted);
    USUAL_ENDS.iter().find_map(|(source, target)| Some((place(source)?, place(target)?)))
}

/// The name without case, underscores and spaces.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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

fn too_few(path: &Path, columns: usize) -> DataError {
    DataError::malformed(
        Place::line(path, 1),
        format!("an edge file needs two columns, this one has {columns}"),
        "check the separator (--delimiter) and that this is the edge file",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn usual_names_are_found_anywhere() {
        let found = EdgeColumns::named(
            Path::new("e.csv"),
            &names(&["kind", "targetNodeId", "sourceNodeId", "Weight"]),
            &ReadOptions::default(),
        );
        assert_eq!(found.expect("columns"), EdgeColumns { source: 2, target: 1, weight: Some(3) });
    }

    #[test]
    fn an_unknown_name_lists_the_columns() {
        let options = ReadOptions { source: Some("a".into()), ..ReadOptions::default() };
        let error = EdgeColumns::named(Path::new("e.csv"), &names(&["x", "y"]), &options);
        let message = error.expect_err("no such column").to_string();
        assert!(message.contains("'a'") && message.contains("'x', 'y'"), "{message}");
    }
}
