//! Graphs and node tables with missing cells: types, readers and writers of their file formats,
//! splits, and a generated example.
//!
//! A [`Dataset`] is a [`NodeTable`] (ids, typed columns, missing cells, labels) and a [`Graph`] (arcs
//! as given, which [`Graph::undirected`] turns into a simple undirected graph). [`formats`] reads it
//! from files; [`Graph::from_edge_index`] and [`NodeTable::from_record_batches`] make it from memory.
//!
//! The rules that infer the kinds of columns are in [`infer`].
//!
//! The features `npz` and `parquet`, both on by default, decide which binary formats are built in.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "npz", feature = "parquet")),
    allow(dead_code, unused_imports, reason = "the formats that are left out use it")
)]

/// The Arrow crates whose types this crate uses, in the version that it uses.
pub mod arrow {
    pub use arrow_array as array;
    pub use arrow_schema as schema;
}

pub mod atomic_file;
pub mod block;
mod cell_mask;
mod column;
mod completion;
mod dataset;
mod date_style;
mod dictionary;
mod did_you_mean;
mod duplicate_edges;
mod edge_list;
mod error;
mod extremes;
pub mod formats;
mod found_columns;
pub mod generator;
mod graph;
mod hint;
mod ids;
pub mod infer;
mod kind;
mod labels;
mod memory;
mod missing_words;
mod note;
mod number_style;
mod progress;
mod random_stream;
mod spelling;
pub mod splits;
mod table;
mod table_arrow;
mod types_file;
mod undirected;

pub use block::{Block, BlockBuilder, BlockLayout};
pub use cell_mask::CellMask;
pub use column::{Column, ColumnData, ColumnStyle, Levels};
pub use completion::EXACT;
pub use dataset::Dataset;
pub use date_style::DateOrder;
pub use did_you_mean::did_you_mean;
pub use duplicate_edges::DuplicateEdges;
pub use edge_list::EdgeList;
pub use error::{DataError, Place, Result};
pub use found_columns::{FoundColumns, FoundEdgeColumns};
pub use graph::{Direction, Graph};
pub use hint::{Hint, Setting};
pub use ids::{IdIndex, NodeIds};
pub use kind::{BlockKind, DeclaredKind, Kind, Unused};
pub use labels::Labels;
pub use missing_words::{MissingWords, USUAL_MISSING_WORDS};
pub use note::{Note, Severity};
pub use number_style::DecimalMark;
pub use progress::{NoProgress, Progress};
pub use table::{IdColumn, NodeTable};
pub use types_file::{DeclaredBlock, DeclaredTypes, TypesFile};
pub use undirected::UndirectedGraph;

/// The example of the README, run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
