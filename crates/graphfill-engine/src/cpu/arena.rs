//! The arena in memory, and the loop over the steps of a program.

use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};

use super::Call;
use crate::device::{Context, Device, NotFinite, Watch};
use crate::plan::{Place, PlannedProgram};

/// The processor with the arena of one session.
#[derive(Debug)]
pub(crate) struct Cpu {
    lines: Vec<CacheLine>,
}

/// Sixteen numbers at a multiple of 64 bytes.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([f32; 16]);

impl Cpu {
    /// An arena of so many numbers, all zeros. Memory is taken from the system as it is touched.
    pub(crate) fn new(arena: usize) -> Self {
        Cpu { lines: bytemuck::zeroed_vec(arena.div_ceil(16)) }
    }

    fn numbers(&self) -> &[f32] {
        bytemuck::cast_slice(&self.lines)
    }

    fn numbers_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

impl Device for Cpu {
    fn run(
        &mut self,
        program: &PlannedProgram,
        context: Context,
        watch: Watch,
    ) -> Result<(), NotFinite> {
        for (index, step) in program.steps.iter().enumerate() {
            step.operation.cpu(&mut Call::lend(self.numbers_mut(), step, context));
            if watch == Watch::On {
                for place in step.outputs.iter().flatten() {
                    if let Some(found) = self.not_finite(*place) {
                        return Err(NotFinite { step: index, found });
                    }
                }
            }
        }
        Ok(())
    }

    fn run_timed(&mut self, program: &PlannedProgram, context: Context, times: &mut [Duration]) {
        for (step, time) in program.steps.iter().zip(times) {
            let begin = Instant::now();
            step.operation.cpu(&mut Call::lend(self.numbers_mut(), step, context));
            *time += begin.elapsed();
        }
    }

    fn write(&mut self, place: Place, values: &[f32]) {
        self.numbers_mut()[place.offset..place.offset + place.len].copy_from_slice(values);
    }

    fn read(&self, place: Place, values: &mut [f32]) {
        values.copy_from_slice(&self.numbers()[place.offset..place.offset + place.len]);
    }

    fn not_finite(&self, place: Place) -> Option<f32> {
        let numbers = &self.numbers()[place.offset..place.offset + place.len];
        numbers.iter().copied().find(|number| !number.is_finite())
    }
}
