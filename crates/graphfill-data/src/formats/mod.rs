//! Reading and writing graphs: one file (or folder) a format.
//!
//! [`Location::find`] tells what a path is, [`read`] reads it whatever it is, [`write()`] writes
//! what the name of the output asks for.

mod assemble;
mod csv;
mod edge_collector;
mod edge_columns;
mod feature_rows;
#[cfg(feature = "npz")]
mod gnn_benchmark;
#[cfg(not(all(feature = "npz", feature = "parquet")))]
mod left_out;
mod lines;
mod lists;
mod location;
mod new_nodes;
#[cfg(feature = "npz")]
mod npz;
pub mod ogb;
pub(crate) mod open;
mod options;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod pickle;
pub mod planetoid;
mod raw_table;
mod row_counter;
#[cfg(feature = "npz")]
pub mod splits_file;
pub mod steam;
mod tables;

#[cfg(not(feature = "npz"))]
use left_out::npz;
#[cfg(not(feature = "parquet"))]
use left_out::parquet;

pub use assemble::MIN_BLOCK_COLUMNS;
pub use location::Location;
pub use options::{ReadOptions, UnknownNodes, WeightColumn};
pub use output::{OutputFormat, outputs, write, write_nodes};

use std::path::Path;

use crate::dataset::Dataset;
use crate::error::{DataError, Place, Result};
use crate::progress::Progress;

/// Reads a graph, whatever its format.
pub fn read(
    location: &Location,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Dataset> {
    let dataset = match location {
        Location::Npz(path) => npz::read(path, options, progress),
        #[cfg(feature = "npz")]
        Location::GnnBenchmark(path) => gnn_benchmark::read(path, progress),
        #[cfg(not(feature = "npz"))]
        Location::GnnBenchmark(path) => npz::read(path, options, progress),
        Location::Planetoid(prefix) => planetoid::read(prefix, progress),
        Location::Ogb(folder) => ogb::read(folder, progress),
        Location::Steam(folder) => steam::read(folder, progress),
        Location::Tables { nodes, edges } => tables::read(nodes, edges, options, progress),
    }?;
    let place = Place::file(location.files().first().copied().unwrap_or(Path::new("")));
    let (listed, limit) = (dataset.table.missing_bytes(), options.memory_limit);
    DataError::check_memory(place, "the list of missing cells", listed, limit)?;
    Ok(dataset)
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
