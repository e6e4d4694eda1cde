//! Methods that estimate the missing cells of a node table from its graph.
//!
//! A [`Method`] is a typed struct of parameters. [`Method::fit`] gives an owned [`Model`], which fills
//! tables ([`Model::transform`]), can be saved and loaded, and knows its columns. A [`Registry`] has the
//! methods by name; other crates add their own. [`fill`] does everything in one call.
//!
//! Below that, a [`Task`] is a graph, the [`features`] of its table and the cells that must not be read;
//! the [`Fitted`] method passes [`Estimates`] to an [`EstimateSink`], a panel of columns at a time.
#![forbid(unsafe_code)]

pub mod arb;
pub mod arwmf;
mod attribute_links;
pub mod auto;
mod boosting;
pub mod column_mean;
mod context;
// The device that tests run on.
#[cfg(test)]
#[path = "../../graphfill-engine/tests/device/mod.rs"]
mod device;
mod eigen;
pub mod encoder;
mod error;
pub mod feature_propagation;
pub mod features;
pub mod fill;
pub mod gmrf;
pub mod gnn;
pub mod grape;
pub mod graph_rna;
pub mod learning;
mod method;
mod model;
pub mod neighbour_mean;
mod parameters;
pub mod pcfi;
pub mod propagation;
#[cfg(test)]
mod reference;
mod registry;
pub mod row_gaussian;
pub mod sat;
pub mod schema;
pub mod selection;
pub mod svga;
pub mod svga_p;
pub mod tuning;
pub mod uncertainty;
pub mod vae;

pub use context::{CheckpointOptions, Context, Deadline, IgnoreCancel, ValidationDevice};
pub use error::{MethodError, MethodSetting, Result};
pub use method::{
    Choice, DeviceUse, EstimateSink, Estimates, Fitted, HitRate, LabelUse, Measure, Method,
    MethodInfo, RANKING_DEPTH, Score, Task,
};
pub use model::Model;
pub use parameters::{
    Allowed, ParamOverrides, ParameterField, ParameterInfo, Parameterised, Parameters, Tuning,
    Value, YES_NO,
};
pub use registry::Registry;
