//! What can go wrong when a method is chosen or run.

use std::path::PathBuf;

use graphfill_data::{DataError, DeclaredKind, Setting};
use graphfill_engine::EngineError;

/// A result whose error is a [`MethodError`].
pub type Result<T, E = MethodError> = std::result::Result<T, E>;

/// Everything that choosing or running a method can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// No method has that name.
    #[error("there is no method '{name}'{}; the methods are {known}", suggest(closest.as_deref()))]
    UnknownMethod {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
        /// The method that was probably meant.
        closest: Option<String>,
    },
    /// A parameter is unknown or out of its range.
    #[error("{0}")]
    Parameter(String),
    /// The table offers nothing to do, or nothing to learn from.
    #[error("{0}")]
    Table(String),
    /// Training went astray.
    #[error(
        "the loss is no longer a number after {updates} updates\n  lower the learning rate of the method"
    )]
    Diverged {
        /// After how many updates.
        updates: u64,
    },
    /// No column of the table can be estimated.
    #[error("no column of the table can be estimated\n  declare the types of its columns")]
    NoFeatures,
    /// A saved model was trained with other labels.
    #[error(
        "the model has learned other labels: {problem}\n  to fill the other columns, do not use the labels"
    )]
    OtherLabels {
        /// What differs.
        problem: String,
        /// The column of the labels.
        column: String,
    },
    /// A checkpoint is of another run.
    #[error(
        "{}: it is of another run: other data, another method or other settings\n  repeat the run that began it, name another checkpoint, or remove it",
        path.display()
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
    },
    /// A saved model cannot be used.
    #[error("the model cannot be used: {0}")]
    Model(String),
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

/// An option with a suggested value. The command line spells it as a flag, Python as a keyword.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MethodSetting {
    /// A parameter of a method.
    Parameter {
        /// METHOD.NAME, where the method is known.
        name: String,
        /// The value.
        value: f64,
    },
    /// The file of the checkpoint.
    Checkpoint,
    /// An option of reading data.
    Data(Setting),
}

impl MethodError {
    /// The settings that would help, each by itself; may be empty.
    pub fn settings(&self) -> Vec<MethodSetting> {
        match self {
            MethodError::Engine(EngineError::Memory { lower, .. }) => {
                let parameter = lower
                    .parameter
                    .clone()
                    .map(|(name, value)| MethodSetting::Parameter { name, value: value as f64 });
                parameter.into_iter().collect()
            }
            MethodError::Diverged { .. } => {
                vec![MethodSetting::Parameter {
                    name: "METHOD.learning_rate".to_owned(),
                    value: 0.0003,
                }]
            }
            MethodError::NoFeatures => {
                let column = "COLUMN".to_owned();
                vec![MethodSetting::Data(Setting::Type { column, kind: DeclaredKind::Number })]
            }
            MethodError::OtherLabels { column, .. } => {
                let column = column.clone();
                vec![MethodSetting::Data(Setting::Type { column, kind: DeclaredKind::Unused })]
            }
            MethodError::OtherRun { .. } => vec![MethodSetting::Checkpoint],
            MethodError::Data(error) => {
                let hint = error.hint().into_iter().flat_map(|hint| hint.settings.clone());
                hint.map(MethodSetting::Data).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The words that offer the closest known name.
pub(crate) fn suggest(closest: Option<&str>) -> String {
    closest.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}
