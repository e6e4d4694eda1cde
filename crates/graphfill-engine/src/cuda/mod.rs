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

mod cache;
mod call;
#[cfg(feature = "cuda")]
mod card;
mod command;
mod finish;
mod fusion;
pub(crate) mod halves;
mod lanes;
#[cfg(test)]
pub(crate) mod launches;
mod options;
pub(crate) mod sparse;

pub use call::{Call, SparseAddresses};
#[cfg(feature = "cuda")]
pub use card::Card;
pub use command::{
    Address, Argument, Define, Dense, Exactness, Existing, Grid, Kernel, Product, Source, THREADS,
};
pub use finish::Finish;
pub use options::{Launching, Options, Precision};

pub(crate) use call::Constants;
#[cfg(feature = "cuda")]
pub(crate) use card::Cuda;
pub(crate) use command::{Command, LIST_THREADS};
pub(crate) use finish::{FINISH_DEFINES, Finishes, Function};

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
        .with(&[$crate::cuda::FINISH_DEFINES])
    };
}
pub(crate) use finishing_source;

/// What cuBLAS may use for itself on each stream: as much as it recommends for the largest GPUs.
pub(crate) const STREAM_WORKSPACE_BYTES: u64 = 32 << 20;

/// What cuBLAS uses in a session whose steps are captured: each lane has two streams.
pub(crate) const WORKSPACE_BYTES: u64 = 2 * lanes::LANES as u64 * STREAM_WORKSPACE_BYTES;

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
