//! Static training programs: recorded once, differentiated, planned into one arena, run thousands
//! of times.
//!
//! Training on a whole graph repeats the same step on the same shapes. So a model is written once:
//!
//! - A [`Program`] records operations on matrices. What it returns, a [`Matrix`], is a handle: its
//!   shape is known, its numbers come with the run. Mistakes in shapes are told by
//!   [`Program::finish`], with the operation, its line and both shapes.
//! - [`Program::differentiate`] appends the operations that compute gradients;
//!   [`Program::minimise`] also appends the updates of [`Adam`].
//! - A [`Plan`] gives every buffer of one or more programs its place in one arena. Buffers whose
//!   lives don't overlap share memory, so [`Plan::peak_bytes`] is known before anything runs.
//! - A [`Session`] holds the arena and runs programs, without allocating. Programs of one plan share
//!   their parameters by name: one trains, another predicts; two can train against each other.
//!
//! # Ten lines
//!
//! A graph of three nodes in a row, a learnt vector for each, and two layers that average with the
//! neighbours and should tell which end a node is near:
//!
//! ```
//! use graphfill_engine::{Adam, Initial, Likelihood, Plan, Program, Schedule, Session, SparseMatrix};
//! use std::sync::Arc;
//!
//! let averages = vec![0.5, 0.5, 0.25, 0.5, 0.25, 0.5, 0.5];
//! let graph = Arc::new(SparseMatrix::new(vec![0, 2, 5, 7], vec![0, 1, 0, 1, 2, 1, 2], Some(averages), 3));
//! let ends = Arc::new(Likelihood::new(3).categorical(2, vec![0, u32::MAX, 1], 1.0)?);
//!
//! let program = Program::new("training");
//! let embedding = program.parameter("embedding", [3, 8], Initial::Glorot);
//! let bias = program.parameter("bias", [1, 8], Initial::ZEROS);
//! let hidden = program.sparse_product(&graph, embedding).add_bias(bias).relu().dropout(0.1);
//! let scores = program.sparse_product(&graph, hidden.linear("output", 2));
//! let loss = scores.loss(&ends);
//! program.output("loss", loss);
//! let learnt = ["embedding", "bias", "output.weight", "output.bias"];
//! program.minimise(loss, &Adam::new(Schedule::Constant(0.05)), None, &learnt);
//!
//! let mut session = Session::new(Plan::new(vec![program.finish()?])?, 0)?;
//! for _ in 0..100 {
//!     session.run("training")?;
//! }
//! assert!(session.scalar("training", "loss")? < 0.1);
//! # Ok::<(), graphfill_engine::EngineError>(())
//! ```
//!
//! # What holds
//!
//! - **No allocation** in a training step after the first, when it is run inside a rayon pool. (A round of
//!   [propagation](Program::propagate) that pulls towards the mean allocates the sums of its columns.)
//! - **The same bits** for any number of threads: however rows are dealt out, sums are made in the
//!   same order, and randomness is a function of (seed, stream, step, index); see [`random`].
//! - **A step reads the state from before it**: every operation sees the parameters as they were, and
//!   updates come after all readers.
//! - **Outputs that nobody uses are not computed**, nor is anything that they alone depend on. A loss
//!   computes its derivative with its value, but only where somebody differentiates it.
//! - **Nothing above an executor knows where buffers live.** It gets the plan, reads and writes places
//!   of its arena, and runs operations one after the other on the processor ([`cpu`]); on a CUDA card
//!   ([`cuda`]), those side by side that don't wait for each other.
//!
//! # Tests on a GPU
//!
//! All tests of this crate run on the device that the environment variable `GRAPHFILL_TEST_DEVICE` names: the CPU if
//! it is not set, the first GPU with `cuda`, `cuda,tf32` or `cuda,bf16`.
//!
//! # How to add an operation
//!
//! One file; see [`ops`].
#![deny(unsafe_code)]

// Tests of operations and of whole programs share the choice of their device.
#[cfg(test)]
extern crate self as graphfill_engine;

pub mod cpu;
pub mod cuda;
mod device;
mod error;
mod executor;
mod fingerprint;
pub mod ops;
mod optim;
mod plan;
mod program;
pub mod random;
mod session;
mod shape;
mod sparse;
mod store;
#[cfg(test)]
mod testing;

pub use device::Device;
pub use error::{EngineError, Lower, Result};
pub use ops::{
    Averaged, Decoder, Direction, Factor, Label, Likelihood, MISSING_CATEGORY, PropagationRound,
    Ranking, RankingMeasure, Targets, TrueColumns, TrueValues, ValueOfScore, shuffled_column,
};
pub use optim::{Adam, Schedule, WeightDecay};
pub use plan::{MemoryLimit, Plan};
pub use program::{Backward, Constant, Initial, Matrix, Mismatch, Operation, Program, Recorded};
pub use session::{OperationTime, Session, Snapshot};
pub use shape::Shape;
pub use sparse::{SparseMatrix, SparseRows, SparseView};
pub use store::{TensorStore, Tensors};
