//! What runs a plan. A device holds the arena, wherever that is, and nobody else knows where.

use std::time::Duration;

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

/// The first operation that gave a number that is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NotFinite {
    /// The index of the operation in the program.
    pub(crate) step: usize,
    /// NaN or infinity.
    pub(crate) found: f32,
}

/// An executor of planned programs.
pub(crate) trait Device: std::fmt::Debug + Send {
    /// Runs every step of a program once.
    fn run(
        &mut self,
        program: &PlannedProgram,
        context: Context,
        watch: Watch,
    ) -> Result<(), NotFinite>;

    /// Runs every step of a program once and adds the time that each took.
    fn run_timed(&mut self, program: &PlannedProgram, context: Context, times: &mut [Duration]);

    /// Fills a buffer.
    fn write(&mut self, place: Place, values: &[f32]);

    /// Copies a buffer out.
    fn read(&self, place: Place, values: &mut [f32]);

    /// A number in a buffer that is NaN or infinite.
    fn not_finite(&self, place: Place) -> Option<f32>;
}
