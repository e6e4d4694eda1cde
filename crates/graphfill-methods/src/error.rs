//! What can go wrong when a method is chosen or run.

use std::path::PathBuf;

use graphfill_data::DataError;
use graphfill_engine::EngineError;

/// A result whose error is a [`MethodError`].
pub type Result<T, E = MethodError> = std::result::Result<T, E>;

/// Everything that choosing or running a method can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// No method has that name.
    #[error("there is no method '{name}'; the methods are {known}")]
    UnknownMethod {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A parameter is unknown or out of its range.
    #[error("{0}")]
    Parameter(String),
    /// The table offers nothing to do, or nothing to learn from.
    #[error("{0}")]
    Table(String),
    /// Training went astray.
    #[error(
        "the loss is no longer a number after {updates} updates\n  lower its learning rate, as in --param METHOD.learning_rate=0.0003"
    )]
    Diverged {
        /// After how many updates.
        updates: u64,
    },
    /// A checkpoint is of no use here.
    #[error("{}: {problem}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A program could not be recorded, planned or run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The data could not be used, or somebody asked to stop.
    #[error(transparent)]
    Data(#[from] DataError),
}
