//! The arena in memory, and the loop over the steps of a program.

use std::time::{Duration, Instant};

use super::Call;
use crate::error::Result;
use crate::executor::{Broken, Context, Executor, Watch, in_turn};
use crate::plan::{Place, PlannedProgram};

/// Numbers of a cache line.
const LINE: usize = 16;

/// The processor with the arena of one session.
#[derive(Debug)]
pub(crate) struct Cpu {
    memory: Vec<f32>,
    /// Where the arena begins in it: at a cache line.
    begin: usize,
    /// What was kept of it.
    kept: Vec<f32>,
}

impl Cpu {
    /// An arena of so many numbers, all zeros.
    pub(crate) fn new(arena: usize) -> Self {
        // Memory of zeros is taken from the system as it is touched, but only if no alignment is
        // asked for: so there is a line more, and the arena begins at the first whole one.
        let memory = vec![0.0f32; arena.next_multiple_of(LINE) + LINE];
        let begin = memory.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        Cpu { memory, begin, kept: Vec::new() }
    }

    fn numbers(&self) -> &[f32] {
        &self.memory[self.begin..]
    }

    fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.memory[self.begin..]
    }

    fn find_not_finite(&self, place: Place) -> Option<f32> {
        let numbers = &self.numbers()[place.offset..place.offset + place.len];
        numbers.iter().copied().find(|number| !number.is_finite())
    }
}

impl Executor for Cpu {
    fn run(
        &mut self,
        _index: usize,
        program: &PlannedProgram,
        context: Context,
        watch: Watch,
    ) -> Result<(), Broken> {
        for (index, step) in program.steps.iter().enumerate() {
            step.operation.cpu(&mut Call::lend(self.numbers_mut(), step, context));
            if watch == Watch::On {
                for place in step.outputs.iter().flatten() {
                    if let Some(found) = self.find_not_finite(*place) {
                        return Err(Broken::NotFinite { step: index, found });
                    }
                }
            }
        }
        Ok(())
    }

    fn run_timed(
        &mut self,
        _index: usize,
        program: &PlannedProgram,
        context: Context,
        times: &mut [Duration],
    ) -> Result<()> {
        for (step, time) in program.steps.iter().zip(times) {
            let begin = Instant::now();
            step.operation.cpu(&mut Call::lend(self.numbers_mut(), step, context));
            *time += begin.elapsed();
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, place: Place, values: &[f32]) -> Result<()> {
        self.numbers_mut()[place.offset..place.offset + place.len].copy_from_slice(values);
        Ok(())
    }

    fn read(&self, place: Place, values: &mut [f32]) -> Result<()> {
        values.copy_from_slice(&self.numbers()[place.offset..place.offset + place.len]);
        Ok(())
    }

    fn keep(&mut self, places: &[Place]) -> Result<()> {
        let Cpu { memory, begin, kept } = self;
        kept.clear();
        for place in places {
            kept.extend_from_slice(&memory[*begin + place.offset..][..place.len]);
        }
        Ok(())
    }

    fn take_kept(&mut self, places: &[Place]) -> Result<()> {
        let Cpu { memory, begin, kept } = self;
        for (from, place) in in_turn(places) {
            let to = &mut memory[*begin + place.offset..][..place.len];
            to.copy_from_slice(&kept[from..from + place.len]);
        }
        Ok(())
    }

    fn read_kept(&self, begin: usize, values: &mut [f32]) -> Result<()> {
        values.copy_from_slice(&self.kept[begin..begin + values.len()]);
        Ok(())
    }

    fn not_finite(&self, place: Place) -> Result<Option<f32>> {
        Ok(self.find_not_finite(place))
    }
}
