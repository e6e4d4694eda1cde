//! graphfill estimates missing values in the node table of a graph.
//!
//! Given a graph and a node table with missing rows or cells, it estimates the missing values from
//! the neighbours and the other columns, and measures the error of the estimates on observed values
//! that it hides from the methods.
//!
//! ```no_run
//! graphfill::read("nodes.csv", "edges.csv")?.fill()?.write("filled.csv")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One level below, a method is a struct of parameters, and fitting gives a model that fills other
//! tables, too:
//!
//! ```
//! use graphfill::data::generator::{GeneratorConfig, generate};
//! use graphfill::{Context, Method, SvgaP};
//!
//! // A town of 300 people: some rows and cells of their table are missing.
//! let town = generate(&GeneratorConfig { nodes: 300, ..GeneratorConfig::default() })?.dataset;
//! let (table, graph) = (&town.table, town.graph.undirected());
//!
//! let context = Context::default();
//! let model = SvgaP::new().hidden(32).models(1).fit(table, &graph, &context)?;
//! let filled = model.transform(table, &graph, &context)?;
//! assert!(filled.table.missing().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate re-exports the others: [`data`] reads and writes graphs and tables, [`datasets`] gets and
//! reads published data sets, [`methods`] estimates missing values, [`engine`] trains models on the CPU
//! or a GPU, [`eval`] evaluates methods, and [`report`] writes reports and figures. The command line is
//! the crate `graphfill-cli`.
#![forbid(unsafe_code)]

mod facade;

pub use facade::{Data, FilledData, read, read_with};
pub use graphfill_methods::arb::Arb;
pub use graphfill_methods::auto::Auto;
pub use graphfill_methods::svga::Svga;
pub use graphfill_methods::svga_p::SvgaP;
pub use graphfill_methods::{Context, Method, MethodError, Model, Parameters, Registry};

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
