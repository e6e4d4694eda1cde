//! What can go wrong when a method is chosen or run.

use graphfill_data::DataError;

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
    /// The data could not be used, or somebody asked to stop.
    #[error(transparent)]
    Data(#[from] DataError),
}
