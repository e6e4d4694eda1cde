//! A CUDA card as a device: every operation becomes a few commands, the step is captured as one
//! graph.
//!
//! Operations say what to launch in [`Operation::cuda`](crate::Operation::cuda), with kernels in a
//! `.cu` file beside them. That is plain data, known once the arena has an address; see [`Call`].
//! Kernels are compiled when they are first used, for the card at hand.
#![cfg_attr(
    not(feature = "cuda"),
    allow(dead_code, unused_imports, reason = "commands that nobody runs")
)]

mod call;
#[cfg(feature = "cuda")]
mod card;
mod command;
mod finish;
pub(crate) mod halves;
#[cfg(feature = "cuda")]
mod lanes;
mod options;
pub(crate) mod sparse;

pub use call::{Call, SparseAddresses};
#[cfg(feature = "cuda")]
pub use card::Card;
pub use command::{
    Address, Argument, Dense, Exactness, Existing, Grid, Kernel, Product, Source, THREADS,
};
pub use finish::Finish;
pub use options::{Launching, Options, Precision};

pub(crate) use call::Constants;
#[cfg(feature = "cuda")]
pub(crate) use card::Cuda;
pub(crate) use command::Command;
pub(crate) use finish::Finishes;

/// A file of kernels that begins with `finish.cuh`.
macro_rules! finishing_source {
    ($name:literal) => {
        $crate::cuda::Source::new(
            $name,
            concat!(
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda/finish.cuh")),
                include_str!($name)
            ),
        )
    };
}
pub(crate) use finishing_source;

/// What every file of kernels begins with.
pub(crate) const COMMON: &str = include_str!("common.cuh");

/// A card that the driver sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardInfo {
    /// Its number, as in `cuda:0`.
    pub number: usize,
    /// Its model.
    pub name: String,
    /// Its memory in bytes.
    pub memory: u64,
    /// What of it is free.
    pub free: u64,
    /// Its compute capability, such as 9.0.
    pub capability: String,
    /// The CUDA version that the driver supports, such as 13.0.
    pub driver: String,
    /// What is missing to use it, each with what to do.
    pub missing: Vec<String>,
}

/// Whether there is an NVIDIA driver, be there a card that can be used or not.
#[cfg(feature = "cuda")]
pub fn driver_is_present() -> bool {
    card::driver_is_present()
}

/// Whether there is an NVIDIA driver: nobody looks, as this was built without CUDA.
#[cfg(not(feature = "cuda"))]
pub fn driver_is_present() -> bool {
    false
}

/// Every card that the driver sees, or why there is none.
#[cfg(feature = "cuda")]
pub fn cards() -> Result<Vec<CardInfo>, String> {
    card::cards()
}

/// Every card that the driver sees: none, as this was built without CUDA.
#[cfg(not(feature = "cuda"))]
pub fn cards() -> Result<Vec<CardInfo>, String> {
    Err(missing().to_string())
}

#[cfg(not(feature = "cuda"))]
pub(crate) fn missing() -> crate::EngineError {
    let problem =
        "this build has no support for CUDA\n  build it with the feature `cuda`".to_owned();
    crate::EngineError::Device { device: "cuda".to_owned(), problem }
}
