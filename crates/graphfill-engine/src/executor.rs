//! What runs a plan. An executor holds the arena, wherever that is, and nobody else knows where.

use std::time::Duration;

use crate::error::{EngineError, Result};
use crate::plan::{Place, PlannedProgram};

/// Which run this is, on which all randomness depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    /// The seed of the session.
    pub seed: u64,
    /// How often the program has been run before.
    pub step: u64,
}

/// Whether the outputs of every operation are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    On,
    Off,
}

/// Why a run was broken off.
#[derive(Debug)]
pub(crate) enum Broken {
    /// An operation gave a number that is none.
    NotFinite {
        /// The index of the first such operation in the program.
        step: usize,
        /// NaN or infinity.
        found: f32,
    },
    /// The device failed.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the processor does not fail"))]
    Failed(EngineError),
}

/// Buffers that are kept one after the other: where each begins there, and its place.
pub(crate) fn in_turn(places: &[Place]) -> impl Iterator<Item = (usize, Place)> {
    places.iter().scan(0, |end, &place| {
        let begin = *end;
        *end += place.len;
        Some((begin, place))
    })
}

/// An executor of planned programs. A run may go on after [`Executor::run`] has come back; reading
/// waits for it.
pub(crate) trait Executor: std::fmt::Debug + Send {
    /// Runs every step of the program of that index once.
    fn run(
        &mut self,
        index: usize,
        program: &PlannedProgram,
        context: Context,
        watch: Watch,
    ) -> Result<(), Broken>;

    /// Runs every step of a program once and adds the time that each took.
    fn run_timed(
        &mut self,
        index: usize,
        program: &PlannedProgram,
        context: Context,
        times: &mut [Duration],
    ) -> Result<()>;

    /// Waits until everything that was begun is done.
    fn finish(&self) -> Result<()>;

    /// Fills a buffer.
    fn write(&mut self, place: Place, values: &[f32]) -> Result<()>;

    /// Copies a buffer out.
    fn read(&self, place: Place, values: &mut [f32]) -> Result<()>;

    /// Copies buffers to memory beside the arena, [`in_turn`], over what was kept of them before.
    fn keep(&mut self, places: &[Place]) -> Result<()>;

    /// Copies what was kept of the same buffers back to them.
    fn take_kept(&mut self, places: &[Place]) -> Result<()>;

    /// Copies numbers out of what was kept, from the number at `begin` on.
    fn read_kept(&self, begin: usize, values: &mut [f32]) -> Result<()>;

    /// A number in a buffer that is NaN or infinite.
    fn not_finite(&self, place: Place) -> Result<Option<f32>>;
}
