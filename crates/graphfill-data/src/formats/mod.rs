//! Reading and writing graphs: one file (or folder) a format.
//!
//! [`Location::find`] tells what a path is, [`read`] reads it whatever it is, [`write()`] writes
//! what the name of the output asks for.

mod assemble;
mod column_names;
mod csv;
mod edge_collector;
mod edge_columns;
mod encoding;
mod feature_rows;
mod gnn_benchmark;
mod input;
mod lines;
mod lists;
mod location;
mod new_nodes;
mod npz;
pub mod ogb;
pub(crate) mod open;
mod opened;
mod options;
mod output;
mod output_file;
mod parquet;
mod pickle;
pub mod planetoid;
mod raw_table;
mod resolve;
mod row_counter;
pub mod splits_file;
pub mod steam;
mod tables;

pub use assemble::MIN_BLOCK_COLUMNS;
pub use csv::Delimiter;
pub(crate) use csv::Dialect;
pub use encoding::Encoding;
pub use input::Input;
pub use location::Location;
pub use opened::STANDARD_STREAM;
pub use options::{Header, ReadOptions, TextOptions, UnknownNodes, UnusableValues, WeightColumn};
pub use output::{OutputFormat, Replace, outputs, write, write_nodes, write_replacing};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::progress::Progress;

/// Reads a graph, whatever its format.
pub fn read(location: Location, options: &ReadOptions, progress: &dyn Progress) -> Result<Dataset> {
    location.read(options, progress)
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
