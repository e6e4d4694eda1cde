//! A CUDA card as a device: every operation becomes a few commands, the step is captured as one
//! graph.
//!
//! Operations say what to launch in [`Operation::cuda`](crate::Operation::cuda), with kernels in a
//! `.cu` file beside them. That is plain data, known once the arena has an address; see [`Call`].
//! Kernels are compiled when they are first used, for the card at hand.

mod call;
mod command;

pub use call::{Call, SparseAddresses};
pub(crate) use call::{Constants, Identity};
pub(crate) use command::Command;
pub use command::{
    Address, Argument, Dense, Exactness, Existing, Grid, Kernel, Product, Source, THREADS,
};

/// What every file of kernels begins with.
pub(crate) const COMMON: &str = include_str!("common.cuh");
