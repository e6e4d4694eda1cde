//! Options of reading: which column is what, how text is written down, and how to treat surprises.

use std::str::FromStr;

use super::csv::Delimiter;
use super::encoding::Encoding;
use crate::date_style::DateOrder;
use crate::duplicate_edges::DuplicateEdges;
use crate::graph::Direction;
use crate::missing_words::MissingWords;
use crate::number_style::DecimalMark;
use crate::types_file::{DeclaredBlock, DeclaredTypes};

/// How to read a node table and its edges. By default columns are found by their names and values.
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
    /// Words that mean "missing" in text columns that are estimated.
    pub missing_words: MissingWords,
    /// How the text files of nodes are written down.
    pub nodes: TextOptions,
    /// How the text files of edges are written down.
    pub edges: TextOptions,
    /// The mark before the decimals of numbers in text; found out by column where it is not given.
    pub decimal: Option<DecimalMark>,
    /// The order of day and month in dates such as 03/04/2021, where the cells leave it open.
    pub date_order: Option<DateOrder>,
    /// Whether arcs point one way: what the caller says counts more than what the file says. By default
    /// a file that has arcs is directed, and every other one is undirected.
    pub direction: Option<Direction>,
    /// What repeated edges, and edges that stand in both directions, mean.
    pub duplicate_edges: DuplicateEdges,
    /// What to do with an edge to a node that has no row.
    pub unknown_nodes: UnknownNodes,
    /// What to do with values so extreme that no method can use their column.
    pub unusable_values: UnusableValues,
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
            missing_words: MissingWords::default(),
            nodes: TextOptions::default(),
            edges: TextOptions::default(),
            decimal: None,
            date_order: None,
            direction: None,
            duplicate_edges: DuplicateEdges::default(),
            unknown_nodes: UnknownNodes::Error,
            unusable_values: UnusableValues::Refuse,
            memory_limit: crate::memory::default_limit(),
        }
    }
}

/// How a text file is written down; what is not given is told by its first lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// What stands between two cells.
    pub delimiter: Option<Delimiter>,
    /// Whether the first line has the names of the columns.
    pub header: Option<Header>,
    /// The character encoding.
    pub encoding: Option<Encoding>,
}

/// Whether the first line of a text file has the names of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// It has.
    Yes,
    /// It is a row like the others.
    No,
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "yes" => Ok(Header::Yes),
            "no" => Ok(Header::No),
            other => Err(format!("'{other}' is neither yes nor no")),
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

/// What to do with values so extreme that no method can use their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableValues {
    /// Stop and say where: before estimating.
    Refuse,
    /// Say it and go on: where nothing is estimated.
    Warn,
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
