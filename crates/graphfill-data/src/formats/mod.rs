//! Reading and writing graphs: one file (or folder) a format.
//!
//! [`Location::find`] tells what a path is, [`read`] reads it whatever it is, [`write()`] writes
//! what the name of the output asks for.

pub(crate) mod assemble;
mod csv;
mod edge_collector;
mod edge_columns;
mod feature_rows;
mod gnn_benchmark;
mod lines;
mod lists;
mod location;
mod new_nodes;
mod npz;
pub mod ogb;
pub(crate) mod open;
mod options;
mod output;
pub(crate) mod parquet;
mod pickle;
pub mod planetoid;
mod raw_table;
mod row_counter;
pub mod splits_file;
pub mod steam;
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
        Location::GnnBenchmark(path) => gnn_benchmark::read(path, progress),
        Location::Planetoid(prefix) => planetoid::read(prefix, progress),
        Location::Ogb(folder) => ogb::read(folder, progress),
        Location::Steam(folder) => steam::read(folder, progress),
        Location::Tables { nodes, edges } => tables::read(nodes, edges, options, progress),
    }
}

/// Reads a pickle and forgets it: what a fuzzer calls.
#[doc(hidden)]
pub fn fuzz_pickle(bytes: &[u8]) {
    if let Ok(pickle) = pickle::parse(bytes) {
        let heap = &pickle.heap;
        // Only that they come back matters here, with a value or with a problem.
        let _ = pickle::CsrMatrix::of(heap, pickle.root);
        let _ = heap.array(pickle.root).and_then(|array| array.floats(heap));
    }
}
