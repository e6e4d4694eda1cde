//! soon
#![forbid(unsafe_code)]

pub mod cpu;
mod device;
mod error;
mod fingerprint;
pub mod ops;
mod optim;
mod plan;
mod program;
pub mod random;
mod session;
mod shape;
mod sparse;
#[cfg(test)]
mod testing;

pub use error::{EngineError, Result};
pub use ops::{Decoder, Direction, Factor, Label, Likelihood, MISSING_CATEGORY, Targets};
pub use optim::{Adam, Schedule, WeightDecay};
pub use plan::{MemoryLimit, Plan};
pub use program::{Backward, Constant, Initial, Matrix, Mismatch, Operation, Program, Recorded};
pub use session::{OperationTime, Session};
pub use shape::Shape;
pub use sparse::{SparseMatrix, SparseRows, SparseView};
