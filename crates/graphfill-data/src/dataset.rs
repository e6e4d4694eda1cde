//! A node table and its graph, as they came out of the files.

use crate::found_columns::FoundColumns;
use crate::graph::Graph;
use crate::note::Note;
use crate::table::NodeTable;

/// What a reader returns.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// A short name: of the data set or of the file.
    pub name: String,
    /// The format that it was read from, in words.
    pub format: String,
    /// The nodes.
    pub table: NodeTable,
    /// The edges, over the rows of the table.
    pub graph: Graph,
    /// Which columns hold ids and the ends of edges, where files have columns.
    pub found: Option<FoundColumns>,
    /// What the reader guessed or noticed.
    pub notes: Vec<Note>,
}

impl Dataset {
    /// The data set with its graph checked against its table.
    ///
    /// # Panics
    /// If the graph has another number of nodes than the table has rows.
    pub fn new(name: &str, format: &str, table: NodeTable, graph: Graph) -> Self {
        assert_eq!(table.rows(), graph.nodes(), "nodes of the graph and rows of the table");
        Dataset {
            name: name.to_owned(),
            format: format.to_owned(),
            table,
            graph,
            found: None,
            notes: Vec::new(),
        }
    }
}
