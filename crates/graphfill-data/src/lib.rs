//! Graphs and node tables with missing cells: the types, the readers and writers of their file
//! formats, splits, the registry of the paper's data sets, and a generator of examples.
//!
//! A [`Dataset`] is a [`NodeTable`] (ids, typed columns, missing cells, labels) and a [`Graph`]
//! (arcs as given, with a simple undirected view). Everything later in the pipeline starts there.
//!
//! The kinds of columns and the rules that infer them are in [`infer`].
//!
//! The features `npz` and `parquet`, both on by default, decide which binary formats are built in.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "npz", feature = "parquet")),
    allow(dead_code, unused_imports, reason = "the formats that are left out use it")
)]

pub mod atomic_file;
pub mod block;
mod cell_mask;
mod column;
mod dataset;
mod dictionary;
mod did_you_mean;
mod edge_list;
mod error;
pub mod formats;
pub mod generator;
mod graph;
mod hint;
mod ids;
pub mod infer;
mod kind;
mod labels;
mod memory;
mod portable;
mod progress;
mod random_stream;
#[cfg(feature = "npz")]
pub mod registry;
mod spelling;
pub mod splits;
mod table;
mod types_file;
mod undirected;

pub use block::Block;
pub use cell_mask::CellMask;
pub use column::{Column, ColumnData, Levels};
pub use dataset::Dataset;
pub use did_you_mean::did_you_mean;
pub use edge_list::EdgeList;
pub use error::{DataError, Place, Result};
pub use graph::{Direction, Graph};
pub use hint::{Hint, Setting};
pub use ids::{IdIndex, NodeIds};
pub use kind::{BlockKind, DeclaredKind, Kind, Unused};
pub use labels::Labels;
pub use progress::{NoProgress, Progress};
pub use table::{IdColumn, NodeTable};
pub use types_file::{DeclaredBlock, DeclaredTypes, TypesFile};
pub use undirected::UndirectedGraph;
