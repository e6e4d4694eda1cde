//! How good estimates are: hide known values, estimate them, compare.
//!
//! [`metrics`] are plain functions, each with its formula; [`evaluate()`] hides rows or cells of a
//! data set, runs methods on what is left and scores them seed by seed; [`comparison`] says
//! whether a difference between two methods is more than noise; [`mod@bench`] times training updates.
#![forbid(unsafe_code)]

pub mod bench;
pub mod classification;
pub mod comparison;
mod evaluate;
pub mod experiments;
mod hiding;
pub mod memory;
pub mod metrics;
pub mod protocols;
mod report;
mod run;
mod score;
mod student;
mod summary;
mod uncertainty;

pub use evaluate::{EvaluateOptions, evaluate, tune};
pub use hiding::{Hidden, Hiding};
pub use report::{ChosenMethod, ChosenParameters, Evaluation, MethodEvaluation, SeedEvaluation};
pub use score::{Metrics, Scorer, default_depths};
pub use summary::{mean, standard_deviation};
