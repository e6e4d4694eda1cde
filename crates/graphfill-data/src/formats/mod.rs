//! Reading and writing graphs: one file (or folder) a format.
//!
//! [`Location::find`] tells what a path is, [`read`] reads it whatever it is, [`write()`] writes
//! what the name of the output asks for.

mod assemble;
mod csv;
mod edge_collector;
mod edge_columns;
mod lists;
mod location;
mod new_nodes;
pub mod npz;
pub(crate) mod open;
mod options;
mod output;
mod parquet;
mod raw_table;
pub mod splits_file;
mod tables;

pub use assemble::MIN_BLOCK_COLUMNS;
pub use location::Location;
pub use options::{ReadOptions, UnknownNodes, WeightColumn};
pub use output::{OutputFormat, outputs, write, write_nodes};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::progress::Progress;

/// Reads a graph, whatever its format.
pub fn read(
    location: &Location,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Dataset> {
    match location {
        Location::Npz(path) => npz::read(path, options, progress),
        Location::Tables { nodes, edges } => tables::read(nodes, edges, options, progress),
    }
}
