//! A session: a plan on a device, with the parameters that its programs share.

use std::time::Duration;

use crate::Shape;
use crate::error::{EngineError, Result};
use crate::executor::{Broken, Context, Executor, Watch};
use crate::plan::{Buffer, Place, Plan, unknown};
use crate::program::Role;

mod checkpoint;
mod snapshot;

pub use snapshot::Snapshot;

/// The programs of a plan, ready to run, and everything that they remember.
#[derive(Debug)]
pub struct Session {
    plan: Plan,
    executor: Box<dyn Executor>,
    seed: u64,
    /// How often each program has been run.
    steps: Vec<u64>,
    watch_every: Option<u64>,
    /// The program whose outputs are in the arena.
    last: Option<usize>,
    /// Whether parameters were ever kept.
    has_kept: bool,
}

/// How long an operation takes.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationTime {
    /// The operation.
    pub operation: &'static str,
    /// The line that recorded it.
    pub place: String,
    /// The shape of its first output.
    pub shape: Shape,
    /// The mean time of a run.
    pub seconds: f64,
    /// The floating-point operations of its products.
    pub flop: u64,
}

impl Session {
    /// A session on the device of the plan. Parameters get the values that the seed gives them.
    pub fn new(plan: Plan, seed: u64) -> Result<Self> {
        let executor = plan.device.executor(&plan)?;
        let steps = vec![0; plan.programs.len()];
        let (watch_every, last) = (None, None);
        let mut session =
            Session { plan, executor, seed, steps, watch_every, last, has_kept: false };
        session.initialise()?;
        Ok(session)
    }

    /// Looks for NaN and infinity after every operation in every `interval`-th step; 0 never does.
    /// The error names the operation; on a GPU, where one kernel does the work of several operations, the first
    /// of them. A watched step gives the same bits as any other, and takes a little longer. After an error some parameters have
    /// been updated and others not: load a checkpoint or restore a snapshot before going on.
    pub fn watch(&mut self, interval: u64) {
        self.watch_every = (interval > 0).then_some(interval);
    }

    /// Runs every operation of a program once. Call it from within a rayon pool to choose the
    /// threads; what comes out doesn't depend on them.
    pub fn run(&mut self, program: &str) -> Result<()> {
        let (index, program) = self.plan.program(program)?;
        let step = self.steps[index];
        let watched = self.watch_every.is_some_and(|every| step % every == 0);
        let watch = if watched { Watch::On } else { Watch::Off };
        if watched {
            self.check_buffers(index)?;
        }
        let context = Context { seed: self.seed, step };
        self.last = Some(index);
        self.executor.run(index, program, context, watch).map_err(|broken| match broken {
            Broken::Failed(error) => error,
            Broken::NotFinite { step: culprit, found } => EngineError::NotFinite {
                program: program.name.clone(),
                step,
                operation: program.steps[culprit].operation.name(),
                place: program.steps[culprit].place.to_string(),
                found,
            },
        })?;
        self.steps[index] += 1;
        Ok(())
    }

    /// Runs a program so many times and says how long each of its operations took on average, in
    /// the order of the run.
    pub fn profile(&mut self, program: &str, runs: u32) -> Result<Vec<OperationTime>> {
        let (index, planned) = self.plan.program(program)?;
        let mut times = vec![Duration::ZERO; planned.steps.len()];
        self.last = Some(index);
        for _ in 0..runs {
            let context = Context { seed: self.seed, step: self.steps[index] };
            self.executor.run_timed(index, planned, context, &mut times)?;
            self.steps[index] += 1;
        }
        let described = planned.steps.iter().zip(times).map(|(step, time)| OperationTime {
            operation: step.operation.name(),
            place: step.place.to_string(),
            shape: step.output_shapes[0],
            seconds: time.as_secs_f64() / f64::from(runs.max(1)),
            flop: step.arithmetic(),
        });
        Ok(described.collect())
    }

    /// Waits until every run that was begun is done. On a card, [`Session::run`] comes back before
    /// that; whatever reads waits by itself.
    pub fn finish(&self) -> Result<()> {
        self.executor.finish()
    }

    /// How often a program has been run.
    pub fn steps(&self, program: &str) -> Result<u64> {
        Ok(self.steps[self.plan.program(program)?.0])
    }

    /// Fills a parameter or an input.
    pub fn write(&mut self, name: &str, values: &[f32]) -> Result<()> {
        let buffer = self.plan.buffer(name)?;
        check_length(name, buffer.shape, values.len())?;
        self.executor.write(buffer.place, values)
    }

    /// The numbers of a parameter or an input.
    pub fn buffer(&self, name: &str) -> Result<Vec<f32>> {
        let mut values = vec![0.0; self.plan.buffer(name)?.shape.len()];
        self.buffer_into(name, &mut values)?;
        Ok(values)
    }

    /// Copies a parameter or an input, where memory for it is at hand.
    pub fn buffer_into(&self, name: &str, values: &mut [f32]) -> Result<()> {
        let buffer = self.plan.buffer(name)?;
        check_length(name, buffer.shape, values.len())?;
        self.executor.read(buffer.place, values)
    }

    /// The numbers of an output of the program that was run last.
    pub fn read(&self, program: &str, output: &str) -> Result<Vec<f32>> {
        let (place, shape) = self.find_output(program, output)?;
        let mut values = vec![0.0; shape.len()];
        self.executor.read(place, &mut values)?;
        Ok(values)
    }

    /// Copies an output of the program that was run last, where memory for it is at hand.
    pub fn read_into(&self, program: &str, output: &str, values: &mut [f32]) -> Result<()> {
        let (place, shape) = self.find_output(program, output)?;
        check_length(output, shape, values.len())?;
        self.executor.read(place, values)
    }

    /// An output of one number, such as a loss, of the program that was run last.
    pub fn scalar(&self, program: &str, output: &str) -> Result<f32> {
        let mut value = [0.0];
        self.read_into(program, output, &mut value)?;
        Ok(value[0])
    }

    /// Begins anew with another seed, in the same memory: parameters as the seed gives them, no
    /// steps, the optimiser's state at zero. Inputs stay, and so does what was kept.
    pub fn restart(&mut self, seed: u64) -> Result<()> {
        self.seed = seed;
        self.steps.fill(0);
        self.last = None;
        for buffer in self.plan.buffers.iter().filter(|buffer| buffer.role == Role::State) {
            self.executor.write(buffer.place, &vec![0.0; buffer.shape.len()])?;
        }
        self.initialise()
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameter_buffers().map(|buffer| buffer.name.as_str())
    }

    fn parameter_buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.plan.buffers.iter().filter(|buffer| matches!(buffer.role, Role::Parameter(_)))
    }

    /// Where an output lies, if what lies there is of that program.
    fn find_output(&self, program: &str, output: &str) -> Result<(Place, Shape)> {
        let (index, planned) = self.plan.program(program)?;
        let found = planned.outputs.iter().find(|(name, ..)| name == output);
        let (_, place, shape) = found.ok_or_else(|| {
            unknown("output", output, planned.outputs.iter().map(|(name, ..)| name))
        })?;
        if self.last != Some(index) {
            let last = self.last.map(|last| format!("`{}`", self.plan.programs[last].name));
            return Err(EngineError::NotRun {
                program: program.to_owned(),
                output: output.to_owned(),
                last: last.unwrap_or("none".to_owned()),
            });
        }
        Ok((*place, *shape))
    }

    /// Fills what the arena holds beside named buffers with NaN, so that nothing is read that was
    /// not written.
    #[cfg(test)]
    pub(crate) fn scribble(&mut self) {
        let end = |buffer: &Buffer| buffer.place.offset + buffer.place.len;
        let begin = self.plan.buffers.iter().map(end).max().unwrap_or(0).next_multiple_of(16);
        let len = self.plan.arena_len().saturating_sub(begin);
        let nothing = vec![f32::NAN; len];
        self.executor.write(Place { offset: begin, len }, &nothing).expect("a working device");
    }

    fn initialise(&mut self) -> Result<()> {
        for buffer in &self.plan.buffers {
            if let Role::Parameter(initial) = buffer.role {
                let values = initial.draw(self.seed, &buffer.name, buffer.shape);
                self.executor.write(buffer.place, &values)?;
            }
        }
        Ok(())
    }

    /// A watched step can name an operation only if what it began with was in order.
    fn check_buffers(&self, index: usize) -> Result<()> {
        let program = &self.plan.programs[index];
        for buffer in program.used.iter().map(|&buffer| &self.plan.buffers[buffer]) {
            if let Some(found) = self.executor.not_finite(buffer.place)? {
                return Err(EngineError::NotFiniteBefore {
                    program: program.name.clone(),
                    step: self.steps[index],
                    buffer: buffer.name.clone(),
                    found,
                });
            }
        }
        Ok(())
    }
}

fn check_length(name: &str, shape: Shape, found: usize) -> Result<()> {
    if found == shape.len() {
        return Ok(());
    }
    Err(EngineError::Length { name: name.to_owned(), shape, found })
}
