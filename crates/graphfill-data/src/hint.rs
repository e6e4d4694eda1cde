//! Hints: what to do about an error or a guess, and which setting decides it.
//!
//! A [`Setting`] names an option of the library with the value that is suggested. The command line
//! spells it as a flag, Python as a keyword; the library itself shows the plain advice.

use std::fmt;

use crate::kind::DeclaredKind;

/// Advice in plain words, with the settings that carry it out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// What to do, without the name of any flag or keyword; may be empty.
    pub advice: String,
    /// Settings, each of which would decide the matter; may be empty.
    pub settings: Vec<Setting>,
}

/// An option with a suggested value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// The id column of the nodes.
    Id(String),
    /// The source and the target column of the edges.
    EdgeColumns {
        /// The column that names the source.
        source: String,
        /// The column that names the target.
        target: String,
    },
    /// The weight column of the edges; none to read no weights.
    Weight(Option<String>),
    /// The column that holds the labels.
    Label(String),
    /// The type of a column.
    Type {
        /// The column.
        column: String,
        /// Its type.
        kind: DeclaredKind,
    },
    /// A cell that means "missing".
    MissingValue(String),
    /// Words for "missing" are ordinary values.
    NoMissingValues,
    /// The separator of the file in question.
    Delimiter,
    /// Whether the first line of the file in question has column names.
    Header,
    /// The character encoding of the file in question.
    Encoding,
    /// The mark before the decimals of numbers.
    Decimal,
    /// The order of day and month in dates.
    DateOrder,
    /// What to do with edges to nodes that have no row.
    UnknownNodes,
    /// What repeated edges mean.
    DuplicateEdges,
    /// The memory that reading may take, in bytes.
    MemoryLimit(u64),
    /// The seeds of splits.
    Seeds,
    /// A file of splits.
    SplitsFile,
    /// The folder that holds data sets.
    DataDir,
    /// Files may be replaced.
    Overwrite,
}

impl Hint {
    /// Advice in plain words.
    pub fn new(advice: impl Into<String>) -> Self {
        Hint { advice: advice.into(), settings: Vec::new() }
    }

    /// The same hint with a setting that would decide the matter.
    #[must_use]
    pub fn with(mut self, setting: Setting) -> Self {
        self.settings.push(setting);
        self
    }
}

impl From<&str> for Hint {
    fn from(advice: &str) -> Self {
        Hint::new(advice)
    }
}

impl From<String> for Hint {
    fn from(advice: String) -> Self {
        Hint::new(advice)
    }
}

/// The advice on a line of its own below the error; nothing where there is none.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.advice.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.advice) }
    }
}
