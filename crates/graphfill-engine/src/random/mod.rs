//! Randomness by counting: a draw is a function of (seed, stream, step, index) and of nothing else.
//!
//! So a dropout mask is recomputed in the backward pass instead of stored, every thread can draw its
//! own part, and a resumed run draws what the uninterrupted one would have. Each random operation
//! of a program has its own stream; the step is the number of the run.

mod draws;
mod philox;

#[cfg(test)]
pub(crate) use draws::kept_in_group;
pub(crate) use draws::{
    KEEP_GROUP, PAIR_GROUP, keep_factors, keep_scale, keep_threshold, pairs_below,
};
pub use draws::{normals, uniforms};

use crate::fingerprint::Fingerprint;

/// What a sequence of draws depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    seed: u64,
    stream: u32,
    step: u64,
}

impl Key {
    /// The draws of one random operation in one step.
    pub const fn new(seed: u64, stream: u32, step: u64) -> Self {
        Key { seed, stream, step }
    }

    /// The draws of a parameter's first values: of no step that is ever run.
    pub(crate) fn of_initial(seed: u64, name: &str) -> Self {
        Key { seed, stream: Fingerprint::of(name) as u32, step: u64::MAX }
    }
}
