//! A node table and its graph, as a reader returns them.

use crate::error::{DataError, Result};
use crate::found_columns::FoundColumns;
use crate::graph::Graph;
use crate::note::Note;
use crate::table::NodeTable;

/// A node table and its graph.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// A short name: of the data set or of the file.
    pub name: String,
    /// The format that it was read from, in words.
    pub format: String,
    /// The nodes.
    pub table: NodeTable,
    /// The edges between the rows of the table.
    pub graph: Graph,
    /// Which columns hold ids and the ends of edges, where files have columns.
    pub found: Option<FoundColumns>,
    /// What the reader guessed or noticed.
    pub notes: Vec<Note>,
}

impl Dataset {
    /// A data set; fails if the graph has another number of nodes than the table has rows.
    pub fn new(name: &str, format: &str, table: NodeTable, graph: Graph) -> Result<Self> {
        if table.rows() != graph.nodes() {
            return Err(DataError::request(
                format!(
                    "the graph has {} nodes, but the table {} rows",
                    graph.nodes(),
                    table.rows()
                ),
                "give every node one row",
            ));
        }
        Ok(Dataset {
            name: name.to_owned(),
            format: format.to_owned(),
            table,
            graph,
            found: None,
            notes: Vec::new(),
        })
    }
}
