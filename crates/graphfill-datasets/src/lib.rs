//! Published graph data sets: their registry, their download, and readers of their raw files.
//!
//! [`find`] describes a data set, a [`Cache`] says where its files are kept, `download` (with the
//! feature of that name) gets them, and a [`Source`] reads them:
//!
//! ```no_run
//! use graphfill_data::{NoProgress, formats::ReadOptions};
//! use graphfill_datasets::{Cache, Source, find};
//!
//! let folder = Cache::new(None)?.folder(find("cora")?);
//! let source = Source::detect(&folder, None)?;
//! let dataset = source.read(&ReadOptions::default(), &NoProgress)?;
//! assert_eq!(dataset.table.rows(), 2708);
//! # Ok::<(), graphfill_data::DataError>(())
//! ```
//!
//! Readers check every size that a file claims against the bytes that are there and against
//! [`ReadOptions::memory_limit`](graphfill_data::formats::ReadOptions::memory_limit).
#![forbid(unsafe_code)]

mod cache;
#[cfg(feature = "download")]
mod download;
mod entries;
mod feature_rows;
mod gnn_benchmark;
mod lines;
mod memory;
mod ogb;
mod pickle;
mod planetoid;
mod registry;
mod source;
mod steam;

pub use cache::{CACHE_VARIABLE, Cache, cache_folder};
#[cfg(feature = "download")]
pub use download::{DownloadReport, FileReport, FileStatus, Mirror, download};
pub use registry::{DatasetInfo, RemoteFile, SourceFormat, all, find};
pub use source::Source;

/// Reads a pickle and drops it: the entry point of the fuzz target.
#[doc(hidden)]
pub fn fuzz_pickle(bytes: &[u8]) {
    pickle::fuzz(bytes);
}
