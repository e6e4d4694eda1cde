//! Reading and writing graphs and node tables: CSV and other text, Parquet, `.npz`.
//!
//! [`Input::detect`] tells what a path is and opens it, [`Input::read`] reads it, [`write()`] and
//! [`write_nodes`] write what the name of the output asks for.

mod arrow_edges;
pub(crate) mod arrow_table;
pub(crate) mod assemble;
mod column_names;
mod csv;
mod edge_collector;
mod edge_columns;
mod encoding;
mod guesses;
mod headers;
mod input;
#[cfg(not(all(feature = "npz", feature = "parquet")))]
mod left_out;
mod lists;
mod new_nodes;
#[cfg(feature = "npz")]
pub mod npz;
mod opened;
mod options;
mod output;
mod output_file;
#[cfg(feature = "parquet")]
mod parquet;
mod raw_table;
pub(crate) mod resolve;
#[cfg(feature = "npz")]
pub mod splits_file;
mod tables;

#[cfg(not(feature = "npz"))]
use left_out::npz;
#[cfg(not(feature = "parquet"))]
use left_out::parquet;

pub use assemble::MIN_BLOCK_COLUMNS;
pub use csv::Delimiter;
pub(crate) use csv::Dialect;
pub use encoding::Encoding;
pub use input::Input;
pub use opened::STANDARD_STREAM;
pub use options::{Header, ReadOptions, TextOptions, UnknownNodes, UnusableValues, WeightColumn};
pub use output::{
    DRAW_COLUMN, OutputFormat, Replace, outputs, write, write_draws, write_nodes, write_replacing,
};
pub use tables::{EdgeFrame, NodeFrame};
