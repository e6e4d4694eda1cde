//! What a caller may say about the files: which column is what, and how to treat surprises.

use std::str::FromStr;

use crate::graph::Direction;
use crate::types_file::{DeclaredBlock, DeclaredTypes};

/// How to read a node table and its edges. The default finds the columns by their usual names.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The id column of the nodes.
    pub id: Option<String>,
    /// The column of the edges that names their source.
    pub source: Option<String>,
    /// The column of the edges that names their target.
    pub target: Option<String>,
    /// The column of the edges that holds weights.
    pub weight: WeightColumn,
    /// The column of the nodes that holds their classes.
    pub label: Option<String>,
    /// Column types that are declared rather than inferred.
    pub types: DeclaredTypes,
    /// Runs of columns that are declared to be one block.
    pub blocks: Vec<DeclaredBlock>,
    /// Further spellings of "missing" in text files, beside the empty cell and NaN.
    pub missing_values: Vec<String>,
    /// The separator of text files; found by the file's name where it is not given.
    pub delimiter: Option<u8>,
    /// Whether arcs point one way.
    pub direction: Direction,
    /// What to do with an edge to a node that has no row.
    pub unknown_nodes: UnknownNodes,
    /// The bytes of memory that reading may take. Readers check shapes, uncompressed sizes and row
    /// counts against it before they allocate.
    pub memory_limit: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            id: None,
            source: None,
            target: None,
            weight: WeightColumn::IfNamedWeight,
            label: None,
            types: DeclaredTypes::default(),
            blocks: Vec::new(),
            missing_values: Vec::new(),
            delimiter: None,
            direction: Direction::Undirected,
            unknown_nodes: UnknownNodes::Error,
            memory_limit: crate::memory::default_limit(),
        }
    }
}

/// Which column of the edges holds weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeightColumn {
    /// A column called "weight", if there is one.
    IfNamedWeight,
    /// This one.
    Named(String),
    /// None, whatever the columns are called.
    Ignored,
}

/// What to do with an edge to a node that has no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownNodes {
    /// Stop and say where.
    Error,
    /// Leave the edge out, and count it.
    Skip,
    /// Add a row in which everything is missing.
    Add,
}

impl FromStr for UnknownNodes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "error" => Ok(UnknownNodes::Error),
            "skip" => Ok(UnknownNodes::Skip),
            "add" => Ok(UnknownNodes::Add),
            other => Err(format!("'{other}' is none of error, skip, add")),
        }
    }
}
