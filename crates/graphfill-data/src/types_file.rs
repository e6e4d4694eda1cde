//! Declared column types: from the command line, or from a TOML file such as
//!
//! ```toml
//! [types]
//! price = "number"
//! zip = "category"
//! comment = "unused"
//!
//! [blocks]                       # runs of columns that belong together
//! words = ["word_0", "word_499"] # the first and the last column
//!
//! [graph]
//! directed = true
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{DataError, Place, Result};
use crate::graph::Direction;
use crate::kind::DeclaredKind;

/// Types by column name; what is not named is inferred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredTypes(BTreeMap<String, DeclaredKind>);

/// A run of neighbouring columns that is one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredBlock {
    /// The name of the block.
    pub name: String,
    /// Its first column.
    pub first: String,
    /// Its last column.
    pub last: String,
}

/// Everything a types file can say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypesFile {
    /// Column types.
    pub types: DeclaredTypes,
    /// Blocks.
    pub blocks: Vec<DeclaredBlock>,
    /// Whether arcs point one way, where the file says so.
    pub directed: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    types: BTreeMap<String, String>,
    #[serde(default)]
    blocks: BTreeMap<String, (String, String)>,
    #[serde(default)]
    graph: WrittenGraph,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct WrittenGraph {
    directed: Option<bool>,
}

impl DeclaredTypes {
    /// Declares one column; a later declaration of the same column counts.
    pub fn declare(&mut self, column: impl Into<String>, kind: DeclaredKind) {
        self.0.insert(column.into(), kind);
    }

    /// The declared type of a column.
    pub fn get(&self, column: &str) -> Option<DeclaredKind> {
        self.0.get(column).copied()
    }

    /// The declared columns, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, DeclaredKind)> {
        self.0.iter().map(|(name, &kind)| (name.as_str(), kind))
    }

    /// These declarations, where `stronger` says nothing else.
    #[must_use]
    pub fn overridden_by(mut self, stronger: &DeclaredTypes) -> Self {
        self.0.extend(stronger.0.iter().map(|(name, &kind)| (name.clone(), kind)));
        self
    }

    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TypesFile {
    /// The first line of a types file that was written by a conversion.
    pub(crate) const FIRST_LINE: &str = "# Column types, written by graphfill convert.";

    /// Reads a types file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|error| DataError::read(path, error))?;
        let wrong = |found: String| {
            DataError::malformed(
                Place::file(path),
                found,
                "a types file holds a table [types] with lines such as  price = \"number\"",
            )
        };
        let written: Written =
            toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        let mut types = DeclaredTypes::default();
        for (column, word) in written.types {
            let kind = word
                .parse()
                .map_err(|found: String| wrong(format!("column '{column}': {found}")))?;
            types.declare(column, kind);
        }
        let blocks = written.blocks.into_iter();
        let blocks =
            blocks.map(|(name, (first, last))| DeclaredBlock { name, first, last }).collect();
        Ok(TypesFile { types, blocks, directed: written.graph.directed })
    }

    /// Whether arcs point one way, where the file says so.
    pub fn direction(&self) -> Option<Direction> {
        self.directed.map(|directed| match directed {
            true => Direction::Directed,
            false => Direction::Undirected,
        })
    }

    /// Whether the file would say nothing.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.blocks.is_empty() && self.directed != Some(true)
    }

    /// The text of the file.
    pub fn to_toml(&self) -> String {
        let mut file = toml::Table::new();
        if let Some(directed) = self.directed {
            let graph = toml::Table::from_iter([("directed".to_owned(), directed.into())]);
            file.insert("graph".to_owned(), graph.into());
        }
        if !self.blocks.is_empty() {
            let blocks = self.blocks.iter().map(|block| {
                let ends = vec![block.first.clone(), block.last.clone()];
                (block.name.clone(), toml::Value::from(ends))
            });
            file.insert("blocks".to_owned(), blocks.collect::<toml::Table>().into());
        }
        let types =
            self.types.iter().map(|(column, kind)| (column.to_owned(), kind.as_str().into()));
        file.insert("types".to_owned(), types.collect::<toml::Table>().into());
        format!("{}\n{file}", TypesFile::FIRST_LINE)
    }

    /// The types file that belongs to a text table: `nodes.csv` → `nodes.types.toml`.
    pub fn path_beside(table: &Path) -> PathBuf {
        let name = table.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        table.with_file_name(format!("{stem}.types.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_to_toml_and_back() {
        let mut types = DeclaredTypes::default();
        types.declare("price in €", DeclaredKind::Number);
        types.declare("zip", DeclaredKind::Category);
        let block = DeclaredBlock { name: "w".into(), first: "w0".into(), last: "w9".into() };
        let types = TypesFile { types, blocks: vec![block], directed: Some(true) };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nodes.types.toml");
        fs::write(&path, types.to_toml()).expect("written");
        assert_eq!(TypesFile::read(&path).expect("read"), types);
        assert_eq!(TypesFile::path_beside(&folder.path().join("nodes.csv.gz")), path);
    }

    #[test]
    fn a_wrong_word_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("types.toml");
        fs::write(&path, "[types]\nprice = \"integer\"\n").expect("written");
        let message = TypesFile::read(&path).unwrap_err().to_string();
        assert!(message.contains("price") && message.contains("integer"), "{message}");
    }
}
