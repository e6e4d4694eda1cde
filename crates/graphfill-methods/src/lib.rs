//! Methods that estimate the missing cells of a node table from its graph.
//!
//! A [`Task`] is a graph, the [`features`] of its table and the cells that may not be looked at.
//! A [`Method`] is fitted to it (parameters that the caller left open are chosen on validation
//! cells), and the [`Fitted`] model gives [`Estimates`], a panel of columns at a time, to an
//! [`EstimateSink`]. [`fill`] is the whole way from a table with holes to one without.
//!
//! A new method is one folder and one line in [`registry`].
#![forbid(unsafe_code)]

pub mod arb;
pub mod arwmf;
mod attribute_links;
pub mod auto;
pub mod column_mean;
// The device that tests run on.
#[cfg(test)]
#[path = "../../graphfill-engine/tests/device/mod.rs"]
mod device;
pub mod encoder;
mod error;
pub mod feature_propagation;
pub mod features;
pub mod fill;
pub mod gnn;
pub mod grape;
pub mod graph_rna;
pub mod learning;
mod method;
pub mod neighbour_mean;
mod parameters;
pub mod pcfi;
pub mod propagation;
pub mod registry;
pub mod row_gaussian;
pub mod sat;

pub mod selection;
pub mod svga;
pub mod svga_p;
pub mod tuning;
pub mod vae;

pub use error::{MethodError, MethodSetting, Result};
pub use method::{
    Choice, DeviceUse, EstimateSink, Estimates, Fitted, LabelUse, Measure, Method, MethodInfo,
    RANKING_DEPTH, Score, Task,
};
pub use parameters::{Allowed, FixedParameters, ParameterInfo, Parameters, Value};
