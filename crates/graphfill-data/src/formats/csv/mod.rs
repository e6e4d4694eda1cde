//! CSV, TSV and other separated text: node tables and edge lists, plain, gzipped or Zstandard.

mod dialect;
mod edges;
mod nodes;
mod records;
mod write;

pub use dialect::Delimiter;
pub(crate) use dialect::{Dialect, first_record};
pub(crate) use edges::{TextEdges, dictionary_weight};
pub(crate) use nodes::read_nodes;
pub(crate) use write::{write_edges, write_nodes, write_tables};
