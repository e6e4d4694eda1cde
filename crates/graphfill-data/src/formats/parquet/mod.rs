//! Parquet: node tables (list columns become blocks) and edges.
//!
//! Column kinds that were declared travel in the field metadata, so that a written file reads
//! back as the same table. What other programs put there (and whether a column may be null, the
//! levels of a dictionary and their order) is kept.

mod levels;
mod read;
mod size;
mod write;

pub(crate) use read::{ParquetEdges, column_names, read_nodes};
pub(crate) use write::{write_edges, write_nodes, write_tables};

/// The key of the schema metadata that says that arcs point one way.
const DIRECTED: &str = "graphfill.directed";
