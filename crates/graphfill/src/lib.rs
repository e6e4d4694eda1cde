//! graphfill estimates missing values in the node table of a graph.
//!
//! Given a graph and a node table with missing rows or cells, it estimates the missing values from
//! the neighbours and the other columns, and measures the error of the estimates on observed values
//! that it hides from the methods.
//!
//! ```
//! use graphfill::data::generator::{GeneratorConfig, generate};
//! use graphfill::methods::{fill, registry};
//!
//! // A town of 300 people: some rows and cells of their table are missing.
//! let town = generate(&GeneratorConfig { nodes: 300, ..GeneratorConfig::default() })?.dataset;
//! let missing = town.table.missing().count();
//!
//! let options = fill::FillOptions::new(registry::find("auto")?);
//! let filled = fill::fill(&town.table, &town.graph.undirected(), &options)?;
//! assert_eq!(filled.estimated, missing);
//! assert!(filled.table.missing().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate re-exports the others: [`data`] reads and writes graphs and tables, [`datasets`] gets and
//! reads published data sets, [`methods`] estimates missing values, [`engine`] trains models on the CPU
//! or a GPU, [`eval`] evaluates methods, and [`report`] writes reports and figures. The command line is
//! the crate `graphfill-cli`.
#![forbid(unsafe_code)]

pub use graphfill_data as data;
pub use graphfill_datasets as datasets;
pub use graphfill_engine as engine;
pub use graphfill_eval as eval;
pub use graphfill_methods as methods;
pub use graphfill_report as report;

/// Examples of the README, compiled by the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The example of the library page, compiled by the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;

/// The example of a new method, run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding-a-method.md")]
struct AddingAMethod;
