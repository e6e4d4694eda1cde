//! What can go wrong between a program's first line and its last step.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::Shape;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// An operation was given matrices that do not fit each other.
    #[error("{operation} ({place}): {left} does not fit {right}: {rule}")]
    Shape {
        /// The operation.
        operation: &'static str,
        /// The line that recorded it.
        place: String,
        /// The first shape.
        left: Shape,
        /// The shape that does not fit.
        right: Shape,
        /// What the operation asks for.
        rule: &'static str,
    },
    /// A program was put together wrongly in another way.
    #[error("{operation} ({place}): {problem}")]
    Program {
        /// The operation.
        operation: &'static str,
        /// The line that recorded it.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// Two programs disagree about a buffer that they share by name.
    #[error("`{name}` is {first} in one program and {second} in another")]
    Shared {
        /// The buffer.
        name: String,
        /// How the first program has it.
        first: String,
        /// How the other has it.
        second: String,
    },
    /// Another number of values than a buffer or an output has.
    #[error("`{name}` is {shape}, {} numbers; {found} were given", shape.len())]
    Length {
        /// The buffer or output.
        name: String,
        /// Its shape.
        shape: Shape,
        /// How many numbers there were.
        found: usize,
    },
    /// A tensor that is kept, or to be kept, in a file is not as it should be.
    #[error("tensor `{name}` {problem}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// A snapshot is of a session with other parameters.
    #[error(
        "the snapshot is of another session: `{name}` {problem}; take it from a session of the \
         same plan"
    )]
    Snapshot {
        /// The parameter.
        name: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// Outputs are kept until the next run of any program.
    #[error("`{output}` of `{program}` is gone: {last} was run last")]
    NotRun {
        /// The program that was asked.
        program: String,
        /// The output.
        output: String,
        /// The program that was run last, if any.
        last: String,
    },
    /// No buffer, output or program of that name.
    #[error("there is no {kind} named `{name}`; there are {known}")]
    Unknown {
        /// What was looked for.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The plan needs more memory than there is.
    #[error(
        "training needs {} of memory and {} are {limit}; {largest}; lower {lower}",
        in_units(*needed), in_units(*available)
    )]
    Memory {
        /// What the plan needs, in bytes.
        needed: u64,
        /// What there is, in bytes.
        available: u64,
        /// "available" or "allowed"; of a card's memory, also where.
        limit: String,
        /// The largest buffers.
        largest: String,
        /// What to lower.
        lower: Lower,
    },
    /// A device cannot be used, or failed.
    #[error("{device}: {problem}")]
    Device {
        /// The device, such as `cuda:0`.
        device: String,
        /// What is wrong, and what to do about it.
        problem: String,
    },
    /// A number stopped being one.
    #[error(
        "step {step} of `{program}`: {operation} ({place}) gave {found}, from finite inputs; \
         a smaller learning rate or clipped gradients usually help"
    )]
    NotFinite {
        /// The program.
        program: String,
        /// The step, counted from 0.
        step: u64,
        /// The operation that gave the first such number.
        operation: &'static str,
        /// The line that recorded it.
        place: String,
        /// NaN or infinity.
        found: f32,
    },
    /// A number had stopped being one before the step was watched.
    #[error(
        "step {step} of `{program}`: `{buffer}` already held {found} before the step began; \
         watch every step to see where it comes from"
    )]
    NotFiniteBefore {
        /// The program.
        program: String,
        /// The step, counted from 0.
        step: u64,
        /// The buffer.
        buffer: String,
        /// NaN or infinity.
        found: f32,
    },
    /// A checkpoint could not be read or written.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A checkpoint is not of this program.
    #[error("{}: {problem}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What was found and what was expected.
        problem: String,
    },
}

/// What to lower so that less memory is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lower {
    /// In plain words, such as "the hidden width".
    pub what: String,
    /// A parameter by the name that its method gives it, with a value that needs less.
    pub parameter: Option<(String, u64)>,
}

impl Lower {
    /// A parameter, and half of what it is now.
    pub fn halved(what: &str, parameter: String, value: usize) -> Self {
        let half = (value / 2).max(1) as u64;
        Lower { what: what.to_owned(), parameter: Some((parameter, half)) }
    }
}

impl From<&str> for Lower {
    fn from(what: &str) -> Self {
        Lower { what: what.to_owned(), parameter: None }
    }
}

impl fmt::Display for Lower {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)?;
        match &self.parameter {
            Some((name, value)) => write!(formatter, " ({name} = {value})"),
            None => Ok(()),
        }
    }
}

/// What most functions here return.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Bytes as a person would say them.
pub(crate) fn in_units(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|&(size, _)| bytes >= size) {
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / size as f64),
        None => format!("{bytes} bytes"),
    }
}
