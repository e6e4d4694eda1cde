//! Declared column types: from the command line, or from a TOML file such as
//!
//! ```toml
//! [types]
//! price = "number"
//! zip = "category"
//! comment = "unused"
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{DataError, Place, Result};
use crate::kind::DeclaredKind;

/// Types by column name; what is not named is inferred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredTypes(BTreeMap<String, DeclaredKind>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypesFile {
    #[serde(default)]
    types: BTreeMap<String, String>,
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
        let file: TypesFile =
            toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        let mut types = DeclaredTypes::default();
        for (column, word) in file.types {
            let kind =
                word.parse().map_err(|found| wrong(format!("column '{column}': {found}")))?;
            types.declare(column, kind);
        }
        Ok(types)
    }

    /// The text of a types file.
    pub fn to_toml(&self) -> String {
        let mut table = toml::Table::new();
        for (column, kind) in self.iter() {
            table.insert(column.to_owned(), kind.word().into());
        }
        let mut file = toml::Table::new();
        file.insert("types".to_owned(), table.into());
        file.to_string()
    }

    /// The types file that belongs to a text table: `nodes.csv` → `nodes.types.toml`.
    pub fn path_beside(table: &Path) -> PathBuf {
        let name = table.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nodes.types.toml");
        fs::write(&path, types.to_toml()).expect("written");
        assert_eq!(DeclaredTypes::read(&path).expect("read"), types);
        assert_eq!(DeclaredTypes::path_beside(&folder.path().join("nodes.csv.gz")), path);
    }

    #[test]
    fn a_wrong_word_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("types.toml");
        fs::write(&path, "[types]\nprice = \"integer\"\n").expect("written");
        let message = DeclaredTypes::read(&path).unwrap_err().to_string();
        assert!(message.contains("price") && message.contains("integer"), "{message}");
    }
}
